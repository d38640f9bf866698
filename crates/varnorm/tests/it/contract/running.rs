//! Cancellation and progress.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::Numbers;
use varnorm::Run;
use varnorm::gram::{self, Scaling};
use varnorm::internal::{Tiling, grams_in_tiles};
use varnorm::kernel::FlatLinear;

/// It takes a moment; who waits for so long waits for ever.
const HANGS: Duration = Duration::from_secs(300);

#[test]
fn a_cancelled_run_stops() {
    let run = Run::with_threads(2).unwrap();
    run.cancel_flag().store(true, Ordering::Relaxed);
    let set = Numbers(1).walks(30, 5, 2);
    let error = gram::gram(&FlatLinear {}.into(), &set, Scaling::Raw, &run).unwrap_err();
    assert!(matches!(error, varnorm::Error::Cancelled));
}

/// A tile that takes a quarter of an hour, and a check after it: only work that looks at the flag within it ends before.
#[test]
fn a_run_cancelled_within_a_tile_stops() {
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let run = Run::sequential();
    let flag = run.cancel_flag();
    // Self-values come first, so that the last of them says that the tile begins.
    let run = run.on_progress(move |p| {
        if p.stage == "self-values" && p.done == p.total {
            begin.send(()).unwrap();
        }
    });
    let whole = Tiling { rows: 1500, columns: 1500 };
    thread::spawn(move || {
        let set = Numbers(2).walks(whole.rows, 700, 1);
        end.send(grams_in_tiles(&["gak:sigma=1".parse().unwrap()], &set, Scaling::Log, whole, &run)).unwrap();
    });
    begun.recv().unwrap();
    flag.store(true, Ordering::Relaxed);
    let found = ended.recv_timeout(HANGS).expect("the tile goes on after it was cancelled");
    assert!(matches!(found, Err(varnorm::Error::Cancelled)));
}

#[test]
fn progress_counts_up_to_its_total() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let run = Run::with_threads(2).unwrap().on_progress(move |p| {
        if p.stage == "kernel values" {
            sink.lock().unwrap().push((p.done, p.total));
        }
    });
    let set = Numbers(1).walks(300, 5, 2);
    gram::gram(&FlatLinear {}.into(), &set, Scaling::Raw, &run).unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    let total = seen[0].1;
    assert!(total > 1);
    assert_eq!(seen, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
}
