"""What comes out of an estimator: arrays, or pandas where that is asked for, and its look in a notebook."""

from __future__ import annotations

import base64
import html
import struct
import sys
import zlib
from typing import Any

import numpy as np


def _asked_of_everything() -> str:
    """What `sklearn.set_config(transform_output=...)` says, if anybody imported that."""
    sklearn = sys.modules.get("sklearn")
    return sklearn.get_config().get("transform_output", "default") if sklearn else "default"


class Output:
    """`set_output`, as scikit-learn's transformers have it, for predictions and probabilities too."""

    def set_output(self, *, transform: str | None = None) -> Any:
        """Chooses what `predict`, `predict_proba` and `transform` give.

        Parameters
        ----------
        transform : {'default', 'pandas'} or None, default=None
            'default' are arrays; 'pandas' a Series or a DataFrame with the index of the points, if
            these are one, and classes or clusters as columns. None leaves it as it is.

        Returns
        -------
        self
        """
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"transform is {transform!r}; it must be 'default' or 'pandas'")
        if transform is not None:
            # by this name scikit-learn's clone() takes it along
            self._sklearn_output_config = {"transform": transform}
        return self

    def _wants_pandas(self) -> bool:
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        return (own or _asked_of_everything()) == "pandas"

    def _output(self, X: Any, values: np.ndarray, columns: Any) -> Any:
        """Values of the points as they are wanted; `columns` is a name where there is one value each."""
        if not self._wants_pandas():
            return values
        import pandas

        index = X.index if isinstance(X, (pandas.DataFrame, pandas.Series)) else None
        if values.ndim == 1:
            return pandas.Series(values, index=index, name=columns)
        return pandas.DataFrame(values, index=index, columns=columns)


def table(heading: str, rows: list[tuple[str, Any]], below: str = "") -> str:
    """HTML with a line for each row; numbers are cut to four places."""

    def text(value: Any) -> str:
        shown = f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
        return html.escape(shown)

    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{text(value)}</td></tr>"
        for name, value in rows
    )
    return f"<div><strong>{html.escape(heading)}</strong><table>{lines}</table>{below}</div>"


def picture(pixels: np.ndarray, height: int = 42) -> str:
    """A picture of (channels, height, width) numbers from 0 to 1 as HTML: a PNG of their bytes."""
    grid = np.moveaxis(np.clip(pixels * 255 + 0.5, 0, 255).astype(np.uint8), 0, -1)
    rows, columns, channels = grid.shape
    lines = b"".join(b"\0" + grid[row].tobytes() for row in range(rows))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 0 if channels == 1 else 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b""))
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()
    return f'<img style="height:{height}px;margin:1px" src="data:image/png;base64,{data}">'


def listed(values: list[Any], most: int = 8) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


class Shown:
    """An estimator in a notebook: its parameters and, once it is fitted, what it found."""

    def _found(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        fitted = self.__sklearn_is_fitted__()  # type: ignore[attr-defined]
        return table(repr(self), self._found() if fitted else [("fitted", "not yet")])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
