//! [`Fitting`]: a compact model that is fitted part by part, so that a corpus need never be in memory as a whole.

use std::collections::HashMap;

use super::{Detector, Fitted, Settings};
use crate::calibrate::{Calibrated, Calibration};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::self_values;
use crate::kernel::Kernel;
use crate::model::compact::{Compact, Gathered, Map, Rules, Space, choose_landmarks, content, has_features};
use crate::prepare::FittedPreparation;
use crate::run::Run;
use crate::score::Distance;

/// Series that are prepared and mapped at a time.
const CHUNK: usize = 16_384;

/// A fit that is given its corpus part by part; for the spaces `landmarks` and `features`.
///
/// The first part is what preparation, `auto` parameters and landmarks are learned from (unless they are those of a model:
/// [`Fitting::like`]); everything else is of all parts, and the same in whatever order and parts they come.
///
/// ```
/// use varnorm::{Run, Settings, data::basic_motions, detector::Fitting};
/// let run = Run::sequential();
/// let series = basic_motions().unwrap().train.series;
/// let settings = Settings { space: "landmarks:20".parse().unwrap(), ..Settings::default() };
/// let mut fitting = Fitting::new(&settings).unwrap();
/// fitting.add(&series, &run).unwrap();
/// let detector = fitting.finish(&run).unwrap();
/// assert_eq!(detector.corpus_series(), 40);
/// // More series later: the same model goes on.
/// let more = detector.partial_fit(&series.select(&[0, 1, 2]), &run).unwrap();
/// assert_eq!(more.corpus_series(), 43);
/// ```
pub struct Fitting {
    settings: Settings,
    learned: Option<Learned>,
    gathered: Option<Gathered>,
}

/// What is learned before the first point can be made.
#[derive(Clone)]
struct Learned {
    preparation: FittedPreparation,
    kernel: Kernel,
    map: Map,
}

