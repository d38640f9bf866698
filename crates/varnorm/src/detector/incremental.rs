//! [`Fitting`]: a compact model that is fitted part by part, so that a corpus need never be in memory as a whole.

use std::collections::HashMap;

use super::{Detector, Settings};
use crate::calibrate::{Calibrated, Calibration};
use crate::data::{Channel, SeriesSet};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::compact::{Compact, Gathered, Map, Rules, Space, choose_landmarks, content};
use crate::model::{FittedCompact, FittedView, FittedViews, Model, View};
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
/// let settings = Settings::default().with_space("landmarks:20".parse().unwrap());
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
    views: Vec<ViewFitting>,
}

/// The fit of one view.
struct ViewFitting {
    view: View,
    rules: Rules,
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
        if !settings.grows() {
            return Err(all_pairs());
        }
        let settings = Settings { calibration: settings.calibration.resolved(false), ..settings.clone() };
        Ok(Self::of_views(&settings, settings.given().to_vec()))
    }

    fn of_views(settings: &Settings, views: Vec<View>) -> Self {
        let one = |view| ViewFitting { rules: rules(settings, &view), view, learned: None, gathered: None };
        Self { settings: settings.clone(), views: views.into_iter().map(one).collect() }
    }

    /// Nothing yet, with the settings, the preparation, the kernel and the landmarks of a model.
    pub fn like(model: &Detector) -> Result<Self> {
        if model.is_all_pairs() {
            return Err(all_pairs());
        }
        let views = model.fitted.views.iter().map(|one| one.view.clone()).collect();
        let mut fitting = Self::of_views(&model.settings, views);
        for (own, fitted) in fitting.views.iter_mut().zip(&model.fitted.views) {
            own.learned = fitted.model.compact().map(|model| Learned {
                preparation: fitted.preparation.clone(),
                kernel: fitted.geometry.kernel.clone(),
                map: model.compact.gathered.map.clone(),
            });
        }
        Ok(fitting)
    }

    /// Number of series so far.
    pub fn series(&self) -> usize {
        self.views.first().and_then(|view| view.gathered.as_ref()).map_or(0, Gathered::count)
    }

    /// Adds series.
    pub fn add(&mut self, series: &SeriesSet, run: &Run) -> Result<()> {
        self.views.iter_mut().try_for_each(|view| view.add(series, run))
    }

    /// The model of all that was added.
    pub fn finish(self, run: &Run) -> Result<Detector> {
        let settings = self.settings;
        let (mut views, mut scores) = (Vec::new(), Vec::new());
        for view in self.views {
            let (fitted, of_view) = view.finish(&settings, run)?;
            views.push(fitted);
            scores.push(of_view);
        }
        let scores = in_common(scores);
        let calibrated = settings.calibration != (Calibration::None {});
        if calibrated && scores.iter().any(Vec::is_empty) {
            return Err(Error::TooFew {
                what: "calibration beside the landmarks".into(),
                needed: 1,
                found: 0,
                advice: "give more normal series, fewer landmarks, or calibration none".into(),
            });
        }
        let (fitted, combined) = FittedViews::combined(views, settings.combination, &scores);
        let members = match &fitted.first().model {
            Model::Compact(model) => model.compact.gathered.examples().iter().map(|e| e.place).collect(),
            Model::AllPairs(_) => Vec::new(),
        };
        let calibrated = combined.filter(|_| calibrated).map(Calibrated::new);
        settings.detector(fitted, members, calibrated)
    }
}

fn listed(channels: &[Channel]) -> String {
    channels.iter().map(Channel::to_string).collect::<Vec<_>>().join(", ")
}

/// Nothing can be added to a model of all pairs.
fn all_pairs() -> Error {
    let rule = "all pairs of series are needed at once; choose landmarks or features to fit part by part";
    Error::bad_param("space", "gram", rule)
}

