//! [`Series`] and [`SeriesSet`]: time series as numbers, nothing else.

#[cfg(feature = "files")]
use super::limits::ReadLimits;
use super::values::Values;
use crate::error::{Error, Result};

pub use super::values::SharedValues;

/// One multivariate time series: `steps` rows of `channels` values, borrowed from a [`SeriesSet`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Series<'a> {
    values: &'a [f64],
    channels: usize,
}

impl<'a> Series<'a> {
    /// Number of time steps.
    pub fn steps(&self) -> usize {
        self.values.len() / self.channels
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All values, step by step (row-major `steps x channels`).
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The values of all channels at one step.
    pub fn step(&self, step: usize) -> &'a [f64] {
        &self.values[step * self.channels..(step + 1) * self.channels]
    }
}

/// Many series with one number of channels and any lengths, in one buffer.
///
/// ```
/// use varnorm::SeriesSet;
/// let mut set = SeriesSet::new(2).unwrap();
/// set.push(&[0.0, 1.0, 2.0, 3.0]).unwrap(); // two steps
/// set.push(&[4.0, 5.0]).unwrap(); // one step
/// assert_eq!(set.len(), 2);
/// assert_eq!(set.series(0).step(1), [2.0, 3.0]);
/// assert_eq!(set.equal_length(), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSet {
    values: Values,
    /// Where each series starts in `values`, and the end: one more than there are series.
    starts: Vec<usize>,
    channels: usize,
}

impl SeriesSet {
    /// An empty set of series with so many channels.
    pub fn new(channels: usize) -> Result<Self> {
        if channels == 0 {
            return Err(Error::bad_param("channels", channels, "a series needs at least one channel"));
        }
        Ok(Self { values: Values::default(), starts: vec![0], channels })
    }

    /// `n` series of equal length from one `n x steps x channels` buffer, taken without a copy.
    pub fn from_equal(values: Vec<f64>, steps: usize, channels: usize) -> Result<Self> {
        let each = steps * channels;
        if each == 0 || !values.len().is_multiple_of(each) {
            return Err(Error::bad_param(
                "values",
                format!("{} numbers", values.len()),
                format!("must fill series of {steps} steps x {channels} channels, both at least 1"),
            ));
        }
        let starts = (0..=values.len() / each).map(|i| i * each).collect();
        Ok(Self { values: values.into(), starts, channels })
    }

    /// Series of the given lengths from one buffer, taken without a copy.
    pub fn from_lengths(values: Vec<f64>, lengths: &[usize], channels: usize) -> Result<Self> {
        Self::cut(values.into(), lengths, channels)
    }

    /// The same over a buffer that belongs to somebody else: it is kept alive, never changed, and copied only when
    /// this set is to be changed.
    pub fn from_shared(values: SharedValues, lengths: &[usize], channels: usize) -> Result<Self> {
        Self::cut(values.into(), lengths, channels)
    }

    /// The same series in a buffer of their own, so that nobody else can change them.
    pub fn into_owned(mut self) -> Self {
        self.values.own();
        self
    }

    /// Whether the buffer belongs to somebody else.
    pub fn is_shared(&self) -> bool {
        self.values.is_shared()
    }

    fn cut(values: Values, lengths: &[usize], channels: usize) -> Result<Self> {
        let total = lengths.iter().try_fold(0usize, |sum, &l| sum.checked_add(l.checked_mul(channels)?));
        if channels == 0 || lengths.contains(&0) || total != Some(values.len()) {
            return Err(Error::bad_param(
                "lengths",
                format!("{} series of {channels} channels", lengths.len()),
                format!("lengths must be at least 1 and add up to the {} values given", values.len()),
            ));
        }
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        starts.push(0);
        let mut end = 0;
        for length in lengths {
            end += length * channels;
            starts.push(end);
        }
        Ok(Self { values, starts, channels })
    }

    /// Appends one series given step by step (row-major `steps x channels`).
    pub fn push(&mut self, values: &[f64]) -> Result<()> {
        if values.is_empty() || !values.len().is_multiple_of(self.channels) {
            return Err(Error::bad_param(
                "series",
                format!("{} numbers", values.len()),
                format!("must be one or more whole steps of {} channels", self.channels),
            ));
        }
        self.values.own().extend_from_slice(values);
        self.starts.push(self.values.len());
        Ok(())
    }

