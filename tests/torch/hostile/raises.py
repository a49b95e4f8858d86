# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: launch_failed
# reason: forward: line 13: RuntimeError: no such row
"""Not hostile, only wrong: raises in a call."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        raise RuntimeError("no such row")
