// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// Any generator from proposals of type `P` to candidates of type `C`, chosen when the program runs.
template <class P, class C = kernelsearch::Candidate>
class AnyGenerator {
 public:
  using Candidate = C;

  // Itself is excluded first, as in AnyPolicy.
  template <class G>
  requires(!std::same_as<G, AnyGenerator>) &&
      GeneratorOf<G, P>&& std::same_as<typename G::Candidate, C> AnyGenerator(
          G generator)  // NOLINT(google-explicit-constructor): as std::function, made of what it wraps
      : model_(std::make_unique<Model<G>>(std::move(generator))) {}

  [[nodiscard]] Generation<C> generate(const P& proposal, const History<C>& history) {
    return model_->generate(proposal, history);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Generation<C> generate(const P& proposal, const History<C>& history) = 0;
  };
  template <class G>
  struct Model final : Interface {
    explicit Model(G g) : generator(std::move(g)) {}
    Generation<C> generate(const P& proposal, const History<C>& history) override {
      return generator.generate(proposal, history);
    }
    G generator;
  };

  std::unique_ptr<Interface> model_;
};

}  // namespace kernelsearch
