"""Blocks of a matrix in a folder: each is written once, whole or not at all, and found again by a later call."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ._tasks import unique

HEADER = "gram.json"
FORMAT = 1
Place = tuple[int, int]


class BlockStore:
    """A folder with a file per block, and `gram.json`, which says what they are blocks of.

    With a path that ends in `.npy`, the blocks are in a folder beside it until all are there; then they become that file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        whole = Path(path).absolute()
        self.whole = whole if whole.suffix == ".npy" else None
        self.folder = whole if self.whole is None else whole.with_name(whole.name + ".blocks")

    def begun(self) -> dict[str, Any] | None:
        """What the folder was begun with."""
        path = self.folder / HEADER
        if not path.exists():
            return None
        try:
            found: dict[str, Any] = json.loads(path.read_text())
        except ValueError as problem:
            raise FormatError(f"{path}: {problem}; give another folder") from None
        return found

    def open(self, header: dict[str, Any]) -> None:
        """Begins the folder, or checks that it was begun with the same."""
        header = {"format": FORMAT, **header}
        begun = self.begun()
        if begun is None:
            if self.whole is not None and self.whole.exists():
                raise FormatError(f"{self.whole}: is there already, and was not begun here; give another file")
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(self.folder / HEADER, lambda part: part.write_text(json.dumps(header, indent=2) + "\n"))
            return
        different = [name for name in header if begun.get(name) != header[name]]
        if different:
            words = ", ".join(different)
            raise FormatError(f"{self.folder}: was begun with another {words}; go on with the same, or give another place")

    def path(self, place: Place) -> Path:
        """The file of a block."""
        return self.folder / f"{place[0]:05}-{place[1]:05}.npy"

    def done(self) -> bool:
        """Whether the blocks have become a single file."""
        return self.whole is not None and self.whole.exists()

    def has(self, place: Place) -> bool:
        """Whether a block is there: then it is whole."""
        return self.path(place).exists()

    def read(self, place: Place) -> NDArray[np.float64]:
        """A block."""
        path = self.path(place)
        if not path.exists():
            raise FormatError(f"{path}: a worker wrote it, and it is not there; give a folder that all machines share")
        block: NDArray[np.float64] = np.load(path)
        return block

    def write(self, place: Place, block: NDArray[np.float64]) -> None:
        """Writes a block, on whatever machine."""

        def save(part: Path) -> None:
            with part.open("wb") as file:
                np.save(file, block)
                file.flush()
                os.fsync(file.fileno())

        _replace(self.path(place), save)

    def join(self, shape: Place, fill: Any, places: Iterable[Place]) -> NDArray[np.float64]:
        """The whole as a file that is read where it is needed; the blocks are removed."""
        assert self.whole is not None

        def save(part: Path) -> None:
            matrix = np.lib.format.open_memmap(part, mode="w+", dtype=np.float64, shape=shape)  # type: ignore[no-untyped-call]
            fill(matrix)
            matrix.flush()

        if not self.whole.exists():
            _replace(self.whole, save)
        for place in places:
            self.path(place).unlink(missing_ok=True)
        self.clear()
        return self.mapped()

    def mapped(self) -> NDArray[np.float64]:
        """The whole, read where it is needed."""
        return np.load(self.whole, mmap_mode="r")  # type: ignore[arg-type, no-any-return]

    def clear(self) -> None:
        """Removes what workers that were killed had begun to write."""
        for part in self.folder.glob(".*.part"):
            part.unlink(missing_ok=True)


def _replace(path: Path, save: Any) -> None:
    """Whole or not at all: a file beside it takes its name when it is complete."""
    part = path.with_name(f".{path.name}.{unique()}.part")
    try:
        save(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
