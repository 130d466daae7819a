# SPDX-License-Identifier: MIT OR Apache-2.0
"""A dictionary of 30,000 words, counted and looked up at random: 100,000 steps."""
import random

numbers = random.Random(1)
words = [f"word{number}" for number in range(30_000)]
counts = dict.fromkeys(words, 0)
for _ in range(100_000):
    counts[numbers.choice(words)] += 1
print(max(counts.values()))
