//! How many multiply-adds a second one core of this machine does in registers, and how fast it reads what its own caches cannot
//! hold: `cargo bench -p varnorm --bench peak`.
//!
//! No product of points can be faster; see docs/performance.md.

#[path = "common/arguments.rs"]
mod arguments;

use std::time::Instant;

/// Chains that do not wait for each other: two units with a latency of four or five cycles are busy with fewer.
#[cfg(target_arch = "x86_64")]
const CHAINS: usize = 12;
#[cfg(target_arch = "x86_64")]
const REPETITIONS: usize = 20_000_000;
/// As many numbers as 40 series of 144 x 963 have: 44 MB.
const NUMBERS: usize = 40 * 144 * 963;

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

/// The sum of all numbers, by sums of every 64th that do not wait for each other.
fn sum(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    for some in numbers.as_chunks::<64>().0 {
        sums.iter_mut().zip(some).for_each(|(sum, number)| *sum += number);
    }
    sums.iter().sum()
}

/// Seconds that the fastest of some runs takes.
fn best_of(times: usize, run: impl Fn() -> f64) -> f64 {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..times).map(time).fold(f64::INFINITY, f64::min)
}

#[cfg(target_arch = "x86_64")]
fn report(name: &str, width: usize, run: impl Fn() -> f64) {
    let each = (REPETITIONS * CHAINS * width) as f64;
    println!("{name}: {:.1} billion multiply-adds a second", each / best_of(5, run) / 1e9);
}

fn main() {
    if arguments::arguments().is_none() {
        return;
    }
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
    println!("multiply-adds are counted on x86-64 only, and this is {}", std::env::consts::ARCH);
    let numbers = vec![1.5; NUMBERS];
    let seconds = best_of(20, || sum(std::hint::black_box(&numbers)));
    println!(
        "reading {} MB: {:.1} GB a second",
        NUMBERS * 8 / 1_000_000,
        NUMBERS as f64 * 8.0 / seconds / 1e9
    );
}
