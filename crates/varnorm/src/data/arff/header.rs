//! The lines of an `.arff` file up to `@data`.

use std::path::Path;

use crate::data::LabelKind;
use crate::error::{Error, Result};

use super::super::text;
use super::cells;

/// Where the values of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One attribute per step.
    Univariate,
    /// One cell with all channels.
    Relational,
}

/// The attribute with the labels.
pub(super) struct Class {
    /// Which cell of a line.
    pub position: usize,
    pub kind: LabelKind,
    /// The names between the braces, if it has braces.
    pub names: Option<Vec<String>>,
}

/// What the header says.
pub(super) struct Header {
    pub name: Option<String>,
    pub attributes: usize,
    pub shape: Shape,
    pub label: Option<Class>,
}

enum Kind {
    Numeric,
    Text,
    Nominal(Vec<String>),
    Relational,
}

struct Attribute {
    name: String,
    kind: Kind,
    line: usize,
}

impl Header {
    /// Takes the lines up to and with `@data`.
    pub fn read<'a>(path: &Path, lines: &mut impl Iterator<Item = (usize, &'a str)>) -> Result<Self> {
        let (mut name, mut attributes) = (None, Vec::new());
        // Attributes between `relational` and `@end` say how long a channel is; the data say it too.
        let mut inside = false;
        for (number, line) in lines {
            let wrong = |problem: String| Error::parse(path, number, problem);
            let (key, rest) = cells::word(line).map_err(wrong)?;
            match key.to_ascii_lowercase().as_str() {
                "@relation" => name = Some(cells::word(rest).map_err(wrong)?.0).filter(|n| !n.is_empty()),
                "@attribute" => {
                    let attribute = attribute(rest, number).map_err(wrong)?;
                    if !inside {
                        inside = matches!(attribute.kind, Kind::Relational);
                        attributes.push(attribute);
                    }
                }
                "@end" => inside = false,
                "@data" => return Self::from_attributes(path, name, attributes),
                _ => {
                    return Err(wrong(format!(
                        "{} is none of `@relation`, `@attribute`, `@end` and `@data`; put the data below \
                         `@data`",
                        text::quote(line)
                    )));
                }
            }
        }
        Err(Error::file(
            path,
            "there is no `@data` line; put `@data` on a line of its own above the first series",
        ))
    }

    fn from_attributes(path: &Path, name: Option<String>, all: Vec<Attribute>) -> Result<Self> {
        let count = all.len();
        let relational = all.iter().filter(|a| matches!(a.kind, Kind::Relational)).count();
        let shape = if relational > 0 { Shape::Relational } else { Shape::Univariate };
        let mut label: Option<(Class, String)> = None;
        for (position, Attribute { name, kind, line }) in all.into_iter().enumerate() {
            let class = match kind {
                Kind::Nominal(names) => Class { position, kind: LabelKind::Class, names: Some(names) },
                Kind::Text => Class { position, kind: LabelKind::Class, names: None },
                Kind::Numeric
                    if shape == Shape::Relational || (position + 1 == count && is_target(&name)) =>
                {
                    Class { position, kind: LabelKind::Target, names: None }
                }
                _ => continue,
            };
            if let Some((_, first)) = &label {
                return Err(Error::parse(
                    path,
                    line,
                    format!("the attributes `{first}` and `{name}` are both labels; keep one of them"),
                ));
            }
            label = Some((class, name));
        }
        if relational > 1 || count == usize::from(label.is_some()) {
            return Err(Error::file(
                path,
                "the header must declare one relational attribute (multivariate) or one numeric attribute \
                 per step \
                 (univariate)",
            ));
        }
        Ok(Self { name, attributes: count, shape, label: label.map(|l| l.0) })
    }
}

/// A last numeric attribute is a target only if it is called so: it could be one more step.
fn is_target(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["target", "class", "label"].iter().any(|word| name.contains(word))
}

fn attribute(rest: &str, line: usize) -> Result<Attribute, String> {
    let (name, kind) = cells::word(rest)?;
    let kind = kind.trim();
    let parsed = match kind.to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => Kind::Numeric,
        "string" => Kind::Text,
        "relational" => Kind::Relational,
        _ => match kind.strip_prefix('{').and_then(|k| k.strip_suffix('}')) {
            Some(names) if names.trim().is_empty() => Kind::Nominal(Vec::new()),
            Some(names) => Kind::Nominal(cells::split(names)?.iter().map(cells::Cell::text).collect()),
            None => {
                return Err(format!(
                    "the attribute {} has the type {}; use numeric, relational, string or {{name,name,...}}",
                    text::quote(&name),
                    text::quote(kind)
                ));
            }
        },
    };
    Ok(Attribute { name, kind: parsed, line })
}
