// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"HOST_TILE": {"values": [16, 32, 64, 128, 256], "default": 16}}, "constraints": []}
