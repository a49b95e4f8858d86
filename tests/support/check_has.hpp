// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <string>

/// Checks that the text has this part; a failure shows both. Returns whether it has.
inline bool check_has(const std::string& text, const std::string& part) {
  INFO("text: ", text, "\nwanted: ", part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}
