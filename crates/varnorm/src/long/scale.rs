//! [`Scale`]: every channel brought to mean 0 and deviation 1 on the normal part.

use std::ops::Range;

use super::recording::Recording;

/// The mean and the unit of every channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    pub(super) means: Vec<f64>,
    pub(super) units: Vec<f64>,
}

impl Scale {
    /// From the rows of some segments.
    pub(super) fn fit(recording: &Recording<'_>, segments: &[Range<usize>]) -> Self {
        let channels = recording.channels();
        let rows: usize = segments.iter().map(ExactSizeIterator::len).sum();
        let average = |of: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; channels];
            for segment in segments {
                for row in recording.values_of(segment.clone()).chunks_exact(channels) {
                    row.iter().enumerate().for_each(|(c, value)| sums[c] += of(c, *value));
                }
            }
            sums.iter_mut().for_each(|sum| *sum /= rows.max(1) as f64);
            sums
        };
        let means = average(&|_, value| value);
        let squares = average(&|c, value| (value - means[c]).powi(2));
        let units = means.iter().zip(&squares).map(|(mean, square)| unit(*mean, square.sqrt())).collect();
        Self { means, units }
    }

    /// Appends rows in units of the scale.
    pub(super) fn append(&self, rows: &[f64], out: &mut Vec<f64>) {
        out.reserve(rows.len());
        for row in rows.chunks_exact(self.means.len()) {
            let scales = self.means.iter().zip(&self.units);
            out.extend(row.iter().zip(scales).map(|(value, (mean, unit))| (value - mean) / unit));
        }
    }
}

/// The deviation; 1 for a constant channel, whose changes count in units of the file.
fn unit(mean: f64, deviation: f64) -> f64 {
    if deviation > 1e-8 * mean.abs() { deviation } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_mean_0_and_deviation_1_but_for_constant_ones() {
        let values = [1.0, 5.0, 0.0, 3.0, 5.0, 0.0, f64::NAN, 9.0, 9.0];
        let recording = Recording::new(&values, 3).unwrap();
        let scale = Scale::fit(&recording, &recording.segments());
        assert_eq!(
            (scale.means.as_slice(), scale.units.as_slice()),
            (&[2.0, 5.0, 0.0][..], &[1.0, 1.0, 1.0][..])
        );
        let mut out = Vec::new();
        scale.append(&values[..3], &mut out);
        assert_eq!(out, [-1.0, 0.0, 0.0]);
    }
}
