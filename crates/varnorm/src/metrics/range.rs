//! [`Volumes`]: areas for labelled stretches of a long series, which forgive a detector some steps of lag.
//!
//! The definition is that of Paparrizos et al., "Volume Under the Surface" (VLDB 2022), with the thresholds and the mean
//! over buffers that the benchmark TSB-AD uses. The tests hold values that TSB-AD computed.

use crate::error::{Error, Result};

/// Thresholds of a curve: scores at evenly spaced ranks.
const THRESHOLDS: usize = 250;
/// The widest buffer that TSB-AD takes unless told otherwise.
pub const VUS_WINDOW: usize = 100;

/// Both volumes.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Volumes {
    /// VUS-PR: the volume under the surface of precision over recall and buffer.
    pub pr: f64,
    /// VUS-ROC: the volume under the surface of true over false positive rates and buffer.
    pub roc: f64,
}

/// Stretches of consecutive `true`, each as (first, last).
///
/// ```
/// assert_eq!(varnorm::metrics::stretches(&[true, false, true, true]), [(0, 0), (2, 3)]);
/// ```
pub fn stretches(flags: &[bool]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => found.push((at, at)),
        }
    }
    found
}

/// VUS-PR and VUS-ROC of scores, one per point, against labelled points: means of range-aware areas over all buffers of 0 to
/// `window` points around the labelled stretches. An error without a labelled point, without another, or with a score
/// that is no number.
pub fn volumes(scores: &[f64], anomalous: &[bool], window: usize) -> Result<Volumes> {
    let points = check(scores, anomalous)?;
    let surface = Surface::new(scores, anomalous);
    let mut extra = vec![0.0; points];
    let (mut pr, mut roc) = (0.0, 0.0);
    for buffer in 0..=window {
        let area = surface.areas(buffer, &mut extra);
        pr += area.pr;
        roc += area.roc;
    }
    let buffers = (window + 1) as f64;
    Ok(Volumes { pr: pr / buffers, roc: roc / buffers })
}

/// The highest F1 over all thresholds when one point above the threshold counts for its whole stretch. **Misleading**:
/// random scores reach high values where stretches are long. It is here for comparison with papers that report it.
pub fn point_adjusted_f1(scores: &[f64], anomalous: &[bool]) -> Result<f64> {
    check(scores, anomalous)?;
    let mut adjusted = scores.to_vec();
    for (first, last) in stretches(anomalous) {
        let highest = scores[first..=last].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        adjusted[first..=last].fill(highest);
    }
    let best = super::curve(&adjusted, anomalous).into_iter().map(|point| {
        let (precision, recall) = (point.precision, point.true_positive_rate);
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    });
    Ok(best.fold(0.0, f64::max))
}

/// The number of points.
fn check(scores: &[f64], anomalous: &[bool]) -> Result<usize> {
    let (points, labels) = (scores.len(), anomalous.len());
    if points != labels {
        return Err(Error::bad_param("scores", points, format!("there must be one per label, {labels}")));
    }
    if let Some(at) = scores.iter().position(|score| score.is_nan()) {
        return Err(Error::bad_param("scores", "NaN", format!("the score of point {at} is no number")));
    }
    let count = anomalous.iter().filter(|a| **a).count();
    if count == 0 || count == points {
        let rule = "an area needs at least one anomalous point and one normal";
        return Err(Error::bad_param("labels", format!("{count} of {points} anomalous"), rule));
    }
    Ok(points)
}

/// What is the same for every buffer.
struct Surface<'a> {
    anomalous: &'a [bool],
    events: Vec<(usize, usize)>,
    /// For every point the first threshold that it reaches; thresholds fall.
    reached: Vec<usize>,
    /// Points at or above each threshold.
    predicted: Vec<f64>,
    /// Anomalous points at or above each threshold.
    found: Vec<f64>,
    /// Anomalous points.
    positives: f64,
}

impl<'a> Surface<'a> {
    fn new(scores: &[f64], anomalous: &'a [bool]) -> Self {
        let points = scores.len();
        // Adding zero makes one of both zeros.
        let mut falling: Vec<f64> = scores.iter().map(|score| score + 0.0).collect();
        falling.sort_by(|a, b| b.total_cmp(a));
        let step = (points - 1) as f64 / (THRESHOLDS - 1) as f64;
        let rank = |k: usize| if k + 1 == THRESHOLDS { points - 1 } else { (k as f64 * step) as usize };
        let thresholds: Vec<f64> = (0..THRESHOLDS).map(|k| falling[rank(k)]).collect();
        let reached: Vec<usize> =
            scores.iter().map(|score| thresholds.partition_point(|t| t > score)).collect();
        let sums = |keep: &dyn Fn(usize) -> bool| {
            let mut counts = vec![0.0; THRESHOLDS];
            (0..points).filter(|at| keep(*at)).for_each(|at| counts[reached[at]] += 1.0);
            running(counts)
        };
        let (predicted, found) = (sums(&|_| true), sums(&|at| anomalous[at]));
        let positives = found[THRESHOLDS - 1];
        Self { anomalous, events: stretches(anomalous), reached, predicted, found, positives }
    }

