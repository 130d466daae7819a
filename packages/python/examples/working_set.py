# SPDX-License-Identifier: MIT OR Apache-2.0
# %% [markdown]
# # What placement is worth to NumPy
# Random reads in arrays of several sizes, in placed memory and in NumPy's own, visited in
# turns: the ratio is what counts, since others use the machine, too. A notebook as a
# script: `jupytext --to ipynb working_set.py`, or just run it.

# %%
import time

import huepage
import numpy as np

known = huepage.colors()
print(f"{len(known)} colors, {known.reason}")


# %%
def seconds(array, order):
    begin = time.perf_counter()
    array.take(order, out=out, mode="clip")
    return time.perf_counter() - begin


# %% [markdown]
# Ten allocations of each kind, and the best of five visits to each: what a neighbor takes
# in a moment is not what placement decides.

# %%
random = np.random.default_rng(1)
way = len(known) * 4096
for ways in (4, 8, 12, 14, 16):
    elements = ways * way // 8
    order = random.permutation(elements)
    out = np.empty(elements)
    ratios, spread = [], []
    for _ in range(10):
        placed, plain = huepage.empty(elements), np.empty(elements)
        placed[:] = plain[:] = 1.0
        visits = [(seconds(plain, order), seconds(placed, order)) for _ in range(5)]
        plain_best, placed_best = np.array(visits).min(axis=0)
        ratios.append(plain_best / placed_best)
        spread.append(placed.imbalance)
    print(
        f"{ways:3} pages of each color: placed is {np.median(ratios):.2f} times as fast "
        f"({min(ratios):.2f} to {max(ratios):.2f}), imbalance {max(spread):.3f}"
    )
