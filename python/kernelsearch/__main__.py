# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m kernelsearch` is the command."""
from ._command import main

main()
