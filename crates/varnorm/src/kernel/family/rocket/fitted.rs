//! [`RocketFit`]: what the kernel learned from a corpus, and its form in JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dilations::{Dilation, MOST_DILATIONS};
use super::{KERNELS, MOST_FEATURES};
use crate::kernel::family::shares::numbers;

/// Most channels of a subset.
pub(super) const MOST_CHANNELS: usize = 9;

/// What a kernel `rocket` learned from a corpus: dilations, subsets of channels and biases. A clone costs nothing.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct RocketFit(Arc<Learned>);

/// The numbers. Kernels of one dilation follow each other, and features of one kernel.
#[derive(PartialEq)]
pub(super) struct Learned {
    /// Steps that the dilations are made for.
    pub(super) length: usize,
    pub(super) channels: usize,
    pub(super) dilations: Vec<Dilation>,
    /// The channels of every kernel and dilation, ascending.
    pub(super) subsets: Vec<Vec<u32>>,
    pub(super) biases: Vec<f64>,
}

impl RocketFit {
    pub(super) fn new(learned: Learned) -> Self {
        Self(Arc::new(learned))
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.0.biases.len()
    }

    /// Channels of the corpus.
    pub fn channels(&self) -> usize {
        self.0.channels
    }

    /// Steps from the middle of the widest kernel to its ends.
    pub(super) fn reach(&self) -> usize {
        4 * self.0.dilations.last().map_or(0, |d| d.step as usize)
    }

    pub(super) fn learned(&self) -> &Learned {
        &self.0
    }
}

impl std::fmt::Debug for RocketFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Learned { length, channels, dilations, biases, .. } = &*self.0;
        write!(f, "RocketFit({length} steps, {channels} channels, {} dilations, ", dilations.len())?;
        write!(f, "{} biases)", biases.len())
    }
}

/// The form in JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    length: usize,
    channels: usize,
    dilations: Vec<u32>,
    /// Features of every dilation, per kernel.
    counts: Vec<u32>,
    /// Whole numbers: for every dilation and kernel, the number of channels and the channels.
    subsets: String,
    biases: String,
}

impl From<RocketFit> for Text {
    fn from(fit: RocketFit) -> Self {
        let learned = fit.learned();
        let subsets: Vec<u32> = learned
            .subsets
            .iter()
            .flat_map(|subset| std::iter::once(subset.len() as u32).chain(subset.iter().copied()))
            .collect();
        Self {
            length: learned.length,
            channels: learned.channels,
            dilations: learned.dilations.iter().map(|d| d.step).collect(),
            counts: learned.dilations.iter().map(|d| d.features).collect(),
            subsets: numbers::write_whole(&subsets),
            biases: numbers::write(&learned.biases),
        }
    }
}

impl TryFrom<Text> for RocketFit {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        let Text { length, channels, dilations, counts, subsets, biases } = text;
        let ascending = dilations.is_sorted_by(|a, b| a < b) && dilations.first().is_some_and(|d| *d >= 1);
        if !ascending || dilations.len() > MOST_DILATIONS || counts.len() != dilations.len() {
            return Err(format!(
                "a fitted rocket has 1 to {MOST_DILATIONS} ascending dilations, with a count each"
            ));
        }
        let per_kernel: u64 = counts.iter().map(|c| u64::from(*c)).sum();
        if counts.contains(&0) || per_kernel > u64::from(MOST_FEATURES) / KERNELS as u64 {
            return Err(format!(
                "counts of a fitted rocket are above 0 and give at most {MOST_FEATURES} features"
            ));
        }
        let combinations = KERNELS * dilations.len();
        let subsets = numbers::read_whole("subsets", &subsets, combinations * (1 + MOST_CHANNELS))?;
        let subsets = split(&subsets, combinations, channels)?;
        let biases = numbers::read("biases", &biases, KERNELS * per_kernel as usize)?;
        let dilations =
            dilations.into_iter().zip(counts).map(|(step, features)| Dilation { step, features }).collect();
        Ok(Self::new(Learned { length, channels, dilations, subsets, biases }))
    }
}

/// Subsets, each of which begins with its size.
fn split(mut rest: &[u32], combinations: usize, channels: usize) -> Result<Vec<Vec<u32>>, String> {
    let mut subsets = Vec::with_capacity(combinations);
    while let Some((size, after)) = rest.split_first() {
        let size = *size as usize;
        let Some((subset, after)) = after.split_at_checked(size) else {
            return Err("the last of the subsets of a fitted rocket is cut off".into());
        };
        let known = subset.iter().all(|c| (*c as usize) < channels) && subset.is_sorted_by(|a, b| a < b);
        if !known || !(1..=MOST_CHANNELS).contains(&size) {
            return Err(format!(
                "a subset of a fitted rocket has 1 to {MOST_CHANNELS} ascending channels below {channels}, not {subset:?}"
            ));
        }
        subsets.push(subset.to_vec());
        rest = after;
    }
    match subsets.len() == combinations {
        true => Ok(subsets),
        false => {
            Err(format!("a fitted rocket has {} subsets where {combinations} are expected", subsets.len()))
        }
    }
}
