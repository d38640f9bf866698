//! Memory beyond inputs and output is bounded, whatever the size.
//!
//! A binary of its own: its allocator counts the whole process, so that no other test may run in it.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use varnorm::gram::{self, Cross, Scaling};
use varnorm::score::scores;
use varnorm::{Distance, Kernel, Matrix, Measure, Norm, Rank, Run, SeriesSet, Spectrum};

/// The system's allocator with a count of what is in use and its highest value.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about `pointer` and `layout` is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MB: usize = 1 << 20;

/// Bytes in use at the worst moment of `work`, beyond what was in use before.
fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (PEAK.load(Ordering::Relaxed) - before, result)
}

/// Those of the comparison with peers, and one with many series.
const SHAPES: [(usize, usize, usize); 7] =
    [(64, 100, 3), (128, 100, 6), (64, 100, 64), (32, 400, 10), (256, 30, 6), (40, 144, 963), (2000, 30, 6)];

fn set(count: usize, steps: usize, channels: usize) -> SeriesSet {
    let values = (0..count * steps * channels).map(|i| (i as f64 * 0.7).sin()).collect();
    SeriesSet::from_equal(values, steps, channels).unwrap()
}

/// One test, so that no other thread's memory is counted.
#[test]
fn memory_stays_within_its_promises() {
    let run = Run::with_threads(2).unwrap();
    for (count, steps, channels) in SHAPES {
        for info in varnorm::kernel::CATALOGUE {
            // Recurrences take T^2 a pair: fewer pairs show their scratch memory just as well.
            let count = if info.any_lengths { count.min(100) } else { count };
            let set = set(count, steps, channels);
            let kernel: Kernel = info.example.parse().unwrap();
            let work = || gram::gram(&kernel, &set, Scaling::Normalized, &run);
            let (bytes, gram) = peak(work);
            // Overflow of a polynomial of raw data is an answer too; memory is what is looked at.
            drop(gram);
            let beyond = bytes.saturating_sub(8 * count * count);
            println!("{kernel} {count} x {steps} x {channels}: {} kB beyond the Gram matrix", beyond / 1024);
            assert!(beyond < 64 * MB, "{kernel} {count} x {steps} x {channels}: {} MB", beyond / MB);
        }
    }

    let (corpus, queries) = (4096, 512);
    let features = set(corpus + queries, 10, 6);
    let all: Vec<usize> = (0..corpus + queries).collect();
    let kernel: Kernel = "flat_rbf:sigma=4".parse().unwrap();
    let gram = gram::gram(&kernel, &features.select(&all[..corpus]), Scaling::Normalized, &run).unwrap();
    let spectrum = Spectrum::new(&gram, Rank::at_most(50), &run).unwrap();
    let cross = Cross {
        matrix: Matrix::from_values(queries, corpus, gram.matrix.values()[..queries * corpus].to_vec())
            .unwrap(),
        self_values: vec![1.0; queries],
    };
    drop(gram);
    let measure = Measure { norm: Norm::Envelope, alpha: 0.1, distance: Distance::default() };
    let (bytes, found) = peak(|| scores(&spectrum, &cross, measure, &run).unwrap());
    println!("conformance of {queries} against {corpus} at rank {}: {} kB", spectrum.rank(), bytes / 1024);
    assert_eq!(found.values.len(), queries);
    assert!(bytes < 200 * MB);
}
