# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: ok
"""Prints, and has threads and a process of its own."""
import os
import subprocess
import threading

import torch
import torch.nn as nn

print("loaded")
threading.Thread(target=print, args=("from a thread",)).start()
subprocess.run(["true"], check=True)
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)


class ModelNew(nn.Module):
    def forward(self, x):
        print("called")
        return x.softmax(-1)
