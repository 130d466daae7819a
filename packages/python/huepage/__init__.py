# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy arrays in memory placed by cache color.

>>> import huepage
>>> numbers = huepage.empty((512, 256), dtype="float64")   # evenly over the colors
>>> numbers.imbalance
0.0
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

import numpy as np

from ._huepage import Colors, Error, __version__

__all__ = ["Array", "Colors", "Error", "__version__", "colors", "empty", "zeros"]

_lock = threading.Lock()
_opened: dict[int, Colors] = {}


def colors() -> Colors:
    """The colors of the cache, found on the first call of a process.

    Where they are measured that takes about a quarter of a second. A child of fork()
    finds its own.
    """
    with _lock:
        process = os.getpid()
        if process not in _opened:
            _opened.clear()
            _opened[process] = Colors()
        return _opened[process]


class Array(np.ndarray):
    """An array in placed memory.

    Views and slices share the memory, and have the properties for their own pages.
    What is computed from it is an ordinary array.
    """

    _from: Colors | None = None

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        self._from = getattr(other, "_from", None)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        # In place it stays what it is; a result is in memory of NumPy's.
        if array is self:
            return array
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.ndim == 0 else plain

    def _pages(self) -> tuple[int, int]:
        first, end = np.lib.array_utils.byte_bounds(self) if hasattr(
            np.lib, "array_utils") else np.byte_bounds(self)
        return first, end - first

    @property
    def colors(self) -> np.ndarray:
        """The color of each page that the array lies in, asked for now; -1 for a page
        that was never written, or whose color cannot be told."""
        if self._from is None or self.size == 0:
            return np.empty(0, dtype=np.int32)
        return np.array(self._from.colors_of(*self._pages()), dtype=np.int32)

    @property
    def imbalance(self) -> float:
        """The share of pages that the fullest color has more than its part: 0.0 if all
        colors have as many pages as whole pages allow. NaN without a known color."""
        known = self.colors
        known = known[known >= 0]
        if known.size == 0:
            return float("nan")
        count = len(self._from)
        most = int(np.bincount(known, minlength=count).max())
        return (most - -(-known.size // count)) / known.size


def empty(
    shape: int | tuple[int, ...],
    dtype=np.float64,
    *,
    policy: str | Iterable[int] = "balanced",
    order: str = "C",
) -> Array:
    """An array whose contents are zeros until they are written.

    ``policy`` is ``"balanced"`` (every stretch has each color equally often),
    ``"random"``, ``"sequence"`` (the next color to the page touched next; takes
    CAP_SYS_PTRACE or /dev/userfaultfd), or numbers of colors: only these, a part of
    the cache.

    Raises :class:`Error` where the colors cannot be told or pages are short, and
    ValueError for a policy that there is not.
    """
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("objects of Python are not in the array, only pointers to them")
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    size = dtype.itemsize
    for n in shape:
        size *= int(n)
    known = colors()
    if not isinstance(policy, str):
        policy = [int(color) for color in policy]
    memory = known.memory(max(size, 1), policy)
    plain = np.ndarray(shape, dtype=dtype, buffer=np.asarray(memory), order=order)
    array = plain.view(Array)
    array._from = known
    return array


# Pages come zeroed from the kernel or are zeroed before they are given out again.
zeros = empty
