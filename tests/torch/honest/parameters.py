# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: linear_gelu.py
# verdict: ok
"""Parameters of its own, in the order of the module but with other names."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        made = nn.Linear(inputs, outputs)
        self.matrix = nn.Parameter(made.weight.detach())
        self.offset = nn.Parameter(made.bias.detach())

    def forward(self, x):
        return nn.functional.gelu(torch.addmm(self.offset, x, self.matrix.t()))
