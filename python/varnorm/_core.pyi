# Written by generate_stubs.py from the native module: do not edit.
"""
The native part of varnorm. Use the package's own functions and classes.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from numpy.typing import NDArray
from typing import Any, SupportsFloat, SupportsIndex, final

__all__ = ["Benchmark", "Dataset", "Detector", "Drift", "Findings", "LongDetector", "LongStream", "SeriesSet", "Settings", "Study", "StudyFolder", "StudyUnits", "VarianceNorm", "average_precision", "basic_motions", "catalogue", "estimate", "fourier_signature", "gram", "gram_block", "gram_check", "kernel_json", "kernel_words", "leave_one_out", "plot", "prepare_apply", "prepare_fit", "random_signature", "read", "read_split", "report", "resolve", "roc_auc", "run_program", "self_values", "share_features", "signature_feature_names", "signature_features", "study_grid", "study_merge", "study_report", "theory", "write", "write_text"]

@final
class Benchmark:
    """
    The outcomes of a benchmark: what its table is made of.
    """
    def outcomes(self, /) -> str:
        """
        Every outcome: the program's JSON.
        """
    @staticmethod
    def run(asked: str, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Benchmark:
        """
        Works a benchmark out; what is asked for comes as JSON.
        """
    def table(self, /, layout: str) -> str:
        """
        The program's table: text, markdown or html.
        """

@final
class Dataset:
    """
    A file of series: the numbers, and everything else that the file says.
    """
    @property
    def case_names(self, /) -> list[str] | None:
        """
        A name per series, where the file has them.
        """
    @property
    def channel_names(self, /) -> list[str] | None:
        """
        A name per channel, where the file has them.
        """
    @property
    def labels(self, /) -> list[str] | None:
        """
        One label per series, where the file has them.
        """
    @property
    def labels_are_targets(self, /) -> bool:
        """
        Whether labels are numbers to be predicted, not names of classes.
        """
    @property
    def name(self, /) -> str:
        """
        The problem's name.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        What the reader noticed and you should know.
        """
    @property
    def series(self, /) -> SeriesSet:
        """
        The numbers.
        """
    @property
    def times(self, /) -> list[str] | None:
        """
        A timestamp per step, as written, in the order of the steps of all series.
        """

@final
class Detector:
    """
    A fitted detector.
    """
    def calibration_scores(self, /) -> NDArray[Any] | None:
        """
        The normal scores that p-values compare with, ascending; none without calibration.
        """
    @property
    def channel_names(self, /) -> list[str] | None:
        """
        Names of the channels, where they are known; new data are matched by them.
        """
    @property
    def channels(self, /) -> int:
        """
        Number of channels that series must have.
        """
    @property
    def corpus_series(self, /) -> int:
        """
        Number of normal series that the model is of.
        """
    def decision_threshold(self, /) -> float | None:
        """
        The score above which a series is flagged; none without calibration, and where that depends on the batch.
        """
    def diagnostics(self, /) -> str:
        """
        What the corpus and the norm are good for: the program's JSON.
        """
    def eigenvalues(self, /) -> NDArray[Any]:
        """
        Eigenvalues of the covariance, descending.
        """
    def explain(self, /, series: SeriesSet, index: SupportsIndex = 0, segments: SupportsIndex = 10, n_jobs: SupportsIndex | None = None) -> str:
        """
        Why a series has its score: the program's JSON.
        """
    def findings_of(self, /, scores: SupportsGetItem[int, SupportsFloat | SupportsIndex], nearest: SupportsGetItem[int, SupportsIndex], outside_span: SupportsGetItem[int, SupportsFloat | SupportsIndex], view_scores: SupportsGetItem[int, SupportsGetItem[int, SupportsFloat | SupportsIndex]], level: SupportsFloat | SupportsIndex | None = None, decision: str | None = None) -> Findings:
        """
        What is found about series that were scored in pieces: flags are made over all of them.
        """
    @staticmethod
    def fit(settings: Settings, corpus: SeriesSet, outliers: SeriesSet | None = None, names: SupportsGetItem[int, str] | None = None, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Detector:
        """
        Fits on normal series.
        """
    def fit_like(self, /, series: SeriesSet, names: SupportsGetItem[int, str] | None = None, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Detector:
        """
        A model of other series with the settings, the preparation, the kernel and the landmarks of this one.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Detector:
        """
        From the content of a model file.
        """
    @property
    def grows(self, /) -> bool:
        """
        Whether series can be added to the model.
        """
    def kernel(self, /) -> str:
        """
        The kernel with every `auto` worked out, as JSON.
        """
    @property
    def landmarks(self, /) -> int | None:
        """
        Number of landmarks, where there are some.
        """
    @property
    def level(self, /) -> float:
        """
        The false-alarm rate that flags aim at.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Detector:
        """
        Reads a model file.
        """
    def members(self, /) -> NDArray[Any]:
        """
        The model's corpus, by places in the series that it was fitted on.
        """
    @staticmethod
    def merge(models: SupportsGetItem[int, Detector], n_jobs: SupportsIndex | None = None) -> Detector:
        """
        The model of the series of all these models, in their order.
        """
    @property
    def n_views(self, /) -> int:
        """
        Number of views.
        """
    def notes(self, /) -> list[str]:
        """
        What the user should know about the choice of views.
        """
    def p_values(self, /, scores: NDArray[Any]) -> NDArray[Any] | None:
        """
        The chance of a normal series scoring at least so high; none without calibration.
        """
    def partial_fit(self, /, more: SeriesSet, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Detector:
        """
        The model of these series and more (spaces landmarks and features): preparation, kernel and landmarks stay.
        """
    @property
    def sampling_step(self, /) -> str | None:
        """
        How far apart the steps of the corpus are, in words, where it is known.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the model file: whole or not at all.
        """
    def score(self, /, series: SeriesSet, level: SupportsFloat | SupportsIndex | None = None, decision: str | None = None, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Findings:
        """
        Scores new series; level and decision are the detector's where they are left out.
        """
    def settings(self, /) -> str:
        """
        What was chosen: the program's JSON.
        """
    def suspects(self, /) -> str:
        """
        Members of the corpus that do not seem to belong there: the program's JSON.
        """
    def threshold(self, /, level: SupportsFloat | SupportsIndex) -> float | None:
        """
        The score above which a single series has a p-value of at most this level; none without calibration.
        """
    def to_bytes(self, /) -> bytes:
        """
        The content of the model file.
        """
    @property
    def trace_error(self, /) -> float:
        """
        The share of the sum of `k(x,x)` that landmarks miss; 0 without.
        """
    def views(self, /) -> str:
        """
        The views, in order: the program's JSON.
        """
    def warnings(self, /) -> list[str]:
        """
        What one should know before trusting this model.
        """

@final
class Drift:
    """
    A running test of whether scores still look like those of the corpus.
    """
    def __new__(cls, /, calibration: NDArray[Any], seed: SupportsIndex = 0) -> Drift: ...
    def add(self, /, scores: NDArray[Any]) -> None:
        """
        Looks at more scores, in their order.
        """
    def state(self, /) -> str:
        """
        What it says now: the program's JSON.
        """

@final
class Findings:
    """
    What a detector says about a batch.
    """
    def __len__(self, /) -> int: ...
    @property
    def cannot_flag(self, /) -> str | None:
        """
        Why nothing was flagged, where nothing could be.
        """
    @property
    def nearest(self, /) -> NDArray[Any]:
        """
        The nearest normal series, by its place among those the detector was fitted on.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        What was noticed about the data.
        """
    @property
    def novel(self, /) -> NDArray[Any] | None:
        """
        Whether each series is flagged; none without calibration.
        """
    @property
    def outside_span(self, /) -> NDArray[Any]:
        """
        The share of each squared distance from the mean that no corpus series explains.
        """
    @property
    def p_values(self, /) -> NDArray[Any] | None:
        """
        The chance of a normal series scoring at least as high; none without calibration.
        """
    @property
    def scores(self, /) -> NDArray[Any]:
        """
        How novel each series is: higher is more.
        """
    @property
    def threshold(self, /) -> float | None:
        """
        The score above which series of this batch are flagged; none without calibration, and for LORD++.
        """
    def to_json(self, /) -> str:
        """
        The program's JSON.
        """
    @property
    def view_scores(self, /) -> NDArray[Any]:
        """
        Comparable scores of the views, a row per series; without columns where there is one view.
        """

@final
class LongDetector:
    """
    A model of the windows of one long recording.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[bytes]]:
        """
        What pickle keeps.
        """
    @property
    def block(self, /) -> int:
        """
        Steps of a block.
        """
    @property
    def channel_names(self, /) -> list[str] | None:
        """
        The names of the channels, where they are known.
        """
    @property
    def channels(self, /) -> int:
        """
        Number of channels.
        """
    def events(self, /, values: NDArray[Any], breaks: SupportsGetItem[int, SupportsIndex], causal: bool = False, n_jobs: SupportsIndex | None = None) -> str:
        """
        The events of a recording, as JSON.
        """
    @staticmethod
    def fit(values: NDArray[Any], breaks: SupportsGetItem[int, SupportsIndex], settings: str, names: SupportsGetItem[int, str] | None = None, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> LongDetector:
        """
        Fits on a normal recording: one row per step, one column per channel. Rows are missing before each of `breaks`.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> LongDetector:
        """
        From the content of a model file.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> LongDetector:
        """
        Reads a model file.
        """
    def normal_block_maxima(self, /, causal: bool = False) -> NDArray[Any]:
        """
        The highest scores of normal blocks that a model has not seen, ascending.
        """
    def normal_scores(self, /, causal: bool = False) -> NDArray[Any]:
        """
        Scores of normal points that a model has not seen, ascending.
        """
    def p_values(self, /, scores: NDArray[Any], causal: bool = False) -> NDArray[Any] | None:
        """
        The chance of a normal block with a score as high as each of these, at most; none without calibration.
        """
    def promise(self, /, causal: bool = False) -> tuple[float, str] | None:
        """
        The threshold and what it promises, in words; none where the model makes no alarms.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the model file: whole or not at all.
        """
    def score(self, /, values: NDArray[Any], breaks: SupportsGetItem[int, SupportsIndex], n_jobs: SupportsIndex | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """
        Settled and causal scores of every row; NaN for rows in no window.
        """
    def settings(self, /) -> str:
        """
        What was chosen: the program's JSON.
        """
    @property
    def stride(self, /) -> int:
        """
        Steps from one scored window to the next.
        """
    def to_bytes(self, /) -> bytes:
        """
        The content of the model file.
        """
    def warning(self, /) -> str | None:
        """
        Why there are no alarms, or what is wrong with them, where that is so.
        """
    @property
    def window(self, /) -> int:
        """
        Steps of a window.
        """
    def window_row(self, /, window: SupportsIndex) -> int:
        """
        The first row of a normal window in the recording that it was fitted on.
        """
    def windows(self, /, values: NDArray[Any], breaks: SupportsGetItem[int, SupportsIndex], n_jobs: SupportsIndex | None = None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """
        First row, score and nearest normal window of every scored window.
        """

@final
class LongStream:
    """
    Rows as they come, to the same bits as all at once.
    """
    def __new__(cls, /, detector: LongDetector, causal: bool = False) -> LongStream:
        """
        At the beginning.
        """
    @staticmethod
    def from_bytes(bytes: bytes, detector: LongDetector) -> LongStream:
        """
        From the content of the file of a state, for the model that it was made with.
        """
    def gap(self, /) -> tuple[int, NDArray[Any], int, NDArray[Any], str]:
        """
        Rows are missing here.
        """
    def push(self, /, values: NDArray[Any]) -> tuple[int, NDArray[Any], int, NDArray[Any], str]:
        """
        Takes the next rows.
        """
    @property
    def rows(self, /) -> int:
        """
        Rows so far.
        """
    @property
    def settled(self, /) -> int:
        """
        The next row whose settled score is not known yet.
        """
    def to_bytes(self, /) -> bytes:
        """
        The content of the file of the state.
        """

@final
class SeriesSet:
    """
    Many series with one number of channels and any lengths.
    """
    def __len__(self, /) -> int: ...
    def __new__(cls, /, values: NDArray[Any], lengths: NDArray[Any], channel_names: SupportsGetItem[int, str] | None = None, times: NDArray[Any] | SupportsGetItem[int, str] | None = None, time_unit: str | None = None, origin: str | None = None) -> SeriesSet:
        """
        All steps of all series, one row each, with the number of steps of every series. The array is not copied: it
        must be contiguous.

        Times are one per step: nanoseconds since 1970 as whole numbers, or numbers in a unit. Steps out of order are
        sorted, duplicates and gaps noted.
        """
    def __reduce__(self, /) -> tuple[Any, tuple[NDArray[Any], NDArray[Any], list[str] | None, float | None, str | None, str]]:
        """
        What pickle keeps: the arguments of the class.
        """
    @property
    def channel_names(self, /) -> list[str] | None:
        """
        Names of the channels, where they are known.
        """
    @property
    def channels(self, /) -> int:
        """
        Number of channels of every series.
        """
    def filled(self, /, gaps: str) -> SeriesSet:
        """
        The same with missing values filled in: `interpolate`.
        """
    @property
    def is_view(self, /) -> bool:
        """
        Whether the numbers are those of an array, without a copy.
        """
    def lengths(self, /) -> NDArray[Any]:
        """
        The number of steps of every series.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        What was noticed about the times.
        """
    @property
    def sampling_step(self, /) -> str | None:
        """
        How far apart steps are, in words, where it is known.
        """
    def select(self, /, places: SupportsGetItem[int, SupportsIndex]) -> SeriesSet:
        """
        The series at these places, in that order.
        """
    def values(self, /) -> NDArray[Any]:
        """
        All steps of all series, one row each: a copy.
        """

@final
class Settings:
    """
    What was chosen about a detector.
    """
    def __new__(cls, /, choices: str) -> Settings:
        """
        From the JSON of the choices, in which words may stand for kernels, preparations, spaces and calibrations.
        """
    @property
    def any_lengths(self, /) -> bool:
        """
        Whether series may have different lengths.
        """
    @property
    def fills_missing(self, /) -> bool:
        """
        Whether missing values are filled in.
        """
    @property
    def grows(self, /) -> bool:
        """
        Whether series can be added to the model later.
        """
    @property
    def level(self, /) -> float:
        """
        The false-alarm rate that flags aim at.
        """
    @property
    def needs_outliers(self, /) -> bool:
        """
        Whether fitting needs labelled outliers.
        """
    def to_json(self, /) -> str:
        """
        The program's JSON, with every default filled in.
        """

@final
class Study:
    """
    The results of a study: what its tables and figures are made of.
    """
    def compare(self, /, before: Study, tolerance: SupportsFloat | SupportsIndex = 5e-4) -> str:
        """
        Which means moved since another study: the program's JSON.
        """
    def figures(self, /, envelope: bool = False) -> list[tuple[str, str]]:
        """
        The three figures: names of files and SVG.
        """
    @staticmethod
    def read(run: str | PathLike[str], published: str | PathLike[str] | None = None) -> Study:
        """
        Reads a run folder: what is done of it.
        """
    def results(self, /) -> str:
        """
        Means over classes: the program's JSON.
        """
    @staticmethod
    def run(folder: str | PathLike[str], datasets: SupportsGetItem[int, str], kernels: SupportsGetItem[int, str] | None = None, run: str | PathLike[str] | None = None, grid: str | None = None, published: str | PathLike[str] | None = None, compat: str | None = None, select: str = "joint", shard: str | None = None, baselines: bool = True, scores: SupportsGetItem[int, tuple[str, str | PathLike[str]]] = ..., n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> Study:
        """
        Works a study out; every finished unit is kept in the folder `run`, where one is given.
        """
    def table(self, /, layout: str = "text", rows: SupportsGetItem[int, str] | None = None) -> str:
        """
        The program's tables: text, csv, markdown or latex.
        """
    def units(self, /) -> str:
        """
        Every unit: the lines of a run folder, as a JSON list.
        """

@final
class StudyFolder:
    """
    An open run folder.
    """
    def add(self, /, line: str, seconds: SupportsFloat | SupportsIndex) -> None:
        """
        Records a unit's line, once, with what it took: it is on disk when this returns.
        """
    def close(self, /) -> None:
        """
        Closes the folder with its lines in the order of tables: the bytes of a run on one machine.
        """
    def missing(self, /) -> list[tuple[str, str, str]]:
        """
        The units that are not done yet.
        """

@final
class StudyUnits:
    """
    A study with its data read, to be worked out unit by unit, wherever.
    """
    def __new__(cls, /, folder: str | PathLike[str], datasets: SupportsGetItem[int, str], kernels: SupportsGetItem[int, str] | None = None, grid: str | None = None, published: str | PathLike[str] | None = None, compat: str | None = None, select: str = "joint", baselines: bool = True, scores: SupportsGetItem[int, tuple[str, str | PathLike[str]]] = ...) -> StudyUnits:
        """
        The arguments of a study; its data are read.
        """
    def open(self, /, run: str | PathLike[str]) -> StudyFolder:
        """
        Opens a run folder of this study, or begins it; nobody else can meanwhile.
        """
    def units(self, /) -> list[tuple[str, str, str]]:
        """
        Every unit in the order of tables: data set, kernel, class.
        """
    def work(self, /, unit: tuple[str, str, str], n_jobs: SupportsIndex | None = None) -> str:
        """
        Works out one unit: its line of a run folder.
        """

@final
class VarianceNorm:
    """
    The variance norms of a sample.
    """
    def eigenvalues(self, /) -> NDArray[Any]:
        """
        Eigenvalues of the covariance, descending.
        """
    @staticmethod
    def from_coordinates(coordinates: NDArray[Any], max_rank: SupportsIndex | None = None, eigenvalue_threshold: SupportsFloat | SupportsIndex | None = None) -> VarianceNorm:
        """
        From coordinates in a basis of a Banach space, one element per row.
        """
    @staticmethod
    def from_functions(values: NDArray[Any], grid: SupportsGetItem[int, SupportsFloat | SupportsIndex], max_rank: SupportsIndex | None = None, eigenvalue_threshold: SupportsFloat | SupportsIndex | None = None) -> VarianceNorm:
        """
        From functions on a grid, one per row.
        """
    @staticmethod
    def from_gram(gram: NDArray[Any], max_rank: SupportsIndex | None = None, eigenvalue_threshold: SupportsFloat | SupportsIndex | None = None) -> VarianceNorm:
        """
        From all inner products of the sample.
        """
    @staticmethod
    def from_kernel(kernel: str, sample: SeriesSet, normalize: bool = True, max_rank: SupportsIndex | None = None, eigenvalue_threshold: SupportsFloat | SupportsIndex | None = None, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> VarianceNorm:
        """
        From series under a kernel.
        """
    @staticmethod
    def from_vectors(vectors: NDArray[Any], max_rank: SupportsIndex | None = None, eigenvalue_threshold: SupportsFloat | SupportsIndex | None = None) -> VarianceNorm:
        """
        From vectors, one per row.
        """
    def gaussian_survival(self, /, scores: NDArray[Any], norm: str, alpha: SupportsFloat | SupportsIndex) -> NDArray[Any]:
        """
        The chance of a Gaussian element having at least these Mahalanobis scores.
        """
    def measure_products(self, /, products: NDArray[Any], squares: NDArray[Any], norm: str, alpha: SupportsFloat | SupportsIndex, distance: str, neighbour: SupportsIndex) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """
        Measures elements by their inner products with the sample (one row each) and with themselves.
        """
    def measure_series(self, /, series: SeriesSet, norm: str, alpha: SupportsFloat | SupportsIndex, distance: str, neighbour: SupportsIndex) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """
        Measures series.
        """
    def measure_vectors(self, /, vectors: NDArray[Any], norm: str, alpha: SupportsFloat | SupportsIndex, distance: str, neighbour: SupportsIndex) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """
        Measures vectors, functions or coordinates, one per row.
        """
    @property
    def tolerance(self, /) -> float:
        """
        The largest distance from the span that counts as on it.
        """

def average_precision(scores: NDArray[Any], positive: NDArray[Any]) -> float:
    """
    The sum over thresholds of precision times the gain in recall.
    """

def basic_motions() -> tuple[Dataset, Dataset]:
    """
    The recordings inside the package: the training part and the test part.
    """

def catalogue() -> str:
    """
    Every kernel with its formula and parameters: the program's JSON.
    """

def estimate(settings: Settings, like: SeriesSet, count: SupportsIndex, memory: SupportsFloat | SupportsIndex | None = None, n_jobs: SupportsIndex | None = None) -> str:
    """
    What it would take to fit on so many series like these, from a measured sample: the program's JSON. An error says what would
    fit where a budget of bytes is given and this does not.
    """

def fourier_signature(series: SeriesSet, kernel: str, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    Random Fourier signature features of a kernel `sig_fourier`, one row per series, the constant 1 first. What is `auto` is
    worked out from these series.
    """

def gram(kernel: str, x: SeriesSet, y: SeriesSet | None = None, prepare: str = "none", normalize: bool = False, log: bool = False, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    Kernel values of all pairs. What is learned from data is learned from the columns: `y` if given, else `x`.
    """

def gram_block(kernel: str, rows: SeriesSet, columns: SeriesSet, within: bool, normalize: bool = False, log: bool = False, row_self_values: NDArray[Any] | None = None, column_self_values: NDArray[Any] | None = None, n_jobs: SupportsIndex | None = None) -> NDArray[Any]:
    """
    A block of a matrix of kernel values, with the bits of the whole; the kernel has no `auto`. `within` is one set of which
    the rows come before the columns. `self_values` gives the last two, which only normalised values need.
    """

def gram_check(kernel: str, rows: SeriesSet, columns: SeriesSet | None = None) -> None:
    """
    Whether a kernel without `auto` can take the series of `rows` with those of `columns`: an error says why not.
    """

def kernel_json(kernel: str) -> str:
    """
    A kernel as JSON, from its words or its JSON.
    """

def kernel_words(kernel: str) -> str:
    """
    A kernel in words, from its words or its JSON.
    """

def leave_one_out(settings: Settings, corpus: SeriesSet, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    Scores of normal series, each by the model without it.
    """

def plot(title: str, x: tuple[str, bool], y: tuple[str, bool], curves: SupportsGetItem[int, tuple[str, str, SupportsGetItem[int, SupportsFloat | SupportsIndex], SupportsGetItem[int, SupportsFloat | SupportsIndex]]], size: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]) -> str:
    """
    Curves over axes, as SVG.
    """

def prepare_apply(fitted: str, series: SeriesSet) -> SeriesSet:
    """
    Prepares series as was learned.
    """

def prepare_fit(prepare: str, series: SeriesSet) -> tuple[str, SeriesSet]:
    """
    Learns a preparation from series: what was learned, as JSON, and the prepared series.
    """

def random_signature(series: SeriesSet, features: SupportsIndex, variance: SupportsFloat | SupportsIndex | None = None, seed: SupportsIndex = 0, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    Randomised signatures, one row per series. The variance is 1 / features where it is left out.
    """

def read(paths: SupportsGetItem[int, str | PathLike[str]], csv_layout: str = "auto", time: str | None = None, case: str | None = None, columns: SupportsGetItem[int, str] = ..., ignore: SupportsGetItem[int, str] = ..., decimal: str | None = None, skip: SupportsIndex = 0) -> Dataset:
    """
    Reads files and folders as one data set.
    """

def read_split(folder: str | PathLike[str], name: str) -> tuple[Dataset, Dataset]:
    """
    Reads a published split: the training part and the test part.
    """

def report(detector: Detector, series: SeriesSet | None = None, title: str = "Series", names: SupportsGetItem[int, str] | None = None, labels: SupportsGetItem[int, str] | None = None, normal: str | None = None, level: SupportsFloat | SupportsIndex | None = None, decision: str | None = None, explain: SupportsIndex = 20, segments: SupportsIndex = 10, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> str:
    """
    Everything there is to see about series, or about the detector alone, as one HTML page.
    """

def resolve(kernel: str, corpus: SeriesSet) -> str:
    """
    A kernel with every `auto` worked out from the series, as JSON.
    """

def roc_auc(scores: NDArray[Any], positive: NDArray[Any]) -> float:
    """
    The probability that a positive scores higher than a negative, equal scores counting half.
    """

def run_program(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the program with these arguments, of which the first is its name, and gives its exit code.
    """

def self_values(kernel: str, series: SeriesSet, n_jobs: SupportsIndex | None = None) -> NDArray[Any]:
    """
    `k(x,x)` of every series under a kernel without `auto`: mantissas and exponents of two.
    """

def share_features(series: SeriesSet, kernel: str, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    The features of a kernel `rocket` or `radon` that was resolved on a corpus, one row per series.
    """

def signature_feature_names(channels: SupportsIndex, level: SupportsIndex) -> list[str]:
    """
    The words of the signature features, in their order.
    """

def signature_features(series: SeriesSet, level: SupportsIndex, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> NDArray[Any]:
    """
    Signatures up to a level, one row per series, without level 0.
    """

def study_grid() -> str:
    """
    The published grid: the program's JSON.
    """

def study_merge(pieces: SupportsGetItem[int, str | PathLike[str]], output: str | PathLike[str]) -> Study:
    """
    Joins pieces of one study into one run folder.
    """

def study_report(run: str | PathLike[str], published: str | PathLike[str] | None = None, compare: str | PathLike[str] | None = None) -> str:
    """
    The folder of a study as one HTML page.
    """

def theory(dimension: SupportsIndex = 60, repeats: SupportsIndex = 20, alpha: SupportsFloat | SupportsIndex = 0.01, n_jobs: SupportsIndex | None = None, progress: Any | None = None) -> tuple[str, list[tuple[str, str]]]:
    """
    Watches the statements on a law with known norms: the program's JSON, and pictures by the names of their files.
    """

def write(path: str | PathLike[str], name: str, series: SeriesSet, labels: SupportsGetItem[int, str] | None = None, case_names: SupportsGetItem[int, str] | None = None, channel_names: SupportsGetItem[int, str] | None = None, times: SupportsGetItem[int, str] | None = None, csv_shape: str = "long", lossy: bool = False) -> list[str]:
    """
    Writes a file; its extension tells the format. Returns what had to be dropped.
    """

def write_text(path: str | PathLike[str], text: str) -> None:
    """
    Writes text to a file: whole or not at all.
    """
