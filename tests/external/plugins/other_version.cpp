// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plug-in of another version: its registering function must not be called.
#include <cstdlib>

extern "C" const char* kernelsearch_plugin_abi() {
  return "kernelsearch 0.0.1, g++ 2";
}
extern "C" void kernelsearch_register_policies(void*) {
  std::abort();
}
