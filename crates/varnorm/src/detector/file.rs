//! The model file: its JSON and its arrays.
//!
//! A model of one view has format 1, with the view's choices and arrays as they are; a model of several views has format
//! 2, with a list of views. Names and units of channels and the sampling step, where they are known, are an optional field
//! of both. The arrays of views are named `view0.`, `view1.` and so on. Loading trusts nothing: format version,
//! checksum over everything, every shape, every number.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::compact_file::{self, CompactHeader};
use super::container::{self, Array, Arrays, check};
use super::{Detector, Settings, Suspect};
use crate::calibrate::{Calibrated, Calibration, Chosen};
#[cfg(feature = "files")]
use crate::data::write_atomically;
use crate::data::{Origin, SeriesSet};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Parameter};
use crate::linalg::matrix::Scaled;
use crate::model::{AllPairs, FittedCompact, FittedView, FittedViews, Model, Standard, View};
use crate::prepare::{FittedPreparation, FittedStep, Per};
use crate::run::Run;
use crate::spectrum::Spectrum;

/// Version of the layout of a model of one view, and of several.
const ONE_VIEW: u32 = 1;
const SEVERAL_VIEWS: u32 = 2;

/// What is said about a model besides its views.
struct Shared {
    settings: Settings,
    corpus_names: Option<Vec<String>>,
    chosen: Option<Chosen>,
    origin: Origin,
    notes: Vec<String>,
    suspects: Vec<Suspect>,
}

/// The JSON of a model of one view.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    program: String,
    settings: Settings,
    kernel: Kernel,
    preparation: FittedPreparation,
    channels: usize,
    grand_mean: f64,
    variance: f64,
    threshold: f64,
    corpus_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    /// Of compact models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compact: Option<CompactHeader>,
    /// Regularisation, where it was left to the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// How the corpus was recorded, where anything is known.
    #[serde(default, skip_serializing_if = "Origin::is_unknown")]
    origin: Origin,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suspects: Vec<Suspect>,
}

/// The JSON of a model of several views, or of views that a preset chose.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeveralHeader {
    format: u32,
    program: String,
    settings: Settings,
    views: Vec<ViewHeader>,
    corpus_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Origin::is_unknown")]
    origin: Origin,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suspects: Vec<Suspect>,
}

/// The JSON of one view.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewHeader {
    view: View,
    kernel: Kernel,
    preparation: FittedPreparation,
    channels: usize,
    grand_mean: f64,
    variance: f64,
    threshold: f64,
    alpha: f64,
    /// Of compact models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compact: Option<CompactHeader>,
    /// What makes its scores comparable, where there are several views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    standard: Option<Standard>,
}

impl ViewHeader {
    fn new(fitted: &FittedView, standard: Option<Standard>) -> Self {
        let spectrum = fitted.spectrum();
        Self {
            view: fitted.view.clone(),
            kernel: fitted.geometry.kernel.clone(),
            preparation: fitted.preparation.clone(),
            channels: fitted.corpus().channels(),
            grand_mean: spectrum.grand_mean,
            variance: spectrum.variance,
            threshold: spectrum.threshold,
            alpha: fitted.geometry.measure.alpha,
            compact: fitted.model.compact().map(|model| CompactHeader::new(&model.compact)),
            standard,
        }
    }
}

impl Detector {
    /// Writes the model file: whole or not at all.
    #[cfg(feature = "files")]
    pub fn save(&self, path: &Path) -> Result<()> {
        let failed = |problem| Error::Model { path: path.into(), problem };
        let bytes = self.to_bytes().map_err(failed)?;
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// The content of the model file; an error says what could not be written. The bytes are read back first: a model
    /// that nothing could load must not take the place of a good one.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let bytes = self.unchecked_bytes()?;
        Self::read(&bytes, Keep::FirstView).map_err(|problem| {
            format!(
                "it could not be read again, so nothing was written ({problem}); check the settings and the size of \
                 the values"
            )
        })?;
        Ok(bytes)
    }

