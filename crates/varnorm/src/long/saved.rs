//! The file of a stream's state: to be resumed to the same bits.

use std::collections::VecDeque;
#[cfg(feature = "files")]
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::combine::Combined;
use super::detector::{LongDetector, PointScore};
use super::events::{Finder, Open};
use super::fit::Member;
use super::model::Found;
use super::state::State;
use super::stream::Stream;
#[cfg(feature = "files")]
use crate::data::write_atomically;
use crate::detector::container::{self, Array, Arrays, check};
#[cfg(feature = "files")]
use crate::error::Error;
use crate::error::Result;

/// Version of the layout.
const FORMAT: u32 = container::STREAM;

/// The JSON of a state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    /// Of the model: a state means nothing to another.
    model: String,
    score: PointScore,
    rows: u64,
    members: Vec<MemberHeader>,
    quiet_until: u64,
    open: Option<OpenHeader>,
    /// What the caller wants to find again, such as the last time of a row.
    note: String,
}

/// The JSON of the state of a member.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberHeader {
    segment: u64,
    first_row: u64,
    first_window: u64,
    settled: u64,
}

/// The JSON of an event that has not ended.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenHeader {
    from: u64,
    last: u64,
    peak: u64,
    announced: bool,
    nearest: usize,
}

impl Stream {
    /// Writes the state, whole or not at all, with a note of the caller's.
    #[cfg(feature = "files")]
    pub fn save(&self, path: &Path, note: &str) -> Result<()> {
        let bytes = self.to_bytes(note).map_err(|problem| Error::File { path: path.into(), problem })?;
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// Goes on where a state was saved, and the note that was saved with it.
    #[cfg(feature = "files")]
    pub fn load(path: &Path, detector: Arc<LongDetector>) -> Result<(Self, String)> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_bytes(&bytes, detector).map_err(|problem| {
            let problem = format!("not a usable state of a stream: {problem}; delete it to begin anew");
            Error::File { path: path.into(), problem }
        })
    }

    /// The content of the file of the state.
    pub fn to_bytes(&self, note: &str) -> Result<Vec<u8>, String> {
        let (state, open) = (&self.state, self.finder.open.as_ref());
        let described = |state: &State| MemberHeader {
            segment: state.segment,
            first_row: state.first_row,
            first_window: state.first_window,
            settled: state.settled,
        };
        let header = Header {
            format: FORMAT,
            model: self.detector.fingerprint(),
            score: self.rules.score,
            rows: state.rows(),
            members: state.states.iter().map(described).collect(),
            quiet_until: self.finder.quiet_until,
            open: open.map(|open| OpenHeader {
                from: open.from,
                last: open.last,
                peak: open.peak,
                announced: open.announced,
                nearest: open.nearest,
            }),
            note: note.into(),
        };
        let json = serde_json::to_string(&header).map_err(|e| e.to_string())?;
        let mut arrays = Vec::new();
        for (at, (state, waiting)) in state.states.iter().zip(&state.waiting).enumerate() {
            let of_member = member_arrays(state, waiting).into_iter().map(|array| array.of_view(&prefix(at)));
            arrays.extend(of_member);
        }
        if let Some(open) = open {
            arrays.push(Array::own("open.score", vec![1], vec![open.score]));
            arrays.push(Array::vector("open.window", &open.window));
        }
        container::to_bytes(&json, arrays)
    }