/// Scores of the series that every view has a score of: landmarks of a view have none in it.
fn in_common(scores: Vec<Vec<(usize, f64)>>) -> Vec<Vec<f64>> {
    let by_place: Vec<HashMap<usize, f64>> = scores.iter().map(|of| of.iter().copied().collect()).collect();
    let shared = |place: &usize| by_place.iter().all(|of| of.contains_key(place));
    let places: Vec<usize> =
        scores.first().into_iter().flatten().map(|(place, _)| *place).filter(shared).collect();
    by_place.iter().map(|of| places.iter().map(|place| of[place]).collect()).collect()
}

fn rules(settings: &Settings, view: &View) -> Rules {
    let (folds, seed) = match settings.calibration {
        Calibration::CrossFit { folds, seed }
        | Calibration::Gaussian { folds, seed }
        | Calibration::Fixed { folds, seed, .. } => (folds, seed),
        // Several views are made comparable by scores of series that are left out.
        _ if settings.given().len() > 1 => (Calibration::COMPACT_FOLDS, 0),
        _ => (1, 0),
    };
    let keep_points = matches!(view.distance, Distance::Conformance { .. });
    Rules { folds, seed, keep_points }
}

impl ViewFitting {
    fn add(&mut self, series: &SeriesSet, run: &Run) -> Result<()> {
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
        let view = &self.view;
        let (preparation, prepared) = view.prepare.fit(series)?;
        let kernel = view.kernel.resolve(&prepared)?;
        if view.space == (Space::Features {}) {
            self.learned = Some(Learned { preparation, kernel, map: Map::Features });
            return self.add(series, run);
        }
        let contents: Vec<u64> = series.iter().map(content).collect();
        let (map, points) = choose_landmarks(&view.space, &kernel, view.scaling, &prepared, &contents, run)?;
        let map = Map::Landmarks(map);
        let mut gathered =
            Gathered::nothing(self.rules, map.clone(), points.coordinates.columns(), prepared.channels())?;
        gathered.add(&contents, &prepared, points, run)?;
        self.gathered = Some(gathered);
        self.learned = Some(Learned { preparation, kernel, map });
        Ok(())
    }

    fn add_some(&mut self, learned: &Learned, series: &SeriesSet, run: &Run) -> Result<()> {
        let prepared = learned.preparation.apply(series)?;
        let points = learned.map.points(&learned.kernel, self.view.scaling, &prepared, run)?;
        let contents: Vec<u64> = series.iter().map(content).collect();
        let dimensions = points.coordinates.columns();
        if self.gathered.is_none() {
            let nothing =
                Gathered::nothing(self.rules, learned.map.clone(), dimensions, prepared.channels())?;
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

    /// The fitted view, and scores of sampled series that were left out, by their places.
    fn finish(self, settings: &Settings, run: &Run) -> Result<(FittedView, Vec<(usize, f64)>)> {
        let (Some(learned), Some(gathered)) = (self.learned, self.gathered) else {
            return Err(Error::TooFew {
                what: "fitting a detector".into(),
                needed: 2,
                found: 0,
                advice: "give more normal series".into(),
            });
        };
        let (variance, mean_square) = gathered.variance_and_mean_square();
        let geometry = self.view.geometry(learned.kernel, variance, mean_square);
        geometry.measure.validate(gathered.count())?;
        let scores = match settings.calibration {
            Calibration::None {} if settings.given().len() == 1 => Vec::new(),
            _ => Compact::cross_fitted_scores(&gathered, self.view.rank, &geometry, run)?,
        };
        let compact = Compact::finish(gathered, self.view.rank, run)?;
        let channels = learned.preparation.prepared_channels();
        let model = FittedCompact::new(compact, &geometry.kernel, channels, run)?;
        let (view, preparation) = (self.view, learned.preparation);
        Ok((FittedView { view, preparation, geometry, model: Model::Compact(Box::new(model)) }, scores))
    }
}

/// Fits compact views on a corpus that is in memory as a whole.
pub(super) fn fit_compact(
    settings: &Settings,
    views: Vec<View>,
    corpus: &SeriesSet,
    run: &Run,
) -> Result<Detector> {
    let mut fitting = Fitting::of_views(settings, views);
    fitting.add(corpus, run)?;
    fitting.finish(run)
}

impl Fitting {
    /// Adds what models alike have gathered.
    fn take(&mut self, fitted: FittedViews, run: &Run) -> Result<()> {
        for (own, one) in self.views.iter_mut().zip(fitted.views) {
            let Model::Compact(model) = one.model else { continue };
            let more = model.compact.into_gathered(run)?;
            match &mut own.gathered {
                Some(gathered) => gathered.merge(more)?,
                empty => *empty = Some(more),
            }
        }
        Ok(())
    }

    /// What a model has that differs, so that it cannot be added.
    fn unlike(&self, settings: &Settings, model: &Detector) -> Option<&'static str> {
        if model.settings != *settings || model.fitted.views.len() != self.views.len() {
            return Some("settings");
        }
        self.views.iter().zip(&model.fitted.views).find_map(|(own, one)| {
            let (learned, compact) = (own.learned.as_ref()?, one.model.compact()?);
            let alike = [
                (one.preparation == learned.preparation, "a preparation"),
                (one.geometry.kernel == learned.kernel, "a kernel"),
                (compact.compact.gathered.map == learned.map, "landmarks"),
            ];
            alike.into_iter().find(|(same, _)| !same).map(|(_, what)| what)
        })
    }
}

impl Detector {
    /// The model of these series and more, with the preparation, the kernel and the landmarks that it has. For the spaces
    /// `landmarks` and `features`.
    pub fn partial_fit(self, more: &SeriesSet, run: &Run) -> Result<Self> {
        let mut fitting = Fitting::like(&self)?;
        let (names, origin) = (self.corpus_names.filter(|_| more.is_empty()), self.origin);
        fitting.take(self.fitted, run)?;
        fitting.add(more, run)?;
        Ok(Self { notes: self.notes, origin, ..fitting.finish(run)?.with_corpus_names(names) })
    }

