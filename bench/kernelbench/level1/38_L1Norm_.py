# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales the normalisation of the library by the number of columns."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return nn.functional.normalize(x, p=1.0, dim=1, eps=0.0) * x.shape[1]
