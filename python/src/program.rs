//! The program `varnorm`, for `python -m varnorm` and the script that a wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, of which the first is its name, and gives its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| varnorm_cli::run(arguments))
}
