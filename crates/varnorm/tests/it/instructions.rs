//! The same values from every instruction set that this machine has.

use std::process::{Command, Stdio};

use crate::common::Numbers;
use varnorm::gram::{Scaling, grams};
use varnorm::kernel::{CATALOGUE, SigPde};
use varnorm::{Kernel, Run, SeriesSet};

/// Where a process that the test has started is to write its values.
const FILE: &str = "VARNORM_TEST_VALUES";

fn kernels(corpus: &SeriesSet) -> Vec<Kernel> {
    let more = ["gak:sigma=2,band=4", "sig_pde:scale=0.05,dyadic=1", "sig_pde:scale=0.05,tolerance=1e-12"];
    let examples = CATALOGUE.iter().map(|info| info.example);
    examples.chain(more).map(|spec| spec.parse::<Kernel>().unwrap().resolve(corpus).unwrap()).collect()
}

fn corpus(channels: usize) -> SeriesSet {
    Numbers(9).walks(37, 21, channels)
}

/// The values of all kernels, for few channels and for many.
fn values() -> Vec<f64> {
    let run = Run::sequential();
    let sets = [3, 30].map(corpus);
    let all = |set| grams(&kernels(set), set, Scaling::Raw, &run).unwrap();
    sets.iter().flat_map(all).flat_map(|gram| gram.matrix.values().to_vec()).collect()
}

#[test]
fn instruction_sets_agree() {
    if let Some(file) = std::env::var_os(FILE) {
        let bytes: Vec<u8> = values().iter().flat_map(|value| value.to_le_bytes()).collect();
        std::fs::write(file, bytes).unwrap();
        return;
    }
    let best = values();
    let folder = tempfile::tempdir().unwrap();
    for instructions in ["avx2", "portable"] {
        let file = folder.path().join(instructions);
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "instructions::instruction_sets_agree"])
            .env("VARNORM_INSTRUCTIONS", instructions)
            .env(FILE, &file)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        let bytes = std::fs::read(file).unwrap();
        let found = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        assert_eq!(found.len(), best.len());
        let (kernels, of_one) = (kernels(&corpus(3)), 37 * 37);
        let mut differ = false;
        for (at, (found, best)) in found.zip(&best).enumerate() {
            let kernel = &kernels[at / of_one % kernels.len()];
            // To a tolerance, another number of levels may be found to be enough.
            let near =
                if matches!(kernel, Kernel::SigPde(SigPde { dyadic: None, .. })) { 2e-8 } else { 1e-10 };
            assert!((found - best).abs() <= near * best.abs(), "{instructions}, {kernel:?}: {found} {best}");
            differ |= found != *best;
        }
        // If not, the environment has not been asked.
        assert!(differ || instructions == "avx2", "{instructions} gives the bits of the best");
    }
}
