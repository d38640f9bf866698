//! `varnorm study`: one class against the rest, over data sets, kernels, classes and parameters.

mod command;
mod show;

pub(crate) use command::external;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use varnorm::words::Word;
use varnorm_study::{Layout, Method, Parameters, Results, UnitResult, figures, table};

use crate::console::Console;
use crate::failure::Failure;
use crate::output;

/// Compare kernels and distances on labelled data sets, each class in turn taken as normal
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  varnorm study uea --datasets RacketSports --run racket          search the published grid, resumable
  varnorm study uea --datasets RacketSports --dry-run             what would be done, and how long it takes
  varnorm study uea --datasets Epilepsy --published params.json   judge given parameters, without a search
  varnorm study show racket --format latex --figures plots        tables and figures of a run
  varnorm study merge piece1 piece2 -o whole                      join pieces made with --shard
  varnorm study compare before after                              which numbers moved

Rows of tables: C conformance, M Mahalanobis (the paper's norm); C+, M+ with the envelope norm;
N nearest neighbour in feature space, R residual of principal components; E scores made elsewhere;
an asterisk marks published numbers."
)]
pub struct StudyCommand {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    begin: command::Begin,
}

#[derive(Subcommand)]
enum Action {
    Show(show::Show),
    Merge(show::Merge),
    Compare(show::Compare),
}

impl StudyCommand {
    /// Does what was asked for.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        match &self.action {
            None => self.begin.run(console),
            Some(Action::Show(show)) => show.run(console),
            Some(Action::Merge(merge)) => merge.run(console),
            Some(Action::Compare(compare)) => compare.run(console),
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// Aligned columns for people
    Text,
    /// JSON, by data set, kernel and distance, full precision
    Json,
    /// One line per data set, kernel and method, full precision
    Csv,
    /// A table of a Markdown page
    Markdown,
    /// The paper's layout
    Latex,
}

/// Parses a row of the tables: its letter, listed in the help, or its name.
fn row() -> impl TypedValueParser<Value = Method> {
    let value = |word: &'static Word| {
        let [letter, more @ ..] = word.aliases else { return PossibleValue::new(word.name) };
        PossibleValue::new(letter).help(word.meaning).alias(word.name).aliases(more)
    };
    PossibleValuesParser::new(Method::WORDS.iter().map(value)).try_map(|word| word.parse::<Method>())
}

/// How results are shown.
#[derive(Debug, Clone, Args)]
struct Showing {
    /// How to print the tables
    #[arg(long, value_enum, default_value = "text")]
    format: TableFormat,
    /// Rows of the tables [default: all]
    #[arg(long, value_parser = row(), value_delimiter = ',', value_name = "ROWS")]
    rows: Vec<Method>,
    /// Write the three figures as SVG into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Write to a file instead of standard output
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Showing {
    /// Prints tables and draws figures.
    fn show(
        &self,
        console: &Console,
        units: &[UnitResult],
        published: Option<&Parameters>,
    ) -> Result<(), Failure> {
        let results = Results::new(units);
        let mut methods = self.rows.clone();
        if methods.is_empty() {
            methods = Method::MEASURED.to_vec();
            methods.push(Method::External);
        }
        let layout = match self.format {
            TableFormat::Json => None,
            TableFormat::Text => Some(Layout::Text),
            TableFormat::Csv => Some(Layout::Csv),
            TableFormat::Markdown => Some(Layout::Markdown),
            TableFormat::Latex => Some(Layout::Latex),
        };
        if let Some(folder) = &self.figures {
            std::fs::create_dir_all(folder).map_err(|e| varnorm::Error::io("make", folder, e))?;
            for (name, svg) in figures(units, false) {
                varnorm::data::write_atomically(&folder.join(name), |out| out.write_all(svg.as_bytes()))?;
            }
            console.say(format!("figures are in {}", folder.display()));
        }
        output::deliver(console, self.output.as_deref(), |out| match layout {
            None => output::json(out, &results.json()),
            Some(layout) => out.write_all(table(&results, &methods, published, layout).as_bytes()),
        })
    }
}
