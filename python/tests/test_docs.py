"""Every code block of the user guide runs and prints what the guide says; examples draw the guide's pictures.

UPDATE_EXPECTED=1 writes down what is printed and drawn: read it before it is kept.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SHARED

import varnorm

DOCS = ROOT / "python" / "docs"
EXAMPLES = ROOT / "python" / "examples"
UPDATE = os.environ.get("UPDATE_EXPECTED") == "1"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def printed(kind: str, code: str, names: dict[str, object], folder: Path) -> str:
    """What a block prints."""
    if kind == "script":
        command = [sys.executable, EXAMPLES / code.strip(), folder]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<guide>", "exec"), names)
    return out.getvalue()


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_every_block_prints_what_the_page_says(page, tmp_path, monkeypatch):
    text = page.read_text()
    if "UEA_FOLDER" in text:
        if not (SHARED / "uea").is_dir() or not (SHARED / "paper" / "published.json").exists():
            pytest.skip(f"{SHARED} is not there")
        monkeypatch.setenv("UEA_FOLDER", str(SHARED / "uea"))
        monkeypatch.setenv("PUBLISHED_PARAMETERS", str(SHARED / "paper" / "published.json"))
    for package in ("pyod", "aeon"):
        if (f"adapters.{package}" in text and page.stem != "api") or f"inside {package}" in text:
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "guide"}
    expected = iter([*BLOCK.finditer(text), None])
    block, changed = next(expected), text
    while block is not None:
        following = next(expected)
        if block.group(1) in ("python", "script"):
            found = printed(*block.groups(), names, tmp_path)
            told = following is not None and following.group(1) == "text"
            assert told or not found, f"{page.name} does not tell what is printed: {found}"
            if told and UPDATE:
                changed = changed.replace(f"```{block.group(1)}\n{block.group(2)}```\n\n```text\n{following.group(2)}```", f"```{block.group(1)}\n{block.group(2)}```\n\n```text\n{found}```")
            elif told:
                assert found == following.group(2), page.name
        block = following
    if UPDATE:
        page.write_text(changed)
    pictures(text, tmp_path)


def pictures(text: str, folder: Path) -> None:
    """The pictures of a page are those that its script draws."""
    for name in re.findall(r"\(pictures/(.*?)\)", text):
        drawn, kept = (folder / name).read_text(), DOCS / "pictures" / name
        if UPDATE:
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(drawn)
        assert kept.read_text() == drawn, name


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-f", ROOT / "mkdocs.yml", "-d", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    checked = subprocess.run([sys.executable, ROOT / "tools" / "check_site.py", tmp_path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    api = (tmp_path / "python" / "api.html").read_text()
    for name in varnorm.__all__:
        member = getattr(varnorm, name)
        if not name.startswith("_") and not hasattr(member, "__path__") and not hasattr(member, "__file__"):
            assert f'id="varnorm.{name}"' in api or f'id="{member.__module__}.{name}"' in api, f"{name} is not in the guide"


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
def test_examples_in_docstrings():
    seen = 0
    for module in pkgutil.walk_packages(varnorm.__path__, "varnorm."):
        if ".adapters." in module.name or module.name == "varnorm._core":
            continue
        result = doctest.testmod(importlib.import_module(module.name))
        assert result.failed == 0, module.name
        seen += result.attempted
    assert doctest.testmod(varnorm).failed == 0 and seen > 10


def test_what_is_generated_is_up_to_date():
    # -P: the installed package, not the folder beside the script.
    command = [sys.executable, "-P", ROOT / "python" / "generate_kernels.py", "--check"]
    assert subprocess.run(command).returncode == 0


def test_everything_public_is_described():
    for name in varnorm.__all__:
        member = getattr(varnorm, name)
        if callable(member):
            assert member.__doc__, name
            for method, value in vars(member).items() if isinstance(member, type) else ():
                assert method.startswith("_") or not callable(value) or value.__doc__, f"{name}.{method}"
