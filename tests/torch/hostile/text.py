# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# of: softmax.py
# verdict: build_failed
# reason: SyntaxError
"""Not hostile, only wrong: no Python."""

def forward(x:
