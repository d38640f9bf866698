//! The program `varnorm`: novelty detection for time series from the command line.
//!
//! [`run`] is all of it, so that the Python package carries the same program. One file per command. What they share: `args`
//! (options), `source` (reading data), `console` (threads, talk, Ctrl-C), `progress` (the bar), `output` and `table` (results),
//! `failure` (errors). Results go to standard output, everything else to standard error.

mod args;
mod bench;
mod bench_long;
mod console;
mod convert;
mod demo;
mod explain;
mod failure;
mod fit;
mod glossary;
mod gram;
mod inspect;
mod kernels;
mod long;
mod merge;
mod output;
mod progress;
mod refresh;
mod report;
mod score;
mod serve;
mod shell;
mod source;
mod study;
mod table;
mod theory;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use console::Console;
use failure::Failure;

/// Finds novel time series: learns from normal ones, scores new ones, says how sure it is.
#[derive(Parser)]
#[command(name = "varnorm", version, arg_required_else_help = true, after_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to use; 0 is one per core
    #[arg(long, global = true, value_name = "N", default_value_t = 0, display_order = 100,
          value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Say nothing on standard error but errors; show no progress bar
    #[arg(long, short, global = true, display_order = 101)]
    quiet: bool,
}

const EXAMPLE: &str = "Example:
  varnorm demo                               see it work on data that come with the program
  varnorm fit normal.csv -o normal.model     learn what is normal
  varnorm score normal.model new.csv         score new series

Data are .ts, .arff, .csv (also .tsv, .txt, packed by gzip or Zstandard), .npy or .npz files, folders of them, or - for
standard input.
Exit code: 0 fine, 1 something was flagged (with `score --fail-on-novel` only), 2 error.";

#[derive(Subcommand)]
enum Command {
    Demo(demo::Demo),
    // Boxed: their options are many.
    Fit(Box<fit::Fit>),
    Merge(merge::Merge),
    Refresh(refresh::Refresh),
    Score(Box<score::Score>),
    Follow(long::Follow),
    Explain(explain::Explain),
    Report(report::ReportCommand),
    Serve(serve::Serve),
    Inspect(inspect::Inspect),
    Gram(gram::GramCommand),
    Convert(convert::Convert),
    Kernels(kernels::Kernels),
    Glossary(glossary::Glossary),
    Theory(theory::Theory),
    Study(Box<study::StudyCommand>),
    Bench(bench::Bench),
    BenchLong(bench_long::BenchLong),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// The exit code of a command that failed.
const ERROR: u8 = 2;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Exit code 0.
    Fine,
    /// Exit code 1: novel series were found, and the user asked to be told so.
    Novel,
}

/// Runs the program with these arguments, of which the first is its name, and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Nobody is left to be told when this fails.
            let _ = usage.print();
            return u8::try_from(usage.exit_code()).unwrap_or(ERROR);
        }
    };
    let listens = matches!(cli.command, Command::Serve(_));
    let outcome = Console::new(usize::from(cli.threads), cli.quiet, listens).and_then(|console| {
        let outcome = run_command(&cli.command, &console);
        console.clear();
        outcome
    });
    match outcome {
        Ok(Verdict::Fine) => 0,
        Ok(Verdict::Novel) => 1,
        Err(failure) => {
            failure.print();
            ERROR
        }
    }
}

fn run_command(command: &Command, console: &Console) -> Result<Verdict, Failure> {
    let done = match command {
        Command::Score(command) => return command.run(console),
        Command::Demo(command) => command.run(console),
        Command::Fit(command) => command.run(console),
        Command::Merge(command) => command.run(console),
        Command::Refresh(command) => command.run(console),
        Command::Follow(command) => command.run(console),
        Command::Explain(command) => command.run(console),
        Command::Report(command) => command.run(console),
        Command::Serve(command) => command.run(console),
        Command::Inspect(command) => command.run(console),
        Command::Gram(command) => command.run(console),
        Command::Convert(command) => command.run(console),
        Command::Kernels(command) => command.run(console),
        Command::Glossary(command) => command.run(console),
        Command::Theory(command) => command.run(console),
        Command::Study(command) => command.run(console),
        Command::Bench(command) => command.run(console),
        Command::BenchLong(command) => command.run(console),
        Command::Completions(command) => command.run(console),
        Command::Man(command) => command.run(console),
    };
    done.map(|()| Verdict::Fine)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
