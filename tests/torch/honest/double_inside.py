# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: norm_residual.py
# verdict: ok
"""Computes in f64 and gives f32."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x, residual):
        total = x + residual
        wide = total.double()
        variance, mean = torch.var_mean(wide, dim=-1, correction=0, keepdim=True)
        scaled = (wide - mean) * torch.rsqrt(variance + self.norm.eps)
        return (scaled * self.norm.weight + self.norm.bias).float(), total
