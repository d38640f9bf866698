//! Taking connections: at most so many, none that dawdles over its head, and all finished at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use varnorm::{Error, Result};

use crate::api;
use crate::state::Shared;

/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// Serves until told to stop.
pub(crate) async fn run(
    shared: Arc<Shared>,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let failed = |action| move |e| Error::io(action, address.to_string(), e);
    let listener = TcpListener::bind(address).await.map_err(failed("listen on"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed("wait for signals at"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed("wait for signals at"))?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed("wait for signals at"))?;
    ready(listener.local_addr().map_err(failed("listen on"))?);
    let service = TowerToHyperService::new(api::router(Arc::clone(&shared)));
    let graceful = GracefulShutdown::new();
    let free = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let turn = async {
            // The semaphore is never closed; were it, nothing would be taken any more.
            let place = Arc::clone(&free).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        tokio::select! {
            (place, accepted) = turn => {
                let Ok((stream, _)) = accepted else {
                    // Out of file descriptors, most likely: some will be free in a moment.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
                let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service.clone()));
                tokio::spawn(async move {
                    // What is wrong with a connection is its client's to know.
                    let _ = connection.await;
                    drop(place);
                });
            }
            _ = hangup.recv() => {
                let shared = Arc::clone(&shared);
                tokio::task::spawn_blocking(move || drop(shared.reload()));
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
    shared.tell("stopping: no more requests are taken, and those that are running are finished");
    drop(listener);
    // A request has its time limit; a client that does not read its answer has as long.
    let patience = shared.limits.time + HEAD;
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        shared.tell("some clients did not take their answers in time");
    }
    Ok(())
}
