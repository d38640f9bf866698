//! Seams for the crates of this project: the program, the server, the Python package, studies and tests.
//!
//! Nothing here is a promise to users; it changes without notice.

#[cfg(feature = "files")]
pub use crate::data::npz::npy_numbers;
pub use crate::diagnostics::{as_the_norm_sees, concentration};
pub use crate::gram::blocks::{Side, check, cross_block, gram_block};
pub use crate::gram::queries::with_queries;
pub use crate::gram::tiles::{Tiling, grams_in_tiles};
pub use crate::metrics::ranker::{Ranker, Separation};
pub use crate::random::shuffle;
pub use crate::spectrum::centred::{Centred, Eigenpairs};

/// All eigenpairs of a symmetric positive semidefinite matrix.
pub fn eigenpairs(matrix: &crate::Matrix, run: &crate::Run) -> crate::Result<Eigenpairs> {
    let found = crate::linalg::eigen::leading(matrix, None, run)?;
    Ok(Eigenpairs { values: found.values, vectors: found.vectors })
}

/// The sweep over ranks and norms that detectors and studies share.
pub mod sweep {
    pub use crate::score::sweep::{Corpus, Norms, Query, Search};
}

/// Plots as SVG.
#[cfg(feature = "report")]
pub mod plot {
    pub use crate::plot::{Axis, Curve, Look, Plot, Scale, Style, escaped};
}

/// The parts of HTML pages.
#[cfg(feature = "report")]
pub mod page {
    pub use crate::report::page::{
        SCRIPT, STYLE, content_security_policy, definitions, facts_html, figures, fill, list, page, source_of,
    };
    pub use crate::report::pictures::Figure;
}
