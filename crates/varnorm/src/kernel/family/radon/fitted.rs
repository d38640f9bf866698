//! [`RadonFit`]: what the kernel learned from a corpus, and its form in JSON.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::weights::Weights;
use super::{DIRECTIONS, MOST_DILATIONS, MOST_WEIGHTS, WINDOW};
use crate::kernel::family::shares::numbers;

/// What a kernel `radon` learned from a corpus: dilations and ranges of thresholds. A clone costs nothing.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct RadonFit(Arc<Learned>);

struct Learned {
    shape: Shape,
    /// The lowest and the highest threshold of every direction.
    ranges: Vec<f64>,
    /// Follow from the shape; made when they are first asked for.
    weights: OnceLock<Arc<Weights>>,
}

impl PartialEq for Learned {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.ranges == other.ranges
    }
}

/// What the directions follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) directions: usize,
    pub(super) window: usize,
    pub(super) dilations: usize,
    pub(super) channels: usize,
    pub(super) seed: u64,
}

impl Shape {
    /// A sentence where the directions would have too many numbers.
    pub(super) fn check(&self) -> Result<(), String> {
        let window = self.window.saturating_mul(self.channels);
        if window.saturating_mul(self.directions) <= MOST_WEIGHTS {
            return Ok(());
        }
        Err(format!(
            "{} directions for windows of {window} numbers are more than {MOST_WEIGHTS} numbers; choose fewer directions or channels, \
             or a smaller window",
            self.directions
        ))
    }

    pub(super) fn weights(&self) -> Weights {
        Weights::new(self.directions, self.window, self.dilations, self.channels, self.seed)
    }
}

impl RadonFit {
    pub(super) fn new(shape: Shape, ranges: Vec<f64>, weights: Option<Weights>) -> Self {
        let made = OnceLock::new();
        weights.into_iter().for_each(|weights| drop(made.set(Arc::new(weights))));
        Self(Arc::new(Learned { shape, ranges, weights: made }))
    }

    /// Channels of the corpus.
    pub fn channels(&self) -> usize {
        self.0.shape.channels
    }

    /// Number of dilations.
    pub fn dilations(&self) -> usize {
        self.0.shape.dilations
    }

    pub(super) fn directions(&self) -> usize {
        self.0.shape.directions
    }

    pub(super) fn window(&self) -> usize {
        self.0.shape.window
    }

    pub(super) fn seed(&self) -> u64 {
        self.0.shape.seed
    }

    /// The lowest and the highest threshold of every direction.
    pub(super) fn ranges(&self) -> impl Iterator<Item = [f64; 2]> {
        self.0.ranges.as_chunks::<2>().0.iter().copied()
    }

    pub(super) fn weights(&self) -> Arc<Weights> {
        Arc::clone(self.0.weights.get_or_init(|| Arc::new(self.0.shape.weights())))
    }
}

impl std::fmt::Debug for RadonFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RadonFit({:?})", self.0.shape)
    }
}

/// The form in JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    window: usize,
    dilations: usize,
    channels: usize,
    seed: u64,
    directions: usize,
    ranges: String,
}

impl From<RadonFit> for Text {
    fn from(fit: RadonFit) -> Self {
        let Shape { directions, window, dilations, channels, seed } = fit.0.shape;
        Self { window, dilations, channels, seed, directions, ranges: numbers::write(&fit.0.ranges) }
    }
}

impl TryFrom<Text> for RadonFit {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        let Text { window, dilations, channels, seed, directions, ranges } = text;
        for parameter in [(DIRECTIONS, directions), (WINDOW, window)] {
            parameter.0.check(parameter.1 as f64).map_err(|e| format!("a fitted radon: {e}"))?;
        }
        for (name, value, most) in
            [("dilations", dilations, MOST_DILATIONS), ("channels", channels, MOST_WEIGHTS)]
        {
            if !(1..=most).contains(&value) {
                return Err(format!("{name} of a fitted radon must be from 1 to {most}, not {value}"));
            }
        }
        let shape = Shape { directions, window, dilations, channels, seed };
        shape.check()?;
        let ranges = numbers::read("ranges", &ranges, 2 * directions)?;
        match ranges.as_chunks::<2>().0.iter().position(|[low, high]| low > high) {
            None => Ok(Self::new(shape, ranges, None)),
            Some(at) => {
                Err(format!("ranges of a fitted radon: that of direction {at} ends before it begins"))
            }
        }
    }
}
