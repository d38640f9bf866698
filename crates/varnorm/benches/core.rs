//! Speed of the core: Gram matrices against a bare matrix product, spectra, scores.
//!
//! `cargo bench -p varnorm --bench core`
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::walks;
use criterion::{Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use varnorm::gram::{self, Cross, Scaling};
use varnorm::score::scores;
use varnorm::{Distance, Kernel, Measure, Norm, Rank, Run, Spectrum};

fn flat_gram(c: &mut Criterion) {
    let run = Run::sequential();
    for (count, steps, channels) in [(256, 100, 6), (1000, 100, 6), (2000, 30, 6), (200, 144, 963)] {
        let set = walks(count, steps, channels);
        let name = format!("flat_gram/{count}x{steps}x{channels}");
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        let depth = steps * channels;
        let x = MatRef::from_row_major_slice(set.values(), count, depth);
        // Into a new matrix, as a Gram matrix is a new one.
        group.bench_function("bare_product", |b| {
            b.iter(|| {
                let mut product = Mat::<f64>::zeros(count, count);
                matmul(product.as_mut(), Accum::Replace, x, x.transpose(), 1.0, Par::Seq);
                product
            });
        });
        for spec in ["flat_linear", "flat_rbf:sigma=3", "flat_poly:c=1,p=3"] {
            let kernel: Kernel = spec.parse().unwrap();
            group.bench_function(spec, |b| b.iter(|| gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap()));
        }
        // Every pair, no symmetry to use: the product at its own game.
        let kernel: Kernel = "flat_linear".parse().unwrap();
        let squares = gram::self_values(std::slice::from_ref(&kernel), &set, &run).unwrap().remove(0);
        group.bench_function("flat_linear, cross", |b| {
            b.iter(|| gram::cross(&kernel, &set, &set, &squares, Scaling::Raw, &run).unwrap());
        });
    }
}

fn conformance(c: &mut Criterion) {
    let run = Run::sequential();
    let set = walks(4096 + 512, 10, 6);
    let all: Vec<usize> = (0..set.len()).collect();
    let (corpus, queries) = (set.select(&all[..4096]), set.select(&all[4096..]));
    let kernel = "flat_rbf".parse::<Kernel>().unwrap().resolve(&corpus).unwrap();
    let gram = gram::gram(&kernel, &corpus, Scaling::Normalized, &run).unwrap();
    let cross: Cross =
        gram::cross(&kernel, &queries, &corpus, &gram.self_values, Scaling::Normalized, &run).unwrap();
    let mut group = c.benchmark_group("spectrum/4096");
    group.sample_size(10);
    group.bench_function("rank 50", |b| b.iter(|| Spectrum::new(&gram, Rank::at_most(50), &run).unwrap()));
    group.finish();
    let spectrum = Spectrum::new(&gram, Rank::at_most(50), &run).unwrap();
    let mut group = c.benchmark_group("scores/512 queries, 4096 corpus, rank 50");
    for (name, distance) in [("conformance", Distance::default()), ("mahalanobis", Distance::Mahalanobis {})]
    {
        let measure = Measure { norm: Norm::Envelope, alpha: 0.1, distance };
        group.bench_function(name, |b| b.iter(|| scores(&spectrum, &cross, measure, &run).unwrap()));
    }
}

criterion_group!(benches, flat_gram, conformance);
criterion_main!(benches);
