# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chain of element-wise operations, each of which goes through memory in eager PyTorch."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, slope: float):
        super().__init__()
        self.slope = slope

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x * 2 + y
        z = torch.where(z > 0, z, self.slope * z)
        return torch.clamp(z + 1, -1, 3) * y


rows, columns = 256, 1024


def get_inputs():
    return [torch.randn(rows, columns), torch.rand(rows, columns)]


def get_init_inputs():
    return [0.1]
