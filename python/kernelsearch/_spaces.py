# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of values that are long to write out."""
from __future__ import annotations


def powers_of_two(first: int, last: int) -> list[int]:
    """The powers of two from `first` to `last`, which are powers of two themselves; ValueError where they are not."""
    for number in (first, last):
        if number < 1 or number & (number - 1):
            raise ValueError(f"kernelsearch: no power of two: {number}; give 1, 2, 4, 8, ...")
    if first > last:
        raise ValueError(f"kernelsearch: no powers of two from {first} to {last}; give the smaller one first")
    return [1 << bit for bit in range(first.bit_length() - 1, last.bit_length())]


def permutation(n: int) -> list[tuple[int, ...]]:
    """Every order of 0..n-1 (n at most 8), the identity first: the values of a tunable that is an order."""
    from itertools import permutations

    if not 1 <= n <= 8:
        raise ValueError(f"kernelsearch: orders of {n} things; give 1 to 8, of more there are too many to list")
    return list(permutations(range(n)))
