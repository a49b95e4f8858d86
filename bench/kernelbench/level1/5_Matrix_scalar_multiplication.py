# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multiplies in place in a tensor of its own."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, s):
        return A.clone().mul_(s)
