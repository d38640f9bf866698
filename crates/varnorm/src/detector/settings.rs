//! [`Settings`]: everything that can be chosen about a detector.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::preset::Preset;
use super::robust::Robust;
use crate::calibrate::{Calibration, Decision, Tail, check_level};
use crate::error::{Error, Result};
use crate::gram::Scaling;
use crate::kernel::{Kernel, Parameter};
use crate::model::{Combination, Space, View};
use crate::prepare::{Gaps, Preparation};
use crate::score::{Distance, Norm};
use crate::spectrum::Rank;

/// Where the views of a detector come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Views {
    /// Chosen for the corpus by a preset.
    Preset(Preset),
    /// Given: one, or several whose scores are combined.
    Given(Vec<View>),
}

/// Everything that can be chosen about a detector. Plain data: the same JSON everywhere.
///
/// The JSON of one view has its choices beside the others (`{"kernel":{..},"level":0.05}`), that of several has a list
/// `views`, that of a preset the word `preset`.
///
/// ```
/// use varnorm::Settings;
/// let settings = Settings::default().with_kernel("gak:sigma=3".parse().unwrap()).with_level(0.1);
/// assert_eq!(settings.given().len(), 1);
/// let json = serde_json::to_string(&settings).unwrap();
/// assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// How series are looked at.
    pub views: Views,
    /// How the scores of several views become one.
    pub combination: Combination,
    /// What happens to missing values inside series.
    pub gaps: Gaps,
    /// How scores become p-values.
    pub calibration: Calibration,
    /// The false-alarm rate that flags aim at.
    pub level: f64,
    /// How p-values become flags.
    pub decision: Decision,
    /// What p-values are made of beyond the calibration scores.
    pub tail: Tail,
    /// What is done about members of the corpus that do not belong there.
    pub robust: Robust,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            views: Views::Preset(Preset::default()),
            combination: Combination::default(),
            gaps: Gaps::default(),
            calibration: Calibration::default(),
            level: 0.05,
            decision: Decision::default(),
            tail: Tail::default(),
            robust: Robust::default(),
        }
    }
}

impl Settings {
    /// One view, with the default of every choice.
    pub fn one_view() -> Self {
        Self::default().with_views(vec![View::default()])
    }

    /// A preset.
    pub fn preset(preset: Preset) -> Self {
        Self { views: Views::Preset(preset), ..Self::default() }
    }

    /// From choices as users write them: the JSON of the settings, in which a kernel, a preparation, a space, a
    /// calibration or a distance may also be words such as `"gak:sigma=3"`. An error names the choice.
    ///
    /// ```
    /// use varnorm::Settings;
    /// let choices = serde_json::json!({"kernel": "gak:sigma=3", "level": 0.1});
    /// let settings = Settings::from_choices(choices.as_object().unwrap().clone()).unwrap();
    /// assert_eq!(settings.given()[0].kernel.to_string(), "gak:sigma=3");
    /// ```
    pub fn from_choices(mut choices: Map<String, Value>) -> Result<Self> {
        read_words(&mut choices)?;
        if let Some(Value::Array(views)) = choices.get_mut("views") {
            views.iter_mut().filter_map(Value::as_object_mut).try_for_each(read_words)?;
        }
        // A choice that cannot be read is named alone, not with all the rest.
        for (name, value) in &choices {
            let one = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
            serde_json::from_value::<Self>(one).map_err(|e| Error::bad_param(name, value, e.to_string()))?;
        }
        let read: Self = serde_json::from_value(Value::Object(choices))
            .map_err(|e| Error::bad_param("settings", "given", e.to_string()))?;
        read.validate()?;
        Ok(read)
    }

    /// The views that were given; none where a preset chooses them.
    pub fn given(&self) -> &[View] {
        match &self.views {
            Views::Preset(_) => &[],
            Views::Given(views) => views,
        }
    }

    /// The one view that is changed by the choices of a single view: a preset gives way to the default view.
    pub fn view_mut(&mut self) -> Result<&mut View> {
        if let Views::Preset(_) = self.views {
            self.views = Views::Given(vec![View::default()]);
        }
        let count = self.given().len();
        match &mut self.views {
            Views::Given(views) if count == 1 => Ok(&mut views[0]),
            _ => {
                let rule = "a choice for one view does not say which of several it is for; give it in the list of views";
                Err(Error::bad_param("views", count, rule))
            }
        }
    }

    /// Changes the one view; several become one, as `--kernel gak` means one.
    fn change(mut self, change: impl FnOnce(&mut View)) -> Self {
        let first = self.given().first().cloned().unwrap_or_default();
        let mut view = first;
        change(&mut view);
        self.views = Views::Given(vec![view]);
        self
    }

