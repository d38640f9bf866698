//! [`Grid`]: what a search tries, and how the published parameters become kernels.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::median::median_point_distance;
use varnorm::data::SeriesSet;
use varnorm::kernel::{CATALOGUE, Kernel};
use varnorm::words::{Vocabulary, Word, spelled};
use varnorm::{Error, Result};

/// Folds, and repeats of them: nobody waits for more.
const MOST_FOLDS: usize = 10_000;

/// Whether the variants that only the published numbers need are switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// Proper definitions throughout.
    #[default]
    None,
    /// As in the published experiments: one level alone of the truncated signature, cut values in the reservoir
    /// kernel, a floor in the alignment kernel, dyadic order 2 in the PDE kernel, singular values for eigenvalues,
    /// zeros for ranks that a fold lacks.
    Published,
}

const VARIANTS: Vocabulary = Vocabulary::names("compat", "a choice of variants", Compat::WORDS);

spelled!(Compat, VARIANTS);

impl Compat {
    /// Every choice, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("none", "Proper definitions"),
        Word::new("published", "The variants that the published numbers need"),
    ];
}

/// The rows of the published tables, in their order, with the kernel that each is made with.
pub const ROWS: [(&str, &str); 11] = [
    ("linear", "flat_linear"),
    ("rbf", "flat_rbf"),
    ("poly", "flat_poly"),
    ("integral_rbf", "integral_rbf"),
    ("integral_poly", "integral_poly"),
    ("gak", "gak"),
    ("vrk", "vrk"),
    ("sig_linear", "sig"),
    ("sig_rbf", "sig"),
    ("sig_pde_rbf", "sig_pde"),
    ("sig_random", "sig_random"),
];

/// The rows whose kernels exist in this version.
pub fn known_rows() -> impl Iterator<Item = &'static str> {
    let exists = |kernel: &str| CATALOGUE.iter().any(|info| info.name == kernel);
    ROWS.iter().filter(move |(_, kernel)| exists(kernel)).map(|(row, _)| *row)
}

/// The values to try for one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a row needs lists of numbers by parameter, or {\"specs\": [kernels]}")]
pub enum Choices {
    /// Kernels as a user writes them; `auto` parameters come from each fold's corpus.
    Specs {
        /// Such as `flat_rbf:sigma=0.7`.
        specs: Vec<String>,
    },
    /// For the published rows: every combination of these values.
    Values(BTreeMap<String, Vec<f64>>),
}

/// What a search tries.
///
/// ```
/// use varnorm_study::Grid;
/// let grid: Grid = serde_json::from_str(r#"{"repeats": 1, "kernels": {"rbf": {"sigma": [0.5, 1]}}}"#).unwrap();
/// assert_eq!(grid.settings("rbf").unwrap().len(), 4); // with and without the time channel
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Grid {
    /// Parts that the training series are cut into.
    pub folds: usize,
    /// How often they are cut anew.
    pub repeats: usize,
    /// Seed of the cuts.
    pub seed: u64,
    /// Ranks from 1 to this are tried.
    pub max_rank: usize,
    /// Regularisations that are tried.
    pub alphas: Vec<f64>,
    /// Whether a time channel is added.
    pub time: Vec<bool>,
    /// The values to try, by row.
    pub kernels: BTreeMap<String, Choices>,
}

impl Default for Grid {
    /// The published grid (paper, section 5.2.2).
    fn default() -> Self {
        Self {
            folds: 4,
            repeats: 10,
            seed: 0,
            max_rank: 50,
            alphas: vec![1e-8, 1e-5, 1e-2],
            time: vec![false, true],
            kernels: known_rows().map(|row| (row.to_string(), published_choices(row))).collect(),
        }
    }
}

fn published_choices(row: &str) -> Choices {
    let sigma: Vec<f64> = (-2..=2).map(|e| f64::from(e).exp()).collect();
    let fifths = vec![0.25, 0.5, 1.0, 2.0, 4.0];
    let levels: Vec<f64> = (1..=7).map(f64::from).collect();
    // From 0.25 to 0.999, evenly spaced after 1000^x.
    let (low, high) = (1000f64.powf(0.25), 1000f64.powf(0.999));
    let gamma = (0..10).map(|i| (low + (high - low) * f64::from(i) / 9.0).ln() / 1000f64.ln()).collect();
    let variances = (0..8).map(|i| 10f64.powf(-5.0 + 5.0 * f64::from(i) / 7.0)).collect();
    let values: Vec<(&str, Vec<f64>)> = match row {
        "rbf" | "integral_rbf" => vec![("sigma", sigma)],
        "poly" | "integral_poly" => vec![("p", vec![2.0, 3.0, 4.0]), ("c", fifths)],
        "gak" => vec![("gak_factor", sigma)],
        "vrk" => vec![("tau", vec![0.125, 0.25, 0.5, 1.0]), ("gamma", gamma)],
        "sig_linear" => vec![("order", levels), ("scale", fifths)],
        "sig_rbf" => vec![("order", levels), ("scale", fifths), ("sigma", sigma)],
        "sig_pde_rbf" => vec![("scale", vec![0.125, 0.25, 0.5, 1.0]), ("sigma", sigma)],
        "sig_random" => vec![
            ("n_features", vec![10.0, 25.0, 50.0, 100.0, 200.0]),
            ("seed", (0..5).map(f64::from).collect()),
            ("scale", variances),
        ],
        _ => Vec::new(),
    };
    Choices::Values(values.into_iter().map(|(name, values)| (name.to_string(), values)).collect())
}

