# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: block.py
# verdict: ok
"""In training mode, with buffers that its calls change."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.convolution = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        return torch.relu_(nn.functional.max_pool2d(self.norm(self.convolution(x)), 2))
