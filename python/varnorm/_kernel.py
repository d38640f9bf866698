"""What all kernels share. The kernels themselves are in `varnorm.kernels`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar, TypeVar, Union

from numpy import float64
from numpy.typing import NDArray

from . import _core
from ._gram import gram
from ._input import Layout
from ._progress import Progress
from .errors import ParameterError

Self = TypeVar("Self", bound="Kernel")


@dataclasses.dataclass
class Kernel:
    """A kernel: plain data that says which inner product of time series is meant.

    Calling it gives kernel values of all pairs, so that it can stand wherever scikit-learn takes a function:
    `SVC(kernel=Gak(sigma=3))`.
    """

    name: ClassVar[str] = ""
    #: What was learned from a corpus beside the parameters, by `resolve` or a fit; None where nothing was.
    fitted: dict[str, Any] | None = dataclasses.field(default=None, init=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the program's settings and model files; what is left to `auto` is left out."""
        given = {field.name.rstrip("_"): getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"kernel": self.name} | {k: v for k, v in given.items() if v is not None and not _is_auto(v)}

    def to_words(self) -> str:
        """As one writes it on the command line: `gak:sigma=3`. Parameters are checked."""
        return _core.kernel_words(_dumped(self.to_dict()))

    def resolve(self: Self, X: Any, *, layout: Layout = None) -> Self:
        """The same kernel with every `auto` worked out from these series."""
        from ._input import to_series

        found: dict[str, Any] = json.loads(_core.resolve(_dumped(self.to_dict()), to_series(X, layout)))
        return _made(type(self), found)

    def __call__(
        self,
        X: Any,
        Y: Any = None,
        *,
        normalize: bool = False,
        log: bool = False,
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> NDArray[float64]:
        """Kernel values of all pairs; see `varnorm.gram`."""
        return gram(self, X, Y, normalize=normalize, log=log, layout=layout, n_jobs=n_jobs, progress=progress)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters, as scikit-learn does: `GridSearchCV(detector, {"kernel__sigma": [1, 2]})`."""
        known = self.get_params()
        for key, value in params.items():
            if key not in known:
                raise ParameterError(f"{key} = {value!r}: {self.name} has no such parameter; it has: {', '.join(known) or 'none'}")
            setattr(self, key, value)
        return self


#: A kernel, its words (`"gak:sigma=3"`) or its JSON as a dictionary.
KernelLike = Union[Kernel, str, "dict[str, Any]"]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _dumped(values: dict[str, Any]) -> str:
    def plain(value: Any) -> Any:
        if hasattr(value, "item"):  # a NumPy number
            return value.item()
        raise ParameterError(f"kernel = {values!r}: {value!r} is neither a number nor a word")

    return json.dumps(values, default=plain)


def _made(kind: type[Self], found: dict[str, Any]) -> Self:
    """A kernel of this class from its JSON."""
    names = {field.name.rstrip("_"): field.name for field in dataclasses.fields(kind)}
    made = kind()
    for key, value in found.items():
        if key != "kernel":
            setattr(made, names[key], value)
    return made


def kernel_spec(kernel: Any) -> str:
    """What the native part reads."""
    if isinstance(kernel, Kernel):
        return _dumped(kernel.to_dict())
    if isinstance(kernel, dict):
        return _dumped(kernel)
    if isinstance(kernel, str):
        return kernel
    raise ParameterError(f"kernel = {kernel!r}: must be a kernel, its words ('gak:sigma=3') or its JSON as a dictionary")


def kernel_from(kernel: KernelLike) -> Kernel:
    """A kernel object from words or JSON."""
    from . import kernels

    found = json.loads(_core.kernel_json(kernel_spec(kernel)))
    kind: type[Kernel] = kernels.BY_NAME[found["kernel"]]
    return _made(kind, found)