impl Fitting {
    /// Nothing yet.
    pub fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        if settings.space.is_gram() {
            let rule =
                "all pairs of series are needed at once; choose landmarks or features to fit part by part";
            return Err(Error::bad_param("space", "gram", rule));
        }
        Ok(Self { settings: settings.clone(), learned: None, gathered: None })
    }

    /// Nothing yet, with the settings, the preparation, the kernel and the landmarks of a model.
    pub fn like(model: &Detector) -> Result<Self> {
        let fitting = Self::new(&model.settings)?;
        let learned = model.fitted.compact.as_ref().map(|compact| Learned {
            preparation: model.fitted.preparation.clone(),
            kernel: model.fitted.kernel.clone(),
            map: compact.gathered.map.clone(),
        });
        Ok(Self { learned, ..fitting })
    }

    /// Number of series so far.
    pub fn series(&self) -> usize {
        self.gathered.as_ref().map_or(0, Gathered::count)
    }

    /// Adds series.
    pub fn add(&mut self, series: &SeriesSet, run: &Run) -> Result<()> {
        if series.is_empty() {
            return Ok(());
        }
        match self.learned.clone() {
            None => self.learn(series, run),
            Some(learned) => {
                let places: Vec<usize> = (0..series.len()).collect();
                for chunk in places.chunks(CHUNK) {
                    let whole = chunk.len() == series.len();
                    let some = if whole { series.clone() } else { series.select(chunk) };
                    self.add_some(&learned, &some, run).map_err(|e| e.renumbered(chunk, chunk))?;
                }
                Ok(())
            }
        }
    }

    /// The first part: preparation, `auto` parameters and landmarks come from it.
    fn learn(&mut self, series: &SeriesSet, run: &Run) -> Result<()> {
        let settings = &self.settings;
        let (preparation, prepared) = settings.prepare.fit(series)?;
        let kernel = settings.kernel.resolve(&prepared)?;
        if settings.space == (Space::Features {}) {
            self.learned = Some(Learned { preparation, kernel, map: Map::Features });
            return self.add(series, run);
        }
        let contents: Vec<u64> = series.iter().map(content).collect();
        let (space, scaling) = (&settings.space, settings.scaling);
        let (map, points) = choose_landmarks(space, &kernel, scaling, &prepared, &contents, run)?;
        let map = Map::Landmarks(map);
        let mut gathered =
            Gathered::nothing(self.rules(), map.clone(), points.coordinates.columns(), prepared.channels())?;
        gathered.add(&contents, &prepared, points, run)?;
        self.gathered = Some(gathered);
        self.learned = Some(Learned { preparation, kernel, map });
        Ok(())
    }

    fn add_some(&mut self, learned: &Learned, series: &SeriesSet, run: &Run) -> Result<()> {
        let prepared = learned.preparation.apply(series)?;
        let points = learned.map.points(&learned.kernel, self.settings.scaling, &prepared, run)?;
        let contents: Vec<u64> = series.iter().map(content).collect();
        let (rules, dimensions) = (self.rules(), points.coordinates.columns());
        if self.gathered.is_none() {
            let nothing = Gathered::nothing(rules, learned.map.clone(), dimensions, prepared.channels())?;
            self.gathered = Some(nothing);
        }
        let Some(gathered) = &mut self.gathered else { return Ok(()) };
        if gathered.dimensions() != dimensions {
            return Err(Error::UnequalLengths {
                needs: "the space of features".into(),
                series: 0,
                found: prepared.series(0).steps(),
                expected: gathered.examples().first().map_or(0, |e| e.values.len() / prepared.channels()),
                advice: "bring all series to one length with the preparation step `resample`".into(),
            });
        }
        gathered.add(&contents, &prepared, points, run)
    }

    fn rules(&self) -> Rules {
        let (folds, seed) = match self.settings.calibration {
            Calibration::CrossFit { folds, seed }
            | Calibration::Gaussian { folds, seed }
            | Calibration::Fixed { folds, seed, .. } => (folds, seed),
            _ => (1, 0),
        };
        let keep_points = matches!(self.settings.distance, Distance::Conformance { .. });
        Rules { folds, seed, keep_points }
    }

    /// The model of all that was added.
    pub fn finish(self, run: &Run) -> Result<Detector> {
        let (Some(learned), Some(gathered)) = (self.learned, self.gathered) else {
            return Err(Error::TooFew {
                what: "fitting a detector".into(),
                needed: 2,
                found: 0,
                advice: "give more normal series".into(),
            });
        };
        let settings = self.settings;
        settings.measure().validate(gathered.count())?;
        let scores = match settings.calibration {
            Calibration::None {} => None,
            _ => {
                let pairs = (&learned.kernel, settings.scaling);
                let (rank, measure) = (settings.rank, settings.measure());
                Some(Compact::cross_fitted_scores(&gathered, rank, measure, pairs, run)?)
            }
        };
        if scores.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::TooFew {
                what: "calibration beside the landmarks".into(),
                needed: 1,
                found: 0,
                advice: "give more normal series, fewer landmarks, or calibration none".into(),
            });
        }
        let compact = Compact::finish(gathered, settings.rank, run)?;
        let fitted = Fitted::compact(learned.preparation, learned.kernel, compact, run)?;
        let members = fitted.compact.iter().flat_map(|c| c.gathered.examples()).map(|e| e.place).collect();
        settings.detector(fitted, members, scores.map(Calibrated::new))
    }
}

impl Fitted {
    /// A pipeline with a compact model; its corpus are the examples.
    pub(super) fn compact(
        preparation: FittedPreparation,
        kernel: Kernel,
        compact: Compact,
        run: &Run,
    ) -> Result<Self> {
        let examples = compact.gathered.examples();
        let channels = preparation.prepared_channels();
        let mut corpus = SeriesSet::new(channels)?;
        examples.iter().try_for_each(|example| corpus.push(&example.values))?;
        let self_values = self_values(std::slice::from_ref(&kernel), &corpus, run)?.pop().unwrap_or_default();
        let spectrum = compact.spectrum(run)?;
        Ok(Self { preparation, kernel, corpus, self_values, spectrum, compact: Some(compact) })
    }
}

impl Settings {
    /// An error where a compact space does not go with the other settings.
    pub(super) fn validate_space(&self) -> Result<()> {
        self.space.validate()?;
        if self.space.is_gram() {
            return Ok(());
        }
        if self.space == (Space::Features {}) && !has_features(&self.kernel) {
            let rule = "this kernel has no features of its own (flat_linear, sig_explicit, sig_random and sig_fourier have); choose \
                        landmarks, such as landmarks:256";
            return Err(Error::bad_param("space", format!("features with {}", self.kernel), rule));
        }
        let folds = match self.calibration {
            Calibration::None {} => 1,
            Calibration::CrossFit { folds, .. }
            | Calibration::Gaussian { folds, .. }
            | Calibration::Fixed { folds, .. } => folds,
            other => {
                let rule = "compact models are calibrated by cross_fit, gaussian, fixed or none";
                return Err(Error::bad_param("calibration", other, rule));
            }
        };
        if folds > usize::from(u8::MAX) {
            return Err(Error::bad_param("folds", folds, "compact models have at most 255"));
        }
        Ok(())
    }

