//! Choices in words: the one parser and the one printer of `name`, `name:key=value,...` and the JSON object.
//!
//! A setting that users write has a [`Vocabulary`]. Its `FromStr` and `Display` call [`Vocabulary::parse`] and
//! [`Vocabulary::print`], so that every setting takes the same forms and refuses the same mistakes.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A name that users can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// As it is written and printed.
    pub name: &'static str,
    /// Other names that are read, but never printed.
    pub aliases: &'static [&'static str],
    /// Its parameters, in the order in which they are printed.
    pub keys: &'static [&'static str],
    /// The name with the parameters that it needs or is mostly written with.
    pub example: &'static str,
    /// What it means, for lists of what can be written.
    pub meaning: &'static str,
}

impl Word {
    /// A name without parameters.
    pub const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self { name, aliases: &[], keys: &[], example: name, meaning }
    }

    /// The same with parameters.
    pub const fn with(self, keys: &'static [&'static str], example: &'static str) -> Self {
        Self { keys, example, ..self }
    }

    /// The same under other names too.
    pub const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// One line of a list of what can be written: a [`Word`], or a row of a catalogue.
pub trait Entry {
    /// As it is written and printed.
    fn name(&self) -> &str;
    /// Its parameters.
    fn keys(&self) -> Vec<&str>;
    /// The name with parameters.
    fn example(&self) -> &str;
    /// How it stands in a list of what can be written.
    fn listed(&self) -> &str;
    /// Whether an object may have this field beside its name.
    fn takes(&self, key: &str) -> bool {
        self.keys().contains(&key)
    }
    /// Whether this is its name, or another name of it.
    fn answers_to(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl Entry for Word {
    fn name(&self) -> &str {
        self.name
    }

    fn keys(&self) -> Vec<&str> {
        self.keys.to_vec()
    }

    fn example(&self) -> &str {
        self.example
    }

    fn listed(&self) -> &str {
        self.example
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// What can be written for one setting.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary<E: 'static = Word> {
    /// The setting, as errors name it: `csv_layout`.
    pub setting: &'static str,
    /// One choice, with its article: "a CSV layout".
    pub noun: &'static str,
    /// The field of the JSON object that holds the name; none where JSON has the bare name.
    pub tag: Option<&'static str>,
    /// Everything that can be written.
    pub entries: &'static [E],
    /// The parameter that a value without a key is for: `count` of `landmarks:256`.
    pub keyless: Option<&'static str>,
    /// Whether parameters are printed by name, instead of in the order of the entry's keys.
    pub by_name: bool,
}

impl Vocabulary {
    /// Bare names.
    pub const fn names(setting: &'static str, noun: &'static str, entries: &'static [Word]) -> Self {
        Self { setting, noun, tag: None, entries, keyless: None, by_name: false }
    }

    /// Names with parameters, whose JSON object has the name under `tag`.
    pub const fn tagged(
        setting: &'static str,
        noun: &'static str,
        tag: &'static str,
        entries: &'static [Word],
    ) -> Self {
        Self { setting, noun, tag: Some(tag), entries, keyless: None, by_name: false }
    }
}

impl<E: Entry> Vocabulary<E> {
    /// Reads `name`, `name:key=value,...` or, of a setting that has one, the JSON object.
    pub fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        let text = text.trim();
        let mut object =
            if self.tag.is_some() && text.starts_with('{') { self.json(text)? } else { self.words(text)? };
        let entry = self.known(&object, text)?;
        self.check_keys(&object, entry)?;
        object.insert(self.tag().into(), entry.name().into());
        let value = match self.tag {
            Some(_) => Value::Object(object),
            None => entry.name().into(),
        };
        serde_json::from_value(value).map_err(|e| {
            let more = match entry.example() {
                example if example == entry.name() => String::new(),
                example => format!("; an example is {example}"),
            };
            self.wrong(text, format!("{e}{more}"))
        })
    }

    /// Writes the form that is parsed, without the parameters of these names.
    pub fn print(
        &self,
        choice: &impl Serialize,
        without: &[&str],
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let mut fields = match serde_json::to_value(choice) {
            Ok(Value::String(name)) => return f.pad(&name),
            Ok(Value::Object(fields)) => fields,
            _ => return Err(fmt::Error),
        };
        let name = fields.remove(self.tag()).ok_or(fmt::Error)?;
        let name = name.as_str().ok_or(fmt::Error)?;
        let entry = self.entries.iter().find(|entry| entry.name() == name);
        let order = entry.filter(|_| !self.by_name).map(Entry::keys).unwrap_or_default();
        let place = |key: &str| order.iter().position(|known| *known == key).unwrap_or(usize::MAX);
        // A stable sort: what the entry does not name follows by name.
        let mut fields: Vec<(&String, &Value)> =
            fields.iter().filter(|(key, _)| !without.contains(&key.as_str())).collect();
        fields.sort_by_key(|(key, _)| place(key));
        let mut text = name.to_string();
        for (at, (key, value)) in fields.into_iter().enumerate() {
            text.push(if at == 0 { ':' } else { ',' });
            text.push_str(&format!("{key}={}", printed(value)));
        }
        f.pad(&text)
    }

    /// Everything that can be written, with commas between.
    pub fn listed(&self) -> String {
        self.entries.iter().map(Entry::listed).collect::<Vec<_>>().join(", ")
    }

    fn tag(&self) -> &'static str {
        self.tag.unwrap_or_default()
    }

    fn wrong(&self, text: &str, problem: impl Into<String>) -> Error {
        Error::bad_param(self.setting, text, problem)
    }

    fn json(&self, text: &str) -> Result<Map<String, Value>> {
        let read: serde_json::Result<Distinct> = serde_json::from_str(text);
        read.map(|Distinct(object)| object).map_err(|e| match e.is_data() {
            true => self.wrong(text, e.to_string()),
            false => self.wrong(text, format!("is not valid JSON: {e}; correct it there")),
        })
    }

    fn words(&self, text: &str) -> Result<Map<String, Value>> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut object = Map::new();
        for part in parameters.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = match (part.split_once('='), self.keyless) {
                (Some((key, value)), _) => (key.trim(), value),
                (None, Some(key)) => (key, part),
                (None, None) => {
                    return Err(self.wrong(text, format!("`{part}` is not of the form parameter=value")));
                }
            };
            if object.insert(key.into(), value_of(value)).is_some() {
                return Err(self.wrong(text, format!("`{key}` is given twice; leave one out")));
            }
        }
        // Last: a parameter of the tag's name must not pass for the name.
        match object.insert(self.tag().into(), name.trim().into()) {
            Some(_) => Err(self.wrong(text, format!("`{}` is given twice; leave one out", self.tag()))),
            None => Ok(object),
        }
    }

    fn known(&self, object: &Map<String, Value>, text: &str) -> Result<&'static E> {
        let name = object.get(self.tag());
        let known = |name: &str| self.entries.iter().find(|entry| entry.answers_to(name));
        name.and_then(Value::as_str).and_then(known).ok_or_else(|| {
            let given = name.map_or_else(|| text.to_string(), printed);
            self.wrong(&given, format!("is not {}; choose one of {}", self.noun, self.listed()))
        })
    }

    fn check_keys(&self, object: &Map<String, Value>, entry: &E) -> Result<()> {
        let keys = entry.keys();
        match object.iter().find(|(key, _)| *key != self.tag() && !entry.takes(key)) {
            None => Ok(()),
            Some((key, value)) => {
                let known = if keys.is_empty() { "none".into() } else { keys.join(", ") };
                let rule = format!("{} has no such parameter; it has: {known}", entry.name());
                Err(Error::bad_param(key, printed(value), rule))
            }
        }
    }
}

