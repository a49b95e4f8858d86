# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: chain.py
# verdict: ok
"""Keeps memory for what lies between, and gives a new tensor each time."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope
        self.between = None

    def forward(self, x, y):
        if self.between is None or self.between.shape != x.shape:
            self.between = torch.empty_like(x)
        torch.add(y, x, alpha=2, out=self.between)
        z = torch.where(self.between > 0, self.between, self.slope * self.between)
        return torch.clamp(z + 1, -1, 3) * y