    /// With these views.
    pub fn with_views(self, views: Vec<View>) -> Self {
        Self { views: Views::Given(views), ..self }
    }

    /// One view, prepared so.
    pub fn with_prepare(self, prepare: Preparation) -> Self {
        self.change(|view| view.prepare = prepare)
    }

    /// One view, with this kernel.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        self.change(|view| view.kernel = kernel)
    }

    /// One view, with kernel values as they are or normalised.
    pub fn with_scaling(self, scaling: Scaling) -> Self {
        self.change(|view| view.scaling = scaling)
    }

    /// One view, with this norm.
    pub fn with_norm(self, norm: Norm) -> Self {
        self.change(|view| view.norm = norm)
    }

    /// One view, with this regularisation.
    pub fn with_alpha(self, alpha: f64) -> Self {
        self.change(|view| view.alpha = Parameter::Value(alpha))
    }

    /// One view, with this distance.
    pub fn with_distance(self, distance: Distance) -> Self {
        self.change(|view| view.distance = distance)
    }

    /// One view, with these eigenpairs.
    pub fn with_rank(self, rank: Rank) -> Self {
        self.change(|view| view.rank = rank)
    }

    /// One view, in this space.
    pub fn with_space(self, space: Space) -> Self {
        self.change(|view| view.space = space)
    }

    /// With this combination of several views.
    pub fn with_combination(self, combination: Combination) -> Self {
        Self { combination, ..self }
    }

    /// With this way with missing values.
    pub fn with_gaps(self, gaps: Gaps) -> Self {
        Self { gaps, ..self }
    }

    /// With this calibration.
    pub fn with_calibration(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// With this false-alarm rate.
    pub fn with_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// With this rule of decision.
    pub fn with_decision(self, decision: Decision) -> Self {
        Self { decision, ..self }
    }

    /// With this law of the largest normal scores.
    pub fn with_tail(self, tail: Tail) -> Self {
        Self { tail, ..self }
    }

    /// With this treatment of members of the corpus that do not belong there.
    pub fn with_robust(self, robust: Robust) -> Self {
        Self { robust, ..self }
    }

    /// Whether series can be added to the model later: every view is in a compact space.
    pub fn grows(&self) -> bool {
        matches!(&self.views, Views::Given(views) if views.iter().all(|view| view.space.grows()))
    }

    /// Whether missing values are filled in.
    pub fn fills_missing(&self) -> bool {
        self.gaps == Gaps::Interpolate || self.given().iter().any(|view| view.prepare.fills_missing())
    }

    /// Whether every view takes series of different lengths. A preset chooses views that its corpus can take.
    pub fn any_lengths(&self) -> bool {
        self.given().iter().all(View::any_lengths)
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        if let Views::Given(views) = &self.views {
            if views.is_empty() {
                return Err(Error::bad_param("views", "none", "give at least one view, or a preset"));
            }
            views.iter().try_for_each(View::validate)?;
            self.validate_spaces(views)?;
        }
        self.calibration.validate()?;
        let mahalanobis = matches!(self.given(), [one] if one.distance == (Distance::Mahalanobis {}));
        if matches!(self.calibration, Calibration::Gaussian { .. }) && !mahalanobis {
            let rule = "the Gaussian law is that of the Mahalanobis distance of one view; choose it, or calibration \
                        leave_one_out";
            return Err(Error::bad_param("calibration", "gaussian", rule));
        }
        self.validate_tail()?;
        self.robust.validate()?;
        check_level(self.level)
    }

    /// An error where a fitted tail does not go with the calibration.
    fn validate_tail(&self) -> Result<()> {
        let by_comparison = !self.calibration.flags_by_score()
            && !matches!(self.calibration, Calibration::Gaussian { .. } | Calibration::None {});
        if self.tail == Tail::None || by_comparison {
            return Ok(());
        }
        let rule = format!(
            "the calibration {} does not compare with normal scores; leave the tail out",
            self.calibration
        );
        Err(Error::bad_param("tail", self.tail, rule))
    }

    /// An error where compact spaces do not go with the other settings.
    fn validate_spaces(&self, views: &[View]) -> Result<()> {
        let compact = views.iter().filter(|view| !view.space.is_gram()).count();
        if compact == 0 {
            return Ok(());
        }
        if self.robust != Robust::default() {
            let rule = "compact models do not keep their series; trim with all pairs (space gram), or a part of the corpus";
            return Err(Error::bad_param("robust", self.robust, rule));
        }
        if compact < views.len() {
            let rule = "either all views are of all pairs (space gram), or none is";
            return Err(Error::bad_param("views", "of both kinds of space", rule));
        }
        let folds = match self.calibration {
            Calibration::None {} => 1,
            Calibration::Auto {} => Calibration::COMPACT_FOLDS,
            Calibration::CrossFit { folds, .. }
            | Calibration::Gaussian { folds, .. }
            | Calibration::Fixed { folds, .. } => folds,
            other => {
                let rule = "compact models are calibrated by cross_fit, gaussian, fixed or none; choose one of these";
                return Err(Error::bad_param("calibration", other, rule));
            }
        };
        if folds > usize::from(u8::MAX) {
            return Err(Error::bad_param("folds", folds, "compact models have at most 255"));
        }
        Ok(())
    }
}

