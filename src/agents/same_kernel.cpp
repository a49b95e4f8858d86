// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agents/same_kernel.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernelsearch/agents/function_signature.hpp"

namespace kernelsearch::detail {

bool adds_nothing(const Tunable& a, const Tunable& b) {
  return a.name == b.name && a.values == b.values && a.default_index == b.default_index &&
         (!a.active_if || (b.active_if && a.active_if->text() == b.active_if->text()));
}

bool same_space(const Space& a, const Space& b, std::size_t max_states) {
  if (&a.data() == &b.data()) return true;
  const auto same = [](const Tunable& one, const Tunable& other) {
    return adds_nothing(one, other) && adds_nothing(other, one);
  };
  if (a.count() != b.count() ||
      !std::equal(a.tunables().begin(), a.tunables().end(), b.tunables().begin(), b.tunables().end(), same))
    return false;
  // Sets of the same size are equal where what they have in common has that size too.
  std::vector<Constraint> both(a.constraints().begin(), a.constraints().end());
  for (const Constraint& one : b.constraints())
    if (!one.expression() || std::none_of(both.begin(), both.end(), [&](const Constraint& known) {
          return known.expression() && known.text() == one.text();
        }))
      both.push_back(one);
  const Result<Space> common = Space::try_build({a.tunables().begin(), a.tunables().end()}, std::move(both),
                                                {.max_states = max_states});
  return common && common->count() == a.count();
}

bool same_kernel(const Kernel& a, const Kernel& b) {
  return code_key(a.regions) == code_key(b.regions) && same_space(a.space, b.space);
}

}  // namespace kernelsearch::detail
