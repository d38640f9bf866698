//! Taking connections: none that dawdles over its head or keeps others out, and all finished at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use varnorm::{Error, Result};

use crate::api;
use crate::connections::{Connections, Place, Watched};
use crate::signals::{Reload, Stop};
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
    let mut stop = Stop::new().map_err(failed("wait for signals at"))?;
    let reload = Reload::new().map_err(failed("wait for signals at"))?;
    ready(listener.local_addr().map_err(failed("listen on"))?);
    tokio::spawn(reload_on(reload, Arc::clone(&shared)));
    let service = TowerToHyperService::new(api::router(Arc::clone(&shared)));
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    loop {
        let taken = tokio::select! {
            taken = take(&listener, &shared.connections) => taken,
            () = stop.wanted() => break,
        };
        let Some((stream, place, ended)) = taken else { continue };
        let (service, own) = (service.clone(), place.clone());
        let handler = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(own.clone());
            service.call(request)
        });
        let connection = builder.serve_connection(TokioIo::new(Watched::new(stream, place)), handler);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            tokio::select! {
                // What is wrong with a connection is its client's to know.
                _ = connection => {}
                _ = ended => {}
            }
        });
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

/// The next connection, with its place; none where the system gave none.
async fn take(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, Place, oneshot::Receiver<()>)> {
    match listener.accept().await {
        Ok((stream, client)) => {
            let _ = stream.set_nodelay(true);
            let (place, ended) = connections.admit(client.ip()).await;
            Some((stream, place, ended))
        }
        Err(error) => {
            // The system's own limit of open files, ENFILE or EMFILE, is one of connections too.
            let full = matches!(error.raw_os_error(), Some(23 | 24));
            let pause = if full && connections.evict() { 1 } else { 50 };
            tokio::time::sleep(Duration::from_millis(pause)).await;
            None
        }
    }
}

async fn reload_on(mut reload: Reload, shared: Arc<Shared>) {
    while reload.wanted().await {
        let shared = Arc::clone(&shared);
        tokio::task::spawn_blocking(move || drop(shared.reload()));
    }
}
