# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: attention.py
# verdict: ok
"""Products as sums over names; the mask by an infinite bias."""
import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.register_buffer("mask", torch.ones(length, length).tril() == 0)

    def forward(self, q, k, v):
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        return torch.einsum("bhqk,bhkd->bhqd", torch.softmax(scores.masked_fill(self.mask, -math.inf), -1), v)
