//! Beginning a study, or going on with one.

use std::path::{Path, PathBuf};

use clap::Args;
use varnorm::describe::duration;
use varnorm_study::{Compat, External, Grid, Method, Parameters, Select, Shard, Step, Study, estimate};

use super::Showing;
use crate::args::one_of;
use crate::console::Console;
use crate::failure::Failure;

/// A study from its data.
#[derive(Args)]
pub struct Begin {
    /// Folder with NAME/NAME_TRAIN.ts and NAME/NAME_TEST.ts
    #[arg(required = true, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Data sets, separated by commas
    #[arg(long, required = true, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Kernels by their names in tables [default: all of the grid]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    kernels: Vec<String>,
    /// Keep every finished unit in this folder, and go on from what is there
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// What to try, as JSON or TOML [default: the published grid; --print-grid shows it]
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// Judge the parameters of this file; no search
    #[arg(long, value_name = "FILE", conflicts_with = "grid")]
    published: Option<PathBuf>,
    /// Which variants [default: none; published with --published]
    #[arg(long, value_parser = one_of::<Compat>(Compat::WORDS))]
    compat: Option<Compat>,
    /// How the best parameters are chosen
    #[arg(long, value_parser = one_of::<Select>(Select::WORDS), default_value_t = Select::default())]
    select: Select,
    /// Only the k-th of n parts of the units
    #[arg(long, value_name = "K/N", requires = "run")]
    shard: Option<String>,
    /// Leave out k-NN on flattened series (it is left out with --published)
    #[arg(long)]
    no_baselines: bool,
    /// A column of scores made elsewhere: a CSV with the columns dataset, class, series, score
    #[arg(long, value_name = "NAME=FILE")]
    scores: Vec<String>,
    /// Print the units and what they will take; compute one fold of each kernel only
    #[arg(long)]
    dry_run: bool,
    /// Print the grid as JSON, and do nothing else
    #[arg(long)]
    print_grid: bool,
    #[command(flatten)]
    showing: Showing,
}

impl Begin {
    /// Works the study out and shows it.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let study = self.study()?;
        if self.print_grid {
            return crate::output::deliver(console, None, |out| crate::output::json(out, &study.grid));
        }
        let shard: Shard = self.shard.as_deref().map_or(Ok(Shard::default()), str::parse)?;
        let loaded = study.load()?;
        if self.dry_run {
            return dry_run(console, &loaded, shard);
        }
        let told = |step: Step<'_>| console.say(told(&step));
        let results =
            loaded.run(self.run.as_deref(), shard, &console.run, told).map_err(|error| match &self.run {
                Some(folder) => Failure::kept(|| {
                    let folder = folder.display();
                    format!("finished units are kept in {folder}: the same command goes on from there")
                })(error),
                None => error.into(),
            })?;
        if shard.pieces() > 1 {
            let whole = loaded.units().len();
            console.say(format!(
                "{} of {whole} units are done here; join the pieces with `varnorm study merge`",
                results.len()
            ));
        }
        self.showing.show(console, &results, study.published.as_ref())
    }

    fn study(&self) -> Result<Study, Failure> {
        let published = self.published.as_deref().map(Parameters::read).transpose()?;
        let mut grid = self.grid.as_deref().map_or(Ok(Grid::default()), Grid::read)?;
        if !self.kernels.is_empty() {
            grid = grid.only(&self.kernels)?;
        }
        let compat = self.compat.unwrap_or(match &published {
            Some(_) => Compat::Published,
            None => Compat::default(),
        });
        let mut study = Study::new(self.folder.clone().unwrap_or_default(), self.datasets.clone());
        study.grid = grid;
        study.compat = compat;
        study.select = self.select;
        study.baselines = !self.no_baselines && published.is_none();
        study.published = published;
        study.external = self.scores.iter().map(|text| external(text)).collect::<Result<_, Failure>>()?;
        Ok(study)
    }
}

/// Reads `NAME=FILE`: scores made elsewhere.
pub(crate) fn external(text: &str) -> Result<External, Failure> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() => Ok(External::read(name, Path::new(file))?),
        _ => Err(Failure::Words(format!(
            "--scores {text}: write a name and a file, as in --scores forest=forest.csv"
        ))),
    }
}

/// One line per unit: how far, what, how well, how long.
fn told(step: &Step<'_>) -> String {
    let result = step.result;
    let area =
        |method: Method| Some(format!(" {} {:.3}", method.letter(), result.methods.get(&method)?.roc_auc));
    let areas: String = Method::MEASURED.into_iter().chain([Method::External]).filter_map(area).collect();
    let outcome = match &result.skipped {
        Some(reason) => format!("skipped: {reason}"),
        None => format!("ROC AUC{areas}"),
    };
    let left = if step.done < step.total {
        format!(", about {} left", duration(step.left.as_secs_f64()))
    } else {
        String::new()
    };
    format!(
        "[{}/{}] {}: {outcome} ({}{left})",
        step.done,
        step.total,
        result.unit,
        duration(step.took.as_secs_f64())
    )
}

fn dry_run(console: &Console, loaded: &varnorm_study::Loaded, shard: Shard) -> Result<(), Failure> {
    let estimate = estimate(loaded, shard, &console.run)?;
    crate::output::deliver(console, None, |out| {
        for unit in loaded.units_of(shard) {
            writeln!(out, "{unit}")?;
        }
        for (dataset, kernel, units, took) in &estimate.rows {
            writeln!(out, "estimate: {dataset} {kernel}: {units} units, {}", duration(took.as_secs_f64()))?;
        }
        writeln!(
            out,
            "estimate: {} on {} threads; kernel values and objectives take up to {} MB",
            duration(estimate.total().as_secs_f64()),
            console.run.threads(),
            estimate.bytes.div_ceil(1 << 20)
        )
    })
}
