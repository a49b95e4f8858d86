// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agents/same_kernel.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/feedback.hpp"
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
  return &a == &b || (code_key(a.regions) == code_key(b.regions) && same_space(a.space, b.space));
}

std::string twin_text(const Outcome& twin) {
  return "kernel " + std::to_string(number(twin.id)) + ", " + came_of(twin);
}

const std::string& KnownKernels::key_of(const std::shared_ptr<const Kernel>& kernel) const {
  const std::scoped_lock lock(mutex_);
  auto& entry = keys_[kernel.get()];
  if (!entry.first) entry = {kernel, code_key(kernel->regions)};
  return entry.second;  // nothing is ever erased, and the map's elements stay where they are
}

std::optional<Trial<Candidate>> KnownKernels::twin(const History<Candidate>& history,
                                                   const Kernel& kernel) const {
  const std::string key = code_key(kernel.regions);
  for (std::size_t i = 0; i < history.size(); ++i)
    if (Trial<Candidate> trial = history[i]; trial.candidate && key_of(trial.candidate->kernel) == key &&
                                             same_space(trial.candidate->kernel->space, kernel.space))
      return trial;
  return std::nullopt;
}

}  // namespace kernelsearch::detail
