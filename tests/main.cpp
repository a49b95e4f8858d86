// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/thorough.hpp"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (!is_thorough()) context.addFilter("test-suite-exclude", "thorough");
  return context.run();
}
