//! The real program, run as a user runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(unix)]
mod bench;
mod bench_long;
mod commands;
mod compact;
mod convert;
mod errors;
mod fuzz;
mod hostile;
#[cfg(unix)]
mod interrupt;
mod long;
mod models;
mod names;
mod reference;
mod refresh;
mod report;
#[cfg(unix)]
mod serve;
mod streams;
mod study;
mod support;
mod tables;
mod tables_as_found;
mod theory;
#[cfg(unix)]
mod verdicts;