/// One kernel setting of a row: the parameters by their published names, and whether time is a channel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Setting {
    /// Whether a time channel is added.
    pub time: bool,
    /// A kernel as a user writes it, for rows that are not published ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The published parameters.
    #[serde(flatten)]
    pub values: BTreeMap<String, f64>,
}

impl Grid {
    /// Reads a grid: TOML where the file's name ends in `.toml`, else JSON.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        let wrong = |line: usize, problem: String| {
            Error::parse(path, line, format!("{problem}; see `varnorm study --print-grid` for a grid"))
        };
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) {
            let line =
                |e: &toml::de::Error| text[..e.span().map_or(0, |at| at.start)].matches('\n').count() + 1;
            toml::from_str(&text).map_err(|e| wrong(line(&e), e.message().into()))
        } else {
            serde_json::from_str(&text).map_err(|e| wrong(e.line(), e.to_string()))
        }
    }

    /// An error that names the part and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        let least = |name: &str, value: usize, least: usize| match value < least {
            true => Err(Error::bad_param(name, value, format!("must be at least {least}"))),
            false => Ok(()),
        };
        for (name, value) in [("folds", self.folds), ("repeats", self.repeats)] {
            if value > MOST_FOLDS {
                return Err(Error::bad_param(name, value, format!("must be at most {MOST_FOLDS}")));
            }
        }
        least("folds", self.folds, 2)?;
        least("repeats", self.repeats, 1)?;
        least("max_rank", self.max_rank, 1)?;
        least("number of alphas", self.alphas.len(), 1)?;
        least("number of time choices", self.time.len(), 1)?;
        least("number of kernels", self.kernels.len(), 1)?;
        if let Some(alpha) = self.alphas.iter().find(|a| !(**a > 0.0 && a.is_finite())) {
            return Err(Error::bad_param("alphas", alpha, "must be positive numbers"));
        }
        self.kernels.keys().try_for_each(|row| self.settings(row).map(drop))
    }

    /// Only these rows.
    pub fn only(mut self, rows: &[String]) -> Result<Self> {
        if let Some(unknown) = rows.iter().find(|row| !self.kernels.contains_key(*row)) {
            let known: Vec<&str> = self.kernels.keys().map(String::as_str).collect();
            return Err(Error::bad_param(
                "kernels",
                unknown,
                format!("rows of this grid are: {}", known.join(", ")),
            ));
        }
        self.kernels.retain(|row, _| rows.contains(row));
        Ok(self)
    }

    /// The rows: published ones in their order, then the others by name.
    pub fn rows(&self) -> Vec<String> {
        let published =
            ROWS.iter().map(|(row, _)| (*row).to_string()).filter(|r| self.kernels.contains_key(r));
        let others = self.kernels.keys().filter(|row| !ROWS.iter().any(|(known, _)| known == row));
        published.chain(others.cloned()).collect()
    }

    /// Every setting of a row: without time first, small values of the parameters first.
    pub fn settings(&self, row: &str) -> Result<Vec<Setting>> {
        let Some(choices) = self.kernels.get(row) else {
            return Err(Error::bad_param("kernels", row, "is not a row of the grid"));
        };
        let mut settings: Vec<Setting> =
            self.time.iter().map(|time| Setting { time: *time, ..Setting::default() }).collect();
        match choices {
            Choices::Specs { specs } => {
                specs.iter().try_for_each(|spec| spec.parse::<Kernel>().map(drop))?;
                let with = |s: &Setting, spec: &String| Setting { spec: Some(spec.clone()), ..s.clone() };
                settings = settings.iter().flat_map(|s| specs.iter().map(|spec| with(s, spec))).collect();
            }
            Choices::Values(values) => {
                if !known_rows().any(|known| known == row) {
                    let known: Vec<&str> = known_rows().collect();
                    let rule = format!(
                        "parameter lists are for the rows {}; give any other row as {{\"specs\": [...]}}",
                        known.join(", ")
                    );
                    return Err(Error::bad_param("kernels", row, rule));
                }
                for (name, values) in values {
                    let with = |s: &Setting, value: f64| {
                        let mut one = s.clone();
                        one.values.insert(name.clone(), value);
                        one
                    };
                    settings = settings.iter().flat_map(|s| values.iter().map(|v| with(s, *v))).collect();
                }
            }
        }
        if settings.is_empty() {
            return Err(Error::bad_param("kernels", row, "has an empty list of values"));
        }
        Ok(settings)
    }
}

