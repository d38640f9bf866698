//! How many multiply-adds a second one core of this machine does in registers: `cargo run --release -p varnorm --example peak`.
//!
//! No product of points can be faster; see docs/performance.md.

#[cfg(target_arch = "x86_64")]
use std::time::Instant;

/// Chains that do not wait for each other: two units with a latency of four or five cycles are busy with fewer.
#[cfg(target_arch = "x86_64")]
const CHAINS: usize = 12;
#[cfg(target_arch = "x86_64")]
const REPETITIONS: usize = 20_000_000;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn registers_of_eight() -> f64 {
    use std::arch::x86_64::{_mm512_fmadd_pd, _mm512_reduce_add_pd, _mm512_set1_pd};
    let (factor, term) = (_mm512_set1_pd(0.999), _mm512_set1_pd(0.001));
    let mut sums = [term; CHAINS];
    for _ in 0..REPETITIONS {
        for sum in &mut sums {
            *sum = _mm512_fmadd_pd(*sum, factor, term);
        }
    }
    sums.map(|sum| _mm512_reduce_add_pd(sum)).iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn registers_of_four() -> f64 {
    use std::arch::x86_64::{_mm256_cvtsd_f64, _mm256_fmadd_pd, _mm256_set1_pd};
    let (factor, term) = (_mm256_set1_pd(0.999), _mm256_set1_pd(0.001));
    let mut sums = [term; CHAINS];
    for _ in 0..REPETITIONS {
        for sum in &mut sums {
            *sum = _mm256_fmadd_pd(*sum, factor, term);
        }
    }
    sums.map(|sum| _mm256_cvtsd_f64(sum)).iter().sum()
}

#[cfg(target_arch = "x86_64")]
fn report(name: &str, width: usize, run: impl Fn() -> f64) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        std::hint::black_box(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    let each = (REPETITIONS * CHAINS * width) as f64;
    println!("{name}: {:.1} billion multiply-adds a second", each / best / 1e9);
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature has just been found on this machine.
            report("AVX-512", 8, || unsafe { registers_of_eight() });
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: likewise.
            report("AVX2", 4, || unsafe { registers_of_four() });
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    println!("this example knows x86-64 only, and it is {} that it is run on", std::env::consts::ARCH);
}
