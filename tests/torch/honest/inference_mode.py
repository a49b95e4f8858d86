# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: ok
"""Calls in inference mode, whose tensors cannot be changed by others."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    @torch.inference_mode()
    def forward(self, x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)
