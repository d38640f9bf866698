//! Matrices, products with a fixed order of summation, and eigenpairs.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod matrix;
pub(crate) mod product;

pub use matrix::Matrix;
