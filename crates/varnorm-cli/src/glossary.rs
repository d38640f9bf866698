//! `varnorm glossary`: the words of tables, reports and messages.

use clap::Args;
use varnorm::describe::GLOSSARY;

use crate::console::Console;
use crate::failure::Failure;
use crate::output;

/// Say what the words of tables, reports and messages mean
#[derive(Args)]
#[command(after_help = "Example:
  varnorm glossary
  varnorm glossary p-value")]
pub struct Glossary {
    /// Only words that contain this
    #[arg(value_name = "WORD")]
    word: Option<String>,
}

impl Glossary {
    /// Prints the list.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let wanted = self.word.as_deref().unwrap_or_default().to_lowercase();
        let found: Vec<_> =
            GLOSSARY.iter().filter(|(word, _)| word.to_lowercase().contains(&wanted)).collect();
        if found.is_empty() {
            let words: Vec<&str> = GLOSSARY.iter().map(|(word, _)| *word).collect();
            return Err(Failure::Words(format!(
                "{wanted} is not in the glossary; it has {}",
                words.join(", ")
            )));
        }
        output::deliver(console, None, |out| {
            found.iter().try_for_each(|(word, meaning)| writeln!(out, "{word}\n    {meaning}"))
        })
    }
}
