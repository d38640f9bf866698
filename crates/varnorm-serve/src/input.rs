//! What a client sent, as a data set: JSON, or a file of any format that the program reads.
//!
//! JSON is read straight into one buffer and refused at the first series beyond a limit, so that a million tiny series
//! cost no more than their bytes.

use std::cell::Cell;
use std::fmt;
use std::path::Path;

use axum::http::StatusCode;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use varnorm::data::{Channel, Format, Labels, ReadLimits, ReadOptions, read_bytes_within};
use varnorm::{Dataset, Run, SeriesSet};

use crate::Limits;
use crate::refusal::Refusal;

/// How often what was sent may be larger in memory.
const UNPACKED: usize = 16;

/// Reads a file that was sent under a name; stops where the run is to stop.
pub(crate) fn from_file(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    run: &Run,
) -> Result<Dataset, Refusal> {
    // The name is never opened: it tells the format, and stands in sentences.
    let path = Path::new(name);
    let format = Format::from_path(path)?;
    let within = ReadLimits {
        series: limits.series,
        steps: limits.length,
        bytes: UNPACKED.saturating_mul(limits.body),
        cancel: Some(run.cancel_flag()),
        ..ReadLimits::default()
    };
    Ok(read_bytes_within(path, bytes, format, options, &within)?)
}

fn too_many(series: usize, limits: &Limits) -> Option<String> {
    (series > limits.series).then(|| {
        format!(
            "there are more than {} series, the most the server takes in one request; send fewer",
            limits.series
        )
    })
}

fn too_long(steps: usize, limits: &Limits) -> Option<String> {
    (steps > limits.length).then(|| {
        format!("a series has more than {} steps, the most the server takes; shorten it", limits.length)
    })
}

/// Reads `{"series": [[[...channels], ...steps], ...], "names": [...], "labels": [...], "channel_names": [...]}`.
pub(crate) fn from_json(bytes: &[u8], limits: &Limits) -> Result<Dataset, Refusal> {
    let over = Cell::new(false);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read =
        Batch { limits, over: &over }.deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    read.map_err(|error| {
        let status = if over.get() { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
        Refusal::new(status, format!("the body: {error}"))
    })
}

/// The whole body.
struct Batch<'a> {
    limits: &'a Limits,
    /// Set where an error is about a limit.
    over: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Batch<'_> {
    type Value = Dataset;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Dataset, D::Error> {
        deserializer.deserialize_map(self)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Field {
    Series,
    Names,
    Labels,
    ChannelNames,
}

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = Dataset;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `series`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Dataset, A::Error> {
        let (mut series, mut names, mut labels, mut channel_names) = (None, None, None, None);
        while let Some(field) = map.next_key()? {
            let repeated = match field {
                Field::Series => {
                    let mut buffer =
                        Buffer { batch: &self, values: Vec::new(), lengths: Vec::new(), channels: 0 };
                    map.next_value_seed(All(&mut buffer))?;
                    series.replace(buffer.finish::<A::Error>()?).is_some()
                }
                Field::Names => names.replace(map.next_value::<Vec<String>>()?).is_some(),
                Field::Labels => labels.replace(map.next_value::<Vec<String>>()?).is_some(),
                Field::ChannelNames => channel_names.replace(map.next_value::<Vec<String>>()?).is_some(),
            };
            if repeated {
                return Err(A::Error::custom("a field is given twice"));
            }
        }
        let series: SeriesSet = series.ok_or_else(|| A::Error::missing_field("series"))?;
        let fits = |list: &Option<Vec<String>>, wanted: usize, name: &str| match list {
            Some(list) if list.len() != wanted => Err(A::Error::custom(format!(
                "`{name}` has {} entries where {wanted} are expected",
                list.len()
            ))),
            _ => Ok(()),
        };
        fits(&names, series.len(), "names")?;
        fits(&labels, series.len(), "labels")?;
        fits(&channel_names, series.channels(), "channel_names")?;
        Ok(Dataset {
            case_names: names,
            labels: labels.map(Labels::classes),
            channels: channel_names.map(Channel::named),
            ..Dataset::new("request", series)
        })
    }
}

/// Series as they are read.
struct Buffer<'a> {
    batch: &'a Batch<'a>,
    values: Vec<f64>,
    lengths: Vec<usize>,
    /// Of the first step; 0 before that.
    channels: usize,
}

impl Buffer<'_> {
    fn finish<E: serde::de::Error>(self) -> Result<SeriesSet, E> {
        if self.lengths.is_empty() {
            return Err(E::custom("`series` is empty; give at least one"));
        }
        SeriesSet::from_lengths(self.values, &self.lengths, self.channels).map_err(E::custom)
    }

    fn within<E: serde::de::Error>(&self, over: Option<String>) -> Result<(), E> {
        match over {
            Some(sentence) => {
                self.batch.over.set(true);
                Err(E::custom(sentence))
            }
            None => Ok(()),
        }
    }
}

/// A list at one of three depths: series, steps, channels.
macro_rules! list {
    ($name:ident, $expecting:literal, |$buffer:ident, $sequence:ident| $body:block) => {
        struct $name<'a, 'b>(&'a mut Buffer<'b>);

        impl<'de> DeserializeSeed<'de> for $name<'_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_seq(self)
            }
        }

        impl<'de> Visitor<'de> for $name<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut $sequence: A) -> Result<(), A::Error> {
                let $buffer = self.0;
                $body
            }
        }
    };
}

