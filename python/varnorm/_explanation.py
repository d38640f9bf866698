"""Why a series has its score, for people and for notebooks."""

from __future__ import annotations

import html
import json
from typing import Any


def numbers(value: Any) -> Any:
    """JSON has no infinity: its words become numbers again."""
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [numbers(part) for part in value]
    return float(value) if value in ("inf", "-inf") and isinstance(value, str) else value


class Explanation:
    """Why a series has its score: what `varnorm explain --format json` tells, as attributes.

    Attributes
    ----------
    score, p_value : float
        As everywhere; `p_value` is None without calibration.
    nearest : int
        The nearest normal series, by its place in the X of `fit`.
    directions : list of dict
        Parts of the squared score along eigenvectors, largest first.
    outside, outside_span : float
        The part outside the corpus' span, and the share of the squared distance that lies there.
    channels, segments : list of dict
        The score when a channel, or a stretch of time, is made that of the nearest normal series.
    differences : list of dict
        Where the series differs most from the nearest normal one.
    channel_names : list of str or None
        Names of the channels, where the model knows them and preparation leaves channels as they are.
    views : list of dict
        Comparable scores of the views, where there are several.
    view : str or None
        With several views, the one in which the series stands out most: directions, channels and stretches are of it.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        values: dict[str, Any] = numbers(found)
        self.score: float = values["score"]
        self.p_value: float | None = values["p_value"]
        self.nearest: int = values["nearest"]
        self.directions: list[dict[str, Any]] = values["directions"]
        self.outside: float = values["outside"]
        self.outside_span: float = values["outside_span"]
        self.channels: list[dict[str, Any]] = values["channels"]
        self.segments: list[dict[str, Any]] = values["segments"]
        self.differences: list[dict[str, Any]] = values["differences"]
        self.views: list[dict[str, Any]] = values.get("views", [])
        self.view: str | None = values.get("explained_view")
        self.channels_are_original: bool = values["channels_are_original"]
        self.channel_names: list[str] | None = values.get("channel_names")

    def _channel(self, part: dict[str, Any]) -> str:
        at = part["channel"]
        return f"channel {at if self.channel_names is None else self.channel_names[at]}"

    def to_json(self) -> str:
        """The program's JSON."""
        return json.dumps(self._found)

    def __repr__(self) -> str:
        p = "" if self.p_value is None else f", p-value {self.p_value:.3g}"
        where = "" if self.view is None else f"; stands out most in the view {self.view}"
        most = max(self.channels, key=lambda part: part["adds"])
        when = max(self.segments, key=lambda part: part["adds"])
        return (
            f"score {self.score:.4g}{p}{where}; nearest normal series {self.nearest}; what adds most: {self._channel(most)} "
            f"({most['adds']:.3g}), steps {when['first_step']} to {when['end_step'] - 1} ({when['adds']:.3g})"
        )

    def _repr_html_(self) -> str:
        channels = [(self._channel(part), part["adds"]) for part in self.channels]
        segments = [(f"steps {part['first_step']} to {part['end_step'] - 1}", part["adds"]) for part in self.segments]
        charts = _bars("What each channel adds to the score", channels) + _bars("What each stretch of time adds", segments)
        return f"<p>{html.escape(repr(self))}</p>{charts}"


def _bars(title: str, parts: list[tuple[str, float]]) -> str:
    """Bars from a common zero, as SVG."""
    row, left, wide = 20, 150, 360
    low, high = min([0.0, *(v for _, v in parts)]), max([0.0, *(v for _, v in parts)])
    scale = wide / (high - low) if 0 < high - low < float("inf") else 0.0
    zero = left - low * scale
    lines = [f'<text x="0" y="14" font-weight="bold">{html.escape(title)}</text>']
    for at, (name, value) in enumerate(parts):
        y = 24 + row * at
        start, size = (zero, value * scale) if value >= 0 else (zero + value * scale, -value * scale)
        color = "#d55e00" if value >= 0 else "#0072b2"
        lines.append(f'<text x="0" y="{y + 13}">{html.escape(name)}</text>')
        lines.append(f'<rect x="{start:.1f}" y="{y + 2}" width="{size:.1f}" height="{row - 5}" fill="{color}"/>')
        lines.append(f'<text x="{left + wide + 8}" y="{y + 13}">{value:.3g}</text>')
    height = 30 + row * len(parts)
    style = f'width="{left + wide + 80}" height="{height}" font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {style}>{"".join(lines)}</svg>'
