//! Studies and the theory behind them, one binary: a module per topic.

// The lints of clippy.toml let functions with #[test] off, not their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../varnorm/tests/common/mod.rs"]
mod common;

mod false_alarms;
mod published;
mod statements;
mod words;