list!(All, "a list of series, each a list of steps, each a list of numbers", |buffer, sequence| {
    while sequence.next_element_seed(One(buffer))?.is_some() {
        buffer.within(too_many(buffer.lengths.len(), buffer.batch.limits))?;
    }
    Ok(())
});

list!(One, "a series: a list of steps, each a list of numbers", |buffer, sequence| {
    let mut steps = 0;
    while sequence.next_element_seed(Point(buffer))?.is_some() {
        steps += 1;
        buffer.within(too_long(steps, buffer.batch.limits))?;
    }
    if steps == 0 {
        return Err(A::Error::custom(format!("series {} has no steps", buffer.lengths.len())));
    }
    buffer.lengths.push(steps);
    Ok(())
});

list!(Point, "a step: a list of numbers, one per channel (null where missing)", |buffer, sequence| {
    let before = buffer.values.len();
    while let Some(value) = sequence.next_element::<Option<f64>>()? {
        buffer.values.push(value.unwrap_or(f64::NAN));
    }
    let channels = buffer.values.len() - before;
    if buffer.channels == 0 {
        buffer.channels = channels;
    }
    if channels == 0 || channels != buffer.channels {
        let series = buffer.lengths.len();
        let first = buffer.channels;
        return Err(A::Error::custom(format!(
            "series {series} has a step of {channels} channels where the first step of all has {first}"
        )));
    }
    Ok(())
});

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refused(body: &str) -> (u16, String) {
        let limits = Limits { series: 2, length: 3, ..Limits::default() };
        let refusal = from_json(body.as_bytes(), &limits).unwrap_err();
        (refusal.status.as_u16(), refusal.sentence)
    }

    #[test]
    fn json_becomes_series() {
        let body = r#"{"names":["a","b"],"series":[[[1,2],[3,null]],[[5e0,-6]]],"labels":["x","y"]}"#;
        let data = from_json(body.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(data.series.lengths().collect::<Vec<_>>(), [2, 1]);
        assert_eq!(data.series.series(1).values(), [5.0, -6.0]);
        assert!(data.series.series(0).values()[3].is_nan());
        assert_eq!(data.series_name(1), "b");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (body, status, words) in [
            ("", 400, "EOF while parsing"),
            ("[]", 400, "expected an object with `series`"),
            ("{}", 400, "missing field `series`"),
            (r#"{"series":[]}"#, 400, "`series` is empty"),
            (r#"{"series":[[]]}"#, 400, "series 0 has no steps"),
            (r#"{"series":[[[]]]}"#, 400, "a step of 0 channels"),
            (r#"{"series":[[["1"]]]}"#, 400, "invalid type: string \"1\""),
            (r#"{"series":[1]}"#, 400, "expected a series: a list of steps"),
            (r#"{"series":[[[1],[1,2]]]}"#, 400, "series 0 has a step of 2 channels"),
            (r#"{"series":[[[1]]],"names":["a","b"]}"#, 400, "`names` has 2 entries where 1"),
            (r#"{"series":[[[1]]],"more":1}"#, 400, "unknown field `more`"),
            (r#"{"series":[[[1]]]} x"#, 400, "trailing characters"),
            (r#"{"series":[[[1]],[[1]],[[1]]]}"#, 413, "more than 2 series"),
            (r#"{"series":[[[1],[1],[1],[1]]]}"#, 413, "more than 3 steps"),
            (r#"{"series":[[[1]]],"series":[[[1]]]}"#, 400, "given twice"),
        ] {
            let (found, sentence) = refused(body);
            assert_eq!(found, status, "{body}: {sentence}");
            assert!(sentence.contains(words), "{body}: {sentence}");
        }
    }

    #[test]
    fn a_file_is_held_to_the_same_limits() {
        let limits = Limits { series: 2, ..Limits::default() };
        let sent = |name: &str, text: &str| {
            from_file(name, text.as_bytes(), &ReadOptions::default(), &limits, &Run::sequential())
        };
        assert_eq!(sent("a.ts", "@data\n1,2\n3,4\n").unwrap().series.len(), 2);
        assert_eq!(sent("a.ts", "@data\n1\n3\n5\n").unwrap_err().status.as_u16(), 413);
        // Two bytes become eight: what is beyond the memory of a request is refused before it is there.
        let small = Limits { body: 1000, ..Limits::default() };
        let long = format!("@data\n{}1\n", "1,".repeat(2000));
        let run = Run::sequential();
        let refusal = from_file("a.ts", long.as_bytes(), &ReadOptions::default(), &small, &run).unwrap_err();
        assert_eq!(refusal.status.as_u16(), 413, "{}", refusal.sentence);
        run.cancel_flag().store(true, std::sync::atomic::Ordering::Relaxed);
        let late = from_file("a.ts", b"@data\n1\n", &ReadOptions::default(), &small, &run).unwrap_err();
        assert_eq!(late.status.as_u16(), 408);
        assert!(sent("../../etc/passwd", "x").unwrap_err().sentence.contains("no extension"));
    }
}
