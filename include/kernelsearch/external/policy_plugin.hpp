// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch {

/// Where a plug-in puts its policies.
class PolicyRegistrar {
 public:
  PolicyRegistrar() = default;
  PolicyRegistrar(const PolicyRegistrar&) = delete;
  PolicyRegistrar& operator=(const PolicyRegistrar&) = delete;
  virtual ~PolicyRegistrar() = default;

  /// `make` is called once for each run, from several threads. What it throws, or the policy does, ends the
  /// run with its text.
  virtual void add(std::string name, std::string summary,
                   std::function<AnyPolicy<Config>(const PolicySetup&)> make) = 0;
};

namespace detail {

/// What a plug-in and the program that loads it must have in common, as text that people can compare. C++
/// objects cross the border, so it is not enough that both compile: version, compiler, standard library and
/// the sizes of what crosses must be the same.
inline std::string plugin_abi() {
#if defined(__clang__)
  std::string text = "clang " + std::to_string(__clang_major__);
#elif defined(__GNUC__)
  std::string text = "g++ " + std::to_string(__GNUC__);
#else
  std::string text = "unknown compiler";
#endif
#if defined(__GLIBCXX__)
  text += ", libstdc++ with ABI " + std::to_string(_GLIBCXX_USE_CXX11_ABI);
#elif defined(_LIBCPP_VERSION)
  text += ", libc++";
#endif
  const char* separator = ", sizes ";
  for (const std::size_t size : {sizeof(PolicySetup), sizeof(Space), sizeof(Observation<Config>),
                                 sizeof(AnyPolicy<Config>), sizeof(Tunable), sizeof(Evaluation)}) {
    text += separator + std::to_string(size);
    separator = "/";
  }
  return "kernelsearch " KERNELSEARCH_VERSION ", " + text;
}

}  // namespace detail
}  // namespace kernelsearch

/// In one file of a shared library, followed by the body of a function that adds its policies:
///
///     KERNELSEARCH_POLICY_PLUGIN(policies) {
///       policies.add("mine", "what it does",
///                    [](const PolicySetup& setup) { return AnyPolicy<Config>(MyPolicy(setup.space)); });
///     }
#define KERNELSEARCH_POLICY_PLUGIN(registrar)                                               \
  static void kernelsearch_add_policies(kernelsearch::PolicyRegistrar& registrar);          \
  extern "C" __attribute__((visibility("default"))) const char* kernelsearch_plugin_abi() { \
    static const std::string abi = kernelsearch::detail::plugin_abi();                      \
    return abi.c_str();                                                                     \
  }                                                                                         \
  extern "C" __attribute__((visibility("default"))) void kernelsearch_register_policies(    \
      kernelsearch::PolicyRegistrar* to) {                                                  \
    kernelsearch_add_policies(*to);                                                         \
  }                                                                                         \
  static void kernelsearch_add_policies(kernelsearch::PolicyRegistrar& registrar)
