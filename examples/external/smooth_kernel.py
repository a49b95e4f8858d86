# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Three-point means of x, in plain Python: CHUNK elements at a time, in one of two WAYs.


def slices(n, x, y):
    y[0], y[n - 1] = x[0], x[n - 1]
    for begin in range(1, n - 1, CHUNK):
        end = min(begin + CHUNK, n - 1)
        part = [(a + b + c) / 3 for a, b, c in zip(x[begin - 1 : end - 1], x[begin:end], x[begin + 1 : end + 1])]
        y[begin:end] = memoryview(array("f", part))


def elements(n, x, y):
    y[0], y[n - 1] = x[0], x[n - 1]
    for begin in range(1, n - 1, CHUNK):
        for i in range(begin, min(begin + CHUNK, n - 1)):
            y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
