//! Times a Gram matrix: prints the best time in seconds, of fewer repetitions where these take long.
//!
//! `cargo bench -p varnorm --bench time_gram -- FILE.npy REPETITIONS THREADS SPEC [--log] [--write OUT.npy]`, with paths from
//! the package's folder.
//!
//! For comparisons with other libraries; see `tools/peers.py`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/arguments.rs"]
mod arguments;

use std::time::Instant;

use varnorm::data::{ReadOptions, read};
use varnorm::gram::{Scaling, gram};
use varnorm::{Kernel, Run};

/// Two repetitions are made, and no more after so long.
const SECONDS: f64 = 2.0;

fn main() {
    let Some(arguments) = arguments::arguments() else { return };
    let [file, repetitions, threads, spec, rest @ ..] = arguments.as_slice() else {
        println!("usage: time_gram --bench FILE.npy REPETITIONS THREADS SPEC [--log] [--write OUT.npy]");
        return;
    };
    let set = read(file.as_ref(), &ReadOptions::default()).expect("the file").series;
    let run = Run::with_threads(threads.parse().unwrap()).unwrap();
    let kernel: Kernel = spec.parse().expect("a kernel");
    let (scaling, rest) = match rest {
        [word, rest @ ..] if word == "--log" => (Scaling::Log, rest),
        rest => (Scaling::Raw, rest),
    };
    let (mut times, mut matrix) = (Vec::new(), None);
    for _ in 0..repetitions.parse().unwrap() {
        let start = Instant::now();
        matrix = Some(gram(&kernel, &set, scaling, &run).expect("a Gram matrix").matrix);
        times.push(start.elapsed().as_secs_f64());
        if times.len() >= 2 && times.iter().sum::<f64>() > SECONDS {
            break;
        }
    }
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    println!("{best:e} {spec}");
    if let ([word, out], Some(matrix)) = (rest, matrix) {
        assert_eq!(word, "--write");
        std::fs::write(out, npy(matrix.rows(), matrix.columns(), matrix.values())).expect("written");
    }
}

/// A matrix in NumPy's format.
fn npy(rows: usize, columns: usize, values: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    values.iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
    bytes
}
