//! [`Console`]: threads, talk and Ctrl-C of one run of the program.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use varnorm::Run;

use crate::failure::Failure;
use crate::progress::Bar;

/// Words for a terminal. Names come from files: of control characters only the end of a line may reach it.
pub fn printable(words: &str) -> String {
    words.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What every command gets: how to compute, and how to talk.
pub struct Console {
    /// Threads, progress and cancellation for the library.
    pub run: Run,
    quiet: bool,
    bar: Arc<Bar>,
}

impl Console {
    /// So many threads (0: one per core). The first Ctrl-C, SIGTERM or SIGHUP stops the work, so that nothing half done is
    /// left behind, and a second one the program; a command that `listens` to signals itself gets them.
    pub fn new(threads: usize, quiet: bool, listens: bool) -> Result<Self, Failure> {
        let bar = Arc::new(Bar::new(!quiet && std::io::stderr().is_terminal()));
        let listener = Arc::clone(&bar);
        let run = Run::with_threads(threads)?.on_progress(move |progress| listener.report(progress));
        let cancel = run.cancel_flag();
        survive_file_limits();
        if !listens {
            stop_on_signals(cancel);
        }
        Ok(Self { run, quiet, bar })
    }

    /// A line of talk.
    pub fn say(&self, words: impl AsRef<str>) {
        self.clear();
        if !self.quiet {
            // Talk that nobody can hear is no error.
            let _ = writeln!(std::io::stderr(), "{}", printable(words.as_ref()));
        }
    }

    /// The same for threads that outlive a call.
    pub fn talk(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let quiet = self.quiet;
        move |words| {
            if !quiet {
                let _ = writeln!(std::io::stderr(), "{}", printable(words));
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

    /// Whether results may have colours: on a terminal, where nobody has asked for none (<https://no-color.org>).
    pub fn colored(&self) -> bool {
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        self.bar.clear();
    }
}

/// A file that may not grow further (`ulimit -f`, a quota) is an error of the write, not the end of the program: its
/// temporary file would stay. That there is a handler is enough.
fn survive_file_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Where no handler can be set, signals end the program in the system's own way.
#[cfg(unix)]
fn stop_on_signals(cancel: Arc<AtomicBool>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // `nohup` has the hang-up ignored, and means it.
    let wanted =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal != SIGHUP || !hangup_ignored());
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if cancel.swap(true, std::sync::atomic::Ordering::Relaxed) {
                std::process::exit(128 + signal);
            }
        }
    });
}

/// Elsewhere Ctrl-C ends the program at once. Files are written atomically, so that none is left half-written.
#[cfg(not(unix))]
fn stop_on_signals(_cancel: Arc<AtomicBool>) {}

/// Whether SIGHUP, the first of the signals, was ignored when the program was started.
#[cfg(unix)]
fn hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
