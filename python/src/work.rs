//! Calls without Python's lock. Long work is done on a thread of its own, while the calling thread looks after Ctrl-C
//! and tells progress; small work is done at once, since a thread takes longer to start than that.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use varnorm::Run;
use varnorm::run::Progress;

use crate::errors::{bad_param, raised};

/// How often the calling thread looks up.
const LOOK_UP: Duration = Duration::from_millis(50);
/// How long a call that was stopped waits for its work to notice; after that the work ends by itself, unheard.
const FAREWELL: Duration = Duration::from_millis(150);

/// Work of at most so many operations (see [`Kernel::operations`](varnorm::Kernel::operations)) takes less than a tenth of a second.
const SMALL: f64 = 1e7;

/// At most how many operations it takes to decompose a Gram matrix of so many series.
pub fn decomposition(series: usize) -> f64 {
    10.0 * (series as f64).powi(3)
}

/// How far the work has come: the last word is kept.
type Told = Arc<Mutex<Option<(String, usize, usize)>>>;

/// How a call is driven: threads, who hears of progress, and how long it may take.
pub struct Call {
    pub n_jobs: Option<i64>,
    pub progress: Option<Py<PyAny>>,
    /// Operations, at most: [`LONG`] where it is not worth while to count.
    pub operations: f64,
}

/// Operations of work that may take long.
pub const LONG: f64 = f64::INFINITY;

impl Call {
    /// Does the work and waits for it.
    pub fn run<T, W>(self, py: Python<'_>, work: W) -> PyResult<T>
    where
        T: Send + 'static,
        W: FnOnce(&Run) -> varnorm::Result<T> + Send + 'static,
    {
        self.run_telling(py, |run, _| work(run))
    }

    /// The same for work that tells of its progress in its own words.
    pub fn run_telling<T, W>(self, py: Python<'_>, work: W) -> PyResult<T>
    where
        T: Send + 'static,
        W: FnOnce(&Run, &dyn Fn(Progress<'_>)) -> varnorm::Result<T> + Send + 'static,
    {
        let told = Told::default();
        let tell = teller(&told);
        let threads = threads(self.n_jobs)?;
        let small = self.operations <= SMALL;
        // Results are the same for any number of threads.
        let mut run = if small { Run::sequential() } else { run_on(threads)? };
        if self.progress.is_some() {
            run = run.on_progress(teller(&told));
        }
        if small {
            let result = py.detach(move || work(&run, &tell));
            self.tell(py, &told)?;
            return result.map_err(|e| raised(&e));
        }
        let cancel = run.cancel_flag();
        let (sender, mut receiver) = mpsc::sync_channel(1);
        let started = std::thread::Builder::new().name("varnorm".into()).spawn(move || {
            // Nobody listens any more when the call was stopped.
            let _ = sender.send(work(&run, &tell));
        });
        started?;
        loop {
            let (back, outcome) = py.detach(move || {
                let outcome = receiver.recv_timeout(LOOK_UP);
                (receiver, outcome)
            });
            receiver = back;
            match outcome {
                Ok(result) => {
                    self.tell(py, &told)?;
                    return result.map_err(|e| raised(&e));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("varnorm failed in an unforeseen way; see stderr"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(stop) = self.tell(py, &told).and_then(|()| py.check_signals()) {
                        cancel.store(true, std::sync::atomic::Ordering::Relaxed);
                        py.detach(move || receiver.recv_timeout(FAREWELL).is_ok());
                        return Err(stop);
                    }
                }
            }
        }
    }

    /// Calls the listener with the last word, if there is a new one.
    fn tell(&self, py: Python<'_>, told: &Told) -> PyResult<()> {
        let word = told.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(listener), Some(word)) = (&self.progress, word) {
            listener.call1(py, word)?;
        }
        Ok(())
    }
}

fn teller(told: &Told) -> impl Fn(Progress<'_>) + Send + Sync + 'static {
    let told = Arc::clone(told);
    move |progress: Progress<'_>| {
        let word = (progress.stage.to_string(), progress.done, progress.total);
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(word);
    }
}

/// As joblib counts: none is one, -1 all cores, -2 all but one.
fn threads(n_jobs: Option<i64>) -> PyResult<usize> {
    // Counting cores means reading files: not at every call.
    static CORES: LazyLock<i64> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from) as i64);
    match n_jobs.unwrap_or(1) {
        0 => Err(bad_param("n_jobs", 0, "must be a number of threads, or -1 for one per core")),
        n if n < 0 => Ok((*CORES + 1 + n).max(1) as usize),
        n => Ok(n as usize),
    }
}

/// Threads of this process, by their number: starting them takes longer than small work does.
static POOLS: Mutex<Option<(u32, HashMap<usize, Run>)>> = Mutex::new(None);

fn run_on(threads: usize) -> PyResult<Run> {
    if threads == 1 {
        return Ok(Run::sequential());
    }
    let mut kept = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    // A forked child has the parent's pools without their threads: it must neither use nor end them.
    if kept.as_ref().is_some_and(|(owner, _)| *owner != process) {
        std::mem::forget(kept.take());
    }
    let (_, pools) = kept.get_or_insert_with(|| (process, HashMap::new()));
    if let Some(run) = pools.get(&threads) {
        return Ok(run.again());
    }
    let run = Run::with_threads(threads).map_err(|e| raised(&e))?;
    let again = run.again();
    pools.insert(threads, run);
    Ok(again)
}
