//! [`Event`]s: alarms of points, merged, long enough and far enough apart.

use serde::Serialize;

use super::detector::{LongDetector, PointScore};
use super::fit::Member;
use super::model::Found;
use super::state::{State, WindowScore};
use crate::error::Result;

/// A stretch of rows whose scores are above the threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Its first row.
    pub from: u64,
    /// Its last row.
    pub to: u64,
    /// The row with the highest score.
    pub peak: u64,
    /// The highest score.
    pub score: f64,
    /// The chance of a normal block with a score as high as this, at most.
    pub p_value: Option<f64>,
    /// How much of the distance at the peak every channel carries: shares that add up to 1, or to 0 where none does alone.
    pub channels: Vec<f64>,
    /// Which of the model's normal windows is nearest to the peak.
    pub nearest: usize,
}

impl Event {
    /// Number of rows.
    pub fn duration(&self) -> u64 {
        self.to + 1 - self.from
    }
}

/// The beginning of an event, as soon as it is certain to be one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alarm {
    /// The first row of the event.
    pub from: u64,
    /// The row at which it had the minimum duration.
    pub row: u64,
    /// The highest score so far.
    pub score: f64,
}

/// An event that may go on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Open {
    pub(super) from: u64,
    /// The last row above the threshold.
    pub(super) last: u64,
    pub(super) peak: u64,
    pub(super) score: f64,
    pub(super) announced: bool,
    pub(super) nearest: usize,
    /// The window at the peak, in the units of the model.
    pub(super) window: Vec<f64>,
}

/// Finds events in the scores of rows that come in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Finder {
    pub(super) open: Option<Open>,
    /// No event begins before this row.
    pub(super) quiet_until: u64,
}

/// What alarms are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) threshold: f64,
    pub(super) merge: u64,
    pub(super) minimum_duration: u64,
    pub(super) hold_off: u64,
    pub(super) score: PointScore,
}

/// What became certain.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Certain {
    pub(super) alarms: Vec<Alarm>,
    pub(super) events: Vec<Open>,
}

impl Finder {
    /// Takes the score of the next row, while the windows that cover it are known.
    pub(super) fn point(
        &mut self,
        rules: &Rules,
        row: u64,
        score: f64,
        member: &Member,
        state: &State,
        out: &mut Certain,
    ) {
        let above = score > rules.threshold;
        if self.open.as_ref().is_some_and(|open| row - open.last > rules.merge + u64::from(above)) {
            self.close(rules, out);
        }
        if !above || (self.open.is_none() && row < self.quiet_until) {
            return;
        }
        let open = self.open.get_or_insert_with(|| Open {
            from: row,
            last: row,
            peak: row,
            score: f64::NEG_INFINITY,
            announced: false,
            nearest: 0,
            window: Vec::new(),
        });
        open.last = row;
        if score > open.score {
            (open.peak, open.score) = (row, score);
            if let Some(window) = window_at(rules.score, row, member, state) {
                open.nearest = window.nearest;
                open.window.clear();
                open.window.extend_from_slice(state.rows_of(member, window.start));
            }
        }
        if !open.announced && row + 1 - open.from >= rules.minimum_duration {
            open.announced = true;
            out.alarms.push(Alarm { from: open.from, row, score: open.score });
        }
    }

    /// Nothing follows without a gap: an open event ends with its last alarm.
    pub(super) fn close(&mut self, rules: &Rules, out: &mut Certain) {
        if let Some(open) = self.open.take().filter(|open| open.announced) {
            self.quiet_until = open.last + 1 + rules.hold_off;
            out.events.push(open);
        }
    }
}

/// The window that the score of a row comes from: the last that has ended, or the highest of those that cover it.
fn window_at(score: PointScore, row: u64, member: &Member, state: &State) -> Option<WindowScore> {
    let window = member.model.window as u64;
    let covering = state.covering(member, row);
    match score {
        // Between two windows of the grid, the last that has ended covers the row no more, but the next does.
        PointScore::Causal => covering.min_by_key(|one| one.start.abs_diff((row + 1).saturating_sub(window))),
        PointScore::Settled => covering.max_by(|a, b| a.score.total_cmp(&b.score)),
    }
}

