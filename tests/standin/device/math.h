// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Found in front of the system's, whose types differ from hipRTC's: hip_on_cpu.hpp has everything already.
