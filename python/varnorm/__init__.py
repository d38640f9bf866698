"""varnorm: is this new time series like the ones seen before?

Novelty detection for time series with variance norms: the Mahalanobis distance carried to infinite dimensions.

>>> import varnorm
>>> train, test = varnorm.datasets.load_basic_motions()
>>> detector = varnorm.NoveltyDetector("integral_rbf", contamination=0.1, layout="ntd").fit(train.X[train.y == "Standing"])
>>> detector.pvalues(test.X[test.y == "Running"][:3]).round(3)
array([0.091, 0.091, 0.091])

`NoveltyDetector` is a scikit-learn estimator; `gram` and `kernels` give kernel values; `SignatureFeatures`,
`RandomSignature`, `FourierSignature`, `Rocket` and `Radon` are transformers; `VarianceNorm` is for the theory; `study` reproduces the paper's experiments;
`benchmark` compares detectors as they come.
"""

import importlib.metadata

from . import datasets, errors, kernels, metrics, plots
from ._bench import Benchmark, benchmark
from ._drift import Drift
from ._explanation import Explanation
from ._gram import gram
from ._input import from_series, to_series
from ._report import Page, study_report
from ._study import Study, study, study_grid, study_merge
from ._theory import Theory, theory
from .detector import NoveltyDetector
from .errors import VarnormError, VarnormWarning
from .features import FourierSignature, Radon, RandomSignature, Rocket, SignatureFeatures
from .long import LongDetector, LongStream
from .norm import Measured, VarianceNorm

__version__ = importlib.metadata.version("varnorm")

__all__ = [
    "Benchmark",
    "Drift",
    "Explanation",
    "FourierSignature",
    "LongDetector",
    "LongStream",
    "Measured",
    "NoveltyDetector",
    "Page",
    "Radon",
    "RandomSignature",
    "Rocket",
    "SignatureFeatures",
    "Study",
    "Theory",
    "VarianceNorm",
    "VarnormError",
    "VarnormWarning",
    "__version__",
    "benchmark",
    "datasets",
    "errors",
    "from_series",
    "gram",
    "kernels",
    "metrics",
    "plots",
    "study",
    "study_grid",
    "study_merge",
    "study_report",
    "theory",
    "to_series",
]
