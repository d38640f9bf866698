//! How pairs are walked: as vectors, step by step, or with one pair per lane.

pub(crate) mod lanes_over_pairs;
pub(crate) mod steps;
pub(crate) mod vectors;
