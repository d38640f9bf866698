//! [`Method`]: the ways to measure novelty that a study compares.

use serde::{Deserialize, Serialize};

use varnorm::words::{Vocabulary, Word, spelled};

/// A way to measure how novel a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The paper's norm of the difference from the nearest corpus series.
    Conformance,
    /// The envelope norm of it.
    ConformanceEnvelope,
    /// The paper's norm of the difference from the corpus mean.
    Mahalanobis,
    /// The envelope norm of it.
    MahalanobisEnvelope,
    /// Baseline: the plain distance to the nearest corpus series in feature space.
    Nearest,
    /// Baseline: what principal components of the corpus leave of a series.
    Residual,
    /// Scores made elsewhere.
    External,
}

const METHODS: Vocabulary = Vocabulary::names("rows", "a method", Method::WORDS);

spelled!(Method, METHODS);

impl Method {
    /// Every method, as users write it: by its name, or its letter in tables.
    pub const WORDS: &'static [Word] = &[
        Word::new("conformance", "Conformance, the paper's norm").or(&["C", "c"]),
        Word::new("conformance_envelope", "Conformance, envelope norm").or(&["C+", "c+"]),
        Word::new("mahalanobis", "Mahalanobis, the paper's norm").or(&["M", "m"]),
        Word::new("mahalanobis_envelope", "Mahalanobis, envelope norm").or(&["M+", "m+"]),
        Word::new("nearest", "Nearest neighbour in feature space").or(&["N", "n"]),
        Word::new("residual", "Residual of principal components").or(&["R", "r"]),
        Word::new("external", "Scores made elsewhere").or(&["E", "e"]),
    ];

    /// All that are measured from a Gram matrix.
    pub const MEASURED: [Self; 6] = [
        Self::Conformance,
        Self::ConformanceEnvelope,
        Self::Mahalanobis,
        Self::MahalanobisEnvelope,
        Self::Nearest,
        Self::Residual,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::ConformanceEnvelope => "conformance_envelope",
            Self::Mahalanobis => "mahalanobis",
            Self::MahalanobisEnvelope => "mahalanobis_envelope",
            Self::Nearest => "nearest",
            Self::Residual => "residual",
            Self::External => "external",
        }
    }

    /// Its letter in tables: C and M as in the paper, + for the envelope norm.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Conformance => "C",
            Self::ConformanceEnvelope => "C+",
            Self::Mahalanobis => "M",
            Self::MahalanobisEnvelope => "M+",
            Self::Nearest => "N",
            Self::Residual => "R",
            Self::External => "E",
        }
    }

    /// Whether it depends on the regularisation.
    pub fn has_alpha(self) -> bool {
        !matches!(self, Self::Nearest | Self::Residual | Self::External)
    }

    /// Whether it depends on the rank.
    pub fn has_rank(self) -> bool {
        !matches!(self, Self::Nearest | Self::External)
    }
}

/// Where the results of every (method, alpha, rank) of one kernel setting lie in one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) alphas: usize,
    pub(crate) ranks: usize,
}

impl Cells {
    /// Cells in all.
    pub(crate) fn len(self) -> usize {
        Method::MEASURED.iter().map(|m| self.of(*m).len()).sum()
    }

    /// The cells of one method: alpha by alpha, each with its ranks in order.
    pub(crate) fn of(self, method: Method) -> std::ops::Range<usize> {
        let norm = self.alphas * self.ranks;
        let (start, len) = match method {
            Method::Conformance => (0, norm),
            Method::ConformanceEnvelope => (norm, norm),
            Method::Mahalanobis => (2 * norm, norm),
            Method::MahalanobisEnvelope => (3 * norm, norm),
            Method::Residual => (4 * norm, self.ranks),
            Method::Nearest => (4 * norm + self.ranks, 1),
            Method::External => (0, 0),
        };
        start..start + len
    }

    /// The cell of one method at an alpha and a rank, where it has them.
    pub(crate) fn at(self, method: Method, alpha: usize, rank: usize) -> usize {
        let alpha = if method.has_alpha() { alpha } else { 0 };
        let rank = if method.has_rank() { rank - 1 } else { 0 };
        self.of(method).start + alpha * self.ranks + rank
    }
}
