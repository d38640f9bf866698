//! [`LongSettings`]: everything that can be chosen about a model of one long recording.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calibrate::check_level;
use crate::error::{Error, Result};
use crate::kernel::{FlatLinear, Kernel, Rocket};
use crate::score::Distance;
use crate::words::{Vocabulary, Word, spelled};

/// The shortest and the longest window that is chosen.
pub(super) const SHORTEST: usize = 16;
pub(super) const LONGEST: usize = 256;
/// Strides per window, where the stride is left open.
const PER_WINDOW: usize = 16;
/// Windows per block, where the block is left open.
const PER_BLOCK: usize = 4;
/// Convolution features of a window of one channel, and of several, where the kernel is left open.
const FEATURES: u32 = 1008;
const FEATURES_OF_SEVERAL: u32 = 588;
/// Several channels have a second member: windows so many times as long, strides per window, most normal windows.
const SECOND_WINDOW: usize = 2;
const PER_SECOND_WINDOW: usize = 8;
const MOST_SHARES: usize = 1500;
/// The second member needs a stretch of so many of its windows.
const LEAST_WINDOWS: usize = 16;

/// How many steps a window has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Window {
    /// One channel: the highest peak of the autocorrelation, from 16 to 256 steps. Several: 32 steps.
    #[default]
    Auto,
    /// So many steps.
    Steps(usize),
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Steps(steps) => steps.fmt(f),
        }
    }
}

impl std::str::FromStr for Window {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Steps).map_err(|_| window_rule(text)),
        }
    }
}

fn window_rule(given: impl ToString) -> Error {
    Error::bad_param("window", given, "must be auto or a number of steps, at least 2, such as 64")
}

impl Serialize for Window {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Steps(steps) => serializer.serialize_u64(*steps as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "\"auto\" or a number of steps")]
        enum Text {
            Steps(usize),
            Word(String),
        }
        match Text::deserialize(deserializer)? {
            Text::Steps(steps) => Ok(Self::Steps(steps)),
            Text::Word(word) => word.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// One member in effect.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spec {
    pub(super) window: usize,
    pub(super) stride: usize,
    pub(super) kernel: Kernel,
    /// In units of the mean eigenvalue.
    pub(super) alpha: f64,
    pub(super) most_windows: usize,
}

/// What alarms promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LongCalibration {
    /// Blocks where there is enough normal data, and otherwise no alarms.
    #[default]
    Auto,
    /// A rate of blocks with a false alarm; an error where there is too little normal data.
    Blocks,
    /// A share of points, which says nothing about alarms: points next to each other are alike.
    Points,
    /// Scores only.
    None,
}

const CALIBRATIONS: Vocabulary =
    Vocabulary::names("calibration", "a calibration of a long recording", LongCalibration::WORDS);

spelled!(LongCalibration, CALIBRATIONS);

impl LongCalibration {
    /// Every calibration, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("auto", "By blocks where the normal part is long enough, else none"),
        Word::new("blocks", "At most this share of normal blocks has an alarm"),
        Word::new("points", "At most this share of normal points is above; says nothing about alarms"),
        Word::new("none", "Scores only"),
    ];
}

/// Everything that can be chosen about a model of one long recording. Plain data: the same JSON everywhere.
///
/// ```
/// use varnorm::long::{LongSettings, Window};
/// let settings = LongSettings::default().with_window(Window::Steps(64)).with_level(0.01);
/// let json = serde_json::to_string(&settings).unwrap();
/// assert_eq!(serde_json::from_str::<LongSettings>(&json).unwrap(), settings);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LongSettings {
    /// Steps of a window.
    pub window: Window,
    /// Steps from one scored window to the next; none: a sixteenth of the window.
    pub stride: Option<usize>,
    /// How windows are looked at; none: `rocket` for one channel, and for several the mean of `flat_linear` and of `rocket`
    /// on windows twice as long.
    pub kernel: Option<Kernel>,
    /// Regularisation in units of the mean eigenvalue; none: 1 for shares, 0.1 for other kernels.
    pub alpha: Option<f64>,
    /// Distance to the nearest normal window or to their mean.
    pub distance: Distance,
    /// Every channel of every window brought to mean 0 and deviation 1: shapes without level and size.
    pub zscore_windows: bool,
    /// Most windows of the normal part that a model keeps.
    pub most_windows: usize,
    /// What alarms promise.
    pub calibration: LongCalibration,
    /// The share of blocks (or points) of normal data that may be above the threshold.
    pub level: f64,
    /// Steps of a block; none: four windows.
    pub block: Option<usize>,
    /// Contiguous parts of the normal data that are held out in turn.
    pub folds: usize,
    /// Alarms at most so many steps apart are one event; none: one window.
    pub merge: Option<usize>,
    /// Steps that an event needs at least.
    pub minimum_duration: usize,
    /// Steps after an event in which no other begins.
    pub hold_off: usize,
    /// Chooses the windows that are kept.
    pub seed: u64,
}

