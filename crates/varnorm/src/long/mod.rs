//! One long recording: a model of its windows, scores of points, windows and events, streams, promises about alarms.
//!
//! [`LongSettings`] say what is wanted, [`LongDetector::fit`] learns from a normal [`Recording`], and
//! [`LongDetector::score`] gives a score for every point of another. A [`Stream`] does the same row by row, to the same
//! bits.
//!
//! # What is computed
//! The windows of the normal part are a corpus in the feature space of a kernel: the shares of `rocket` for one channel,
//! the values themselves for several. The score of a window is its conformance: the distance to the nearest normal window
//! in the envelope norm with all eigenpairs, `sqrt(z' (C + alpha)^-1 z)`, alpha in units of C's mean eigenvalue.
//! Several channels have a second member, shares of windows twice as long; scores are standardised and averaged.
//! A point has two scores. The *settled* score is the mean over the windows that cover it; it is known some steps later.
//! The *causal* score is that of the last window that has ended; it is known at once.
//!
//! ```
//! use varnorm::long::{LongDetector, LongSettings, Recording};
//! use varnorm::Run;
//! let wave: Vec<f64> = (0..3000).map(|t| (f64::from(t) * 0.2).sin() + 0.1 * (f64::from(t) * 1.7).cos()).collect();
//! let normal = Recording::new(&wave, 1).unwrap();
//! let detector = LongDetector::fit(&normal, &LongSettings::default(), &Run::sequential()).unwrap();
//! let mut later = wave[..1000].to_vec();
//! later[500..520].fill(0.3);
//! let scores = detector.score(&Recording::new(&later, 1).unwrap(), &Run::sequential()).unwrap().settled;
//! let top = (0..1000).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
//! assert!((480..540).contains(&top));
//! ```

mod calibrate;
mod combine;
mod detector;
mod events;
mod file;
mod fit;
#[cfg(feature = "files")]
mod log;
mod model;
mod order;
mod recording;
mod saved;
mod scale;
mod settings;
mod state;
mod stream;
mod windows;

pub use calibrate::Promise;
pub use detector::{LongDetector, PointScore, PointScores};
pub use events::{Alarm, Event};
#[cfg(feature = "files")]
pub use log::{LogReader, LogRow};
pub use order::{Follows, GAP_LIMIT, Moment, Order, median_step, moment};
pub use recording::Recording;
pub use settings::{LongCalibration, LongSettings, Window};
pub use state::WindowScore;
pub use stream::{Pushed, Stream};
