# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax over the rows of a matrix."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


rows, columns = 128, 512


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
