//! `varnorm fit`: learns from normal series and writes a model.

mod parts;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use varnorm::calibrate::{Calibration, Decision, Tail};
use varnorm::data::{LabelKind, Origin};
use varnorm::describe::{self, count, fine_percent};
use varnorm::detector::ModelSummary;
use varnorm::gram::Scaling;
use varnorm::prepare::Gaps;
use varnorm::words::{Word, name_of};
use varnorm::{Dataset, Detector, Error, SeriesSet, Settings};

use crate::args::{Method, Reading, Size, one_of, with_default};
use crate::console::Console;
use crate::failure::Failure;
use crate::long::{LongOptions, Shared};
use crate::{output, source};

/// Learn from normal series and write a model
#[derive(Args)]
#[command(after_help = "Example:
  varnorm fit BasicMotions_TRAIN.ts --normal Walking -o walking.model
  varnorm fit normal/ -o normal.model --kernel integral_rbf --level 0.01
  varnorm fit normal/ -o normal.model --calibration split:holdout=0.3,seed=0
  varnorm fit normal/ -o normal.model --calibration supervised:objective=f1 --outliers bad/
  varnorm fit many/ -o many.model --kernel gak --landmarks 256 --memory 4G
  varnorm fit more/ -o more.model --like many.model
  varnorm fit log.csv --window auto -o log.model")]
pub struct Fit {
    /// Files or folders of normal series
    #[arg(value_name = "DATA", required_unless_present = "print_settings")]
    data: Vec<PathBuf>,
    /// The model file to write; an old one is replaced
    #[arg(short, long = "output", value_name = "MODEL", required_unless_present_any = ["print_settings", "dry_run"])]
    output: Option<PathBuf>,
    /// Use only the series with this label
    #[arg(long, value_name = "LABEL")]
    normal: Option<String>,
    #[command(flatten)]
    method: Method,
    /// Leave kernel values as they are instead of scaling each series to unit length in feature space
    #[arg(long)]
    no_normalize: bool,
    /// Keep at most M eigenvectors [default: all]
    #[arg(long, value_name = "M")]
    max_rank: Option<usize>,
    /// Keep eigenvalues above X only [default: 1e-10 of the largest]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    eigenvalue_threshold: Option<f64>,
    /// Space of the covariance: gram (all pairs), landmarks:256, landmarks:tolerance=0.01, features
    #[arg(long, value_name = "SPEC", conflicts_with = "landmarks")]
    space: Option<String>,
    /// So many landmarks instead of all pairs: short for --space landmarks:M
    #[arg(long, value_name = "M")]
    landmarks: Option<String>,
    /// All settings, preparation, kernel and landmarks of a compact model: the two can be merged
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["settings", "space", "landmarks", "kernel", "prepare",
          "norm", "alpha", "distance", "neighbour", "no_normalize", "max_rank", "eigenvalue_threshold", "calibration", "level",
          "decision", "outliers", "tail", "robust"])]
    like: Option<PathBuf>,
    /// Stay below so much memory, such as 4G; for landmarks and features, files are read in parts
    #[arg(long, value_name = "SIZE")]
    memory: Option<Size>,
    /// Fit nothing; say how long it would take, and how much memory, from a measured sample
    #[arg(long)]
    dry_run: bool,
    /// Labelled outliers, for calibration supervised [default: the labels of DATA other than --normal]
    #[arg(long, value_name = "DATA")]
    outliers: Vec<PathBuf>,
    #[arg(long, value_name = "SPEC", help = with_default(
        &names(Calibration::WORDS),
        |settings| name_of(&settings.calibration),
    ))]
    calibration: Option<String>,
    #[arg(long, value_name = "X", allow_negative_numbers = true, help = with_default(
        "False-alarm rate that flags aim at",
        |settings| settings.level.to_string(),
    ))]
    level: Option<f64>,
    #[arg(long, value_parser = one_of::<Decision>(Decision::WORDS), help = with_default(
        "How p-values become flags",
        |settings| settings.decision.to_string(),
    ))]
    decision: Option<Decision>,
    #[arg(long, value_parser = one_of::<Gaps>(Gaps::WORDS), help = with_default(
        "What to do about missing values, now and when the model scores",
        |settings| settings.gaps.to_string(),
    ))]
    gaps: Option<Gaps>,
    #[arg(long, value_parser = one_of::<Tail>(Tail::WORDS), help = with_default(
        "P-values below 1/(n+1), by a law that is assumed for the largest normal scores",
        |settings| settings.tail.to_string(),
    ))]
    tail: Option<Tail>,
    #[arg(long, value_name = "SPEC", help = with_default(
        "Suspicious normal series: none only names them; trim, or trim:0.1, leaves them out",
        |settings| settings.robust.to_string(),
    ))]
    robust: Option<String>,
    /// Settings from a JSON file; options given here override it
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print the settings in effect as JSON, and fit nothing
    #[arg(long)]
    print_settings: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    long: LongOptions,
}

