"""Who hears how far a long call has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from .errors import ParameterError

Listener = Callable[[str, int, int], object]
#: `None` or `False`: nobody. `True`: a bar of tqdm. A function: called with stage, done and total.
Progress = Union[None, bool, Listener]


class Bar:
    """A bar per stage, drawn by tqdm."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            sentence = "progress = True: the bar is drawn by tqdm, which is not installed; install it, or give a function"
            raise ParameterError(sentence) from None
        self._tqdm = tqdm
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or self._stage != stage or self._bar.n > done or self._bar.total != total:
            self.close()
            self._stage, self._bar = stage, self._tqdm(total=total, desc=stage, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Listening:
    """`with Listening(progress) as listener:` gives what the native part calls; a bar ends with the block."""

    def __init__(self, progress: Progress) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise ParameterError(f"progress = {progress!r}: must be True, False or a function of stage, done and total")
        self._bar = Bar() if progress is True else None
        self._listener = self._bar if progress is True else progress or None

    def __enter__(self) -> Listener | None:
        return self._listener

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
