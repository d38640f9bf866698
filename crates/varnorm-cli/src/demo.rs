//! `varnorm demo`: what the program does, shown on data that come with it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use varnorm::data::{Labels, Split};
use varnorm::detector::{View, Views};
use varnorm::report::Options;
use varnorm::{Error, Settings, metrics};

use crate::args::{Method, ReportFormat};
use crate::console::Console;
use crate::failure::Failure;
use crate::output;
use crate::table::{Align, Table};

/// See it work on data that come with the program
///
/// BasicMotions holds recordings of four activities. Each activity in turn is taken as normal: a detector is
/// fitted on its 10 training recordings and scores the 40 test recordings, 10 of them normal and 30 novel.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  varnorm demo
  varnorm demo --kernel integral_rbf --distance mahalanobis --format json"
)]
pub struct Demo {
    #[command(flatten)]
    method: Method,
    /// False-alarm rate that flags aim at
    #[arg(long, value_name = "X", default_value_t = 0.1, allow_negative_numbers = true)]
    level: f64,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
    /// Write a report with pictures too, about the first activity taken as normal, as one HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// How well one activity's detector told the others apart.
#[derive(Serialize)]
struct Row {
    normal: String,
    roc_auc: f64,
    average_precision: f64,
    novel_flagged: usize,
    novel: usize,
    false_alarms: usize,
    normal_scored: usize,
}

#[derive(Serialize)]
struct Means {
    roc_auc: f64,
    average_precision: f64,
    novel_flagged: f64,
    false_alarms: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    data: &'static str,
    settings: &'a Settings,
    activities: Vec<Row>,
    mean: Means,
}

const DATA: &str = "BasicMotions of the UEA archive, as shipped in aeon (BSD-3-Clause)";

impl Demo {
    /// Fits, scores, prints.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let mut settings = Settings::default().with_level(self.level);
        self.method.apply(&mut settings)?;
        settings.validate()?;
        let motions = varnorm::data::basic_motions()?;
        console.say(INTRODUCTION);
        console.say(format!("Data: {DATA}.\n{}, level {}.\n", views_in_words(&settings), settings.level));
        let activities = motions.train.labels.as_ref().map(|l| l.declared.clone()).unwrap_or_default();
        let mut warnings = Vec::new();
        let rows = activities
            .iter()
            .map(|normal| row(&settings, &motions, normal, console, &mut warnings))
            .collect::<Result<Vec<_>, Error>>()?;
        let mean = means(&rows);
        if let (Some(path), Some(normal)) = (&self.report, activities.first()) {
            report(&settings, &motions, normal, console, path)?;
        }
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Table => table(&rows, &mean).write_aligned(out),
            ReportFormat::Json => {
                output::json(out, &Report { data: DATA, settings: &settings, activities: rows, mean })
            }
        })?;
        console.say("");
        warnings.iter().for_each(|warning| console.warn(warning));
        console.say(LEGEND);
        Ok(())
    }
}

/// "Preset auto", or the kernel and the preparation of one view.
fn views_in_words(settings: &Settings) -> String {
    match &settings.views {
        Views::Preset(preset) => format!("Preset {preset}"),
        Views::Given(views) => {
            let one = |view: &View| format!("Kernel {}, preparation {}", view.kernel, view.prepare);
            views.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

const INTRODUCTION: &str = "\
Smart-watch recordings of four activities, 100 steps of 6 channels each. In every row one activity is taken
as normal: a detector learns from its 10 training recordings, sees nothing of the other activities, and
then scores 40 test recordings, of which 10 are normal and 30 are not.";

const LEGEND: &str = "\
ROC-AUC        chance that a novel recording scores higher than a normal one; 0.5 is guessing, 1 is perfect
avg precision  how pure the top of the list is when recordings are sorted by score; 1 is perfect
novel flagged  recordings of other activities that were flagged: the more the better
false alarms   normal recordings that were flagged; about the level times 10 are to be expected

No label of these recordings was used to fit. These data were among those that the rules of the default were found
on, so that the figures are no independent test. To see what one view alone does:
  varnorm demo --preset fast
  varnorm demo --kernel gak
  varnorm demo --kernel flat_rbf

Next, with your own data:
  varnorm fit normal.csv -o normal.model
  varnorm score normal.model new.csv
  varnorm report normal.model new.csv -o new.html";

fn row(
    settings: &Settings,
    motions: &Split,
    normal: &str,
    console: &Console,
    warnings: &mut Vec<String>,
) -> Result<Row, Error> {
    let corpus = motions.train.select(&motions.train.with_label(normal)?);
    let detector = settings.fit(&corpus.series, &console.run)?;
    for warning in detector.warnings() {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let found = detector.score(&motions.test.series, &console.run)?;
    let is_novel = |labels: &Labels| labels.values.iter().map(|label| label != normal).collect();
    let novel: Vec<bool> = motions.test.labels.as_ref().map(is_novel).unwrap_or_default();
    let flagged = |kind: bool| {
        let both = found.findings.iter().zip(&novel);
        both.filter(|(finding, novel)| finding.novel == Some(true) && **novel == kind).count()
    };
    let count = novel.iter().filter(|novel| **novel).count();
    Ok(Row {
        normal: normal.to_string(),
        roc_auc: metrics::roc_auc(&found.scores(), &novel),
        average_precision: metrics::average_precision(&found.scores(), &novel),
        novel_flagged: flagged(true),
        novel: count,
        false_alarms: flagged(false),
        normal_scored: novel.len() - count,
    })
}

/// The report of one activity taken as normal.
fn report(
    settings: &Settings,
    motions: &Split,
    normal: &str,
    console: &Console,
    path: &Path,
) -> Result<(), Error> {
    let picked = motions.train.with_label(normal)?;
    let names = picked.iter().map(|place| format!("{normal} {place}")).collect();
    let corpus = motions.train.select(&picked);
    let detector = settings.fit(&corpus.series, &console.run)?.with_corpus_names(Some(names));
    let options = Options::default().with_normal(normal.to_string());
    varnorm::report::Report::new(&detector, &motions.test, &options, &console.run)?.write(path)?;
    console.say(format!("the report about {normal} taken as normal is in {}\n", path.display()));
    Ok(())
}

fn means(rows: &[Row]) -> Means {
    let mean = |value: fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / rows.len() as f64;
    Means {
        roc_auc: mean(|row| row.roc_auc),
        average_precision: mean(|row| row.average_precision),
        novel_flagged: mean(|row| row.novel_flagged as f64 / row.novel as f64),
        false_alarms: mean(|row| row.false_alarms as f64 / row.normal_scored as f64),
    }
}

fn table(rows: &[Row], mean: &Means) -> Table {
    let mut table = Table::new(vec![
        ("normal", Align::Left),
        ("ROC-AUC", Align::Right),
        ("avg precision", Align::Right),
        ("novel flagged", Align::Right),
        ("false alarms", Align::Right),
    ]);
    for row in rows {
        table.push(vec![
            row.normal.clone(),
            format!("{:.3}", row.roc_auc),
            format!("{:.3}", row.average_precision),
            format!("{}/{}", row.novel_flagged, row.novel),
            format!("{}/{}", row.false_alarms, row.normal_scored),
        ]);
    }
    table.push(vec![
        "mean".into(),
        format!("{:.3}", mean.roc_auc),
        format!("{:.3}", mean.average_precision),
        format!("{:.0}%", 100.0 * mean.novel_flagged),
        format!("{:.0}%", 100.0 * mean.false_alarms),
    ]);
    table
}