impl LongDetector {
    /// An event that has ended, with what it says about channels.
    pub(super) fn explain(&self, open: Open, score: PointScore) -> Result<Event> {
        let channels = self.shares(&open.window, open.nearest)?;
        let Open { from, last, peak, score: highest, nearest, .. } = open;
        let p_value = self.p_value(highest, score);
        Ok(Event { from, to: last, peak, score: highest, p_value, channels, nearest })
    }

    /// How much of a window's squared score is gone when a channel is as in the nearest normal window, as shares.
    fn shares(&self, window: &[f64], nearest: usize) -> Result<Vec<f64>> {
        let (member, model) = (self.core.first(), &self.core.first().model);
        let (channels, each) = (model.channels, model.window * model.channels);
        if channels == 1 || window.len() != each {
            return Ok(vec![1.0; channels.min(1)]);
        }
        let normal = &member.windows[nearest * each..(nearest + 1) * each];
        let mut windows = window.to_vec();
        for channel in 0..channels {
            let replaced = window.iter().zip(normal).enumerate();
            windows.extend(
                replaced.map(|(at, (own, normal))| if at % channels == channel { normal } else { own }),
            );
        }
        let mut found = vec![Found { score: 0.0, nearest: 0 }; channels + 1];
        model.scores_of(windows, &mut found)?;
        let whole = found[0].score.powi(2);
        let drops: Vec<f64> = found[1..].iter().map(|one| (whole - one.score.powi(2)).max(0.0)).collect();
        let total: f64 = drops.iter().sum();
        Ok(drops.iter().map(|drop| if total > 0.0 { drop / total } else { 0.0 }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::long::{LongSettings, Recording};

    fn core() -> std::sync::Arc<crate::long::fit::Core> {
        let values: Vec<f64> = (0..200).map(|t| f64::from(t * t % 17)).collect();
        let recording = Recording::new(&values, 1).unwrap();
        LongDetector::fit(&recording, &LongSettings::default(), &Run::sequential()).unwrap().core
    }

    /// The events of rows whose scores are 1 where `above` has a mark.
    fn events(above: &str, merge: u64, minimum_duration: u64, hold_off: u64) -> Vec<(u64, u64, u64)> {
        let (core, state, mut finder, mut out) =
            (core(), State::new(), Finder::default(), Certain::default());
        let rules = Rules { threshold: 0.5, merge, minimum_duration, hold_off, score: PointScore::Settled };
        for (row, mark) in above.bytes().enumerate() {
            let score = match mark {
                b'.' => 0.0,
                b'?' => f64::NAN,
                digit => f64::from(digit - b'0'),
            };
            finder.point(&rules, row as u64, score, core.first(), &state, &mut out);
        }
        finder.close(&rules, &mut out);
        assert_eq!(out.alarms.len(), out.events.len());
        out.events.iter().map(|event| (event.from, event.last, event.peak)).collect()
    }

    #[test]
    fn alarms_are_merged_and_short_ones_dropped_and_some_held_off() {
        assert_eq!(events("..11..121...1", 0, 1, 0), [(2, 3, 2), (6, 8, 7), (12, 12, 12)]);
        assert_eq!(events("..11..121...1", 2, 1, 0), [(2, 8, 7), (12, 12, 12)]);
        assert_eq!(events("..11..121...1", 3, 1, 0), [(2, 12, 7)]);
        assert_eq!(events("..11..121...1", 0, 2, 0), [(2, 3, 2), (6, 8, 7)]);
        assert_eq!(events("..11..121...1", 0, 4, 0), []);
        assert_eq!(events("..11..121...1", 0, 1, 4), [(2, 3, 2), (8, 8, 8)]);
        // An event that is dropped holds nothing off.
        assert_eq!(events(".1.111.1", 0, 2, 9), [(3, 5, 3)]);
        assert_eq!(events("1?1", 1, 1, 0), [(0, 2, 0)]);
    }
}
