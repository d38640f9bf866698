//! How a long computation is driven: threads, progress, cancellation.
//!
//! A [`Run`] is passed by reference into everything that takes time. The library has no globals, installs no
//! signal handlers and prints nothing: a caller that wants a progress bar or Ctrl-C gives them here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::error::{Error, Result};

/// How far a stage has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done, in words.
    pub stage: &'a str,
    /// Units of work finished.
    pub done: usize,
    /// Units of work in all.
    pub total: usize,
}

type Listener = dyn Fn(Progress<'_>) + Send + Sync;

/// Threads to use, a flag that stops the work, and a listener for progress.
///
/// ```
/// use varnorm::Run;
/// let run = Run::with_threads(2).unwrap();
/// assert_eq!(run.threads(), 2);
/// run.cancel_flag().store(true, std::sync::atomic::Ordering::Relaxed);
/// assert!(run.check().is_err());
/// ```
pub struct Run {
    pool: Option<Arc<rayon::ThreadPool>>,
    cancel: Arc<AtomicBool>,
    listener: Option<Box<Listener>>,
}

impl Default for Run {
    fn default() -> Self {
        Self::sequential()
    }
}

impl Run {
    /// One thread, no progress, never cancelled.
    pub fn sequential() -> Self {
        Self { pool: None, cancel: Arc::default(), listener: None }
    }

    /// So many threads; 0 means one per core. Results do not depend on the number.
    pub fn with_threads(threads: usize) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores } else { threads };
        let pool = match threads {
            1 => None,
            _ => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                Some(Arc::new(pool.map_err(|e| Error::bad_param("threads", threads, e.to_string()))?))
            }
        };
        Ok(Self { pool, ..Self::sequential() })
    }

    /// Another run on the same threads, with a flag of its own and no listener: starting threads takes longer than
    /// small work does.
    pub fn again(&self) -> Self {
        Self { pool: self.pool.clone(), ..Self::sequential() }
    }

    /// Calls `listener` as work gets done, from any thread.
    pub fn on_progress(mut self, listener: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Set this flag to `true` to stop the work: dynamic kernels do after some pairs, others at the next tile.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Threads in use.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Whether anybody hears of progress.
    pub(crate) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// `Err(Cancelled)` once the caller has asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// The one parallel loop of the library: `work` on every task, each of which owns its output.
    ///
    /// Tasks are started in order and cancelled between each other; the first error by task order among those
    /// that ran is returned.
    #[doc(hidden)]
    pub fn for_each<T, F>(&self, stage: &str, tasks: Vec<T>, work: F) -> Result<()>
    where
        T: Send,
        F: Fn(T) -> Result<()> + Sync + Send,
    {
        let total = tasks.len();
        let done = AtomicUsize::new(0);
        let one = |task: T| {
            self.check()?;
            work(task)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(listener) = &self.listener {
                listener(Progress { stage, done, total });
            }
            Ok(())
        };
        match &self.pool {
            Some(pool) if total > 1 => pool.install(|| {
                // One task per job: tasks are tiles, large enough, and unequal.
                let outcomes: Vec<Result<()>> = tasks.into_par_iter().with_max_len(1).map(one).collect();
                outcomes.into_iter().collect()
            }),
            _ => tasks.into_iter().try_for_each(one),
        }
    }
}
