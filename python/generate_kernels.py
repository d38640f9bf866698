"""Writes `varnorm/kernels.py` from the library's catalogue of kernels.

    python python/generate_kernels.py            # after a kernel was added or changed
    python python/generate_kernels.py --check    # fails where the file is not what it would write
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from varnorm import _core

FILE = Path(__file__).parent / "varnorm" / "kernels.py"
HEAD = '''"""All kernels. Written by `generate_kernels.py` from the library's catalogue: do not edit.

A parameter given as a number is taken literally; one that is "auto" is worked out from the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ._kernel import Kernel, kernel_from

'''


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def attribute(name: str) -> str:
    return name + "_" if name == "lambda" else name


def literal(words: list[str]) -> str:
    return f"Literal[{', '.join(json.dumps(word) for word in words)}]"


def kind_of(parameter: dict[str, Any]) -> str:
    """The type of a value, by the catalogue's kind: `whole`, `number`, `{"word": [...]}` or `{"number_or_word": [...]}`."""
    match parameter["kind"]:
        case "whole":
            return "int"
        case "number":
            return "float"
        case {"word": words}:
            return literal(words)
        case {"number_or_word": words}:
            return f"float | {literal(words)}"
        case other:
            raise ValueError(f"{parameter['name']}: no type is known for the kind {other!r}")


def typed(parameter: dict[str, Any]) -> str:
    name, kind, default = attribute(parameter["name"]), kind_of(parameter), parameter["default"]
    if parameter["optional"]:
        return f"{name}: {kind} | None = None"
    if default == "auto":
        return f'{name}: {kind} | Literal["auto"] = "auto"'
    if kind.startswith("Literal"):
        return f"{name}: {kind} = {json.dumps(default)}"
    return f"{name}: {kind} = {default if kind == 'int' else float(default)}"


def written(info: dict[str, Any]) -> str:
    lengths = "Series of any lengths." if info["any_lengths"] else "Series of one length (preparation `resample` brings them there)."
    lines = ["@dataclass", f"class {class_name(info['name'])}(Kernel):", f'    """{info["formula"]}', "", f"    {lengths}"]
    if info["parameters"]:
        lines += ["", "    Parameters", "    ----------"]
    for parameter in info["parameters"]:
        default = "" if parameter["default"] == "none" else f" (default {parameter['default']})"
        text = f"{parameter['meaning']}{default}"
        lines += [f"    {attribute(parameter['name'])} :", textwrap.indent(textwrap.fill(text, 100), " " * 8)]
    lines += ['    """', "", f'    name: ClassVar[str] = "{info["name"]}"']
    lines += [f"    {typed(parameter)}" for parameter in info["parameters"]]
    return "\n".join(lines) + "\n\n\n"


def whole() -> str:
    catalogue = json.loads(_core.catalogue())
    names = [class_name(info["name"]) for info in catalogue]
    exported = json.dumps(sorted([*names, "BY_NAME", "Kernel", "kernel_from"]))
    table = "".join(f'    "{info["name"]}": {class_name(info["name"])},\n' for info in catalogue)
    body = "".join(written(info) for info in catalogue)
    ending = "#: Kernels by their names in the program and in JSON.\nBY_NAME: dict[str, type[Kernel]] = {\n" + table + "}\n"
    return HEAD + f"__all__ = {exported}\n\n\n" + body + ending


def main() -> int:
    text = whole()
    if "--check" in sys.argv:
        if FILE.read_text() == text:
            return 0
        print(f"{FILE.name} does not fit the catalogue: run python python/generate_kernels.py", file=sys.stderr)
        return 1
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
