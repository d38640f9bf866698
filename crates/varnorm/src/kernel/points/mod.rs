//! Products and distances of points of pairs of series: packing, register-blocked tables, windows of them.

pub(crate) mod broadcast;
pub(crate) mod increments;
pub(crate) mod lanewise;
pub(crate) mod pack;
pub(crate) mod window;
