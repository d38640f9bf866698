//! Work on a blocking thread: in turn, within the time limit, stopped when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::http::StatusCode;
use varnorm::Run;

use crate::connections::Place;
use crate::refusal::{Refusal, late};
use crate::state::Shared;

/// Stops the work when it is dropped: the client has gone, or its time is over.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One among those that wait.
struct Waiting<'a>(&'a Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for a turn and does `work` on a thread that may block. Meanwhile the connection keeps its place.
pub(crate) async fn in_turn<T: Send + 'static>(
    shared: &Shared,
    place: &Place,
    deadline: Instant,
    work: impl FnOnce(&Run) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let _working = place.work();
    let turn = match Arc::clone(&shared.turns).try_acquire_owned() {
        Ok(turn) => turn,
        Err(_) => wait(shared, deadline).await?,
    };
    let run = Run::sequential();
    let _stop = StopOnDrop(run.cancel_flag());
    let task = tokio::task::spawn_blocking(move || {
        let outcome = work(&run);
        drop(turn);
        outcome
    });
    match tokio::time::timeout_at(deadline.into(), task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => {
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the work failed; this is a bug of varnorm"))
        }
        Err(_) => Err(late()),
    }
}

async fn wait(shared: &Shared, deadline: Instant) -> Result<tokio::sync::OwnedSemaphorePermit, Refusal> {
    let before = shared.waiting.fetch_add(1, Ordering::Relaxed);
    let _waiting = Waiting(shared);
    if before >= shared.limits.queue {
        return Err(Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "more requests wait already than the server allows (its queue limit); try again in a moment",
        ));
    }
    let turn = tokio::time::timeout_at(deadline.into(), Arc::clone(&shared.turns).acquire_owned()).await;
    turn.ok().and_then(Result::ok).ok_or_else(late)
}