/// What the published scaling of kernels takes from a prepared corpus.
pub(crate) struct Scale {
    steps: f64,
    channels: f64,
    median: f64,
}

impl Scale {
    /// The median distance of points is worked out only for the row that needs it.
    pub(crate) fn new(row: &str, corpus: &SeriesSet) -> Self {
        let points: usize = corpus.lengths().sum();
        Self {
            steps: points as f64 / corpus.len().max(1) as f64,
            channels: corpus.channels() as f64,
            median: if row == "gak" { median_point_distance(corpus) } else { 1.0 },
        }
    }
}

/// The kernel of a setting, scaled as published (MATH: section 5.3), with nothing left to the corpus.
pub(crate) fn kernel(
    row: &str,
    setting: &Setting,
    compat: Compat,
    scale: &Scale,
    corpus: &SeriesSet,
) -> Result<Kernel> {
    if let Some(spec) = &setting.spec {
        return spec.parse::<Kernel>()?.resolve(corpus);
    }
    let (channels, steps, published) = (scale.channels, scale.steps, compat == Compat::Published);
    let number = |name: &str| {
        let missing = || Error::bad_param(name, "missing", format!("the row {row} needs this parameter"));
        setting.values.get(name).copied().ok_or_else(missing)
    };
    let spec = match row {
        "linear" => "flat_linear".into(),
        "rbf" => format!("flat_rbf:sigma={}", number("sigma")? * (channels * steps).sqrt()),
        // (<x,y>/(dT) + c)^p is (<x,y> + c d T)^p up to a factor, which normalising takes out.
        "poly" => format!("flat_poly:c={},p={}", number("c")? * channels * steps, number("p")?),
        "integral_rbf" => format!("integral_rbf:sigma={}", number("sigma")? * channels.sqrt()),
        "integral_poly" => format!("integral_poly:c={},p={}", number("c")? * channels, number("p")?),
        "gak" => {
            let floor = if published { "floor=1e-10," } else { "" };
            format!("gak:{floor}sigma={}", number("gak_factor")? * scale.median * steps.sqrt())
        }
        "vrk" => {
            let clip = if published { "published" } else { "0.9" };
            format!("vrk:tau={},lambda={},clip={clip}", number("tau")? / channels.sqrt(), number("gamma")?)
        }
        "sig_linear" => {
            format!("sig:level={},scale={}{}", number("order")?, number("scale")? / channels, alone(compat))
        }
        "sig_rbf" => format!(
            "sig:level={},lift=rbf,sigma={},scale={}{}",
            number("order")?,
            number("sigma")? * channels.sqrt(),
            number("scale")?,
            alone(compat)
        ),
        "sig_pde_rbf" => format!(
            "sig_pde:lift=rbf,sigma={},scale={},{}",
            number("sigma")? * channels.sqrt(),
            number("scale")?,
            if published { "dyadic=2" } else { "tolerance=1e-6" }
        ),
        "sig_random" => format!(
            "sig_random:features={},variance={},seed={}",
            number("n_features")?,
            number("scale")?,
            number("seed")?
        ),
        _ => return Err(Error::bad_param("kernels", row, "is not a published row")),
    };
    spec.parse()
}

/// The published truncated signature is its last level alone.
fn alone(compat: Compat) -> &'static str {
    if compat == Compat::Published { ",compat=published" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preset_has_the_published_sizes() {
        let grid = Grid::default();
        let count = |row: &str| grid.settings(row).unwrap().len() / 2;
        for (row, expected) in [("linear", 1), ("rbf", 5), ("poly", 15), ("vrk", 40), ("sig_rbf", 175)] {
            assert_eq!(count(row), expected, "{row}");
        }
        assert_eq!(count("sig_random"), 200);
        let Choices::Values(vrk) = &grid.kernels["vrk"] else { unreachable!() };
        // As they stand in the published file.
        assert!(
            (vrk["gamma"][9] - 0.999).abs() < 1e-12
                && (vrk["gamma"][1] - 0.687_332_694_982_230_8).abs() < 1e-12
        );
        assert_eq!(grid.rows()[0], "linear");
        grid.validate().unwrap();
    }

    #[test]
    fn mistakes_are_named() {
        for (json, words) in [
            (r#"{"folds": 1}"#, "folds = 1: must be at least 2"),
            (r#"{"alphas": [0]}"#, "alphas = 0: must be positive"),
            (r#"{"kernels": {"mine": {"sigma": [1]}}}"#, "give any other row as"),
            (r#"{"kernels": {"rbf": {"sigma": []}}}"#, "empty list"),
            (r#"{"kernels": {"mine": {"specs": ["flat_rbf:sigma=-1"]}}}"#, "sigma"),
        ] {
            let grid: Grid = serde_json::from_str(json).unwrap();
            let error = grid.validate().unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
    }
}
