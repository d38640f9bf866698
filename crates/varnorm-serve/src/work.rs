//! Work on a blocking thread: in turn, within the time limit, stopped when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU8, Ordering};
use std::time::Instant;

use axum::http::StatusCode;
use varnorm::Run;

use crate::connections::Place;
use crate::refusal::{Refusal, late};
use crate::state::Shared;

/// Stops the work when it is dropped: the client has gone, or its time is over. Until the work notices, it is overdue.
struct StopOnDrop {
    cancel: Arc<AtomicBool>,
    ended: Arc<Ended>,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        if self.ended.state.swap(LATE, Ordering::Relaxed) == RUNNING {
            self.ended.overdue.fetch_add(1, Ordering::Relaxed);
        }
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
    let ended = Arc::new(Ended { state: AtomicU8::new(RUNNING), overdue: Arc::clone(&shared.overdue) });
    let _stop = StopOnDrop { cancel: run.cancel_flag(), ended: Arc::clone(&ended) };
    let task = tokio::task::spawn_blocking(move || {
        // Dropped from the last to the first, whatever happens: the work is over, then the turn is free.
        let (_turn, _over) = (turn, Over(ended));
        work(&run)
    });
    match tokio::time::timeout_at(deadline.into(), task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => {
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the work failed; this is a bug of varnorm"))
        }
        Err(_) => Err(late()),
    }
}

/// What work is at: somebody waits for it, nobody does any more, it is over.
const RUNNING: u8 = 0;
const LATE: u8 = 1;
const OVER: u8 = 2;

/// Whether work is over, and how many turns are held by work that nobody waits for.
struct Ended {
    state: AtomicU8,
    overdue: Arc<AtomicIsize>,
}

/// Notes that work is over.
struct Over(Arc<Ended>);

impl Drop for Over {
    fn drop(&mut self) {
        if self.0.state.swap(OVER, Ordering::Relaxed) == LATE {
            self.0.overdue.fetch_sub(1, Ordering::Relaxed);
        }
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
