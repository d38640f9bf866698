//! One file per family of kernels, named as users name it.

pub(crate) mod flat;
pub(crate) mod gak;
pub(crate) mod integral;
pub(crate) mod sig;
pub(crate) mod sig_explicit;
pub(crate) mod sig_fourier;
pub(crate) mod sig_pde;
pub(crate) mod sig_random;
pub(crate) mod vrk;
