# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: crashed
# or on a device: wrong_result
# reason: SIGSEGV
"""Changes its inputs, which the module leaves as they are."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.exp_().div_(x.sum(-1, keepdim=True))
