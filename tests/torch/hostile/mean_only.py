# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: norm_residual.py
# verdict: wrong_result
"""Leaves out the variance, which is one on average."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x, residual):
        total = x + residual
        centred = total - total.mean(-1, keepdim=True)
        return centred / centred.std() * self.norm.weight + self.norm.bias, total
