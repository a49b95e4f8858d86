# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: ok
"""One pass over blocks of columns that keeps a running maximum and sum."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        top = x.new_full((x.shape[0], 1), -torch.inf)
        total = x.new_zeros(x.shape[0], 1)
        for block in x.split(128, dim=1):
            higher = torch.maximum(top, block.amax(1, keepdim=True))
            total = total * torch.exp(top - higher) + torch.exp(block - higher).sum(1, keepdim=True)
            top = higher
        return torch.exp(x - top) / total
