"""Pages of the user guide: `::: varnorm.gram` becomes its signature and docstring, a block `script` the example's code."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent / "examples"


def _resolve(path: str) -> Any:
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(path)


def _described(title: str, member: Any) -> str:
    text = inspect.getdoc(member)
    if not text:
        raise LookupError(f"{title} has no docstring")
    try:
        signature = str(inspect.signature(member)).replace("'", "")
    except ValueError:  # what inherits from a built-in type
        signature = ""
    return f"```text\n{title}{signature}\n\n{text}\n```\n"


def _section(path: str) -> str:
    found = _resolve(path)
    parts = [f"### {path}\n", _described(path.rsplit(".", 1)[-1], found)]
    if inspect.isclass(found):
        for name, member in vars(found).items():
            plain = getattr(found, name)
            if name.startswith("_") or not inspect.isroutine(plain) or not inspect.getdoc(plain):
                continue
            parts.append(_described(f".{name}", plain))
    return "\n".join(parts)


def _script(block: re.Match[str]) -> str:
    return "```python\n" + (EXAMPLES / block.group(1)).read_text() + "```"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """What mkdocs calls for every page."""
    lines = [_section(line[4:].strip()) if line.startswith("::: ") else line for line in markdown.splitlines()]
    return re.sub(r"```script\n(.*?)\n```", _script, "\n".join(lines))
