# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small convolutional block in training mode: its normalisation is by the batch, and its buffers change."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels_in: int, channels_out: int):
        super().__init__()
        self.convolution = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.max_pool2d(torch.relu(self.norm(self.convolution(x))), 2)


batch, channels_in, channels_out, size = 4, 3, 8, 32


def get_inputs():
    return [torch.rand(batch, channels_in, size, size)]


def get_init_inputs():
    return [channels_in, channels_out]
