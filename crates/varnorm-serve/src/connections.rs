//! Open connections: at most so many, and a newcomer never waits for a client that dawdles.
//!
//! A connection waits for its client (for a head, a body, the next request, or until the answer is taken) or is worked
//! on. Where there is no place, the one that has waited longest for its client is closed; one that is worked on never
//! is.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};

/// All open connections.
pub(crate) struct Connections {
    limit: usize,
    table: Mutex<Table>,
    /// A connection has ended, or is no longer worked on. The accept loop alone listens.
    changed: Notify,
}

#[derive(Default)]
struct Table {
    entries: BTreeMap<u64, Entry>,
    next: u64,
    evicted: u64,
}

struct Entry {
    client: IpAddr,
    working: bool,
    /// When something last happened: bytes came or went, or an answer was ready.
    progress: Instant,
    /// Dropped with the entry, which tells the connection to end.
    _open: oneshot::Sender<()>,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, table: Mutex::default(), changed: Notify::new() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a newcomer a place, and what tells it that it has lost it. Waits only where all others are worked on.
    pub(crate) async fn admit(self: &Arc<Self>, client: IpAddr) -> (Place, oneshot::Receiver<()>) {
        loop {
            if let Some(admitted) = self.try_admit(client) {
                return admitted;
            }
            self.changed.notified().await;
        }
    }

    fn try_admit(self: &Arc<Self>, client: IpAddr) -> Option<(Place, oneshot::Receiver<()>)> {
        let mut table = self.table();
        if table.entries.len() >= self.limit && !table.evict() {
            return None;
        }
        let (open, ended) = oneshot::channel();
        let id = table.next;
        table.next += 1;
        let entry = Entry { client: origin(client), working: false, progress: Instant::now(), _open: open };
        table.entries.insert(id, entry);
        Some((Place(Arc::new(Held { connections: Arc::clone(self), id })), ended))
    }

    /// Closes the connection that is needed least; false where all are worked on.
    pub(crate) fn evict(&self) -> bool {
        self.table().evict()
    }

    /// How many are open, and how many were closed for others.
    pub(crate) fn counts(&self) -> (usize, u64) {
        let table = self.table();
        (table.entries.len(), table.evicted)
    }
}

impl Table {
    /// Of those that wait for their client: first of the client with most connections, so that nobody is starved by
    /// another's number, then the one that has waited longest.
    fn evict(&mut self) -> bool {
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for entry in self.entries.values() {
            *held.entry(entry.client).or_default() += 1;
        }
        let waiting = self.entries.iter().filter(|(_, entry)| !entry.working);
        let least = waiting.min_by_key(|(_, entry)| (std::cmp::Reverse(held[&entry.client]), entry.progress));
        let Some(id) = least.map(|(id, _)| *id) else { return false };
        self.entries.remove(&id);
        self.evicted += 1;
        true
    }
}

/// What counts as one client: an address, or a network of IPv6, in which a client has as many addresses as it likes.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// A connection's place; free again when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Place(Arc<Held>);

struct Held {
    connections: Arc<Connections>,
    id: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.connections.table().entries.remove(&self.id);
        self.connections.changed.notify_one();
    }
}

impl Place {
    /// The request is complete: until what is given is dropped, the connection is not closed for others.
    pub(crate) fn work(&self) -> Working<'_> {
        self.note(true);
        Working(self)
    }

    fn progress(&self) {
        if let Some(entry) = self.0.connections.table().entries.get_mut(&self.0.id) {
            entry.progress = Instant::now();
        }
    }

    fn note(&self, working: bool) {
        if let Some(entry) = self.0.connections.table().entries.get_mut(&self.0.id) {
            (entry.working, entry.progress) = (working, Instant::now());
        }
    }
}

/// A request is being worked on.
pub(crate) struct Working<'a>(&'a Place);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.note(false);
        self.0.0.connections.changed.notify_one();
    }
}

/// A stream that notes when bytes come or go.
pub(crate) struct Watched {
    stream: TcpStream,
    place: Place,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, place: Place) -> Self {
        Self { stream, place }
    }

    fn written(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(outcome, Poll::Ready(Ok(1..))) {
            self.place.progress();
        }
        outcome
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.place.progress();
        }
        outcome
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;
    use tokio::sync::oneshot::error::TryRecvError;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    fn lost(ended: &mut oneshot::Receiver<()>) -> bool {
        ended.try_recv() == Err(TryRecvError::Closed)
    }

    #[test]
    fn the_one_that_has_waited_longest_goes() {
        let connections = Connections::new(3);
        let mut open: Vec<_> = (0..3).map(|_| connections.try_admit(address(1)).unwrap()).collect();
        // The first has sent something since, the second is worked on.
        open[0].0.progress();
        let second = open[1].0.clone();
        let work = second.work();
        let newcomer = connections.try_admit(address(1)).unwrap();
        let gone: Vec<bool> = open.iter_mut().map(|(_, ended)| lost(ended)).collect();
        assert_eq!(gone, [false, false, true]);
        assert_eq!(connections.counts(), (3, 1));
        // Its place has gone to the newcomer: that it ends now changes nothing.
        drop(open.pop());
        assert_eq!(connections.counts(), (3, 1));
        let (first, newcomer) = (open[0].0.work(), newcomer.0.work());
        assert!(connections.try_admit(address(1)).is_none(), "all are worked on");
        drop((work, newcomer, first));
        assert!(connections.try_admit(address(1)).is_some());
    }

    #[test]
    fn the_client_with_most_connections_yields_first() {
        let connections = Connections::new(4);
        let mut open: Vec<_> =
            [1, 2, 2, 2].into_iter().map(|last| connections.try_admit(address(last)).unwrap()).collect();
        let _newcomer = connections.try_admit(address(3)).unwrap();
        let gone: Vec<bool> = open.iter_mut().map(|(_, ended)| lost(ended)).collect();
        assert_eq!(gone, [false, true, false, false]);
        let network = |text: &str| origin(text.parse().unwrap());
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:2"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_eq!(network("::ffff:10.0.0.1"), address(1));
    }

    #[test]
    fn a_newcomer_waits_while_all_are_worked_on_and_no_longer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let connections = Connections::new(1);
            let (place, mut ended) = connections.admit(address(1)).await;
            let work = place.work();
            let short = Duration::from_millis(50);
            assert!(tokio::time::timeout(short, connections.admit(address(2))).await.is_err());
            assert!(!lost(&mut ended));
            let (_admitted, ()) = tokio::join!(connections.admit(address(2)), async { drop(work) });
            assert!(lost(&mut ended));
        });
    }
}
