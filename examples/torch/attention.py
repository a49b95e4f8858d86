# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal attention, written out."""

import math

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.register_buffer("mask", torch.ones(length, length).tril() == 0)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(scores.masked_fill(self.mask, float("-inf")), dim=-1) @ v


batch, heads, length, width = 2, 4, 64, 32


def get_inputs():
    return [torch.randn(batch, heads, length, width) for _ in range(3)]


def get_init_inputs():
    return [length]
