//! The library's integration tests, one binary: a module per topic.
//!
//! `tests/memory.rs` stays apart: it counts every allocation of its process.

// The lints of clippy.toml let functions with #[test] off, not their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod oracle;

mod compact;
mod contract;
mod detector;
mod examples;
mod formats;
mod golden;
mod instructions;
mod law;
mod layers;
mod long;
mod metamorphic;
mod report;
mod robust;
mod round_trip;
mod sample;
mod theorems;
mod thresholds;
mod tolerance;
mod views;
mod words;
