// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/runtime/plan.hpp"

/// Any text is read or refused with a ConfigError; what is read is written the same again, and merging it
/// with itself changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Plan plan;
  try {
    plan = Plan::parse(text, "plan");
  } catch (const ConfigError&) {
    return 0;
  }
  const std::string once = plan.text();
  if (Plan::parse(once, "again").text() != once) std::abort();
  const std::vector<std::pair<std::string, Plan>> one{{"one", plan}}, two{{"one", plan}, {"two", plan}};
  if (merge_plans(one).plan.text() != merge_plans(two).plan.text()) std::abort();
  return 0;
}
