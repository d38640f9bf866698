//! The scores of flat windows in plain loops: no blocking, no factorisation, no state.

use std::ops::Range;

use varnorm::long::Recording;

/// The normal windows and the inverse of their regularised covariance.
pub struct Naive {
    window: usize,
    channels: usize,
    means: Vec<f64>,
    units: Vec<f64>,
    windows: Vec<Vec<f64>>,
    inverse: Vec<Vec<f64>>,
}

impl Naive {
    pub fn fit(train: &Recording<'_>, segments: &[Range<usize>], window: usize) -> Self {
        let channels = train.channels();
        let rows: Vec<&[f64]> = segments
            .iter()
            .flat_map(|s| s.clone().map(|r| &train.values()[r * channels..(r + 1) * channels]))
            .collect();
        let n = rows.len() as f64;
        let means: Vec<f64> = (0..channels).map(|c| rows.iter().map(|r| r[c]).sum::<f64>() / n).collect();
        let deviation = |c: usize| (rows.iter().map(|r| (r[c] - means[c]).powi(2)).sum::<f64>() / n).sqrt();
        let units = (0..channels).map(deviation).collect();
        let mut naive = Self { window, channels, means, units, windows: Vec::new(), inverse: Vec::new() };
        for segment in segments {
            for start in segment.start..(segment.end + 1).saturating_sub(window) {
                naive.windows.push(naive.cut(train, start));
            }
        }
        let (count, size) = (naive.windows.len() as f64, window * channels);
        let mean: Vec<f64> =
            (0..size).map(|i| naive.windows.iter().map(|w| w[i]).sum::<f64>() / count).collect();
        let covariance = |i: usize, j: usize| {
            naive.windows.iter().map(|w| (w[i] - mean[i]) * (w[j] - mean[j])).sum::<f64>() / count
        };
        let mut matrix: Vec<Vec<f64>> =
            (0..size).map(|i| (0..size).map(|j| covariance(i, j)).collect()).collect();
        let trace: f64 = (0..size).map(|i| matrix[i][i]).sum();
        (0..size).for_each(|i| matrix[i][i] += 0.1 * trace / size as f64);
        naive.inverse = inverted(matrix);
        naive
    }

    fn cut(&self, recording: &Recording<'_>, start: usize) -> Vec<f64> {
        let values = &recording.values()[start * self.channels..(start + self.window) * self.channels];
        let scaled = values.iter().enumerate();
        scaled.map(|(i, v)| (v - self.means[i % self.channels]) / self.units[i % self.channels]).collect()
    }

    fn distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let z: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        let mut square = 0.0;
        for i in 0..z.len() {
            for j in 0..z.len() {
                square += z[i] * self.inverse[i][j] * z[j];
            }
        }
        square.sqrt()
    }

    fn window_score(&self, recording: &Recording<'_>, start: usize) -> f64 {
        let x = self.cut(recording, start);
        self.windows.iter().map(|y| self.distance(&x, y)).fold(f64::INFINITY, f64::min)
    }

    /// Settled and causal scores.
    pub fn score(
        &self,
        test: &Recording<'_>,
        segments: &[Range<usize>],
        stride: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut settled, mut causal) = (vec![f64::NAN; test.rows()], vec![f64::NAN; test.rows()]);
        for segment in segments.iter().filter(|segment| segment.len() >= self.window) {
            let starts: Vec<usize> =
                segment.clone().step_by(stride).filter(|s| s + self.window <= segment.end).collect();
            let scores: Vec<f64> = starts.iter().map(|s| self.window_score(test, *s)).collect();
            for row in segment.clone() {
                let covering: Vec<f64> = (0..starts.len())
                    .filter(|i| starts[*i] <= row && row < starts[*i] + self.window)
                    .map(|i| scores[i])
                    .collect();
                settled[row] = match covering.len() {
                    0 => self.window_score(test, segment.end - self.window),
                    n => covering.iter().sum::<f64>() / n as f64,
                };
                let ended = (0..starts.len()).rfind(|i| starts[*i] + self.window <= row + 1);
                causal[row] = ended.map_or(f64::NAN, |i| scores[i]);
            }
        }
        (settled, causal)
    }
}

/// Gauss and Jordan, with the largest pivot of a column.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs())).unwrap();
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = matrix[column][column];
        for j in 0..n {
            matrix[column][j] /= scale;
            inverse[column][j] /= scale;
        }
        for row in (0..n).filter(|row| *row != column) {
            let factor = matrix[row][column];
            for j in 0..n {
                matrix[row][j] -= factor * matrix[column][j];
                inverse[row][j] -= factor * inverse[column][j];
            }
        }
    }
    inverse
}
