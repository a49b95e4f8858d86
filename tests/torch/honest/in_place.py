# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: chain.py
# verdict: ok
"""In place, on tensors of its own."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x, y):
        z = torch.add(y, x, alpha=2)
        z = torch.nn.functional.leaky_relu_(z, self.slope)
        return z.add_(1).clamp_(-1, 3).mul_(y)
