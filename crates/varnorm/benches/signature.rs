//! Speed of signature kernels; divide by the pairs, `count (count + 1) / 2`, for the time of one.
//!
//! `cargo bench -p varnorm --bench signature`
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::walks;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run, SeriesSet};

fn bench(c: &mut Criterion, name: &str, set: &SeriesSet, specs: &[&str]) {
    let run = Run::sequential();
    let kernels: Vec<Kernel> = specs.iter().map(|s| s.parse().unwrap()).collect();
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.throughput(Throughput::Elements((set.len() * (set.len() + 1) / 2) as u64));
    group.bench_function(specs.join(" "), |b| {
        b.iter(|| gram::grams(&kernels, set, Scaling::Raw, &run).unwrap());
    });
}

fn signatures(c: &mut Criterion) {
    for (count, steps, channels) in [(64, 100, 3), (128, 100, 6), (256, 30, 6)] {
        let set = walks(count, steps, channels);
        let name = format!("signature/{count}x{steps}x{channels}");
        bench(c, &name, &set, &["sig:level=7,scale=0.1"]);
        bench(c, &name, &set, &["sig:level=7,lift=rbf,sigma=2,scale=1"]);
        bench(c, &name, &set, &["sig:level=7,order=3,scale=0.1"]);
    }
    for (count, steps) in [(64, 100), (512, 100)] {
        let name = format!("signature/{count}x{steps}x3");
        bench(c, &name, &walks(count, steps, 3), &["sig_explicit:level=5,scale=0.1"]);
    }
    let set = walks(128, 100, 6);
    let grid = ["1", "2", "4", "8"].map(|sigma| format!("sig:level=7,lift=rbf,sigma={sigma},scale=1"));
    bench(c, "signature/128x100x6/grid", &set, &grid.each_ref().map(String::as_str));
}

criterion_group!(benches, signatures);
criterion_main!(benches);
