"""Puts the pages of the documentation site together, for mkdocs.

- Pages are docs/, python/docs/ (under python/) and some of the project's own files (under project/).
- The order of pages is ORDER; pages that it does not name come under "More".
- A link to a file is a link to its page, or, where it has none, to the repository. A link to nothing is an error.
- A block `script` becomes the code of the example that it names.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "python" / "examples"
PROJECT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
GUIDE = "python/docs"
ORDER: dict[str, list[str]] = {
    "Start": ["python/index.md", "python/first_hour.md", "python/sensor_csv.md", "python/gallery.md"],
    "Cases": ["python/case_appliance.md", "python/case_gesture.md", "python/case_power.md"],
    "Guide": [
        "python/views.md", "python/kernels.md", "preparation.md", "python/thresholds.md", "thresholds.md", "python/data.md",
        "files.md", "python/files.md", "long.md", "python/long.md", "python/large.md", "scale.md", "python/dask.md", "report.md",
        "python/packages.md", "rust.md",
    ],
    "Reference": ["program.md", "python/api.md", "glossary.md"],
    "Theory": ["theory.md", "study.md", "results.md", "python/paper.md"],
    "Measured": ["benchmark.md", "performance.md"],
}
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def _sources() -> dict[str, Path]:
    """The pages and pictures by their place in the site."""
    found = {path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*") if path.is_file()}
    for path in (ROOT / GUIDE).rglob("*"):
        if path.is_file():
            found["python/" + path.relative_to(ROOT / GUIDE).as_posix()] = path
    found |= {f"project/{name}": ROOT / name for name in PROJECT}
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The order of the pages that are there."""
    left = sorted(place for place in _sources() if place.endswith(".md") and place != "index.md")
    nav: list[Any] = ["index.md"]
    for section, wanted in ORDER.items():
        nav.append({section: [place for place in wanted if place in left]})
    named = {place for places in ORDER.values() for place in places}
    decisions = [place for place in left if place.startswith("decisions/")]
    project = [f"project/{name}" for name in PROJECT]
    more = [place for place in left if place not in {*named, *decisions, *project}]
    if more:
        nav.append({"More": more})
    nav.append({"Project": [*project, {"Decisions": decisions}]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what lies outside of docs/."""
    for place, path in sorted(_sources().items()):
        if files.get_file_from_path(place) is None and place != "build":
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def _script(block: re.Match[str]) -> str:
    return "```python\n" + (EXAMPLES / block.group(1)).read_text() + "```"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links and scripts of a page."""
    sources = _sources()
    places = {path: place for place, path in sources.items()}
    source, here = sources[page.file.src_uri], posixpath.dirname(page.file.src_uri)

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or ":" in target:
            return found[0]
        path = (source.parent / target).resolve()
        if path in places:
            where = posixpath.relpath(places[path], here or ".")
        elif path.exists() and path.is_relative_to(ROOT):
            kind = "tree" if path.is_dir() else "blob"
            where = f"{config.repo_url}/{kind}/main/{path.relative_to(ROOT).as_posix()}"
        else:
            raise PluginError(f"{source.relative_to(ROOT)} links to {found[2]}, which is not there")
        return f"{found[1]}{where}{'#' + anchor if anchor else ''}{found[3]}"

    parts = [part if part.startswith("```") else LINK.sub(link, part) for part in FENCE.split(markdown)]
    return re.sub(r"```script\n(.*?)\n```", _script, "".join(parts))
