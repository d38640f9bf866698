//! The baseline of principal components: what a window has outside the directions that hold most of the variance.

use varnorm::internal::eigenpairs;
use varnorm::{Error, Matrix, Result, Run};

/// The share of the variance that the components hold.
const HELD: f64 = 0.9;
/// Most windows that the components are of.
const MOST: usize = 2000;
/// Windows of a task.
const TASK: usize = 256;

/// The residual of principal components that hold 90 % of the variance of flattened windows, for every point the mean over
/// the windows that cover it. Channels are scaled on the normal part.
pub(super) struct Residual {
    window: usize,
    stride: usize,
    channels: usize,
    /// Mean and deviation of every channel.
    scale: Vec<(f64, f64)>,
    mean: Vec<f64>,
    /// The components that are kept, one per row.
    components: Matrix,
}

impl Residual {
    pub(super) fn fit(
        normal: &[f64],
        channels: usize,
        window: usize,
        stride: usize,
        run: &Run,
    ) -> Result<Self> {
        let rows = normal.len() / channels;
        if rows <= window {
            let rule = format!("must be more than the {window} rows of a window");
            return Err(Error::bad_param("normal part", format!("{rows} rows"), rule));
        }
        let scale = (0..channels).map(|channel| scale_of(normal, channels, channel)).collect();
        let mut fitted =
            Self { window, stride, channels, scale, mean: Vec::new(), components: Matrix::zeros(0, 0) };
        let all = rows - window + 1;
        let kept = all.min(MOST);
        let size = window * channels;
        let mut windows = Matrix::zeros(kept, size);
        for at in 0..kept {
            let start = at * (all - 1) / (kept - 1).max(1);
            fitted.scaled(normal, start, windows.row_mut(at));
        }
        fitted.mean = vec![0.0; size];
        for at in 0..kept {
            fitted
                .mean
                .iter_mut()
                .zip(windows.row(at))
                .for_each(|(mean, value)| *mean += value / kept as f64);
        }
        for at in 0..kept {
            windows.row_mut(at).iter_mut().zip(&fitted.mean).for_each(|(value, mean)| *value -= mean);
        }
        let mut covariance = Matrix::zeros(size, size);
        for at in 0..kept {
            let row = windows.row(at);
            for (i, value) in row.iter().enumerate() {
                let scaled = value / kept as f64;
                covariance.row_mut(i).iter_mut().zip(row).for_each(|(cell, other)| *cell += scaled * other);
            }
            run.check()?;
        }
        let found = eigenpairs(&covariance, run)?;
        let trace: f64 = found.values.iter().map(|value| value.max(0.0)).sum();
        let mut held = 0.0;
        let rank = found.values.iter().position(|value| {
            held += value.max(0.0);
            held >= HELD * trace
        });
        let rank = rank.map_or(0, |last| last + 1).min(size);
        let values = (0..rank).flat_map(|row| found.vectors.row(row).to_vec()).collect();
        fitted.components = Matrix::from_values(rank, size, values).unwrap_or(Matrix::zeros(0, size));
        Ok(fitted)
    }

    /// The window from a row on, scaled.
    fn scaled(&self, rows: &[f64], start: usize, out: &mut [f64]) {
        let values = &rows[start * self.channels..(start + self.window) * self.channels];
        for (at, (out, value)) in out.iter_mut().zip(values).enumerate() {
            let (mean, deviation) = self.scale[at % self.channels];
            *out = (value - mean) / deviation;
        }
    }

    /// A score per row.
    pub(super) fn score(&self, rows: &[f64], run: &Run) -> Result<Vec<f64>> {
        let points = rows.len() / self.channels;
        if points < self.window {
            let rule = format!("must be at least the {} rows of a window", self.window);
            return Err(Error::bad_param("test part", format!("{points} rows"), rule));
        }
        let last = points - self.window;
        let mut starts: Vec<usize> = (0..=last).step_by(self.stride).collect();
        if !last.is_multiple_of(self.stride) {
            starts.push(last);
        }
        let mut scores = vec![0.0; starts.len()];
        let tasks: Vec<_> = starts.chunks(TASK).zip(scores.chunks_mut(TASK)).collect();
        run.for_each("residuals", tasks, |(starts, scores)| {
            let mut window = vec![0.0; self.window * self.channels];
            for (start, score) in starts.iter().zip(scores) {
                self.scaled(rows, *start, &mut window);
                *score = self.residual(&mut window);
            }
            Ok(())
        })?;
        Ok(spread(&scores, &starts, self.window, points))
    }

    fn residual(&self, window: &mut [f64]) -> f64 {
        window.iter_mut().zip(&self.mean).for_each(|(value, mean)| *value -= mean);
        let whole: f64 = window.iter().map(|value| value * value).sum();
        let held: f64 = (0..self.components.rows())
            .map(|row| self.components.row(row).iter().zip(&*window).map(|(a, b)| a * b).sum::<f64>())
            .map(|part| part * part)
            .sum();
        (whole - held).max(0.0).sqrt()
    }
}

fn scale_of(rows: &[f64], channels: usize, channel: usize) -> (f64, f64) {
    let values = || rows.iter().skip(channel).step_by(channels);
    let count = (rows.len() / channels) as f64;
    let mean = values().sum::<f64>() / count;
    let deviation = (values().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count).sqrt();
    (mean, if deviation > 1e-8 * mean.abs().max(1.0) { deviation } else { 1.0 })
}

/// For every point the mean over the windows that cover it.
fn spread(scores: &[f64], starts: &[usize], window: usize, points: usize) -> Vec<f64> {
    let (mut sums, mut counts) = (vec![0.0; points], vec![0.0f64; points]);
    for (score, start) in scores.iter().zip(starts) {
        sums[*start..start + window].iter_mut().for_each(|sum| *sum += score);
        counts[*start..start + window].iter_mut().for_each(|count| *count += 1.0);
    }
    sums.iter().zip(&counts).map(|(sum, count)| sum / count.max(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_see_what_leaves_the_plane_of_the_normal_part() {
        let wave = |t: usize| (t as f64 * 0.4).sin();
        let normal: Vec<f64> = (0..400).map(wave).collect();
        let mut test: Vec<f64> = (400..600).map(wave).collect();
        test[100] += 2.0;
        let run = Run::sequential();
        let fitted = Residual::fit(&normal, 1, 16, 3, &run).unwrap();
        let scores = fitted.score(&test, &run).unwrap();
        let top = (0..200).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        assert!((86..=115).contains(&top), "{top}");
        assert_eq!(scores.len(), 200);
        let far = scores[..80].iter().copied().fold(0.0, f64::max);
        assert!(scores[top] > 3.0 * far, "{far} {}", scores[top]);
        assert!(Residual::fit(&normal[..16], 1, 16, 1, &run).is_err());
        assert!(fitted.score(&test[..8], &run).is_err());
    }

    #[test]
    fn points_are_means_over_windows() {
        assert_eq!(spread(&[1.0, 3.0], &[0, 1], 2, 3), [1.0, 2.0, 3.0]);
    }
}
