"""Writes `varnorm/_core.pyi` from the native module's own types. The tests check with mypy's stubtest that it fits.

    python python/generate_stubs.py     # after something in python/src was added or changed
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
HEAD = "# Written by generate_stubs.py from the native module: do not edit.\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["maturin", "generate-stubs", "--profile", "dev", "--features", "stubs,as-tested", "--target-dir", "target", "-o", folder]
        subprocess.run(command, check=True, cwd=HERE.parent)
        text = (Path(folder) / "varnorm" / "_core.pyi").read_text()
    # Arrays are the one kind of type that the module does not know about itself.
    text = text.replace("from _typeshed import Incomplete, ", "from _typeshed import ")
    text = text.replace("from typing import ", "from numpy.typing import NDArray\nfrom typing import ", 1)
    (HERE / "varnorm" / "_core.pyi").write_text(HEAD + text.replace("Incomplete", "NDArray[Any]"))


if __name__ == "__main__":
    main()
