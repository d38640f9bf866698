//! `varnorm serve`: a local page and a JSON API around a model.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use varnorm_serve::{Limits, Options};

use crate::console::Console;
use crate::failure::Failure;

/// Serve a page and a JSON API that score series with a model
///
/// Open the address that is printed, and drop a file on the page. SIGHUP reads the model file again; SIGTERM and
/// Ctrl-C finish what is running and stop.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  varnorm serve normal.model
  curl -H 'Content-Type: application/json' -d '{\"series\":[[[0.1,0.2],[0.3,0.4]]]}' localhost:8377/v1/score
  curl --data-binary @new.csv 'localhost:8377/v1/score?name=new.csv'
  VARNORM_TOKEN=... varnorm serve normal.model --listen 0.0.0.0:8377

Paths: / (the page), /v1/score, /v1/report, /v1/model, /v1/reload, /healthz, /metrics, /openapi.json."
)]
pub struct Serve {
    /// A model that `varnorm fit` wrote
    model: PathBuf,
    /// Address and port; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8377")]
    listen: SocketAddr,
    /// What clients must send as Authorization: Bearer TOKEN; needed for anything but loopback [default: the
    /// environment variable VARNORM_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Bytes of a request's body at most
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body)]
    body_limit: usize,
    /// Series of a request at most
    #[arg(long, value_name = "N", default_value_t = Limits::default().series)]
    series_limit: usize,
    /// Steps of a series at most
    #[arg(long, value_name = "N", default_value_t = Limits::default().length)]
    length_limit: usize,
    /// Seconds that a request may wait and work at most, and its body may take to arrive
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().time.as_secs_f64())]
    time_limit: f64,
    /// Requests worked on at a time [default: --threads, or one per core]
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
    /// Requests that may wait for their turn
    #[arg(long, value_name = "N", default_value_t = Limits::default().queue)]
    queue_limit: usize,
    /// Open connections at most; beyond, the one that has waited longest for its client is closed for a new one
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    connection_limit: usize,
}

impl Serve {
    /// Serves until told to stop.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let time = Duration::try_from_secs_f64(self.time_limit).map_err(|e| {
            varnorm::Error::bad_param("time limit", self.time_limit, format!("must be seconds: {e}"))
        })?;
        // An empty token is a mistake in a script, not the wish for none: it is refused like any other that is too short.
        let environment = || std::env::var("VARNORM_TOKEN").ok();
        let mut limits = Limits::default();
        limits.body = self.body_limit;
        limits.series = self.series_limit;
        limits.length = self.length_limit;
        limits.time = time;
        limits.concurrency = self.concurrency.unwrap_or(console.run.threads());
        limits.queue = self.queue_limit;
        limits.connections = self.connection_limit;
        let options = Options {
            model: self.model.clone(),
            listen: self.listen,
            token: self.token.clone().or_else(environment),
            limits,
        };
        let talk = console.talk();
        let ready = |address| console.say(format!("listening on http://{address}/"));
        Ok(varnorm_serve::serve(&options, ready, talk)?)
    }
}
