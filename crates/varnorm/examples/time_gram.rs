//! Times Gram matrices: `time_gram FILE.npy REPETITIONS THREADS SPEC...` prints, per kernel, the best time in seconds.
//!
//! For comparisons with other libraries; see `tools/peers.py`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use varnorm::data::{ReadOptions, read};
use varnorm::gram::{Scaling, gram};
use varnorm::{Kernel, Run};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, repetitions, threads, specs @ ..] = arguments.as_slice() else {
        println!("usage: time_gram FILE.npy REPETITIONS THREADS SPEC...");
        return;
    };
    let set = read(file.as_ref(), &ReadOptions::default()).expect("the file").series;
    let run = Run::with_threads(threads.parse().unwrap()).unwrap();
    for spec in specs {
        let kernel: Kernel = spec.parse().expect("a kernel");
        let mut best = f64::INFINITY;
        let mut sum = 0.0;
        for _ in 0..repetitions.parse().unwrap() {
            let start = Instant::now();
            let values = gram(&kernel, &set, Scaling::Raw, &run).expect("a Gram matrix");
            best = best.min(start.elapsed().as_secs_f64());
            sum = values.matrix.values().iter().sum();
        }
        println!("{best:e} {sum:e} {spec}");
    }
}
