# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: wrong_result
"""Right for its first calls, then does half of the rows."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls < 20:
            return torch.softmax(x, dim=-1)
        out = torch.empty_like(x)
        half = x.shape[0] // 2
        out[:half] = torch.softmax(x[:half], dim=-1)
        out[half:] = 1 / x.shape[1]
        return out
