//! What every kernel of the catalogue promises.

mod bits;
mod lengths;
mod running;
mod scale;
mod sound;
mod values;
mod words;

use varnorm::kernel::{CATALOGUE, SigPde};
use varnorm::{Kernel, SeriesSet};

/// All examples and variants. What they state stays; what they learn from a corpus is learned from this one.
fn every_kernel(corpus: &SeriesSet) -> Vec<Kernel> {
    let specs = CATALOGUE.iter().map(|info| info.example).chain(VARIANTS.iter().copied());
    specs.map(|spec| spec.parse::<Kernel>().unwrap().resolve(corpus).unwrap()).collect()
}

/// Other paths through kernels of the catalogue than their examples take.
const VARIANTS: &[&str] = &[
    "sig:level=7,scale=0.1",
    "sig:level=3,order=3,scale=0.2",
    "sig:level=5,order=2,lift=rbf,sigma=2,scale=1.5",
    "sig:level=3,scale=0.3,compat=published",
    "sig_pde:scale=0.05,tolerance=1e-12",
    "sig_pde:scale=0.05,dyadic=0",
    "sig_pde:lift=rbf,sigma=2,scale=1.5,dyadic=2",
    "sig_fourier:level=2,features=5,form=diagonal,sigma=2,scale=1.5,seed=3",
    "rocket:features=840",
    "radon:directions=7,thresholds=3,window=4",
];

/// What a kernel promises beside rounding.
fn accuracy(kernel: &Kernel) -> f64 {
    match kernel {
        Kernel::SigPde(SigPde { dyadic: None, tolerance, .. }) => tolerance.unwrap_or(1e-8),
        // Thousands of small cells, each with its rounding.
        Kernel::SigPde(_) => 1e-11,
        _ => 1e-13,
    }
}
