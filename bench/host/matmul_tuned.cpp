// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include MATMUL_CONFIG

#include "../../examples/host/matmul/kernel.cpp"
