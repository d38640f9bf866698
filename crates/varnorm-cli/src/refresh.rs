//! `varnorm refresh`: a model goes on with newer normal series, without swallowing what it flags.

use std::path::PathBuf;

use clap::Args;
use varnorm::calibrate::{Calibration, Decision};
use varnorm::describe::{count, percent};
use varnorm::prepare::Gaps;
use varnorm::{Dataset, Detector};

use crate::args::Reading;
use crate::console::Console;
use crate::failure::Failure;
use crate::source;

/// Bring a model up to date with newer normal series, leaving out what it flags
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  varnorm refresh many.model today/ -o many.model       a model with landmarks or features takes today's series in
  varnorm refresh plant.model march/ april/ -o new.model    a model of all pairs is fitted again, on these series

Series that the old model flags, each on its own at its level, are left out and named. Where more than a fifth of the
series is flagged nothing is written: the process has changed, or something is wrong with the data. Look first; then
--allow X takes a larger share for granted. Normal series that are flagged by chance are left out too, so that a model
that is refreshed often grows narrower: fit it anew from time to time."
)]
pub struct Refresh {
    /// A model that `varnorm fit` wrote
    model: PathBuf,
    /// Files or folders: the new series for a model with landmarks or features, else all series of the new corpus
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// The model file to write; it may be the old one
    #[arg(short, long = "output", value_name = "MODEL")]
    output: PathBuf,
    /// Refuse where more than this share of the series is flagged
    #[arg(long, value_name = "X", default_value_t = 0.2, allow_negative_numbers = true)]
    allow: f64,
    #[command(flatten)]
    reading: Reading,
}

/// Series that are named.
const NAMED: usize = 10;

impl Refresh {
    /// Scores, leaves out, fits and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        source::refuse_overwriting(&self.data, Some(&self.output))?;
        let old = Detector::load(&self.model)?;
        if old.calibrated().is_none() {
            let words = "the model was fitted with calibration none and flags nothing, so nothing protects it; fit anew";
            return Err(Failure::Words(words.into()));
        }
        if matches!(old.settings().calibration, Calibration::Supervised { .. }) {
            let words = "a supervised model needs its labelled outliers again: use `varnorm fit`";
            return Err(Failure::Words(words.into()));
        }
        let dataset = source::read_for(console, &old, &self.data, &self.reading, Gaps::default())?;
        let kept = self.kept(console, &old, &dataset)?;
        let rest = dataset.select(&kept);
        let renumbered = |error: varnorm::Error| source::named(&dataset)(error.renumbered(&kept, &kept));
        let (before, names) = (old.corpus_series(), rest.case_names.clone());
        let origin = old.origin().clone();
        let refreshed = match old.is_all_pairs() {
            true => {
                let settings = old.settings().clone();
                settings.fit(&rest.series, &console.run).map_err(renumbered)?.with_corpus_names(names)
            }
            false => old.partial_fit(&rest.series, &console.run).map_err(renumbered)?,
        };
        let refreshed = refreshed.with_origin(origin);
        console.run.check()?;
        console.clear();
        refreshed.save(&self.output)?;
        let now = count(refreshed.corpus_series(), "series");
        console.say(match refreshed.is_all_pairs() {
            true => format!("fitted again with the same settings, on {now} instead of {before}"),
            false => format!("the model of {} is now one of {now}", count(before, "series")),
        });
        refreshed.suspects_in_words().iter().for_each(|words| console.warn(words));
        refreshed.warnings().iter().for_each(|warning| console.warn(warning));
        console.say(format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// Places of the series that the old model does not flag.
    fn kept(&self, console: &Console, old: &Detector, dataset: &Dataset) -> Result<Vec<usize>, Failure> {
        let level = old.settings().level;
        let found = old
            .score_at(&dataset.series, level, Decision::Each, &console.run)
            .map_err(source::named(dataset))?;
        if let Some(cannot) = &found.cannot_flag {
            let words = format!("nothing protects the model from what is novel: {}", cannot.words);
            return Err(Failure::Words(words));
        }
        let flagged: Vec<usize> =
            found.findings.iter().filter(|one| one.novel == Some(true)).map(|one| one.series).collect();
        let names: Vec<String> = flagged.iter().take(NAMED).map(|at| dataset.series_name(*at)).collect();
        let more = if flagged.len() > NAMED { ", ..." } else { "" };
        let share = flagged.len() as f64 / found.len().max(1) as f64;
        let told = format!(
            "{} flagged at level {level}: {}{more}",
            count(flagged.len(), "series"),
            names.join(", ")
        );
        if share > self.allow {
            return Err(Failure::Words(format!(
                "{told}; that is {} of the series, more than {}, and nothing was written: look at them first, then allow \
                 more with --allow",
                percent(share),
                percent(self.allow)
            )));
        }
        if !flagged.is_empty() {
            console.say(format!("left out: {told}"));
        }
        found.drift.as_ref().and_then(varnorm::describe::drift).iter().for_each(|words| console.warn(words));
        Ok((0..dataset.series.len()).filter(|at| flagged.binary_search(at).is_err()).collect())
    }
}
