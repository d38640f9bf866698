//! `varnorm completions` and `varnorm man`: what shells and manuals know of the options, made from the options themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::console::Console;
use crate::failure::Failure;
use crate::{Cli, output};

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "Example:
  varnorm completions bash > ~/.local/share/bash-completion/completions/varnorm")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "varnorm", &mut script);
        output::deliver(console, None, |out| out.write_all(&script))
    }
}

/// Print the manual page
#[derive(Args)]
#[command(after_help = "Example:
  varnorm man | man -l -
  varnorm man score > varnorm-score.1")]
pub struct Man {
    /// A command, for the page of that command
    command: Option<String>,
}

impl Man {
    /// Prints.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let mut all = Cli::command();
        all.build();
        let page = match &self.command {
            None => clap_mangen::Man::new(all),
            Some(name) => {
                let found = all.find_subcommand(name).cloned();
                let unknown =
                    || Failure::Words(format!("there is no command {name}; `varnorm --help` lists them"));
                clap_mangen::Man::new(found.ok_or_else(unknown)?)
            }
        };
        output::deliver(console, None, |out| page.render(out))
    }
}
