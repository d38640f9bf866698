//! Cancellation and progress.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};

use crate::common::Numbers;
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run};

#[test]
fn a_cancelled_run_stops() {
    let run = Run::with_threads(2).unwrap();
    run.cancel_flag().store(true, Ordering::Relaxed);
    let set = Numbers(1).walks(30, 5, 2);
    let error = gram::gram(&Kernel::FlatLinear {}, &set, Scaling::Raw, &run).unwrap_err();
    assert!(matches!(error, varnorm::Error::Cancelled));
}

/// The tile takes far longer than a thread takes to start, and it is the only one: work that did not look at the flag
/// within it would end well.
#[test]
fn a_run_cancelled_within_a_tile_stops() {
    let (begin, begun) = mpsc::channel();
    let run = Run::sequential();
    let flag = run.cancel_flag();
    // Self-values come first, so that the last of them says that the tile begins.
    let run = run.on_progress(move |p| {
        if p.stage == "self-values" && p.done == p.total {
            begin.send(()).unwrap();
        }
    });
    let set = Numbers(2).walks(60, 4000, 2);
    // It owns the run, so that nobody waits for what will not be sent.
    let error = std::thread::scope(move |scope| {
        scope.spawn(move || {
            begun.recv().unwrap();
            flag.store(true, Ordering::Relaxed);
        });
        gram::gram(&"gak:sigma=1".parse().unwrap(), &set, Scaling::Log, &run).unwrap_err()
    });
    assert!(matches!(error, varnorm::Error::Cancelled), "{error}");
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
    gram::gram(&Kernel::FlatLinear {}, &set, Scaling::Raw, &run).unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    let total = seen[0].1;
    assert!(total > 1);
    assert_eq!(seen, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
}
