//! Speed of the dynamic kernels: whole Gram matrices in one thread.
//!
//! `cargo bench -p varnorm --bench dynamic`; the throughput counts cells: pairs times the cells of their tables.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run, SeriesSet};

/// Random walks from a pinned generator.
fn walks(count: usize, steps: usize, channels: usize) -> SeriesSet {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 0.6
    };
    let mut values = Vec::with_capacity(count * steps * channels);
    for _ in 0..count {
        let mut point = vec![0.0; channels];
        for _ in 0..steps {
            point.iter_mut().for_each(|p| *p += next());
            values.extend_from_slice(&point);
        }
    }
    SeriesSet::from_equal(values, steps, channels).unwrap()
}

fn dynamic_gram(c: &mut Criterion) {
    let run = Run::sequential();
    for (count, steps, channels) in [(64, 100, 3), (128, 100, 6), (256, 30, 6)] {
        let set = walks(count, steps, channels);
        let mut group = c.benchmark_group(format!("dynamic_gram/{count}x{steps}x{channels}"));
        group.sample_size(10);
        let pairs = count * (count + 1) / 2 + count;
        for (spec, cells) in [
            ("gak", steps * steps),
            ("gak:sigma=0.05", steps * steps),
            ("vrk:clip=0.9", steps),
            ("sig_random:features=50", 50),
        ] {
            let Ok(kernel) = spec.parse::<Kernel>() else { continue };
            let kernel = kernel.resolve(&set).unwrap();
            group.throughput(Throughput::Elements((pairs * cells) as u64));
            group.bench_function(spec, |b| b.iter(|| gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap()));
        }
    }
}

criterion_group!(benches, dynamic_gram);
criterion_main!(benches);