    fn unchecked_bytes(&self) -> Result<Vec<u8>, String> {
        let (json, mut arrays) = match self.settings.given() {
            [_] => (self.header_of_one()?, view_arrays(self.first())),
            _ => (self.header_of_several()?, self.arrays_of_several()),
        };
        arrays.push(Array::indices("corpus.members", self.members.iter().copied()));
        if let Some(worst) = &self.worst {
            arrays.push(Array::vector("suspect.values", worst.values()));
        }
        if let Some(calibrated) = &self.calibrated {
            arrays.push(Array::vector("calibration.scores", calibrated.scores()));
        }
        container::to_bytes(&json, arrays)
    }

    fn header_of_one(&self) -> Result<String, String> {
        let view = ViewHeader::new(self.first(), None);
        let header = Header {
            format: ONE_VIEW,
            program: program(),
            settings: self.settings.clone(),
            kernel: view.kernel,
            preparation: view.preparation,
            channels: view.channels,
            grand_mean: view.grand_mean,
            variance: view.variance,
            threshold: view.threshold,
            corpus_names: self.corpus_names.clone(),
            chosen: self.chosen,
            compact: view.compact,
            alpha: (view.view.alpha == Parameter::Auto).then_some(view.alpha),
            origin: self.origin.clone(),
            suspects: self.suspects.clone(),
        };
        serde_json::to_string(&header).map_err(|e| e.to_string())
    }

    fn header_of_several(&self) -> Result<String, String> {
        let standards = self.fitted.standards.iter().copied().map(Some).chain(std::iter::repeat(None));
        let header = SeveralHeader {
            format: SEVERAL_VIEWS,
            program: program(),
            settings: self.settings.clone(),
            views: self.fitted.views.iter().zip(standards).map(|(v, s)| ViewHeader::new(v, s)).collect(),
            corpus_names: self.corpus_names.clone(),
            chosen: self.chosen,
            notes: self.notes.clone(),
            origin: self.origin.clone(),
            suspects: self.suspects.clone(),
        };
        serde_json::to_string(&header).map_err(|e| e.to_string())
    }

    fn arrays_of_several(&self) -> Vec<Array<'_>> {
        let of_view = |(at, view)| view_arrays(view).into_iter().map(move |a| a.of_view(&prefix(at)));
        self.fitted.views.iter().enumerate().flat_map(of_view).collect()
    }

    /// Reads a model file; everything in it is checked first.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_bytes(&bytes).map_err(|problem| Error::Model { path: path.into(), problem })
    }

    /// From the content of a model file, checked; an error says which check failed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        Self::read(bytes, Keep::All)
    }

    fn read(bytes: &[u8], keep: Keep) -> Result<Self, String> {
        container::open(bytes, &[ONE_VIEW, SEVERAL_VIEWS], |version, json, arrays| match version {
            ONE_VIEW => assemble_one(described(json)?, arrays),
            _ => assemble_several(described(json)?, arrays, keep),
        })
    }
}

/// Which views stay in memory after they were read and checked.
#[derive(Clone, Copy, PartialEq)]
enum Keep {
    All,
    /// For a look at what was written: the model itself is in memory too, and three views twice are too much.
    FirstView,
}

fn program() -> String {
    concat!("varnorm ", env!("CARGO_PKG_VERSION")).into()
}

fn prefix(view: usize) -> String {
    format!("view{view}.")
}

fn described<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|e| format!("its description is malformed ({e})"))
}

/// The arrays of one view.
fn view_arrays(fitted: &FittedView) -> Vec<Array<'_>> {
    let own = |name, values: Vec<f64>| Array::own(name, vec![values.len()], values);
    let answers = fitted.model.answers();
    let (corpus, self_values) = (answers.corpus(), answers.self_values());
    let mut arrays = vec![
        Array::vector("corpus.values", corpus.values()),
        Array::indices("corpus.lengths", corpus.lengths()),
        own("corpus.self_mantissas", self_values.iter().map(|s| s.mantissa).collect()),
        own("corpus.self_exponents", self_values.iter().map(|s| s.exponent).collect()),
    ];
    match &fitted.model {
        Model::Compact(model) => arrays.extend(compact_file::arrays(&model.compact)),
        Model::AllPairs(model) => {
            let spectrum = &model.spectrum;
            arrays.extend([
                Array::vector("spectrum.eigenvalues", &spectrum.eigenvalues),
                Array::floats(
                    "spectrum.coordinates",
                    vec![spectrum.rank(), spectrum.corpus_len()],
                    spectrum.coordinates.values(),
                ),
                Array::vector("spectrum.row_means", &spectrum.row_means),
                Array::vector("spectrum.squares", &spectrum.squares),
            ]);
        }
    }
    arrays
}

