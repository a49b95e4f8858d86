// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "judge/arena.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// Makes the contents of a problem's inputs: what `init` says, the problem's generator included, which runs
/// in a sandboxed process of its own. For problems of hosts and devices alike. Not thread-safe.
class InputGenerator {
 public:
  /// `problem` must outlive it. For the options sandbox, worker, cache directory, readable folders and limits
  /// count. Nothing is compiled or started before it is needed.
  InputGenerator(const Problem& problem, const HostOptions& options);
  ~InputGenerator();

  /// Contents in the problem's own types, per argument; empty for other arguments. With `wanted`, one entry
  /// for each argument, only of those: the others stay empty. The same seed gives the same. A ConfigError
  /// if the generator does not build, fails, takes too long, writes past an array or leaves an element
  /// unfilled.
  [[nodiscard]] Contents contents(const ShapePlan& plan, InputFlavour flavour, std::uint64_t seed,
                                  const std::vector<bool>& wanted = {});

  /// What the generator says of a shape, in the order of GeneratedInputs::sizes; none without a generator.
  [[nodiscard]] std::vector<NamedValue> sizes(const Shape& shape);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch::detail
