// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan_order.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace kernelsearch::detail {
namespace {

PlanShape sorted(PlanShape shape) {
  std::stable_sort(shape.begin(), shape.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return shape;
}

bool is_number(const Value& value) {
  return value.index() == 1 || value.index() == 2;
}

/// Negative, 0 or positive.
int compare(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    const double x = to_number(a), y = to_number(b);
    if (x != y) return x < y ? -1 : 1;
    // 4 before 4.0, and integers that doubles cannot tell apart: a total order
  }
  if (a.index() != b.index()) return a.index() < b.index() ? -1 : 1;
  return a == b ? 0 : a < b ? -1 : 1;
}

/// Over all variables sorted by name, so that n=4 m=8 is the same as m=8 n=4.
int compare(const PlanShape& one, const PlanShape& other) {
  const PlanShape a = sorted(one), b = sorted(other);
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].first != b[i].first) return a[i].first < b[i].first ? -1 : 1;
    if (const int order = compare(a[i].second, b[i].second); order != 0) return order;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

}  // namespace

bool shape_before(const PlanShape& a, const PlanShape& b) {
  return compare(a, b) < 0;
}

bool same_shape(const PlanShape& a, const PlanShape& b) {
  return compare(a, b) == 0;
}

std::vector<std::string> part_key(const ProblemPlan& part) {
  return {part.problem, part.device, part.problem_digest, part.kernel_digest, part.backend, part.cache};
}

bool better_proven(const PlanEntry& a, const PlanEntry& b) {
  const auto rank = [](const PlanEntry& entry) {
    const Speedup none;
    const Speedup& s = entry.over_default ? *entry.over_default : none;
    // what is better is smaller
    return std::make_tuple(-s.interval.low, -s.ratio, -static_cast<double>(s.pairs), entry.seconds,
                           values_text(entry.values), entry.trial, entry.toolchain);
  };
  return rank(a) < rank(b);
}

std::string values_text(const PlanShape& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + to_string(value);
  return text;
}

}  // namespace kernelsearch::detail
