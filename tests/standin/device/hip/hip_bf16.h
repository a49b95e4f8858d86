// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Everything is there already: the stand-in of hipRTC puts hip_on_cpu.hpp in front of every kernel.