impl Default for LongSettings {
    fn default() -> Self {
        Self {
            window: Window::Auto,
            stride: None,
            kernel: None,
            alpha: None,
            distance: Distance::default(),
            zscore_windows: false,
            most_windows: 2000,
            calibration: LongCalibration::Auto,
            level: 0.05,
            block: None,
            folds: 5,
            merge: None,
            minimum_duration: 1,
            hold_off: 0,
            seed: 0,
        }
    }
}

impl LongSettings {
    /// From choices as users write them: the JSON of the settings, in which a kernel or a distance may also be words.
    ///
    /// ```
    /// use varnorm::long::LongSettings;
    /// let choices = serde_json::json!({"kernel": "rocket:features=168", "window": 32, "distance": "mahalanobis"});
    /// assert!(LongSettings::from_choices(choices.as_object().unwrap().clone()).is_ok());
    /// ```
    pub fn from_choices(mut choices: Map<String, Value>) -> Result<Self> {
        let json = |name: &str, e: serde_json::Error| Error::bad_param(name, "given", e.to_string());
        if let Some(Value::String(words)) = choices.get("kernel") {
            let kernel = serde_json::to_value(words.parse::<Kernel>()?).map_err(|e| json("kernel", e))?;
            choices.insert("kernel".into(), kernel);
        }
        if let Some(Value::String(words)) = choices.get("distance") {
            let distance =
                serde_json::to_value(words.parse::<Distance>()?).map_err(|e| json("distance", e))?;
            choices.insert("distance".into(), distance);
        }
        // A choice that cannot be read is named alone, not with all the rest.
        for (name, value) in &choices {
            let one = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
            serde_json::from_value::<Self>(one).map_err(|e| Error::bad_param(name, value, e.to_string()))?;
        }
        let read: Self = serde_json::from_value(Value::Object(choices)).map_err(|e| json("settings", e))?;
        read.validate()?;
        Ok(read)
    }