    /// A stream from the content of its file, and the note; an error says why it cannot be trusted.
    pub fn from_bytes(bytes: &[u8], detector: Arc<LongDetector>) -> Result<(Self, String), String> {
        container::open(bytes, &[FORMAT], |_, json, arrays| {
            let header: Header =
                serde_json::from_str(json).map_err(|e| format!("its JSON is malformed ({e})"))?;
            check(header.model == detector.fingerprint(), || "it belongs to another model".into())?;
            let mut stream = Self::new(detector, header.score);
            let core = &stream.detector.core;
            check(header.members.len() == core.members.len(), || "it has other members".into())?;
            let mut combined = Combined::new(core);
            for (at, (described, member)) in header.members.iter().zip(&core.members).enumerate() {
                let arrays = arrays.of_view(&prefix(at));
                combined.states[at] = read_member(described, header.rows, member, &arrays)?;
                combined.waiting[at] = arrays.floats("waiting", None)?.into();
            }
            let first = combined.settled();
            let fits = (0..combined.states.len()).all(|at| {
                combined.states[at].settled - first == combined.waiting[at].len() as u64
                    && combined.states[at].segment == combined.states[0].segment
            });
            check(fits, || "its members do not fit together".into())?;
            let model = &core.first().model;
            let mut finder = Finder { quiet_until: header.quiet_until, open: None };
            if let Some(open) = header.open {
                let window = arrays.finite("open.window", None)?;
                let each = model.window * model.channels;
                let fits = (window.is_empty() || window.len() == each) && open.nearest < model.len();
                let ordered = open.from <= open.last && open.last < header.rows;
                check(fits && ordered, || "its event is malformed".into())?;
                let score = arrays.finite("open.score", Some(1))?[0];
                let OpenHeader { from, last, peak, announced, nearest } = open;
                finder.open = Some(Open { from, last, peak, score, announced, nearest, window });
            }
            stream.state = combined;
            stream.finder = finder;
            Ok((stream, header.note))
        })
    }
}

/// What the names of a member's arrays begin with.
fn prefix(member: usize) -> String {
    format!("member{member}.")
}

fn member_arrays<'a>(state: &'a State, waiting: &VecDeque<f64>) -> Vec<Array<'a>> {
    let scores: Vec<f64> = state.windows.iter().map(|found| found.score).collect();
    vec![
        Array::vector("buffer", &state.buffer),
        Array::own("windows.scores", vec![scores.len()], scores),
        Array::numbers("windows.nearest", state.windows.iter().map(|found| u64::from(found.nearest))),
        Array::own("causal", vec![1], vec![state.causal]),
        Array::own("waiting", vec![waiting.len()], waiting.iter().copied().collect()),
    ]
}

/// The state of a member, if all that the next row takes for granted is so.
fn read_member(
    header: &MemberHeader,
    rows: u64,
    member: &Member,
    arrays: &Arrays<'_>,
) -> Result<State, String> {
    let (model, stride, window) = (&member.model, member.stride as u64, member.model.window as u64);
    let buffer = arrays.finite("buffer", None)?;
    let scores = arrays.finite("windows.scores", None)?;
    let nearest = arrays.numbers("windows.nearest", Some(scores.len()))?;
    check(nearest.iter().all(|at| (*at as usize) < model.len()), || "its windows are malformed".into())?;
    let held = (buffer.len() / model.channels) as u64;
    let MemberHeader { segment, first_row, first_window, settled } = *header;
    let begun = first_window.saturating_add(scores.len() as u64);
    let next = segment.saturating_add(begun.saturating_mul(stride));
    let sound = segment <= first_row
        && first_row.checked_add(held) == Some(rows)
        && buffer.len().is_multiple_of(model.channels)
        && first_row <= next
        && next <= rows
        && rows - next < window
        && settled == next
        && first_row <= (settled + 1).saturating_sub(window).max(segment)
        && first_window <= (settled - segment + 1).saturating_sub(window).div_ceil(stride);
    check(sound, || "its rows do not fit together".into())?;
    let found = scores.into_iter().zip(nearest);
    let windows = found.map(|(score, nearest)| Found { score, nearest: nearest as u32 }).collect();
    let causal = arrays.floats("causal", Some(1))?[0];
    Ok(State { buffer, windows, causal, rows, segment, first_row, first_window, settled, ..State::new() })
}

impl LongDetector {
    /// A number that tells this model from others.
    pub fn fingerprint(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        let settings = serde_json::to_string(&self.settings).unwrap_or_default();
        sum.update(settings.as_bytes());
        for Member { model, scale, .. } in &self.core.members {
            for values in [model.corpus.values(), model.directions.values(), &model.mean, &scale.means] {
                values.iter().for_each(|value| sum.update(&value.to_le_bytes()));
            }
        }
        for score in [PointScore::Settled, PointScore::Causal] {
            self.normal_block_maxima(score).iter().for_each(|value| sum.update(&value.to_le_bytes()));
        }
        format!("{:08x}", sum.finalize())
    }
}
