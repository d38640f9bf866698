//! [`Bar`]: the progress bar of long computations.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use varnorm::describe::whole_duration;
use varnorm::run::Progress;

/// A computation that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error, there only while a long computation runs.
pub struct Bar {
    shown: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the computation began.
    began: Option<Instant>,
    /// The current stage: its name, its size and when it began.
    stage: Option<(String, usize, Instant)>,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar that may be shown, or never is.
    pub fn new(shown: bool) -> Self {
        Self { shown, state: Mutex::default() }
    }

    /// Takes what the library tells, from any thread.
    pub fn report(&self, progress: Progress<'_>) {
        if !self.shown {
            return;
        }
        let now = Instant::now();
        let mut state = self.lock();
        let began = *state.began.get_or_insert(now);
        let same = |(name, total, _): &(String, usize, Instant)| {
            *name == progress.stage && *total == progress.total && progress.done > 1
        };
        if !state.stage.as_ref().is_some_and(same) {
            state.stage = Some((progress.stage.to_string(), progress.total, now));
        }
        if now - began < PATIENCE {
            return;
        }
        let since = state.stage.as_ref().map_or(now, |(_, _, since)| *since);
        let left = time_left(now - since, progress.done, progress.total);
        let (done, total) = (progress.done as u64, progress.total as u64);
        match &state.bar {
            Some(bar) => {
                bar.set_length(total);
                bar.set_prefix(progress.stage.to_string());
                bar.set_message(left);
                bar.set_position(done);
            }
            // Complete before its first draw.
            None => {
                let bar = new_bar(total).with_prefix(progress.stage.to_string());
                state.bar = Some(bar.with_message(left).with_position(done));
            }
        }
    }

    /// Takes the bar away; the next computation starts afresh.
    pub fn clear(&self) {
        let mut state = self.lock();
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        *state = State::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:32}] {percent:>3}% {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("=> "))
}

/// What is left if the rest goes as what is done went.
fn time_left(spent: Duration, done: usize, total: usize) -> String {
    if done == 0 || spent.is_zero() {
        return String::new();
    }
    let seconds = (spent.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64).ceil();
    format!("{} left", whole_duration(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_told_in_the_unit_that_fits() {
        let left = |spent, done| time_left(Duration::from_secs(spent), done, 100);
        assert_eq!(left(10, 50), "10 s left");
        assert_eq!(left(10, 10), "1 min 30 s left");
        assert_eq!(left(100, 1), "2 h 45 min left");
        assert_eq!(left(1, 0), "");
        assert_eq!(left(5, 100), "0 s left");
    }
}
