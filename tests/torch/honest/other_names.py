# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: linear_gelu.py
# verdict: ok
# provenance: taken by order
"""Parameters by other names, in the same order."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        made = nn.Linear(inputs, outputs)
        self.w, self.b = made.weight, made.bias

    def forward(self, x):
        return nn.functional.gelu(nn.functional.linear(x, self.w, self.b))
