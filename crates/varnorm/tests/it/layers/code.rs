//! Just enough of Rust's grammar to see which modules a file uses.

/// The code of a file: without comments, without the contents of texts and characters, without what is for tests only.
pub fn code_of(text: &str) -> String {
    without_tests(&without_words(text))
}

fn without_words(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if first == '"' {
            quoted(rest, '"')
        } else if let Some(length) = raw_text(rest).filter(|_| !code.ends_with(is_word)) {
            length
        } else if first == '\'' && is_character(rest) {
            quoted(rest, '\'')
        } else {
            0
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// Block comments hold others.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth = depth.saturating_add_signed(change);
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == mark && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn raw_text(rest: &str) -> Option<usize> {
    let marks = rest.strip_prefix('r')?;
    let count = marks.len() - marks.trim_start_matches('#').len();
    let inside = marks[count..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(count));
    Some(2 + count + inside.find(&end)? + end.len())
}

/// Whether a quote begins a character and not a lifetime.
fn is_character(rest: &str) -> bool {
    let mut after = rest.chars().skip(1);
    after.next() == Some('\\') || after.next() == Some('\'')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Without the items under `#[cfg(test)]`: each ends with its braces, or with a semicolon before any.
fn without_tests(code: &str) -> String {
    let mut parts = code.split("#[cfg(test)]");
    let mut kept = parts.next().unwrap_or("").to_string();
    for part in parts {
        let mut depth = 0usize;
        let end = part.char_indices().find(|(_, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(c, '}' | ';')
        });
        kept.push_str(end.map_or("", |(at, _)| &part[at + 1..]));
    }
    kept
}

/// The names right below the root that a file's code mentions, by `crate::` or by enough `super::`.
pub fn references(place: &str, code: &str) -> Vec<String> {
    let inside = place.trim_end_matches(".rs").trim_end_matches("/mod");
    let supers = "super::".repeat(inside.split('/').count());
    let mut found = Vec::new();
    for root in ["crate::", supers.as_str()] {
        let starts = code.match_indices(root).map(|(at, _)| at);
        for at in starts.filter(|at| !code[..*at].ends_with(is_word) && !code[..*at].ends_with("::")) {
            found.extend(names(&code[at + root.len()..]).into_iter().map(String::from));
        }
    }
    found.retain(|name| name != "super" && name != "self");
    found
}

/// The first name of a path, or of every path in braces.
fn names(path: &str) -> Vec<&str> {
    let word = |path: &'_ str| path.find(|c| !is_word(c)).unwrap_or(path.len());
    let Some(group) = path.trim_start().strip_prefix('{') else { return vec![&path[..word(path)]] };
    let (mut depth, mut start, mut found) = (0usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.push(group[start..at].trim_start());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.into_iter().map(|path| &path[..word(path)]).filter(|name| !name.is_empty()).collect()
}
