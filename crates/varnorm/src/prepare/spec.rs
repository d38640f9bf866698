//! Preparations in words: `published`, `none`, or steps such as `pool=100,zscore=channel,clip=5,time`.

use serde_json::{Map, Value};

use super::{Preparation, Step};
use crate::error::{Error, Result};
use crate::words::{printed, value_of};

/// A step in words: `name`, or `name=value` where it has a parameter.
struct Spelling {
    name: &'static str,
    /// What its one parameter is called in JSON, and what it has to be.
    parameter: Option<(&'static str, &'static str)>,
    /// How it stands in a list of all steps.
    listed: &'static str,
}

const fn plain(name: &'static str) -> Spelling {
    Spelling { name, parameter: None, listed: name }
}

const fn with(name: &'static str, key: &'static str, wants: &'static str, listed: &'static str) -> Spelling {
    Spelling { name, parameter: Some((key, wants)), listed }
}

const STEPS: &[Spelling] = &[
    plain("interpolate"),
    with("pool", "max_length", "a whole number: pool=100", "pool=LENGTH"),
    with("resample", "length", "a whole number: resample=100", "resample=LENGTH"),
    with(
        "zscore",
        "per",
        "one of zscore=channel, zscore=step, zscore=global, zscore=series, zscore=series_global or zscore=robust; \
         zscore=step+0.0001 adds to the standard deviation",
        "zscore=channel|step|global|series|series_global|robust",
    ),
    with("clip", "limit", "a positive number: clip=5", "clip=LIMIT"),
    plain("asinh"),
    plain("basepoint"),
    with("time", "length", "a positive number: time=2", "time"),
    with("visibility", "end", "visibility=i or visibility=t", "visibility=i|t"),
    plain("lead_lag"),
];

impl std::str::FromStr for Preparation {
    type Err = Error;

    /// `none`, a JSON list, or steps separated by commas; `standard` and `published` stand for theirs.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |problem: String| Error::bad_param("prepare", text, problem);
        if text.trim_start().starts_with('[') {
            let read: Self = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
            read.validate()?;
            return Ok(read);
        }
        let mut steps = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !matches!(*part, "" | "none")) {
            match part {
                "standard" => steps.extend(Self::standard().steps),
                "published" => steps.extend(Self::published().steps),
                _ => steps.push(step(part).map_err(wrong)?),
            }
        }
        let read = Self { steps };
        read.validate()?;
        Ok(read)
    }
}

fn step(text: &str) -> Result<Step, String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n.trim(), Some(v)));
    let name = name.replace('-', "_");
    let unknown = || {
        let known: Vec<&str> = STEPS.iter().map(|spelling| spelling.listed).collect();
        format!(
            "`{text}` is not a preparation step; steps are standard, published, {}, or none",
            known.join(", ")
        )
    };
    let spelling = STEPS.iter().find(|spelling| spelling.name == name).ok_or_else(unknown)?;
    let mut object = Map::from_iter([("step".to_string(), Value::from(name))]);
    match (spelling.parameter, value) {
        (None, None) => {}
        (None, Some(_)) => return Err(unknown()),
        // Without a value the parameter is missing, which is refused below unless it has a default.
        (Some(_), None) => {}
        (Some((key, _)), Some(value)) => {
            // Of a z-score, what is added to the deviation follows after a plus sign.
            let (value, offset) = match (spelling.name, value.split_once('+')) {
                ("zscore", Some((value, offset))) => (value, Some(offset)),
                _ => (value, None),
            };
            object.insert(key.into(), value_of(&value.to_lowercase()));
            object.extend(offset.map(|offset| ("offset".to_string(), value_of(offset))));
        }
    }
    let wants = spelling.parameter.map_or("no value", |(_, wants)| wants);
    serde_json::from_value(object.into()).map_err(|_| format!("`{}` wants {wants}", spelling.name))
}

impl std::fmt::Display for Step {
    /// The form that is parsed: `pool=100`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return Err(std::fmt::Error) };
        f.write_str(fields.get("step").and_then(Value::as_str).ok_or(std::fmt::Error)?)?;
        let mut values = fields.iter().filter(|(key, _)| !matches!(key.as_str(), "step" | "offset"));
        values.try_for_each(|(_, value)| write!(f, "={}", printed(value)))?;
        fields.get("offset").map_or(Ok(()), |offset| write!(f, "+{}", printed(offset)))
    }
}

impl std::fmt::Display for Preparation {
    /// The form that is parsed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.steps.as_slice() {
            [] => f.write_str("none"),
            steps => f.write_str(&steps.iter().map(Step::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for text in [
            "none",
            "interpolate,pool=7,resample=3,zscore=channel,clip=2.5,time,time=2.5,visibility=t,lead_lag",
            "zscore=step+0.0001,zscore=global,zscore=series,zscore=series_global,zscore=robust,asinh",
        ] {
            let preparation: Preparation = text.parse().unwrap();
            assert_eq!(preparation.to_string(), text);
            let json = serde_json::to_string(&preparation).unwrap();
            assert_eq!(json.parse::<Preparation>().unwrap(), preparation);
        }
    }

    #[test]
    fn every_step_is_spelled() {
        let steps = ["pool=3", "resample=3", "zscore=step", "clip=3", "time=3", "visibility=i"];
        for spelling in STEPS {
            let text = match spelling.parameter {
                None => spelling.name,
                Some(_) => steps.iter().find(|text| text.starts_with(spelling.name)).unwrap(),
            };
            assert_eq!(text.parse::<Preparation>().unwrap().to_string(), text);
        }
        // Other ways to write them.
        let read: Preparation = "lead-lag, visibility=T , clip=5.0".parse().unwrap();
        assert_eq!(read.to_string(), "lead_lag,visibility=t,clip=5");
    }

    #[test]
    fn mistakes_are_told_with_the_way_out() {
        for (text, word) in [
            ("zscore", "zscore=channel"),
            ("pool=x", "whole number"),
            ("pool", "`pool` wants a whole number: pool=100"),
            ("pool=-1", "whole number"),
            ("visibility=x", "visibility=i or visibility=t"),
            ("pool=0", "at least 1"),
            ("clip=-1", "positive"),
            ("clip=nan", "positive"),
            ("zscore=chanel", "zscore=robust"),
            ("wavelet", "steps are standard"),
            ("basepoint=3", "steps are"),
            ("[{\"step\":\"tiem\"}]", "unknown variant"),
        ] {
            let error = text.parse::<Preparation>().unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
