# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: crashed
# or on a device: timed_out
"""Ends its server, and leaves a process that would answer for the next candidate."""
import os
import signal

import torch
import torch.nn as nn

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            signal.pause()
    os._exit(0)


class ModelNew(nn.Module):
    def forward(self, x):
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGSEGV)
        return x
