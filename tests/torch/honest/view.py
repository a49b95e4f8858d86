# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: ok
"""Gives a view that is not contiguous: a column of a larger tensor."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], x.shape[1], 2)
        out[..., 0] = torch.softmax(x, dim=-1)
        return out[..., 0]
