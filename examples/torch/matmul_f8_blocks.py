# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C = A B' of 8-bit floats (E4M3) with scales by block: A has one for each 128 of a row, B one for each 128 x 128."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, a_scale, b, b_scale):
        wide = a_scale.dtype
        x = a.to(wide).unflatten(1, (-1, 128)) * a_scale.unsqueeze(-1)
        w = b.to(wide).unflatten(1, (-1, 128)) * b_scale.repeat_interleave(128, 0)[: b.shape[0]].unsqueeze(-1)
        return (x.flatten(1) @ w.flatten(1).T).to(torch.bfloat16)


def quantised(x, rows):
    """E4M3 floats, and the scale of each block of `rows` x 128."""
    blocks = x.unflatten(1, (-1, 128)).unflatten(0, (-1, rows))
    scale = blocks.abs().amax(dim=(1, 3)) / 448
    return (blocks / scale[:, None, :, None]).flatten(2).flatten(0, 1).to(torch.float8_e4m3fn), scale


m, n, k = (128, 4096, 7168) if torch.cuda.is_available() else (64, 128, 256)


def get_inputs():
    return [*quantised(torch.randn(m, k), 1), *quantised(torch.randn(n, k) / k**0.5, 128)]


def get_init_inputs():
    return []
