// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "commands.hpp"
namespace kernelsearch::app {
void add_export(CLI::App&, int&) {}
}  // namespace kernelsearch::app
