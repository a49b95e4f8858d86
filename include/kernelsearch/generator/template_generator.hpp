// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// The template autotuner: one kernel, filled in at the configuration proposed.
class TemplateGenerator {
 public:
  using Candidate = kernelsearch::Candidate;

  explicit TemplateGenerator(Kernel kernel);
  explicit TemplateGenerator(std::shared_ptr<const Kernel> kernel) : kernel_(std::move(kernel)) {}

  /// The kernel at `config`; nothing, with a reason, when the space does not contain it.
  [[nodiscard]] Generation<Candidate> generate(const Config& config, const History<Candidate>&) const;

  [[nodiscard]] const std::shared_ptr<const Kernel>& kernel() const noexcept { return kernel_; }

 private:
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/generator/impl/template_generator_impl.hpp"
#endif
