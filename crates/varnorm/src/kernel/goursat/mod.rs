//! The Goursat problem `u_st = z u` behind the untruncated signature kernel.

pub(crate) mod boxes;
pub(crate) mod plan;
pub(crate) mod search;
pub(crate) mod sweeps;
