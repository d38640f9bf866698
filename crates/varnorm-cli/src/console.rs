//! [`Console`]: threads, talk and Ctrl-C of one run of the program.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use varnorm::Run;

use crate::failure::Failure;
use crate::progress::Bar;

/// What every command gets: how to compute, and how to talk.
pub struct Console {
    /// Threads, progress and cancellation for the library.
    pub run: Run,
    quiet: bool,
    bar: Arc<Bar>,
}

impl Console {
    /// So many threads (0: one per core); the first Ctrl-C stops the work, a second one the program.
    pub fn new(threads: usize, quiet: bool) -> Result<Self, Failure> {
        let bar = Arc::new(Bar::new(!quiet && std::io::stderr().is_terminal()));
        let listener = Arc::clone(&bar);
        let run = Run::with_threads(threads)?.on_progress(move |progress| listener.report(progress));
        let cancel = run.cancel_flag();
        // Where no handler can be set, Ctrl-C ends the program in the system's own way.
        let _ = ctrlc::set_handler(move || {
            if cancel.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Ok(Self { run, quiet, bar })
    }

    /// A line of talk.
    pub fn say(&self, words: impl AsRef<str>) {
        self.clear();
        if !self.quiet {
            // Talk that nobody can hear is no error.
            let _ = writeln!(std::io::stderr(), "{}", words.as_ref());
        }
    }

    /// The same for threads that outlive a call.
    pub fn talk(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let quiet = self.quiet;
        move |words| {
            if !quiet {
                let _ = writeln!(std::io::stderr(), "{words}");
            }
        }
    }

    /// What a reader noticed.
    pub fn notes(&self, notes: &[String]) {
        notes.iter().for_each(|note| self.say(format!("note: {note}")));
    }

    /// What the user should know before trusting a result.
    pub fn warn(&self, warning: impl AsRef<str>) {
        self.say(format!("warning: {}", warning.as_ref()));
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        self.bar.clear();
    }
}
