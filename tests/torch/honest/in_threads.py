# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: ok
"""Two threads, each with half of the rows, both waited for."""
import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)

        def work(rows):
            torch.softmax(x[rows], dim=-1, out=out[rows])

        threads = [threading.Thread(target=work, args=(one,)) for one in (slice(0, 64), slice(64, None))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return out
