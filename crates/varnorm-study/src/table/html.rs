//! Tables of a page.

use std::fmt::Write;

use super::{Block, written};
use varnorm::internal::plot::escaped;

/// One table; the best of a row is marked. Writing to a string cannot fail.
pub(super) fn html(out: &mut String, title: &str, kernels: &[String], blocks: &[Block]) {
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table class=\"areas\"><thead><tr>\
         <th scope=\"col\">{title}</th><th scope=\"col\"></th>"
    );
    for kernel in kernels {
        let _ = write!(out, "<th scope=\"col\" class=\"number\">{}</th>", escaped(kernel));
    }
    out.push_str("</tr></thead>");
    for block in blocks {
        out.push_str("<tbody>");
        for (i, (letter, cells)) in block.rows.iter().enumerate() {
            out.push_str("<tr>");
            if i == 0 {
                let (rows, name) = (block.rows.len(), escaped(&block.name));
                let _ = write!(out, "<th scope=\"rowgroup\" rowspan=\"{rows}\">{name}</th>");
            }
            let _ = write!(out, "<th scope=\"row\">{letter}</th>");
            for (text, best) in written(block, cells) {
                let class = if best { "number best" } else { "number" };
                let _ = write!(out, "<td class=\"{class}\">{text}</td>");
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody>");
    }
    out.push_str("</table></div>\n");
}
