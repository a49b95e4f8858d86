// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_evidence.hpp"

#include <algorithm>
#include <optional>

namespace kernelsearch {
namespace {

/// How many there are; nothing where that cannot be said.
std::optional<std::size_t> count(const SassQuestion& question, const std::string& name,
                                 const std::vector<SassFunction>& functions) {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const SassFunction& function) { return function.name == name; });
  if (found == functions.end()) return std::nullopt;
  if (!question.in_hot_loop) return found->counts.of(question.signature);
  if (const SassLoop* loop = found->hot_loop()) return loop->counts.of(question.signature);
  if (!found->complete) return std::nullopt;
  return 0;
}

}  // namespace

Evidence sass_evidence(const SassQuestion& question, const std::string& name,
                       const std::vector<SassFunction>& child, const std::vector<SassFunction>* parent) {
  const auto now = count(question, name, child);
  const auto before = parent == nullptr ? std::optional<std::size_t>(0) : count(question, name, *parent);
  if (!now || !before) return Evidence::unknown;
  if (question.less && parent == nullptr) return *now == 0 ? Evidence::verified : Evidence::absent;
  const bool shown = question.less ? *now < *before : *now > *before;
  return shown ? Evidence::verified : Evidence::absent;
}

}  // namespace kernelsearch
