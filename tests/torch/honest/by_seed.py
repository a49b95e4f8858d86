# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: linear_gelu.py
# verdict: ok
# provenance: weights only as the constructors make them
"""One tensor of parameters, made of what the same constructor makes of the same seed."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        made = nn.Linear(inputs, outputs)
        self.all = nn.Parameter(torch.cat([made.weight.detach(), made.bias.detach()[:, None]], dim=1))

    def forward(self, x):
        return nn.functional.gelu(nn.functional.linear(x, self.all[:, :-1], self.all[:, -1]))
