# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product with a bias and GELU."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(self.linear(x))


batch, inputs, outputs = 64, 256, 256


def get_inputs():
    return [torch.rand(batch, inputs)]


def get_init_inputs():
    return [inputs, outputs]
