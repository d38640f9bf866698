//! What the system tells a server: to stop, and to read its model again.

use std::io::Result;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits until one comes.
    pub(crate) async fn wanted(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// SIGHUP.
#[cfg(unix)]
pub(crate) struct Reload(Signal);

#[cfg(unix)]
impl Reload {
    pub(crate) fn new() -> Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Waits until one comes; false where none can come any more.
    pub(crate) async fn wanted(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Stop;

#[cfg(not(unix))]
impl Stop {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self)
    }

    /// Waits until it comes.
    pub(crate) async fn wanted(&mut self) {
        // Where it cannot be waited for, it ends the program in the system's own way.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Nothing: `/v1/reload` is the way there.
#[cfg(not(unix))]
pub(crate) struct Reload;

#[cfg(not(unix))]
impl Reload {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self)
    }

    /// Never comes.
    pub(crate) async fn wanted(&mut self) -> bool {
        false
    }
}