    /// Both areas for one buffer. `extra` is zero before and after.
    fn areas(&self, buffer: usize, extra: &mut [f64]) -> Volumes {
        let lag = self.credit(buffer, extra);
        let existence = self.existence(buffer / 2);
        let points = self.anomalous.len() as f64;
        let (mut pr, mut roc, mut last) = (0.0, 0.0, (0.0, 0.0));
        for k in 0..THRESHOLDS {
            let hits = self.found[k] + lag[k];
            let positives = self.positives + 0.5 * lag[k];
            let recall = (hits / positives).min(1.0) * existence[k];
            let false_rate = (self.predicted[k] - hits) / (points - positives);
            pr += (recall - last.1) * (hits / self.predicted[k]);
            roc += (false_rate - last.0) * 0.5 * (recall + last.1);
            last = (false_rate, recall);
        }
        roc += (1.0 - last.0) * 0.5 * (1.0 + last.1);
        Volumes { pr, roc }
    }

    /// The credit for points beside a stretch, summed over those at or above each threshold: the root of one minus the
    /// distance in buffers, up to half a buffer away. Credits of several stretches add up to at most one.
    fn credit(&self, buffer: usize, extra: &mut [f64]) -> Vec<f64> {
        let mut touched = Vec::new();
        for (first, last) in &self.events {
            for distance in 1..=buffer / 2 {
                let credit = (1.0 - distance as f64 / buffer as f64).sqrt();
                for at in [last.checked_add(distance), first.checked_sub(distance)].into_iter().flatten() {
                    if at < extra.len() && !self.anomalous[at] {
                        extra[at] += credit;
                        touched.push(at);
                    }
                }
            }
        }
        let mut sums = vec![0.0; THRESHOLDS];
        for at in touched {
            // A point that was touched twice is taken once.
            sums[self.reached[at]] += std::mem::take(&mut extra[at]).min(1.0);
        }
        running(sums)
    }

    /// The share of stretches, widened by half a buffer and merged where they meet, with a point at or above each threshold.
    fn existence(&self, half: usize) -> Vec<f64> {
        let mut counts = vec![0.0; THRESHOLDS];
        let end = self.anomalous.len() - 1;
        let mut widened: Vec<(usize, usize)> = Vec::new();
        for (first, last) in &self.events {
            let (from, to) = (first.saturating_sub(half), (last + half).min(end));
            match widened.last_mut() {
                Some((_, before)) if *before >= from => *before = to,
                _ => widened.push((from, to)),
            }
        }
        for (from, to) in &widened {
            let first = self.reached[*from..=*to].iter().copied().min().unwrap_or(THRESHOLDS - 1);
            counts[first] += 1.0;
        }
        let all = widened.len() as f64;
        running(counts).into_iter().map(|count| count / all).collect()
    }
}

/// Sums up to and with each place.
fn running(mut values: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for value in &mut values {
        sum += *value;
        *value = sum;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        name: String,
        window: usize,
        scores: Vec<f64>,
        anomalous: Vec<u8>,
        vus_pr: f64,
        vus_roc: f64,
    }

    /// Written by `tools/golden_vus.py`, which asks TSB-AD.
    const GOLDEN: &str = include_str!("../../tests/data/vus.json");

    #[test]
    fn volumes_are_those_of_tsb_ad() {
        let cases: Vec<Case> = serde_json::from_str(GOLDEN).unwrap();
        assert!(cases.len() >= 8);
        for case in cases {
            let anomalous: Vec<bool> = case.anomalous.iter().map(|a| *a == 1).collect();
            let found = volumes(&case.scores, &anomalous, case.window).unwrap();
            assert!((found.pr - case.vus_pr).abs() <= 1e-12, "{}: {found:?}", case.name);
            assert!((found.roc - case.vus_roc).abs() <= 1e-12, "{}: {found:?}", case.name);
        }
    }

    #[test]
    fn one_lucky_point_counts_for_its_stretch() {
        let anomalous = [false, true, true, true, false, false];
        let found = point_adjusted_f1(&[0.1, 0.0, 0.0, 0.9, 0.5, 0.2], &anomalous).unwrap();
        assert_eq!(found, 1.0);
        let late = point_adjusted_f1(&[0.1, 0.0, 0.0, 0.4, 0.5, 0.2], &anomalous).unwrap();
        assert!((late - 2.0 * 0.75 / 1.75).abs() < 1e-15, "{late}");
    }

    #[test]
    fn what_has_no_area_is_an_error() {
        for (scores, labels) in [
            (&[1.0, 2.0][..], [true, true]),
            (&[1.0, 2.0], [false, false]),
            (&[f64::NAN, 1.0], [true, false]),
        ] {
            assert!(volumes(scores, &labels, 4).is_err());
            assert!(point_adjusted_f1(scores, &labels).is_err());
        }
        assert!(volumes(&[1.0], &[true, false], 4).is_err());
    }
}
