//! From data to one HTML file.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Report, pictures, table};
use crate::describe::{Fact, GLOSSARY, count as counted, percent, significant};
use crate::plot::escaped;

/// The style of every page.
pub const STYLE: &str = include_str!("page.css");
/// The script of every page: sorting, filtering, opening series.
pub const SCRIPT: &str = include_str!("page.js");
const PAGE: &str = include_str!("page.html");
const SCORED: &str = include_str!("scored.html");

/// The policy that keeps a page to itself: only the given scripts and styles run, and nothing is fetched but from
/// `connect` (`'none'`, or `'self'` for a page that is served).
pub fn content_security_policy(scripts: &[&str], styles: &[&str], connect: &str) -> String {
    let list = |texts: &[&str]| texts.iter().map(|text| source_of(text)).collect::<Vec<String>>().join(" ");
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src {connect}; base-uri 'none'; form-action 'none'",
        list(scripts),
        list(styles)
    )
}

/// How a policy names an inline script or style: by its digest.
pub fn source_of(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// The page of a report.
pub(super) fn report(report: &Report) -> String {
    let scored = &report.scored;
    let count = scored.findings.len();
    let mut cards = Vec::new();
    if count > 0 {
        cards.push(("scored", count.to_string()));
    }
    if scored.findings.iter().any(|one| one.finding.novel.is_some()) {
        cards.push(("flagged", scored.flagged().to_string()));
    }
    cards.push(("normal series", scored.model.corpus_series.to_string()));
    if let Some(threshold) = scored.threshold {
        let finite = threshold.is_finite();
        cards.push(("threshold", if finite { significant(threshold, 4) } else { "none".into() }));
    }
    if let Some(rate) = scored.target_false_alarm_rate {
        cards.push(("false alarms promised", percent(rate)));
    }
    let panels = report.curves.bands.iter().map(|band| {
        format!(
            "<figure class=\"panel\"><figcaption><b>{}</b><span class=\"adds\"></span></figcaption>{}</figure>",
            escaped(&table::shortened(&band.name)),
            pictures::panel(&report.curves, band)
        )
    });
    let label = if scored.findings.iter().any(|one| one.label.is_some()) {
        "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" data-key=\"label\">label</button></th>"
    } else {
        ""
    };
    let main = fill(
        SCORED,
        &[
            ("title", escaped(&report.title)),
            ("cards", definitions(&cards)),
            ("warnings", list("warnings", "Before you trust this", &report.warnings)),
            ("facts", facts_html(&report.facts)),
            ("words", words()),
            ("notes", list("notes", "Left out, thinned, noticed", &report.notes)),
            ("figures", figures(&pictures::figures(report))),
            ("hidden", if count == 0 { " hidden".into() } else { String::new() }),
            ("label", label.into()),
            ("rows", table::rows(report)),
            ("panels", panels.collect()),
            ("count", counted(count, "series")),
            ("data", embedded(&table::data(report))),
        ],
    );
    page(&format!("{} · varnorm", report.title), &main)
}

/// The glossary.
fn words() -> String {
    let facts: Vec<Fact> = GLOSSARY.iter().map(|(word, meaning)| Fact::new(word, *meaning)).collect();
    facts_html(&facts)
}

/// A whole page around its main part.
pub fn page(title: &str, main: &str) -> String {
    fill(
        PAGE,
        &[
            ("policy", escaped(&content_security_policy(&[SCRIPT], &[STYLE], "'none'"))),
            ("title", escaped(title)),
            ("style", STYLE.into()),
            ("main", main.into()),
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("script", SCRIPT.into()),
        ],
    )
}

/// Puts values for `{{names}}`, in one pass: what is put in is never looked at again.
pub fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, later) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        rest = later;
    }
    out.push_str(rest);
    out
}

/// JSON that can stand inside a script element, whatever its strings hold.
pub(super) fn embedded(value: &Value) -> String {
    let mut out = String::new();
    for letter in value.to_string().chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Small numbers with their names.
pub fn definitions(cards: &[(&str, String)]) -> String {
    let one =
        |(name, value): &(&str, String)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
    cards.iter().map(one).collect()
}

/// A list under a heading, or nothing.
pub fn list(class: &str, heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>", escaped(line))).collect();
    format!("<section class=\"{class}\"><h2>{heading}</h2><ul>{items}</ul></section>")
}

/// Facts as a list of definitions.
pub fn facts_html(facts: &[Fact]) -> String {
    let one = |fact: &Fact| {
        let code = fact.code.as_ref().map(|c| format!("<code>{}</code>", escaped(c))).unwrap_or_default();
        format!("<div><dt>{}</dt><dd>{} {code}</dd></div>", escaped(&fact.name), escaped(&fact.words))
    };
    facts.iter().map(one).collect()
}

/// Figures, one after the other.
pub fn figures(figures: &[pictures::Figure]) -> String {
    let one = |figure: &pictures::Figure| {
        format!(
            "<figure><h3>{}</h3>{}<figcaption>{}</figcaption></figure>",
            figure.heading,
            figure.svg,
            escaped(&figure.caption)
        )
    };
    figures.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abc | openssl dgst -sha256 -binary | base64`, and so on.
    #[test]
    fn a_policy_names_texts_by_their_digest() {
        assert_eq!(source_of(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
        assert_eq!(source_of("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }

    #[test]
    fn what_is_put_in_is_not_a_template() {
        let values = [("a", "{{b}}".to_string()), ("b", "x".into())];
        assert_eq!(fill("<{{a}}|{{b}}|{{c}}>", &values), "<{{b}}|x|>");
    }

    #[test]
    fn embedded_json_ends_no_script() {
        let nasty = "</script><!--\u{2028}&'\"";
        let text = embedded(&serde_json::json!({ "name": nasty }));
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["name"], nasty);
    }
}
