# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: attention.py
# verdict: ok
"""Adds the mask instead of filling; keeps the buffer."""
import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.register_buffer("mask", torch.ones(length, length).tril() == 0)

    def forward(self, q, k, v):
        scores = torch.matmul(q * (1 / math.sqrt(q.shape[-1])), k.transpose(-2, -1))
        return torch.softmax(scores + torch.zeros_like(scores).masked_fill_(self.mask, -math.inf), -1) @ v
