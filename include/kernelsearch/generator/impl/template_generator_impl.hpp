// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/generator/template_generator.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE TemplateGenerator::TemplateGenerator(Kernel kernel)
    : kernel_(std::make_shared<const Kernel>(std::move(kernel))) {}

KERNELSEARCH_INLINE Generation<Candidate> TemplateGenerator::generate(const Config& config,
                                                                      const History<Candidate>&) const {
  if (config.indices.size() != kernel_->space.size())
    detail::raise<ConfigError>("the policy searches another space than the generator's kernel has",
                               std::to_string(config.indices.size()) + " tunables instead of " +
                                   std::to_string(kernel_->space.size()),
                               "make both of the same space");
  if (!kernel_->space.contains(config))
    return Generation<Candidate>::none("the configuration is outside the space or violates a constraint");
  return Generation<Candidate>::one({kernel_, config});
}

}  // namespace kernelsearch