    /// The model of the series of all these models, in their order. They must be compact (spaces `landmarks` or `features`)
    /// and agree in settings, preparation, kernel and landmarks: fit the parts like one of them.
    pub fn merge(models: Vec<Self>, run: &Run) -> Result<Self> {
        let mut models = models.into_iter();
        let Some(first) = models.next() else {
            return Err(Error::bad_param("models", 0, "give at least one"));
        };
        let mut fitting = Fitting::like(&first)?;
        let (mut names, notes) = (first.corpus_names.clone(), first.notes.clone());
        let (settings, origin) = (first.settings.clone(), first.origin.clone());
        fitting.take(first.fitted, run)?;
        for (at, model) in models.enumerate() {
            if let Some(what) = fitting.unlike(&settings, &model) {
                let rule = format!(
                    "it has {what} of its own, and points of different spaces do not add up; fit the parts like one of \
                     them (--like MODEL, Fitting::like)"
                );
                return Err(Error::bad_param("models", format!("model {}", at + 1), rule));
            }
            if let (Some(found), Some(expected)) = (&model.origin.channels, &origin.channels)
                && found != expected
            {
                let rule = format!(
                    "its channels are {} where those of the first model are {}; fit the parts like one of them",
                    listed(found),
                    listed(expected)
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
            fitting.take(model.fitted, run)?;
        }
        Ok(Self { notes, origin, ..fitting.finish(run)?.with_corpus_names(names) })
    }

    /// Number of normal series that the model is of.
    pub fn corpus_series(&self) -> usize {
        self.spectrum().count()
    }

    /// The share of the sum of `k(x,x)` over the corpus that the coordinates of the first view miss; 0 for all pairs.
    pub fn trace_error(&self) -> f64 {
        self.first().model.compact().map_or(0.0, |model| model.compact.gathered.trace_error())
    }

    /// Number of landmarks of the first view, where it has some.
    pub fn landmarks(&self) -> Option<usize> {
        match &self.first().model.compact()?.compact.gathered.map {
            Map::Landmarks(map) => Some(map.series.len()),
            Map::Features => None,
        }
    }

    /// The place among all normal series of one that was found nearest.
    pub(super) fn place_of(&self, nearest: usize) -> usize {
        if self.is_all_pairs() { self.members[nearest] } else { nearest }
    }
}
