// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch::python {
namespace {

nb::object to_python(const PolicyOptionValue& value) {
  return std::visit([](const auto& one) { return nb::object(nb::cast(one)); }, value);
}

// ---- Policies of Python --------------------

/// A policy whose ask and tell are Python's. It takes the GIL for each call, so any thread may drive it.
class PythonPolicy {
 public:
  using Proposal = Config;

  PythonPolicy(nb::object object, SpacePointer space, bool guarded)
      : state_(new State{std::move(object), std::move(space)},
               [](State* state) {
                 const nb::gil_scoped_acquire gil;
                 delete state;
               }),
        guarded_(guarded) {}

  std::vector<Config> ask(std::size_t n) {
    const nb::gil_scoped_acquire gil;
    return guard([&] {
      std::vector<Config> configs;
      const nb::object proposed = state_->object.attr("ask")(n);
      if (proposed.is_none()) return configs;
      for (nb::handle each : nb::iter(proposed)) configs.push_back(state_->space->config_of(each));
      if (configs.size() > n)
        detail::raise<ConfigError>("a policy proposed more than it was asked for",
                                   std::to_string(configs.size()) + " instead of " + std::to_string(n),
                                   "return at most n from ask(n)");
      return configs;
    });
  }

  void tell(std::span<const Observation<Config>> batch) {
    const nb::gil_scoped_acquire gil;
    guard([&] {
      nb::list trials;
      for (const auto& [config, outcome] : batch) {
        PythonTrial trial{state_->space, config};
        if (outcome.origin) trial.number = static_cast<std::uint64_t>(outcome.origin->proposal);
        trial.id = outcome.id;
        trial.told = true;
        if (outcome.ok()) trial.value = outcome.objective;
        trial.evaluation = outcome.evaluation;
        trials.append(nb::cast(std::move(trial)));
      }
      state_->object.attr("tell")(trials);
    });
  }

 private:
  struct State {
    nb::object object;
    SpacePointer space;
  };

  /// On another thread an exception of Python would lose its traceback: its text is kept.
  template <class Call>
  std::invoke_result_t<Call&> guard(Call call) const {
    if (!guarded_) return call();
    try {
      return call();
    } catch (nb::python_error& error) {
      detail::raise<ConfigError>("a policy of Python raised an exception", error.what(), "mend the policy");
    }
  }

  std::shared_ptr<State> state_;
  bool guarded_;
};
static_assert(SearchPolicy<PythonPolicy>);

}  // namespace

FieldValue to_option_value(nb::handle value, const std::string& place) {
  if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0) {
    std::vector<std::string> strings;
    std::vector<std::int64_t> numbers;
    for (nb::handle entry : nb::iter(value)) {
      if (PyUnicode_Check(entry.ptr()) != 0)
        strings.push_back(nb::cast<std::string>(entry));
      else if (std::int64_t number = 0; PyBool_Check(entry.ptr()) == 0 && nb::try_cast(entry, number))
        numbers.push_back(number);
      else
        throw nb::type_error(("kernelsearch: " + place + " is a list of str or of int").c_str());
    }
    if (!strings.empty() && !numbers.empty())
      throw nb::type_error(("kernelsearch: " + place + " is a list of str or of int").c_str());
    if (!numbers.empty()) return numbers;
    return strings;
  }
  if (std::uint64_t large = 0; PyBool_Check(value.ptr()) == 0 && PyLong_Check(value.ptr()) != 0 &&
                               nb::try_cast(value, large) && large > std::uint64_t{INT64_MAX})
    return large;
  return std::visit(
      [&](auto one) -> FieldValue {
        if constexpr (std::is_same_v<decltype(one), Permutation>)
          throw nb::type_error(("kernelsearch: " + place + " is a list of str").c_str());
        else
          return one;
      },
      to_value(value, place));
}

PolicyChoice named_policy(nb::handle text, const nb::dict& options) {
  PolicyChoice choice = choose_policy(nb::cast<std::string>(text));
  for (auto [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) {  // left out, but there must be such an option
      (void)detail::value_or_raise(choice.entry().try_find(name));
      continue;
    }
    PolicyOptionValue given =
        to_option_value(value, "option " + name + " of " + std::string(choice.entry().name));
    if (const Result<void> set = choice.try_set(name, std::move(given)); !set)
      detail::raise_config_error(set.error());
  }
  return choice;
}

AnyPolicy<Config> make_policy(nb::handle policy, const SpacePointer& space, const PolicySetup& setup,
                              const nb::dict& options, bool guarded) {
  if (is_name(policy)) return named_policy(policy, options).make(setup);
  nb::object object = nb::borrow(policy);
  const bool is_type = PyType_Check(policy.ptr()) != 0;
  if (is_type || !nb::hasattr(policy, "ask")) {
    if (PyCallable_Check(policy.ptr()) == 0)
      throw nb::type_error(
          "kernelsearch: a policy is a name, a class or function that is called as policy(space, seed), or "
          "an object with ask(n) and "
          "tell(trials)");
    nb::dict keywords;
    keywords.update(options);
    object = policy(nb::cast(space), setup.seed, **keywords);
  } else if (nb::len(options) != 0) {
    throw nb::type_error(
        "kernelsearch: options are for a policy that is still to be made; this one is an object already");
  }
  for (const char* call : {"ask", "tell"})
    if (!nb::hasattr(object, call))
      throw nb::type_error(("kernelsearch: a policy of Python needs " + std::string(call) +
                            (call[0] == 'a' ? "(n), which returns at most n configurations"
                                            : "(trials), which is told what became of them"))
                               .c_str());
  return AnyPolicy<Config>(PythonPolicy(std::move(object), space, guarded));
}

void bind_policies(nb::module_& m) {
  m.def(
      "policies",
      [] {
        nb::dict dict;
        for (const ConfigPolicyEntry& entry : config_policies())
          dict[nb::str(entry.name.data(), entry.name.size())] =
              nb::str(entry.summary.data(), entry.summary.size());
        return dict;
      },
      nb::sig("def policies() -> dict[str, str]"), "The search policies by name, each with what it does.");
  m.def(
      "policy_options",
      [](const std::string& name) {
        const PolicyChoice choice = choose_policy(name);
        nb::dict dict;
        for (const PolicyOption& option : choice.entry().options) {
          const std::optional<PolicyOptionValue> standard = choice.entry().standard(option);
          dict[nb::str(option.name.data(), option.name.size())] =
              standard ? to_python(*standard) : nb::none();
        }
        for (const auto& [option, value] : choice.options()) dict[option.c_str()] = to_python(value);
        return dict;
      },
      nb::arg("name"), nb::sig("def policy_options(name: str) -> dict[str, object]"),
      "The options of a policy with their standard values, or the values that a text such as "
      "`genetic(population=40)` gives; None where the space decides. ConfigError where there is no such "
      "policy.");
}

}  // namespace kernelsearch::python