    /// With this window.
    pub fn with_window(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// With a scored window every so many steps.
    pub fn with_stride(self, stride: usize) -> Self {
        Self { stride: Some(stride), ..self }
    }

    /// With this look at windows.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// With this regularisation, in units of the mean eigenvalue.
    pub fn with_alpha(self, alpha: f64) -> Self {
        Self { alpha: Some(alpha), ..self }
    }

    /// With this distance.
    pub fn with_distance(self, distance: Distance) -> Self {
        Self { distance, ..self }
    }

    /// With every window scaled by itself, or not.
    pub fn with_zscore_windows(self, zscore_windows: bool) -> Self {
        Self { zscore_windows, ..self }
    }

    /// With at most so many windows kept.
    pub fn with_most_windows(self, most_windows: usize) -> Self {
        Self { most_windows, ..self }
    }

    /// With this promise.
    pub fn with_calibration(self, calibration: LongCalibration) -> Self {
        Self { calibration, ..self }
    }

    /// With this share of blocks that may have a false alarm.
    pub fn with_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// With blocks of so many steps.
    pub fn with_block(self, block: usize) -> Self {
        Self { block: Some(block), ..self }
    }

    /// With so many contiguous folds.
    pub fn with_folds(self, folds: usize) -> Self {
        Self { folds, ..self }
    }

    /// With alarms merged that are so many steps apart, or fewer.
    pub fn with_merge(self, merge: usize) -> Self {
        Self { merge: Some(merge), ..self }
    }

    /// With events of at least so many steps.
    pub fn with_minimum_duration(self, minimum_duration: usize) -> Self {
        Self { minimum_duration, ..self }
    }

    /// With so many steps after an event in which no other begins.
    pub fn with_hold_off(self, hold_off: usize) -> Self {
        Self { hold_off, ..self }
    }

    /// With this seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// An error where a choice is outside its domain.
    pub fn validate(&self) -> Result<()> {
        if let Window::Steps(steps @ (0 | 1)) = self.window {
            return Err(window_rule(steps));
        }
        at_least("stride", self.stride.unwrap_or(1), 1)?;
        at_least("most_windows", self.most_windows, 2)?;
        at_least("block", self.block.unwrap_or(1), 1)?;
        at_least("folds", self.folds, 2)?;
        at_least("minimum_duration", self.minimum_duration, 1)?;
        if let Distance::Conformance { neighbour } = self.distance {
            at_least("neighbour", neighbour, 1)?;
        }
        if let Some(alpha) = self.alpha.filter(|alpha| !alpha.is_finite() || *alpha <= 0.0) {
            let rule = "must be above 0: a multiple of the mean eigenvalue, such as 0.1";
            return Err(Error::bad_param("alpha", alpha, rule));
        }
        if let Some(kernel) = &self.kernel {
            kernel.validate()?;
        }
        check_level(self.level)
    }

    /// The members in effect: one look that was asked for, shares for one channel, values and shares for several. The second needs a
    /// stretch of some of its windows.
    pub(super) fn members(&self, window: usize, channels: usize, longest: usize) -> Vec<Spec> {
        let member = |kernel: Kernel, window: usize, per_window: usize| {
            let shares = matches!(kernel, Kernel::Rocket(_) | Kernel::Radon(_));
            Spec {
                window,
                stride: self.stride.unwrap_or((window / per_window).max(1)).min(window),
                alpha: self.alpha.unwrap_or(if shares { 1.0 } else { 0.1 }),
                most_windows: if shares && channels > 1 { MOST_SHARES } else { usize::MAX },
                kernel,
            }
        };
        let shares = |features: u32| Kernel::from(Rocket { features, ..Rocket::default() });
        if let Some(kernel) = &self.kernel {
            return vec![member(kernel.clone(), window, PER_WINDOW)];
        }
        if channels == 1 {
            return vec![member(shares(FEATURES), window, PER_WINDOW)];
        }
        let mut members = vec![member(Kernel::from(FlatLinear {}), window, PER_WINDOW)];
        let second = SECOND_WINDOW * window;
        if longest >= LEAST_WINDOWS * second {
            members.push(member(shares(FEATURES_OF_SEVERAL), second, PER_SECOND_WINDOW));
        }
        members
    }

    /// The steps of a block in effect.
    pub(super) fn block_for(&self, window: usize) -> usize {
        self.block.unwrap_or(PER_BLOCK * window)
    }

    /// The steps between alarms of one event in effect.
    pub(super) fn merge_for(&self, window: usize) -> usize {
        self.merge.unwrap_or(window)
    }
}

fn at_least(name: &str, value: usize, least: usize) -> Result<()> {
    if value >= least {
        Ok(())
    } else {
        Err(Error::bad_param(name, value, format!("must be at least {least}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_same_json_and_refuse_what_they_cannot_mean() {
        let settings = LongSettings::default()
            .with_kernel("rocket:features=168".parse().unwrap())
            .with_window(Window::Steps(32))
            .with_calibration("blocks".parse().unwrap());
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<LongSettings>(&json).unwrap(), settings);
        assert_eq!(
            serde_json::from_str::<LongSettings>(r#"{"window":"auto"}"#).unwrap(),
            LongSettings::default()
        );
        assert!(serde_json::from_str::<LongSettings>(r#"{"windw":3}"#).is_err());
        for bad in [
            settings.clone().with_window(Window::Steps(1)),
            settings.clone().with_stride(0),
            settings.clone().with_alpha(0.0),
            settings.clone().with_alpha(f64::NAN),
            settings.clone().with_level(1.0),
            settings.clone().with_folds(1),
            settings.with_most_windows(1),
        ] {
            assert!(bad.validate().is_err());
        }
    }
}
