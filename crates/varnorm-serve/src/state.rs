//! What all requests share: the model in use, limits, counters.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;
use varnorm::calibrate::{Drift, DriftState};
use varnorm::detector::Description;
use varnorm::{Detector, Result};

use crate::connections::Connections;
use crate::metrics::Metrics;
use crate::{Limits, Options};

/// A model that is ready to score.
pub(crate) struct Model {
    pub(crate) detector: Detector,
    /// The answer to `GET /v1/model`.
    pub(crate) description: Vec<u8>,
    /// Whether what was scored still looks like the corpus; none without calibration.
    drift: Mutex<Option<Drift>>,
}

/// A running test begins anew after so many series: it keeps all their scores.
const DRIFT_SERIES: u64 = 10_000;

impl Model {
    pub(crate) fn load(path: &Path) -> Result<Arc<Self>> {
        let detector = Detector::load(path)?;
        let description = serde_json::to_vec(&Description::new(&detector))
            .map_err(|e| varnorm::Error::file(path, format!("cannot be described: {e}")))?;
        let drift = Mutex::new(begun(&detector));
        Ok(Arc::new(Self { detector, description, drift }))
    }

    /// Looks at scores of new series.
    pub(crate) fn watch(&self, scores: impl IntoIterator<Item = f64>) {
        let mut drift = self.drift.lock().unwrap_or_else(PoisonError::into_inner);
        for score in scores {
            if drift.as_ref().is_some_and(|drift| drift.state().series >= DRIFT_SERIES) {
                *drift = begun(&self.detector);
            }
            if let Some(drift) = drift.as_mut() {
                drift.add(score);
            }
        }
    }

    /// What the running test says.
    pub(crate) fn drift(&self) -> Option<DriftState> {
        self.drift.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Drift::state)
    }
}

/// The running test of a model, from its beginning.
fn begun(detector: &Detector) -> Option<Drift> {
    detector.calibrated().map(|calibrated| Drift::new(calibrated.scores(), 0))
}

/// What all requests share.
pub(crate) struct Shared {
    model: RwLock<Arc<Model>>,
    path: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) token: Option<String>,
    /// Turns to work.
    pub(crate) turns: Arc<Semaphore>,
    /// Turns that are held by work which is past its time limit and has not noticed yet.
    pub(crate) overdue: Arc<AtomicIsize>,
    /// Requests that wait for a turn.
    pub(crate) waiting: AtomicUsize,
    pub(crate) connections: Arc<Connections>,
    pub(crate) metrics: Metrics,
    told: Box<dyn Fn(&str) + Send + Sync>,
}

impl Shared {
    pub(crate) fn new(options: &Options, model: Arc<Model>, told: Box<dyn Fn(&str) + Send + Sync>) -> Self {
        Self {
            model: RwLock::new(model),
            path: options.model.clone(),
            limits: options.limits.clone(),
            token: options.token.clone(),
            turns: Arc::new(Semaphore::new(options.limits.concurrency)),
            overdue: Arc::default(),
            waiting: AtomicUsize::new(0),
            connections: Connections::new(options.limits.connections),
            metrics: Metrics::default(),
            told,
        }
    }

    /// The model in use; a request keeps the one that it began with.
    pub(crate) fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the model file again. Where that fails, the old model stays in use.
    pub(crate) fn reload(&self) -> Result<Arc<Model>> {
        let outcome = Model::load(&self.path);
        match &outcome {
            Ok(model) => {
                *self.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(model);
                self.metrics.reloaded(true);
                self.tell("the model was read again");
            }
            Err(error) => {
                self.metrics.reloaded(false);
                self.tell(&format!("the old model stays in use: {error}"));
            }
        }
        outcome
    }

    /// Why a request would not be worked on now, if it would not.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        let overdue = usize::try_from(self.overdue.load(Ordering::Relaxed)).unwrap_or(0);
        if overdue >= self.limits.concurrency {
            Some("all turns are held by work that is past its time limit")
        } else if self.waiting.load(Ordering::Relaxed) > 0
            && self.waiting.load(Ordering::Relaxed) >= self.limits.queue
        {
            Some("as many requests wait as the server allows")
        } else {
            None
        }
    }

    /// Says a line to whoever started the server.
    pub(crate) fn tell(&self, words: &str) {
        (self.told)(words);
    }
}
