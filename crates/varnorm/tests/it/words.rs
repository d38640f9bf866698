//! Every setting in words: the same forms, the same mistakes refused, and lists that tell the truth about the types.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use varnorm::calibrate::{Calibration, Decision, Objective, Tail};
use varnorm::data::{CsvLayout, CsvShape};
use varnorm::detector::{Combination, Preset, Robust, Space};
use varnorm::gram::Scaling;
use varnorm::kernel::CATALOGUE;
use varnorm::words::Word;
use varnorm::{Distance, Error, Kernel, Norm};

/// A setting that users write.
trait Setting: FromStr<Err = Error> + Display + DeserializeOwned + PartialEq + std::fmt::Debug {}

impl<T: FromStr<Err = Error> + Display + DeserializeOwned + PartialEq + std::fmt::Debug> Setting for T {}

fn refusal<T: Setting>(text: &str) -> String {
    text.parse::<T>().unwrap_err().to_string()
}

/// Names, other names and mistakes of a setting whose names stand for themselves.
fn bare<T: Setting>(words: &[Word]) {
    for word in words {
        let read: T = word.name.parse().unwrap();
        assert_eq!(read.to_string(), word.name);
        assert_eq!(serde_json::from_value::<T>(word.name.into()).unwrap(), read);
        assert!(word.aliases.iter().all(|other| other.parse::<T>().unwrap() == read));
        assert!(word.keys.is_empty() && !word.meaning.is_empty());
        assert!(refusal::<T>(&format!("{}:x=1", word.name)).contains("has no such parameter; it has: none"));
    }
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    assert!(refusal::<T>("nonsense").contains(&format!("choose one of {}", names.join(", "))));
    // The type has no other: its own refusal lists as many.
    let known = serde_json::from_value::<T>("nonsense".into()).unwrap_err().to_string();
    assert_eq!(known.matches('`').count(), 2 * (names.len() + 1), "{known}");
}

/// The keys that a type itself knows for a name, from its refusal of another.
fn keys_of_type<T: Setting>(tag: &str, name: &str) -> Vec<String> {
    let object = Map::from_iter([(tag.to_string(), name.into()), ("nonsense".to_string(), Value::from(1))]);
    let told = serde_json::from_value::<T>(object.into()).unwrap_err().to_string();
    let quoted: Vec<String> = told.split('`').skip(1).step_by(2).map(str::to_string).collect();
    assert_eq!(quoted[0], "nonsense", "{told}");
    quoted[1..].to_vec()
}

/// The same of a setting with parameters.
fn tagged<T: Setting>(tag: &str, words: &[(&str, Vec<&str>)]) {
    for (name, keys) in words {
        let mut known = keys_of_type::<T>(tag, name);
        // What is learned from a corpus is in JSON only: nobody writes it.
        known.retain(|key| key != "fitted");
        let mut keys = keys.clone();
        known.sort_unstable();
        keys.sort_unstable();
        assert_eq!(known, keys, "{name}");
        assert!(
            refusal::<T>(&format!("{name}:nonsense=1")).contains(&format!("{name} has no such parameter"))
        );
        if let Some(key) = keys.first() {
            for text in
                [format!("{name}:{key}=1,{key}=1"), format!("{{{tag:?}:{name:?},{key:?}:1,{key:?}:1}}")]
            {
                let told = refusal::<T>(&text);
                assert!(told.contains(&format!("`{key}` is given twice")), "{text}: {told}");
            }
        }
    }
    let told = refusal::<T>("nonsense");
    assert!(words.iter().all(|(name, _)| told.contains(name)), "{told}");
    let known = serde_json::from_value::<T>(Map::from_iter([(tag.to_string(), "nonsense".into())]).into());
    let known = known.unwrap_err().to_string();
    assert_eq!(known.matches('`').count(), 2 * (words.len() + 1), "{known}");
}

fn listed(words: &[Word]) -> Vec<(&'static str, Vec<&'static str>)> {
    words.iter().map(|word| (word.name, word.keys.to_vec())).collect()
}

#[test]
fn names_are_those_of_the_types() {
    bare::<Norm>(Norm::WORDS);
    bare::<Decision>(Decision::WORDS);
    bare::<Objective>(Objective::WORDS);
    bare::<Scaling>(Scaling::WORDS);
    bare::<CsvLayout>(CsvLayout::WORDS);
    bare::<CsvShape>(CsvShape::WORDS);
    bare::<Preset>(Preset::WORDS);
    bare::<Combination>(Combination::WORDS);
    bare::<Tail>(Tail::WORDS);
}

#[test]
fn parameters_are_those_of_the_types() {
    tagged::<Distance>("distance", &listed(Distance::WORDS));
    tagged::<Space>("space", &listed(Space::WORDS));
    tagged::<Calibration>("method", &listed(Calibration::WORDS));
    tagged::<Robust>("method", &listed(Robust::WORDS));
    let names = |info: &varnorm::kernel::KernelInfo| info.parameters.iter().map(|p| p.name).collect();
    let kernels: Vec<_> = CATALOGUE.iter().map(|info| (info.name, names(info))).collect();
    tagged::<Kernel>("kernel", &kernels);
}

#[test]
fn the_glossary_is_the_same_everywhere() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for page in ["docs/glossary.md", "python/docs/glossary.md"] {
        let text = std::fs::read_to_string(format!("{root}/{page}")).unwrap();
        for (word, meaning) in varnorm::describe::GLOSSARY {
            assert!(text.contains(&format!("| {word} | {meaning} |")), "{page}: {word}");
        }
    }
    let words: Vec<String> =
        varnorm::describe::GLOSSARY.iter().map(|(word, _)| word.to_lowercase()).collect();
    assert!(words.is_sorted(), "{words:?}");
}

#[test]
fn what_is_printed_is_read_back() {
    for text in ["conformance:neighbour=3", "mahalanobis"] {
        assert_eq!(text.parse::<Distance>().unwrap().to_string(), text);
    }
    assert_eq!("conformance".parse::<Distance>().unwrap(), Distance::default());
    for text in ["gram", "features", "landmarks:count=3,tolerance=0.5,choice=uniform,seed=9"] {
        assert_eq!(text.parse::<Space>().unwrap().to_string(), text);
    }
    for (text, printed) in [
        ("landmarks:256", "landmarks:count=256,choice=pivoted,seed=0"),
        (r#"{"space":"landmarks","choice":"given","given":[4,2]}"#, "landmarks:count=2,choice=given"),
    ] {
        assert_eq!(text.parse::<Space>().unwrap().to_string(), printed);
    }
    for (text, printed) in [("none", "none"), ("trim", "trim"), ("trim:0.1", "trim:share=0.1")] {
        assert_eq!(text.parse::<Robust>().unwrap().to_string(), printed);
    }
    for text in ["trim:0", "trim:0.5", "trim:x", "cut"] {
        assert!(text.parse::<Robust>().is_err(), "{text}");
    }
    assert_eq!("flat_rbf:sigma=3".parse::<Kernel>().unwrap().to_string(), "flat_rbf:sigma=3");
}
