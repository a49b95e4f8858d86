# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: linear_gelu.py
# verdict: wrong_result
"""Computes in a type of fewer bits."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        y = x.bfloat16() @ self.linear.weight.t().bfloat16()
        return nn.functional.gelu(y.float() + self.linear.bias)
