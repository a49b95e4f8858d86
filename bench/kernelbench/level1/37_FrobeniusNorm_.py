# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product of the flat tensor with itself."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        flat = x.reshape(-1)
        return x * torch.rsqrt(torch.dot(flat, flat))