/// A value as users write it: a number or a list if it is one, a word such as `auto` otherwise.
pub fn value_of(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|_| text.trim().into())
}

/// A value as users write it: whole numbers without a fraction, words without quotes.
pub fn printed(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
        }
        other => other.to_string(),
    }
}

/// The name of a choice, whatever its parameters: the tag of its JSON object, or its bare name.
pub fn name_of(choice: &impl fmt::Display) -> String {
    let text = choice.to_string();
    text.split(':').next().unwrap_or_default().to_string()
}

/// `FromStr` and `Display` of a type whose [`Vocabulary`] says all there is to say.
#[macro_export]
macro_rules! spelled {
    ($type:ty, $vocabulary:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> $crate::error::Result<Self> {
                $vocabulary.parse(text)
            }
        }

        impl std::fmt::Display for $type {
            /// The form that is parsed.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $vocabulary.print(self, &[], f)
            }
        }
    };
}
pub use spelled;

/// A JSON object that has every key once.
struct Distinct(Map<String, Value>);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Distinct;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Distinct, A::Error> {
                let mut fields = Map::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if fields.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format!("`{key}` is given twice; leave one out")));
                    }
                }
                Ok(Distinct(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "drink", rename_all = "snake_case", deny_unknown_fields)]
    enum Drink {
        Water {},
        Tea {
            #[serde(default)]
            sugar: f64,
            #[serde(default)]
            bags: u8,
        },
    }

    const DRINKS: Vocabulary = Vocabulary {
        keyless: Some("bags"),
        ..Vocabulary::tagged(
            "drink",
            "a drink",
            "drink",
            &[
                Word::new("water", "plain"),
                Word::new("tea", "with sugar").with(&["sugar", "bags"], "tea:sugar=1").or(&["chai"]),
            ],
        )
    };

    struct Printed(Drink);

    impl fmt::Display for Printed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            DRINKS.print(&self.0, &[], f)
        }
    }

    #[test]
    fn every_form_is_read_and_the_short_one_printed() {
        let tea = |sugar, bags| Drink::Tea { sugar, bags };
        for (text, drink, printed) in [
            ("water", Drink::Water {}, "water"),
            (" tea ", tea(0.0, 0), "tea:sugar=0,bags=0"),
            ("chai: sugar = 2.5 ,", tea(2.5, 0), "tea:sugar=2.5,bags=0"),
            ("tea:bags=2,sugar=3", tea(3.0, 2), "tea:sugar=3,bags=2"),
            ("tea:7", tea(0.0, 7), "tea:sugar=0,bags=7"),
            (r#"{"drink": "tea", "sugar": 1e300}"#, tea(1e300, 0), "tea:sugar=1e+300,bags=0"),
        ] {
            let read: Drink = DRINKS.parse(text).unwrap();
            assert_eq!(read, drink, "{text}");
            let text = Printed(read).to_string();
            assert_eq!(text, printed);
            assert_eq!(DRINKS.parse::<Drink>(&text).unwrap(), drink);
        }
        assert_eq!(format!("{:>7}", Printed(Drink::Water {})), "  water");
        assert_eq!(name_of(&Printed(tea(1.0, 1))), "tea");
    }

    #[test]
    fn mistakes_are_named_with_what_is_known() {
        for (text, sentence) in [
            ("coffee", "drink = coffee: is not a drink; choose one of water, tea:sugar=1"),
            ("", "drink = : is not a drink; choose one of water, tea:sugar=1"),
            ("water:ice=1", "ice = 1: water has no such parameter; it has: none"),
            ("tea:milk=a bit", "milk = a bit: tea has no such parameter; it has: sugar, bags"),
            ("tea:sugar=1,sugar=1", "drink = tea:sugar=1,sugar=1: `sugar` is given twice"),
            ("tea:3,bags=3", "drink = tea:3,bags=3: `bags` is given twice"),
            ("tea:drink=water", "drink = tea:drink=water: `drink` is given twice"),
            (r#"{"drink":"tea","sugar":1,"sugar":1}"#, "`sugar` is given twice"),
            (r#"{"drink":"tea","milk":1}"#, "milk = 1: tea has no such parameter"),
            (r#"{"drink":3}"#, "drink = 3: is not a drink"),
            (r#"{"sugar":3}"#, r#"drink = {"sugar":3}: is not a drink"#),
            (r#"{"drink":"#, "is not valid JSON: EOF"),
            ("tea:sugar=much", "expected f64; an example is tea:sugar=1"),
        ] {
            let error = DRINKS.parse::<Drink>(text).unwrap_err().to_string();
            assert!(error.contains(sentence), "{text}: {error}");
        }
    }

    #[test]
    fn bare_names_take_no_parameters_and_no_json() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Size {
            Small,
            Large,
        }
        const SIZES: Vocabulary =
            Vocabulary::names("size", "a size", &[Word::new("small", ""), Word::new("large", "").or(&["l"])]);
        assert_eq!(SIZES.parse::<Size>("l").unwrap(), Size::Large);
        assert_eq!(SIZES.parse::<Size>("small").unwrap(), Size::Small);
        for (text, sentence) in [
            ("huge", "size = huge: is not a size; choose one of small, large"),
            ("small:by=1", "by = 1: small has no such parameter; it has: none"),
            ("small:by", "`by` is not of the form parameter=value"),
            ("{}", "size = {}: is not a size"),
        ] {
            let error = SIZES.parse::<Size>(text).unwrap_err().to_string();
            assert!(error.contains(sentence), "{text}: {error}");
        }
    }
}
