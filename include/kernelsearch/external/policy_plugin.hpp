// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kernelsearch/core/impl/field_rows.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/impl/entry_of.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/registry.hpp"
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

  /// A policy with options, which are given as those of the library's own: `NAME(OPTION=VALUE)`. The texts of
  /// the entry and its rows must stay as long as the plug-in, as string literals do.
  virtual void add(const ConfigPolicyEntry& entry) = 0;
};

/// The row of an option, which is a member of the policy's options: `policy_option<&MyOptions::size>(...)`.
/// A number must be from `least` to `most`.
template <auto Member>
constexpr PolicyOption policy_option(std::string_view name, std::string_view summary,
                                     double least = -std::numeric_limits<double>::infinity(),
                                     double most = std::numeric_limits<double>::infinity()) {
  return {detail::fields::field<Member>(name, {least, most}, summary)};
}

/// The entry of a policy that is made of a space and its options: `Policy(Space, Options)`. The members
/// `seed`, `default_first`, `earlier` and `budget` of the options, where there are such, come from the run.
template <class Policy, class Options>
constexpr ConfigPolicyEntry policy_entry(std::string_view name, std::string_view summary,
                                         std::span<const PolicyOption> options) {
  constexpr auto make = [](const PolicySetup& setup, Options its) {
    return AnyPolicy<Config>(Policy(setup.space, std::move(its)));
  };
  return detail::policy_entry<&detail::standard_options<Options>, make>(name, summary, options);
}

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
  for (const std::size_t size :
       {sizeof(PolicySetup), sizeof(Space), sizeof(Observation<Config>), sizeof(AnyPolicy<Config>),
        sizeof(Tunable), sizeof(Evaluation), sizeof(ConfigPolicyEntry), sizeof(PolicyOption)}) {
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
///       policies.add(policy_entry<Other, OtherOptions>("other", "what it does", rows_of_its_options));
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
