# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: linear_gelu.py
# verdict: ok
"""Prepares its weights at the first call, which is no cheat."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.turned = None

    def forward(self, x):
        if self.turned is None:
            self.turned = self.linear.weight.t().contiguous()
        return nn.functional.gelu(x @ self.turned + self.linear.bias)
