# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sparse array in NumPy: 32 MiB of which one row in 64 was written, read by rows."""
import numpy

array = numpy.zeros((4096, 1024))
array[::64] = 1.0
weights = numpy.linspace(0, 1, 1024)
for _ in range(4):
    total = float((array @ weights).sum())
print(total)
