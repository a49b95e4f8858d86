// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/processor.hpp"

#include <doctest/doctest.h>

TEST_CASE("processor_name: the same every time, one line, never empty") {
  const std::string name = kernelsearch::processor_name();
  CHECK_FALSE(name.empty());
  CHECK(name.find('\n') == std::string::npos);
  CHECK(name.front() != ' ');
  CHECK(name.find("model name") == std::string::npos);
  CHECK(kernelsearch::processor_name() == name);
}
