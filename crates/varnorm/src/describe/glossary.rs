//! The words that users meet, each with its meaning: the program, reports and the guide show this list.

/// Words and their meanings, by the alphabet. `docs/glossary.md` and the guide say the same (a test compares them).
pub const GLOSSARY: &[(&str, &str)] = &[
    (
        "calibration",
        "Turning a score into a p-value or a threshold, from scores of normal series that the model has not seen.",
    ),
    (
        "conformance",
        "The distance of a series to its nearest (or k-th nearest) corpus series, in a variance norm.",
    ),
    ("corpus", "The normal series that a model is fitted on."),
    (
        "drift",
        "New series as a whole no longer look like the corpus: a running test bets on it, and its capital says how sure it is.",
    ),
    ("envelope", "The default norm. It regularises by alpha, and also counts what lies outside the span."),
    (
        "level",
        "Of a decision: the false-alarm rate or false-discovery rate asked for. Of a signature: the highest order of its terms.",
    ),
    ("Mahalanobis", "The distance of a series to the mean of the corpus, in a variance norm."),
    (
        "outside the span",
        "The part of a series that no combination of corpus series reaches. The *span* is what they do reach, in the kernel's \
         feature space.",
    ),
    (
        "p-value",
        "An upper bound of the chance that a normal series scores at least this high. With n calibration scores it is at \
         least 1/(n+1); the Gaussian law and a fitted tail have no such limit.",
    ),
    (
        "score",
        "How novel a series is: its distance from the normal ones, or the combination of several. Higher is more.",
    ),
    (
        "suspect",
        "A series of the corpus that stands out from the others, as if it did not belong there. `robust: trim` leaves suspects \
         out.",
    ),
    ("threshold", "The score above which a series is flagged."),
    (
        "variance norm",
        "The length of a difference, measured against the covariance of the corpus: the Mahalanobis distance in any dimension.",
    ),
    (
        "view",
        "One way to look at a series: a preparation, a kernel, a norm and a distance. A detector has one, or several whose \
         scores are combined.",
    ),
];
