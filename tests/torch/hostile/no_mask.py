# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: attention.py
# verdict: wrong_result
"""Leaves out the mask, which the module makes of a buffer."""
import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.register_buffer("mask", torch.ones(length, length).tril() == 0)

    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v
