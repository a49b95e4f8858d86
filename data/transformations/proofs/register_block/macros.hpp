// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"ROW_BLOCK": {"values": [1, 2, 4, 8], "default": 4}}, "constraints": []}