    /// Looks at the limits after a series was appended.
    #[cfg(feature = "files")]
    pub(super) fn admit_last(&self, limits: &ReadLimits) -> Result<()> {
        let steps = self.len().checked_sub(1).map_or(0, |last| self.series(last).steps());
        limits.admit(self.len(), steps, self.channels, self.values.len())
    }

    /// Number of series.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no series.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of channels of every series.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// One series. Panics, as a slice does, when `index >= len()`.
    pub fn series(&self, index: usize) -> Series<'_> {
        Series { values: &self.values[self.starts[index]..self.starts[index + 1]], channels: self.channels }
    }

    /// All series in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Series<'_>> {
        (0..self.len()).map(|i| self.series(i))
    }

    /// The length of every series.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.starts.windows(2).map(|w| (w[1] - w[0]) / self.channels)
    }

    /// The common length, or `None` when there is none (unequal lengths, or no series).
    pub fn equal_length(&self) -> Option<usize> {
        let mut lengths = self.lengths();
        let first = lengths.next()?;
        lengths.all(|l| l == first).then_some(first)
    }

    /// The common length, or an error that names the first series that differs from the first one.
    pub fn require_equal_length(&self, needs: &str, advice: &str) -> Result<usize> {
        let first = self.lengths().next().unwrap_or(0);
        match self.lengths().position(|l| l != first) {
            None => Ok(first),
            Some(series) => Err(Error::UnequalLengths {
                needs: needs.into(),
                series,
                found: self.series(series).steps(),
                expected: first,
                advice: advice.into(),
            }),
        }
    }

    /// The whole buffer: series after series, step by step.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The whole buffer, to change values in place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.values.own()
    }

    /// The series at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let (mut values, mut starts) = (Vec::new(), vec![0]);
        for &i in indices {
            values.extend_from_slice(self.series(i).values());
            starts.push(values.len());
        }
        Self { values: values.into(), starts, channels: self.channels }
    }

    /// The channels at these places, in this order.
    pub fn take_channels(&self, places: &[usize]) -> Result<Self> {
        if places.is_empty() || places.iter().any(|at| *at >= self.channels) {
            let rule = format!("must be at least one place below the {} channels", self.channels);
            return Err(Error::bad_param("channels", format!("{places:?}"), rule));
        }
        let steps = self.values.chunks_exact(self.channels);
        let values: Vec<f64> = steps.flat_map(|step| places.iter().map(|at| step[*at])).collect();
        let starts = self.starts.iter().map(|start| start / self.channels * places.len()).collect();
        Ok(Self { values: values.into(), starts, channels: places.len() })
    }

    /// Appends all series of another set with the same number of channels.
    pub fn extend(&mut self, other: &Self) -> Result<()> {
        if other.channels != self.channels {
            return Err(Error::Channels {
                found: other.channels,
                expected: self.channels,
                advice: "give series of one kind".into(),
            });
        }
        let offset = self.values.len();
        self.values.own().extend_from_slice(&other.values);
        self.starts.extend(other.starts[1..].iter().map(|s| s + offset));
        Ok(())
    }

    /// `Ok` when every value is finite; otherwise the first one that is not, by series, step and channel.
    /// `after` is empty or names the preparation step that made it so.
    pub fn require_finite(&self, after: &str) -> Result<()> {
        // One cheap sweep in the good case: a sum of products with zero is NaN only if a value is not finite.
        if self.values.iter().map(|v| v * 0.0).sum::<f64>() == 0.0 {
            return Ok(());
        }
        for (series, one) in self.iter().enumerate() {
            if let Some(at) = one.values().iter().position(|v| !v.is_finite()) {
                let (step, channel, value) = (at / self.channels, at % self.channels, one.values()[at]);
                return Err(if value.is_nan() && after.is_empty() {
                    Error::Missing { series, step, channel }
                } else {
                    let after = if after.is_empty() { String::new() } else { format!(" after `{after}`") };
                    Error::NonFinite { series, step, channel, value, after }
                });
            }
        }
        Ok(())
    }
}