impl Fit {
    /// Fits and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        if self.long.window.is_some() {
            return self.run_on_windows(console);
        }
        let settings = self.effective_settings()?;
        if self.print_settings {
            return output::deliver(console, None, |out| output::json(out, &settings));
        }
        if self.dry_run {
            return self.estimate(console, &settings);
        }
        let Some(path) = &self.output else {
            return Err(Failure::Words("say with -o where the model goes".into()));
        };
        source::refuse_overwriting(&self.data, Some(path))?;
        if settings.grows() {
            return self.run_in_parts(console, &settings, path);
        }
        let dataset = source::read(console, &self.data, &self.reading)?;
        let picked = self.pick(&dataset, console)?;
        // Not two of a large corpus.
        let corpus = match &picked {
            Some(picked) => Cow::Owned(dataset.select(picked)),
            None => Cow::Borrowed(&dataset),
        };
        if let Some(Size(budget)) = self.memory {
            settings.check_memory(&corpus.series, corpus.series.len(), budget)?;
        }
        let origin = Origin::of(&corpus)?;
        let outliers = self.find_outliers(&settings, &dataset, &origin, console)?;
        let fitted = match &outliers {
            Some(outliers) => settings.fit_with_outliers(&corpus.series, outliers, &console.run),
            None => settings.fit(&corpus.series, &console.run),
        };
        let detector = fitted.map_err(|error| {
            if matches!(error, Error::TooFew { .. }) && dataset.series.len() == 1 {
                return Failure::Words(format!(
                    "{error}; to learn from windows of one long recording, say --window auto"
                ));
            }
            // Errors number the series as in the file.
            let error = match &picked {
                Some(picked) => error.renumbered(picked, picked),
                None => error,
            };
            source::named(&dataset)(error)
        })?;
        // Without names, picked series go by their place in the file.
        let places = |picked: Vec<usize>| picked.iter().map(usize::to_string).collect();
        let names = corpus.case_names.clone().or(picked.map(places));
        let detector = detector.with_corpus_names(names).with_origin(origin);
        console.run.check()?;
        console.clear();
        detector.save(path)?;
        self.tell(console, &detector, corpus.series.len(), path);
        Ok(())
    }

    /// Learns from the windows of one long recording.
    fn run_on_windows(&self, console: &Console) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            return Err(Failure::Words("say with -o where the model goes".into()));
        };
        source::refuse_overwriting(&self.data, Some(path))?;
        for (name, given) in [
            ("--normal", self.normal.is_some()),
            ("--space", self.space.is_some()),
            ("--landmarks", self.landmarks.is_some()),
            ("--like", self.like.is_some()),
            ("--settings", self.settings.is_some()),
            ("--outliers", !self.outliers.is_empty()),
            ("--decision", self.decision.is_some()),
            ("--max-rank", self.max_rank.is_some()),
            ("--eigenvalue-threshold", self.eigenvalue_threshold.is_some()),
            ("--dry-run", self.dry_run),
            ("--print-settings", self.print_settings),
        ] {
            if given {
                return Err(Failure::Words(format!("{name} cannot be used together with --window")));
            }
        }
        let (kernel, alpha, distance) = self.method.for_windows()?;
        let calibration = self.calibration.as_ref().map(|words| words.parse()).transpose()?;
        let shared = Shared { kernel, alpha, distance, calibration, level: self.level };
        self.long.fit(console, &self.data, shared, path)
    }

    fn effective_settings(&self) -> Result<Settings, Failure> {
        let mut settings = match &self.settings {
            Some(path) => read_settings(path)?,
            None => Settings::default(),
        };
        self.method.apply(&mut settings)?;
        if let Some(model) = &self.like {
            settings = Detector::load(model)?.settings().clone();
            if !settings.grows() {
                let problem = "it is a model of all pairs, which nothing can be added to; --like takes a model with \
                               landmarks or features";
                return Err(Error::file(model, problem).into());
            }
        }
        if self.no_normalize {
            settings.view_mut()?.scaling = Scaling::Raw;
        }
        let landmarks = self.landmarks.as_ref().map(|m| format!("landmarks:{m}"));
        if let Some(space) = self.space.as_ref().or(landmarks.as_ref()) {
            settings.view_mut()?.space = space.parse()?;
        }
        if let Some(rank) = self.max_rank {
            settings.view_mut()?.rank.max_rank = Some(rank);
        }
        if let Some(threshold) = self.eigenvalue_threshold {
            settings.view_mut()?.rank.eigenvalue_threshold = Some(threshold);
        }
        if let Some(calibration) = &self.calibration {
            settings.calibration = calibration.parse()?;
        }
        settings.gaps = self.gaps.unwrap_or(settings.gaps);
        settings.level = self.level.unwrap_or(settings.level);
        settings.decision = self.decision.unwrap_or(settings.decision);
        settings.tail = self.tail.unwrap_or(settings.tail);
        if let Some(robust) = &self.robust {
            settings.robust = robust.parse()?;
        }
        settings.validate()?;
        Ok(settings)
    }

    /// The labelled outliers, where the calibration asks for them.
    fn find_outliers(
        &self,
        settings: &Settings,
        dataset: &Dataset,
        origin: &Origin,
        console: &Console,
    ) -> Result<Option<SeriesSet>, Failure> {
        if !matches!(settings.calibration, Calibration::Supervised { .. }) {
            if !self.outliers.is_empty() {
                console.say("note: --outliers has no effect without --calibration supervised");
            }
            return Ok(None);
        }
        if !self.outliers.is_empty() {
            let outliers = varnorm::data::read_all(&self.outliers, &self.reading.options())?;
            let outliers = origin.admit(outliers)?;
            console.notes(&outliers.notes);
            return Ok(Some(outliers.series));
        }
        let (Some(normal), Some(labels)) = (&self.normal, &dataset.labels) else {
            return Err(Failure::Words(
                "calibration supervised needs labelled outliers: give them with --outliers, or choose the normal ones \
                 among labelled series with --normal"
                    .into(),
            ));
        };
        let others: Vec<usize> = (0..labels.values.len()).filter(|i| labels.values[*i] != *normal).collect();
        console.say(format!("{} with other labels are the outliers", count(others.len(), "series")));
        Ok(Some(dataset.series.select(&others)))
    }

    /// The series with the normal label, or all of them, with a warning where that looks like a mistake.
    fn pick(&self, dataset: &Dataset, console: &Console) -> Result<Option<Vec<usize>>, Failure> {
        if let Some(label) = &self.normal {
            return Ok(Some(dataset.with_label(label)?));
        }
        if let Some(labels) = dataset.labels.as_ref().filter(|labels| labels.kind == LabelKind::Class) {
            let mut found: Vec<&str> = labels.values.iter().map(String::as_str).collect();
            found.sort_unstable();
            found.dedup();
            if found.len() > 1 {
                let shown = found.iter().take(6).copied().collect::<Vec<_>>().join(", ");
                let more = if found.len() > 6 { ", ..." } else { "" };
                console.warn(format!(
                    "the data have {} classes ({shown}{more}) and all are taken as normal; choose one with \
                     --normal",
                    found.len()
                ));
            }
        }
        Ok(None)
    }

    fn tell(&self, console: &Console, detector: &Detector, given: usize, path: &Path) {
        let (settings, members) = (detector.settings(), detector.corpus_series());
        let normal = self.normal.as_ref().map(|label| format!(" labelled {label}")).unwrap_or_default();
        let left_out = detector.suspects().iter().filter(|one| one.suspect.left_out).count();
        let held = match given - members {
            0 => String::new(),
            fewer if left_out == fewer => format!(" ({left_out} left out as suspects)"),
            fewer if left_out > 0 => {
                format!(" ({left_out} left out as suspects, {} held out)", fewer - left_out)
            }
            fewer => format!(" ({fewer} held out)"),
        };
        console.say(format!(
            "fitted on {} of {}{normal}{held}",
            count(members, "series"),
            count(detector.preparation().channels(), "channel"),
        ));
        for view in ModelSummary::new(detector).views.all() {
            console
                .say(format!("view {}, prepared by {}; rank {} kept", view.kernel, view.prepare, view.rank));
        }
        detector.notes().iter().for_each(|note| console.say(format!("note: {note}")));
        if let Some(landmarks) = detector.landmarks() {
            let missed = fine_percent(detector.trace_error());
            console.say(format!("{} miss {missed} of the trace", count(landmarks, "landmark")));
        }
        console.say(calibration_in_words(detector));
        if let Some(words) = detector.suspects_in_words() {
            console.warn(words);
        }
        if let Some(check) = detector.tail_check().filter(|check| check.trusted) {
            console.say(describe::tail(&check));
        }
        if let Some(check) = detector.gaussian_check(settings.level).filter(|check| check.trusted) {
            console.say(check.in_words());
        }
        detector.warnings().iter().for_each(|warning| console.warn(warning));
        console.say(format!("wrote {}", path.display()));
    }
}

fn read_settings(path: &Path) -> Result<Settings, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let wrong = |problem: String| {
        let advice = "`varnorm fit --print-settings` shows how they look";
        Error::file(path, format!("not varnorm settings: {problem}; {advice}"))
    };
    // A list would be taken for the fields in order.
    if !text.trim_start().starts_with('{') {
        return Err(wrong("this is no JSON object".into()).into());
    }
    Ok(serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?)
}

fn calibration_in_words(detector: &Detector) -> String {
    let (calibration, level) = (detector.settings().calibration, detector.settings().level);
    let Some(calibrated) = detector.calibrated() else {
        return format!("calibration {}", describe::calibration(calibration, 0));
    };
    let rate = detector.target_false_alarm_rate(level).unwrap_or(level);
    let scores = calibrated.scores().len();
    let threshold = detector.decision_threshold();
    describe::calibrated(calibration, scores, threshold, level, rate, detector.chosen())
}

/// The names of words, for a help text.
fn names(words: &[Word]) -> String {
    words.iter().map(|word| word.name).collect::<Vec<_>>().join(", ")
}
