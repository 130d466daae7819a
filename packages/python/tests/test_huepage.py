# SPDX-License-Identifier: MIT OR Apache-2.0
"""Placed arrays beside NumPy's own. Skipped where the machine has no colors to tell."""

import gc
import os

import huepage
import numpy as np
import pytest


@pytest.fixture(scope="module")
def known():
    try:
        return huepage.colors()
    except huepage.Error as error:
        pytest.skip(str(error))


def test_an_array_is_one_of_numpy(known):
    ours = huepage.empty((37, 41), dtype="float32")
    assert isinstance(ours, np.ndarray) and ours.flags.c_contiguous and ours.flags.writeable
    assert not ours.any()
    other = np.arange(37 * 41, dtype="float32").reshape(37, 41)
    ours[:] = other
    assert np.array_equal(ours, other)
    assert np.array_equal(ours @ ours.T, other @ other.T)
    assert ours.sum() == other.sum()
    fortran = huepage.empty((3, 5), order="F")
    assert fortran.flags.f_contiguous


def test_pages_are_spread_evenly(known):
    pages = 4 * len(known)
    ours = huepage.empty(pages * 4096 // 8)
    ours[:] = 1.0
    assert len(ours.colors) == pages
    told = ours.colors >= 0
    assert told.mean() > 0.95
    # What cannot be told now, or is told wrong once, is not placed wrong.
    assert ours.imbalance <= 0.05
    theirs = np.random.default_rng(1).integers(0, len(known), pages)
    most = np.bincount(theirs).max()
    assert most > 4 + 0.05 * pages / 2 or len(known) < 8


def test_only_some_colors(known):
    some = list(range(min(2, len(known))))
    ours = huepage.empty(64 * 4096, dtype="uint8", policy=some)
    ours[:] = 7
    told = ours.colors[ours.colors >= 0]
    assert np.isin(told, some).mean() > 0.95


def test_a_view_has_the_pages_it_lies_in(known):
    ours = huepage.empty(8 * 4096, dtype="uint8")
    ours[:] = 1
    assert len(ours[4096 : 3 * 4096].colors) == 2
    assert len(ours[:1].colors) == 1
    assert type(ours + 1) is np.ndarray
    ours += 1
    assert isinstance(ours, huepage.Array) and (ours == 2).all()


def test_a_view_keeps_the_memory_which_comes_zeroed_again(known):
    view = huepage.empty(1 << 20, dtype="uint8")[5:10]
    gc.collect()
    view[:] = 3
    assert view.tolist() == [3] * 5
    del view
    for _ in range(50):
        ours = huepage.empty(1 << 20, dtype="uint8")
        assert not ours.any()
        ours[:] = 255


def test_what_is_wrong_is_said(known):
    with pytest.raises(ValueError, match="none of balanced"):
        huepage.empty(10, policy="best")
    with pytest.raises(huepage.Error):
        huepage.empty(10, policy=[10**6])
    with pytest.raises(TypeError):
        huepage.empty(10, dtype=object)
    with pytest.raises(ValueError):
        huepage.empty(-1)


def test_nothing_and_scalars(known):
    nothing = huepage.empty(0)
    assert nothing.size == 0 and len(nothing.colors) == 0 and np.isnan(nothing.imbalance)
    one = huepage.empty(())
    one[()] = 2.5
    assert float(one) == 2.5


def test_a_child_goes_on(known):
    ours = huepage.empty(1000)
    ours[:] = 4.0
    child = os.fork()
    if not child:
        own = huepage.empty(1000)
        own[:] = 1.0
        ours[:] = 5.0
        os._exit(0 if own.sum() == 1000 and ours.sum() == 5000 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ours.sum() == 4000
