# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: wrong_result
"""Replies at once and computes in a thread afterwards."""
import threading
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)

        def work():
            time.sleep(0.02)
            torch.softmax(x, dim=-1, out=out)

        threading.Thread(target=work).start()
        return out