/// Words among the choices, made JSON.
fn read_words(choices: &mut Map<String, Value>) -> Result<()> {
    fn json<T: std::str::FromStr<Err = Error> + Serialize>(text: &str) -> Result<Value> {
        Ok(serde_json::to_value(text.parse::<T>()?).unwrap_or_default())
    }
    for (name, value) in choices.iter_mut() {
        let Value::String(text) = &*value else { continue };
        *value = match name.as_str() {
            "kernel" => json::<Kernel>(text)?,
            "prepare" => json::<Preparation>(text)?,
            "space" => json::<Space>(text)?,
            "calibration" => json::<Calibration>(text)?,
            "robust" => json::<Robust>(text)?,
            "distance" => serde_json::json!({ "distance": text }),
            _ => continue,
        };
    }
    Ok(())
}

/// The JSON: every field that may be there. Choices of a view beside the others are those of the one view.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<Preset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    views: Option<Vec<View>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combination: Option<Combination>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<Gaps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prepare: Option<Preparation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scaling: Option<Scaling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    norm: Option<Norm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Distance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<Rank>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<Space>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    robust: Option<Robust>,
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let rest = Fields {
            // The default has no word: files of settings and models stay as they were.
            gaps: Some(self.gaps).filter(|gaps| *gaps != Gaps::default()),
            calibration: Some(self.calibration),
            level: Some(self.level),
            decision: Some(self.decision),
            // Files of settings that say nothing about these are as they always were.
            tail: Some(self.tail).filter(|tail| *tail != Tail::None),
            robust: Some(self.robust).filter(|robust| *robust != Robust::default()),
            ..Fields::default()
        };
        let combination = Some(self.combination);
        let fields = match &self.views {
            Views::Preset(preset) => Fields { preset: Some(*preset), combination, ..rest },
            Views::Given(views) if views.len() == 1 => {
                let view = views[0].clone();
                Fields {
                    prepare: Some(view.prepare),
                    kernel: Some(view.kernel),
                    scaling: Some(view.scaling),
                    norm: Some(view.norm),
                    alpha: Some(view.alpha),
                    distance: Some(view.distance),
                    rank: Some(view.rank),
                    space: Some(view.space).filter(|space| !space.is_gram()),
                    ..rest
                }
            }
            Views::Given(views) => Fields { views: Some(views.clone()), combination, ..rest },
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let default = Self::default();
        let one = fields.prepare.is_some()
            || fields.kernel.is_some()
            || fields.scaling.is_some()
            || fields.norm.is_some()
            || fields.alpha.is_some()
            || fields.distance.is_some()
            || fields.rank.is_some()
            || fields.space.is_some();
        let views = match (fields.preset, fields.views, one) {
            (Some(preset), None, false) => Views::Preset(preset),
            (None, Some(views), false) => Views::Given(views),
            (None, None, false) => default.views,
            (None, None, true) => {
                let view = View::default();
                Views::Given(vec![View {
                    prepare: fields.prepare.unwrap_or(view.prepare),
                    kernel: fields.kernel.unwrap_or(view.kernel),
                    scaling: fields.scaling.unwrap_or(view.scaling),
                    norm: fields.norm.unwrap_or(view.norm),
                    alpha: fields.alpha.unwrap_or(view.alpha),
                    distance: fields.distance.unwrap_or(view.distance),
                    rank: fields.rank.unwrap_or(view.rank),
                    space: fields.space.unwrap_or(view.space),
                }])
            }
            _ => {
                let problem = "a preset, a list of views and the choices of one view exclude each other: give one of \
                               the three";
                return Err(serde::de::Error::custom(problem));
            }
        };
        Ok(Self {
            views,
            combination: fields.combination.unwrap_or(default.combination),
            gaps: fields.gaps.unwrap_or(default.gaps),
            calibration: fields.calibration.unwrap_or(default.calibration),
            level: fields.level.unwrap_or(default.level),
            decision: fields.decision.unwrap_or(default.decision),
            tail: fields.tail.unwrap_or(default.tail),
            robust: fields.robust.unwrap_or(default.robust),
        })
    }
}
