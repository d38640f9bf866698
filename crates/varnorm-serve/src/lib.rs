//! A local page and a JSON API around a model: `varnorm serve`.
//!
//! [`serve`] runs until it is told to stop. A request goes through `guard` (who may ask), `input` (what was sent, within
//! [`Limits`]), a blocking thread that scores, and comes back as the JSON of `varnorm score` or the page of
//! `varnorm report`. Nothing that a client sends reaches the file system.

mod api;
mod connections;
mod guard;
mod input;
mod listen;
mod metrics;
mod page;
mod refusal;
mod signals;
mod state;
mod work;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use varnorm::{Error, Result};

/// What a client may ask for at most. What is beyond is refused with a status from 400 to 499 and a sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body; what is read from it may take 16 times as many in memory.
    pub body: usize,
    /// Series of a request.
    pub series: usize,
    /// Steps of a series.
    pub length: usize,
    /// How long a request may wait and work, and how long its body may take to arrive.
    pub time: Duration,
    /// Requests that are worked on at a time.
    pub concurrency: usize,
    /// Requests that may wait for their turn.
    pub queue: usize,
    /// Open connections; beyond, the one that has waited longest for its client is closed for a new one.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            series: 10_000,
            length: 100_000,
            time: Duration::from_secs(30),
            concurrency: std::thread::available_parallelism().map_or(1, usize::from),
            queue: 256,
            connections: 1024,
        }
    }
}

/// What is served, where, and to whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The model file; read again on SIGHUP and `POST /v1/reload`.
    pub model: PathBuf,
    /// Where to listen; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// What clients must send as `Authorization: Bearer TOKEN`; needed for anything but loopback.
    pub token: Option<String>,
    /// What a client may ask for at most.
    pub limits: Limits,
}

/// Serves until SIGTERM or SIGINT, then finishes what is running. `ready` hears of the address when requests are taken,
/// `told` of everything that is worth a line.
pub fn serve(
    options: &Options,
    ready: impl FnOnce(SocketAddr),
    told: impl Fn(&str) + Send + Sync + 'static,
) -> Result<()> {
    validate(options)?;
    let model = state::Model::load(&options.model)?;
    let shared = Arc::new(state::Shared::new(options, model, Box::new(told)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Turns are few: more threads would only hold memory. Two are spare, for a reload and for one that winds up.
        .max_blocking_threads(options.limits.concurrency + 2)
        .build()
        .map_err(|e| Error::io("start threads for", options.listen.to_string(), e))?;
    let outcome = runtime.block_on(listen::run(shared, options.listen, ready));
    // Work that is left has had its time: it is told to stop, and not waited for any longer.
    runtime.shutdown_timeout(WIND_UP);
    outcome
}

/// How long work may take to notice that it is to stop, at the very end.
const WIND_UP: Duration = Duration::from_secs(1);

/// A week: deadlines beyond a clock's range are no deadlines.
const MOST_TIME: Duration = Duration::from_secs(7 * 24 * 3600);

fn validate(options: &Options) -> Result<()> {
    if options.token.is_none() && !options.listen.ip().is_loopback() {
        let rule = "others could ask this model: give a token, or listen on 127.0.0.1";
        return Err(Error::bad_param("listen", options.listen, rule));
    }
    if options.token.as_ref().is_some_and(|token| token.len() < 16 || !token.is_ascii()) {
        return Err(Error::bad_param("token", "(not shown)", "must be 16 or more ASCII letters"));
    }
    let limits = &options.limits;
    for (name, value) in [
        ("body", limits.body),
        ("series", limits.series),
        ("length", limits.length),
        ("concurrency", limits.concurrency),
        ("connections", limits.connections),
    ] {
        if value == 0 {
            return Err(Error::bad_param(format!("{name} limit"), 0, "must be at least 1"));
        }
    }
    if limits.time.is_zero() || limits.time > MOST_TIME {
        let rule = format!("must be above 0, and at most {} seconds", MOST_TIME.as_secs());
        return Err(Error::bad_param("time limit", limits.time.as_secs_f64(), rule));
    }
    Ok(())
}
