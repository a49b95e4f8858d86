// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"WORK_PER_THREAD": {"values": [1, 2, 4, 8], "default": 8}}, "constraints": []}