fn assemble_one(header: Header, arrays: &Arrays<'_>) -> Result<Detector, String> {
    let [view] = header.settings.given() else { return Err("its settings are not those of one view".into()) };
    let alpha = match view.alpha {
        Parameter::Value(alpha) => alpha,
        Parameter::Auto => header.alpha.ok_or("its alpha is missing")?,
    };
    let own = ViewHeader {
        view: view.clone(),
        kernel: header.kernel,
        preparation: header.preparation,
        channels: header.channels,
        grand_mean: header.grand_mean,
        variance: header.variance,
        threshold: header.threshold,
        alpha,
        compact: header.compact,
        standard: None,
    };
    let shared = Shared {
        settings: header.settings,
        corpus_names: header.corpus_names,
        chosen: header.chosen,
        origin: header.origin,
        notes: Vec::new(),
        suspects: header.suspects,
    };
    let views = vec![assemble_view(own, arrays)?];
    assemble(shared, views, Vec::new(), arrays)
}

fn assemble_several(header: SeveralHeader, arrays: &Arrays<'_>, keep: Keep) -> Result<Detector, String> {
    let given = header.settings.given();
    check(!header.views.is_empty() && (given.is_empty() || given.len() == header.views.len()), || {
        "its views are malformed".into()
    })?;
    let standards: Vec<Standard> = header.views.iter().filter_map(|view| view.standard).collect();
    let expected = if header.views.len() > 1 { header.views.len() } else { 0 };
    check(standards.len() == expected && standards.iter().all(Standard::is_sound), || {
        "what makes its views comparable is malformed".into()
    })?;
    let shape = |view: &FittedView| (view.preparation.channels(), view.corpus().len());
    let mut views: Vec<FittedView> = Vec::new();
    for (at, view) in header.views.into_iter().enumerate() {
        let problem = |problem| format!("view {at}: {problem}");
        let view = assemble_view(view, &arrays.of_view(&prefix(at))).map_err(problem)?;
        check(views.first().is_none_or(|first| shape(first) == shape(&view)), || {
            "its views are of different corpora".into()
        })?;
        if at == 0 || keep == Keep::All {
            views.push(view);
        }
    }
    let shared = Shared {
        settings: header.settings,
        corpus_names: header.corpus_names,
        chosen: header.chosen,
        origin: header.origin,
        notes: header.notes,
        suspects: header.suspects,
    };
    assemble(shared, views, standards, arrays)
}

fn assemble(
    shared: Shared,
    views: Vec<FittedView>,
    standards: Vec<Standard>,
    arrays: &Arrays<'_>,
) -> Result<Detector, String> {
    let members = arrays.indices("corpus.members")?;
    check(members.len() == views[0].corpus().len() && members.is_sorted(), || {
        "its corpus members are malformed".into()
    })?;
    let settings = shared.settings;
    settings.validate().map_err(|e| e.to_string())?;
    let calibrated = match settings.calibration {
        Calibration::None {} => None,
        // Scores of the exact norm may be infinite.
        _ => Some(arrays.floats("calibration.scores", None)?),
    };
    check(calibrated.iter().flatten().all(|s| !s.is_nan()), || {
        "its calibration scores are malformed".into()
    })?;
    let names = shared.corpus_names.as_ref();
    check(names.is_none_or(|names| members.iter().all(|m| *m < names.len())), || {
        "its names are malformed".into()
    })?;
    if let Some(fault) = shared.origin.fault(views[0].preparation.channels()) {
        return Err(fault.into());
    }
    let supervised = matches!(settings.calibration, Calibration::Supervised { .. });
    let usable = shared.chosen.is_some_and(|c| !c.threshold.is_nan());
    check(supervised == shared.chosen.is_some() && (usable || !supervised), || {
        "its chosen threshold is malformed".into()
    })?;
    let channels = views[0].corpus().channels();
    let law = settings.gaussian_law(&views[0]).map_err(|e| e.to_string())?;
    let calibrated = calibrated.map(|scores| Calibrated::new(scores).with_tail(settings.tail)).transpose();
    Ok(Detector {
        chosen: shared.chosen,
        law,
        fitted: FittedViews { views, standards, combination: settings.combination },
        settings,
        members,
        calibrated: calibrated.map_err(|e| e.to_string())?,
        corpus_names: shared.corpus_names,
        origin: shared.origin,
        notes: shared.notes,
        worst: worst_suspect(&shared.suspects, channels, arrays)?,
        suspects: shared.suspects,
    })
}

