// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: no text may crash the parser or the evaluation, hang them or exhaust memory, and what parses
// evaluates to the same result from its own text again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string error;
  const std::optional<Expression> parsed = Expression::try_parse(text, error);
  if (!parsed) {
    if (error.empty()) std::abort();
    return 0;
  }
  const std::vector<std::string>& names = parsed->names();
  const Value samples[] = {std::int64_t{7}, 0.5, true, std::string("row"), Permutation{1, 0, 2},
                           std::int64_t{-1}};
  std::vector<Value> values;
  for (std::size_t i = 0; i < names.size(); ++i) values.push_back(samples[(i + size) % std::size(samples)]);
  const std::optional<Value> first = parsed->try_evaluate(values, &error);
  const std::optional<Expression> again = Expression::try_parse(parsed->text(), error);
  if (!again || again->names() != names) std::abort();
  const std::optional<Value> second = again->try_evaluate(values);
  if (first.has_value() != second.has_value()) std::abort();
  if (first && to_string(*first) != to_string(*second)) std::abort();
  (void)parsed->try_evaluate_list(values);
  return 0;
}
