//! Reference values: those of the folder beside the project, where it is there, and small ones that come with the tests.

mod rocket;
mod shared;
mod synthetic;

pub use synthetic::golden;