/// The most suspicious member of the corpus, where there are suspects.
fn worst_suspect(
    suspects: &[Suspect],
    channels: usize,
    arrays: &Arrays<'_>,
) -> Result<Option<SeriesSet>, String> {
    if suspects.is_empty() {
        return Ok(None);
    }
    check(suspects.iter().all(|one| one.deviations.is_finite()), || "its suspects are malformed".into())?;
    let values = arrays.finite("suspect.values", None)?;
    let steps = values.len() / channels;
    SeriesSet::from_lengths(values, &[steps], channels).map(Some).map_err(|e| e.to_string())
}

fn assemble_view(header: ViewHeader, arrays: &Arrays<'_>) -> Result<FittedView, String> {
    let lengths = arrays.indices("corpus.lengths")?;
    let n = lengths.len();
    check(n >= 2 || header.compact.is_some(), || "it has fewer than two corpus series".into())?;
    let corpus = SeriesSet::from_lengths(arrays.finite("corpus.values", None)?, &lengths, header.channels)
        .map_err(|e| e.to_string())?;
    check(header.view.space.is_gram() == header.compact.is_none(), || "its space is malformed".into())?;
    check_preparation(&header)?;
    header.view.validate().and_then(|()| header.kernel.validate()).map_err(|e| e.to_string())?;
    header.view.measure(header.alpha).validate(usize::MAX).map_err(|e| e.to_string())?;
    let mantissas = arrays.finite("corpus.self_mantissas", Some(n))?;
    let exponents = arrays.finite("corpus.self_exponents", Some(n))?;
    let pair = |(mantissa, exponent)| Scaled { mantissa, exponent };
    let self_values: Vec<Scaled> = mantissas.into_iter().zip(exponents).map(pair).collect();
    // Self-values show that kernel and corpus fit together.
    let run = Run::sequential();
    crate::gram::self_values(std::slice::from_ref(&header.kernel), &corpus, &run)
        .map_err(|e| e.to_string())?;
    let model = match &header.compact {
        None => {
            let spectrum = spectrum(&header, arrays, n)?;
            Model::AllPairs(Box::new(AllPairs { corpus, self_values, spectrum }))
        }
        Some(own) => {
            let compact = compact_file::assemble(own, arrays, header.channels, &corpus)?;
            let spectrum = compact.spectrum(&run).map_err(|e| e.to_string())?;
            Model::Compact(Box::new(FittedCompact { compact, examples: corpus, self_values, spectrum }))
        }
    };
    let measure = header.view.measure(header.alpha);
    let geometry = crate::model::Geometry { kernel: header.kernel, scaling: header.view.scaling, measure };
    // What is kept of a compact model shows that the kernel's features are those of the model.
    if let Model::Compact(model) = &model {
        let first: Vec<usize> = (0..model.examples.len().min(1)).collect();
        model.points(&geometry, &model.examples.select(&first), &run).map_err(|e| e.to_string())?;
    }
    Ok(FittedView { view: header.view, preparation: header.preparation, geometry, model })
}

/// The spectrum of all pairs.
fn spectrum(header: &ViewHeader, arrays: &Arrays<'_>, n: usize) -> Result<Spectrum, String> {
    let eigenvalues = arrays.finite("spectrum.eigenvalues", None)?;
    let positive = eigenvalues.iter().all(|v| *v > 0.0) && eigenvalues.is_sorted_by(|a, b| a >= b);
    check(positive, || "its eigenvalues are not positive and descending".into())?;
    let coordinates = arrays.matrix("spectrum.coordinates", eigenvalues.len(), n)?;
    let finite = [header.grand_mean, header.variance, header.threshold].iter().all(|v| v.is_finite());
    check(finite, || "its description has numbers that are not finite".into())?;
    Ok(Spectrum {
        eigenvalues,
        coordinates,
        row_means: arrays.finite("spectrum.row_means", Some(n))?,
        grand_mean: header.grand_mean,
        squares: arrays.finite("spectrum.squares", Some(n))?,
        variance: header.variance,
        threshold: header.threshold,
        count: n,
        highest_rank: n - 1,
    })
}

