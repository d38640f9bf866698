//! The program `varnorm`.
fn main() {}
