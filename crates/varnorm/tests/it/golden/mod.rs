//! Reference values.

mod shared;