fn check_preparation(header: &ViewHeader) -> Result<(), String> {
    let mut channels = header.preparation.channels();
    check(channels > 0, || "its preparation is malformed".into())?;
    for step in header.preparation.steps() {
        let holds = match step {
            FittedStep::Zscore { per, means, scales, offset } => {
                let fits = match per {
                    Per::Channel | Per::Global | Per::Robust => means.len() == channels,
                    Per::Series | Per::SeriesGlobal => means.is_empty(),
                    Per::Step => !means.is_empty() && means.len().is_multiple_of(channels),
                };
                fits && means.len() == scales.len()
                    && means.iter().chain(scales).all(|v| v.is_finite())
                    // 0 stands for a channel that is constant in the corpus.
                    && scales.iter().all(|s| *s >= 0.0)
                    && offset.is_finite()
            }
            FittedStep::Pool { window } => *window > 0,
            FittedStep::Resample { length } => *length > 0,
            FittedStep::Clip { limit } => *limit > 0.0,
            _ => true,
        };
        check(holds, || "its preparation is malformed".into())?;
        channels = step.channels_after(channels);
    }
    check(channels == header.channels, || "its preparation does not give its corpus' channels".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Preparation;
    use crate::score::Distance;

    /// A file with a right checksum and wrong content: what damage cannot make, a hand can.
    #[test]
    fn a_preparation_that_does_not_fit_its_channels_is_refused() {
        let values = (0..6 * 4 * 2).map(|i| f64::from(i).sin()).collect();
        let corpus = SeriesSet::from_equal(values, 4, 2).unwrap();
        for prepare in ["zscore=channel,time,lead_lag", "zscore=step,visibility=i"] {
            let prepare: Preparation = prepare.parse().unwrap();
            let settings = Settings::default().with_prepare(prepare).with_calibration(Calibration::None {});
            let good = settings.fit(&corpus, &Run::sequential()).unwrap();
            assert_eq!(Detector::from_bytes(&good.unchecked_bytes().unwrap()).unwrap(), good);
            let mut bad = good.clone();
            if let FittedStep::Zscore { means, scales, .. } = &mut bad.fitted.views[0].preparation.steps[0] {
                means.push(0.0);
                scales.push(1.0);
            }
            assert!(Detector::from_bytes(&bad.unchecked_bytes().unwrap()).unwrap_err().contains("malformed"));
            let mut bad = good.clone();
            bad.fitted.views[0].preparation.steps.push(FittedStep::Time { length: 1.0 });
            assert!(Detector::from_bytes(&bad.unchecked_bytes().unwrap()).unwrap_err().contains("channels"));
        }
    }

    #[test]
    fn a_kernel_with_other_features_than_the_model_is_refused() {
        let values = (0..20 * 4 * 2).map(|i| f64::from(i).sin()).collect();
        let corpus = SeriesSet::from_equal(values, 4, 2).unwrap();
        let run = Run::sequential();
        for distance in [Distance::Mahalanobis {}, Distance::default()] {
            let settings = Settings::default()
                .with_kernel("sig_random:features=8,variance=0.1,seed=0".parse().unwrap())
                .with_space("features".parse().unwrap())
                .with_calibration(Calibration::None {})
                .with_distance(distance);
            let good = settings.fit(&corpus, &run).unwrap();
            assert!(Detector::from_bytes(&good.unchecked_bytes().unwrap()).is_ok());
            let mut bad = good.clone();
            bad.fitted.views[0].geometry.kernel =
                "sig_random:features=9,variance=0.1,seed=0".parse().unwrap();
            let problem = Detector::from_bytes(&bad.unchecked_bytes().unwrap()).unwrap_err();
            assert!(problem.contains("9 features"), "{problem}");
            // Series of another length have other features too.
            let settings = settings.with_kernel("flat_linear".parse().unwrap());
            let short = SeriesSet::from_equal(vec![0.5; 6], 3, 2).unwrap();
            let error = settings.fit(&corpus, &run).unwrap().score(&short, &run).unwrap_err().to_string();
            assert!(error.contains("6 features under the model's kernel and its corpus has 8"), "{error}");
        }
    }
}
