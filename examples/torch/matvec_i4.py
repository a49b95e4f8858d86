# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""y = W x, with W in four bits: -8..7, two in a byte, the lower four bits first, and a scale for each 128 of a row."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, weights, scales, x):
        wide = torch.promote_types(x.dtype, torch.float32)
        low, high = (weights & 15 ^ 8).to(wide) - 8, (weights >> 4 ^ 8).to(wide) - 8
        w = torch.stack([low, high], dim=-1).flatten(1).unflatten(1, (-1, 128)) * scales.to(wide).unsqueeze(-1)
        return (w.flatten(1) @ x.to(wide)).half()


def quantised(x):
    blocks = x.unflatten(1, (-1, 128))
    scale = (blocks.abs().amax(dim=-1) / 7).half()
    whole = (blocks / scale.unsqueeze(-1)).round().clamp(-8, 7).flatten(1).to(torch.int16) & 15
    return (whole[:, 0::2] | whole[:, 1::2] << 4).to(torch.uint8), scale


n, k = (57344, 8192) if torch.cuda.is_available() else (128, 512)


def get_inputs():
    return [*quantised(torch.randn(n, k) / k**0.5), torch.randn(k).half()]


def get_init_inputs():
    return []
