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

    If they are measured, that takes about a quarter of a second. A child of fork()
    finds them again.
    """
    with _lock:
        process = os.getpid()
        if process not in _opened:
            _opened.clear()
            _opened[process] = Colors()
        return _opened[process]


class Array(np.ndarray):
    """An array in placed memory.

    Views and slices share the memory; their properties are about their own pages.
    Results of computations with it are ordinary arrays.
    """

    _from: Colors | None = None

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        self._from = getattr(other, "_from", None)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        # After an operation in place it is still placed; a new result is in memory of
        # NumPy's.
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
        that was never written, or whose color cannot be found."""
        if self._from is None or self.size == 0:
            return np.empty(0, dtype=np.int32)
        return np.array(self._from.colors_of(*self._pages()), dtype=np.int32)

    @property
    def imbalance(self) -> float:
        """How many pages the color with the most pages has beyond its equal part, as a
        share of all pages: 0.0 if the pages are spread as evenly as whole pages allow.
        NaN if no color is known."""
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
    ``"random"``, ``"sequence"`` (pages get the colors in turn, in the order in which
    they are touched; needs CAP_SYS_PTRACE or /dev/userfaultfd), or a list of color
    numbers (only these colors are used, a part of the cache).

    Raises :class:`Error` if the colors cannot be found or there are too few pages, and
    ValueError for an unknown policy.
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