    pub(super) fn fit_compact(&self, corpus: &SeriesSet, run: &Run) -> Result<Detector> {
        let mut fitting = Fitting::new(self)?;
        fitting.add(corpus, run)?;
        fitting.finish(run)
    }
}

impl Detector {
    /// The model of these series and more, with the preparation, the kernel and the landmarks that it has. For the spaces
    /// `landmarks` and `features`.
    pub fn partial_fit(self, more: &SeriesSet, run: &Run) -> Result<Self> {
        let mut fitting = Fitting::like(&self)?;
        let names = self.corpus_names.clone().filter(|_| more.is_empty());
        if let Some(compact) = self.fitted.compact {
            fitting.gathered = Some(compact.into_gathered(run)?);
        }
        fitting.add(more, run)?;
        Ok(fitting.finish(run)?.with_corpus_names(names))
    }

    /// The model of the series of all these models, in their order. They must be compact (spaces `landmarks` or `features`)
    /// and agree in settings, preparation, kernel and landmarks: fit the parts like one of them.
    pub fn merge(models: Vec<Self>, run: &Run) -> Result<Self> {
        let mut models = models.into_iter();
        let Some(first) = models.next() else {
            return Err(Error::bad_param("models", 0, "give at least one"));
        };
        let mut fitting = Fitting::like(&first)?;
        let mut names = first.corpus_names.clone();
        let (settings, preparation, kernel) =
            (first.settings.clone(), first.fitted.preparation.clone(), first.fitted.kernel.clone());
        let Some(compact) = first.fitted.compact else {
            return Err(Error::bad_param("space", "gram", "models of all pairs do not merge"));
        };
        let mut gathered = compact.into_gathered(run)?;
        for (at, model) in models.enumerate() {
            let alike = [
                (model.settings == settings, "settings"),
                (model.fitted.preparation == preparation, "a preparation"),
                (model.fitted.kernel == kernel, "a kernel"),
                (model.fitted.compact.as_ref().is_some_and(|c| c.gathered.map == gathered.map), "landmarks"),
            ];
            if let Some((_, what)) = alike.iter().find(|(same, _)| !same) {
                let rule = format!(
                    "it has {what} of its own, and points of different spaces do not add up; fit the parts like one of \
                     them (--like MODEL, Fitting::like)"
                );
                return Err(Error::bad_param("models", format!("model {}", at + 1), rule));
            }
            names = match (names, model.corpus_names) {
                (Some(mut all), Some(more)) => {
                    all.extend(more);
                    Some(all)
                }
                _ => None,
            };
            if let Some(compact) = model.fitted.compact {
                gathered.merge(compact.into_gathered(run)?)?;
            }
        }
        fitting.gathered = Some(gathered);
        Ok(fitting.finish(run)?.with_corpus_names(names))
    }

    /// Number of normal series that the model is of.
    pub fn corpus_series(&self) -> usize {
        self.fitted.spectrum.count()
    }

    /// The share of the sum of `k(x,x)` over the corpus that the coordinates of a compact model miss; 0 for all others.
    pub fn trace_error(&self) -> f64 {
        self.fitted.compact.as_ref().map_or(0.0, |compact| compact.gathered.trace_error())
    }

    /// Number of landmarks, where the model has some.
    pub fn landmarks(&self) -> Option<usize> {
        match &self.fitted.compact.as_ref()?.gathered.map {
            Map::Landmarks(map) => Some(map.series.len()),
            Map::Features => None,
        }
    }

    /// The place among all normal series of one that was found nearest.
    pub(super) fn place_of(&self, nearest: usize) -> usize {
        if self.fitted.compact.is_some() { nearest } else { self.members[nearest] }
    }

    /// The example (by its place in the kept corpus) for a series that was found nearest: itself where it is kept.
    pub(super) fn example_of(&self, nearest: usize) -> Option<usize> {
        match &self.fitted.compact {
            None => Some(nearest),
            Some(compact) => {
                let places = compact.gathered.examples();
                let known: HashMap<usize, usize> =
                    places.iter().enumerate().map(|(at, one)| (one.place, at)).collect();
                known.get(&nearest).copied()
            }
        }
    }
}
