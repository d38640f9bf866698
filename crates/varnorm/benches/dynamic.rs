//! Speed of the dynamic kernels: whole Gram matrices in one thread.
//!
//! `cargo bench -p varnorm --bench dynamic`; the throughput counts cells: pairs times the cells of their tables.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::walks;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run};

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
            ("sig_fourier:level=4,features=256", 4 * 256),
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
