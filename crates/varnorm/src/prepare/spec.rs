//! Preparations in words: `published`, `none`, or steps such as `pool=100,zscore=channel,clip=5,time`.

use super::{Per, Preparation, Step, Visibility};
use crate::error::{Error, Result};

const KNOWN: &str = "standard, published, interpolate, pool=LENGTH, resample=LENGTH, zscore=step|channel, clip=LIMIT, basepoint, \
                     time, visibility=i|t, lead_lag, or none";

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
    let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n.trim(), Some(v.trim())));
    let number = || -> Result<usize, String> {
        value.and_then(|v| v.parse().ok()).ok_or_else(|| format!("`{name}` wants a whole number: {name}=100"))
    };
    Ok(match (name, value) {
        ("interpolate", None) => Step::Interpolate {},
        ("pool", _) => Step::Pool { max_length: number()? },
        ("resample", _) => Step::Resample { length: number()? },
        ("zscore", Some("step")) => Step::Zscore { per: Per::Step },
        ("zscore", Some("channel")) => Step::Zscore { per: Per::Channel },
        ("zscore", _) => return Err("`zscore` wants zscore=step or zscore=channel".into()),
        ("clip", Some(limit)) => {
            Step::Clip { limit: limit.parse().map_err(|_| "`clip` wants a number: clip=5".to_string())? }
        }
        ("basepoint", None) => Step::Basepoint {},
        ("time", None) => Step::Time {},
        ("visibility", Some("i" | "I")) => Step::Visibility { end: Visibility::I },
        ("visibility", Some("t" | "T")) => Step::Visibility { end: Visibility::T },
        ("lead_lag" | "lead-lag", None) => Step::LeadLag {},
        _ => return Err(format!("`{text}` is not a preparation step; steps are {KNOWN}")),
    })
}

impl std::fmt::Display for Preparation {
    /// The form that is parsed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("none");
        }
        for (i, step) in self.steps.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match step {
                Step::Interpolate {} => f.write_str("interpolate")?,
                Step::Pool { max_length } => write!(f, "pool={max_length}")?,
                Step::Resample { length } => write!(f, "resample={length}")?,
                Step::Zscore { per: Per::Step } => f.write_str("zscore=step")?,
                Step::Zscore { per: Per::Channel } => f.write_str("zscore=channel")?,
                Step::Clip { limit } => write!(f, "clip={limit}")?,
                Step::Basepoint {} => f.write_str("basepoint")?,
                Step::Time {} => f.write_str("time")?,
                Step::Visibility { end: Visibility::I } => f.write_str("visibility=i")?,
                Step::Visibility { end: Visibility::T } => f.write_str("visibility=t")?,
                Step::LeadLag {} => f.write_str("lead_lag")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for text in
            ["none", "interpolate,pool=7,resample=3,zscore=channel,clip=2.5,time,visibility=t,lead_lag"]
        {
            let preparation: Preparation = text.parse().unwrap();
            assert_eq!(preparation.to_string(), text);
            let json = serde_json::to_string(&preparation).unwrap();
            assert_eq!(json.parse::<Preparation>().unwrap(), preparation);
        }
    }

    #[test]
    fn mistakes_are_told_with_the_way_out() {
        for (text, word) in [
            ("zscore", "zscore=channel"),
            ("pool=x", "whole number"),
            ("pool=0", "at least 1"),
            ("clip=-1", "positive"),
            ("clip=nan", "positive"),
            ("wavelet", "steps are standard"),
            ("time=3", "steps are"),
            ("[{\"step\":\"tiem\"}]", "unknown variant"),
        ] {
            let error = text.parse::<Preparation>().unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
