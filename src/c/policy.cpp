// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "handles.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/recorded/earlier_run.hpp"
#include "kernelsearch/recorded/read_recording.hpp"

namespace kernelsearch::c {
namespace {

/// The caller's functions as a policy.
class OwnPolicy {
 public:
  using Proposal = Config;

  struct Functions {
    std::string name;
    ks_policy_make make = nullptr;
    ks_policy_ask ask = nullptr;
    ks_policy_tell tell = nullptr;
    ks_policy_release release = nullptr;
    void* user = nullptr;
  };

  OwnPolicy(const Functions& functions, const PolicySetup& setup) : body_(std::make_unique<Body>()) {
    body_->functions = functions;
    body_->space = std::make_unique<ks_space>(setup.space);
    void* state = nullptr;
    check(functions.make(functions.user, body_->space.get(), setup.seed, &state), "make");
    body_->state = state;
    body_->made = true;
  }

  std::vector<Config> ask(std::size_t n) {
    const Space& space = body_->space->space;
    std::vector<std::uint32_t> positions(n * space.size());
    std::size_t given = 0;
    check(body_->functions.ask(body_->state, n, positions.data(), &given), "ask");
    if (given > n)
      refuse(KS_CALLBACK_FAILED, "a policy gave more configurations than it was asked for",
             body_->functions.name + ": " + std::to_string(given) + " of " + std::to_string(n),
             "give at most as many as `wanted` says");
    std::vector<Config> configs;
    for (std::size_t k = 0; k < given; ++k) {
      const auto first = positions.begin() + static_cast<std::ptrdiff_t>(k * space.size());
      configs.push_back({{first, first + static_cast<std::ptrdiff_t>(space.size())}});
      for (std::size_t i = 0; i < space.size(); ++i)
        if (configs.back().indices[i] >= space.tunable(i).values.size())
          refuse(KS_CALLBACK_FAILED, "a policy gave a position that a tunable does not have",
                 body_->functions.name + ": " + space.tunable(i).name + " at " +
                     std::to_string(configs.back().indices[i]),
                 "it has " + std::to_string(space.tunable(i).values.size()) + " values, from position 0");
    }
    return configs;
  }

  void tell(std::span<const Observation<Config>> batch) {
    for (const Observation<Config>& one : batch) {
      ks_trial trial;
      trial.number = number(one.outcome.id);
      trial.space.emplace(body_->space->space);
      trial.config = &one.proposal;
      trial.evaluation = &one.outcome.evaluation;
      trial.objective = one.outcome.objective;
      trial.foreign = !one.outcome.origin.has_value();
      check(body_->functions.tell(body_->state, &trial), "tell");
    }
  }

 private:
  struct Body {
    Functions functions;
    std::unique_ptr<ks_space> space;
    void* state = nullptr;
    bool made = false;
    Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;
    ~Body() {
      if (made && functions.release != nullptr) functions.release(state);
    }
  };

  void check(int returned, const char* function) const {
    if (returned != 0)
      refuse(KS_CALLBACK_FAILED, "a function of a policy failed",
             body_->functions.name + ": " + function + " returned " + std::to_string(returned),
             "return 0 where all went well");
  }

  std::unique_ptr<Body> body_;
};
static_assert(SearchPolicy<OwnPolicy>);

}  // namespace
}  // namespace kernelsearch::c

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

static_assert(KS_VERDICT_OK == static_cast<int>(Verdict::ok) &&
                  KS_VERDICT_BUILD_FAILED == static_cast<int>(Verdict::build_failed) &&
                  KS_VERDICT_NOT_APPLICABLE == static_cast<int>(Verdict::not_applicable) &&
                  KS_VERDICT_NOT_APPLICABLE + 1 == verdict_count,
              "ks_verdict counts as Verdict does");

ks_status ks_policy_names(char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    std::string all;
    for (const ConfigPolicyEntry& entry : config_policies())
      all += (all.empty() ? "" : "\n") + std::string(entry.name);
    write_text(all, text, capacity, needed_bytes);
  });
}

ks_status ks_policy_named(const char* name, const char* options, ks_policy** out) {
  return guarded([&] {
    const std::string text(text_of(name, "name"));
    const std::string wanted(policy_name(text));
    if (!try_find_config_policy(wanted)) {
      std::vector<std::string> names;
      for (const ConfigPolicyEntry& entry : config_policies()) names.emplace_back(entry.name);
      const std::string nearest = nearest_name(wanted, names);
      refuse(KS_UNKNOWN_NAME, "there is no policy of that name", wanted,
             nearest.empty() ? "ks_policy_names() tells the names" : "did you mean " + nearest + "?");
    }
    const PolicyChoice choice = choose_policy(text);
    std::optional<std::uint64_t> budget;
    bool try_default = true;
    std::vector<std::string> learn_from;
    Options given(options);
    given.read("budget", budget);
    given.read("try_default", try_default);
    given.read("learn_from", learn_from);
    given.finish();
    auto recordings = std::make_shared<std::vector<Recording>>();
    for (const std::string& file : learn_from) recordings->push_back(read_recording(file));
    auto recipe = std::make_shared<Recipe>();
    recipe->name = choice.text();
    recipe->make = [choice, budget, try_default, recordings](const PolicySetup& known) {
      PolicySetup setup = known;
      if (budget) setup.budget = budget;
      setup.try_default = known.try_default && try_default;
      for (const Recording& recording : *recordings)
        if (auto earlier = earlier_run(recording, setup.space)) setup.earlier.push_back(*std::move(earlier));
      return choice.make(setup);
    };
    give(out, [&] {
      auto policy = std::make_unique<ks_policy>();
      policy->recipe = std::move(recipe);
      return policy;
    });
  });
}

ks_status ks_policy_own(const char* name, ks_policy_make make, ks_policy_ask ask, ks_policy_tell tell,
                        ks_policy_release release, void* user, ks_policy** out) {
  return guarded([&] {
    const OwnPolicy::Functions functions{std::string(text_of(name, "name")), make, ask, tell, release, user};
    needed(reinterpret_cast<void*>(make), "make");
    needed(reinterpret_cast<void*>(ask), "ask");
    needed(reinterpret_cast<void*>(tell), "tell");
    bool taken = functions.name.empty() || functions.name == "submit";
    for (const ConfigPolicyEntry& entry : config_policies()) taken = taken || entry.name == functions.name;
    if (taken)  // results go by the policy's name
      refuse(KS_BAD_ARGUMENT, "a policy of yours needs a name that no other has", functions.name,
             "name it otherwise");
    auto recipe = std::make_shared<Recipe>();
    recipe->name = functions.name;
    recipe->own = true;
    recipe->make = [functions](const PolicySetup& setup) {
      return AnyPolicy<Config>(OwnPolicy(functions, setup));
    };
    give(out, [&] {
      auto policy = std::make_unique<ks_policy>();
      policy->recipe = std::move(recipe);
      return policy;
    });
  });
}

ks_status ks_policy_free(ks_policy* policy) {
  return freed(policy);
}

namespace kernelsearch::c {
namespace {
const ks_space& space_of(const ks_trial* trial) {
  const ks_trial& of = checked(trial);
  if (!of.space)
    refuse(KS_NONE, "the trial has no configuration", "nothing came of its proposal", "look at its verdict");
  return *of.space;
}
const Evaluation& evaluation_of(const ks_trial* trial) {
  const ks_trial& of = checked(trial);
  if (of.evaluation == nullptr)
    refuse(KS_NONE, "the trial has no outcome yet", "trial " + std::to_string(of.number),
           "it is for you to judge it");
  return *of.evaluation;
}
}  // namespace
}  // namespace kernelsearch::c

ks_status ks_trial_number(const ks_trial* trial, uint64_t* number) {
  return guarded([&] { *needed(number, "number") = checked(trial).number; });
}
ks_status ks_trial_space(const ks_trial* trial, const ks_space** space) {
  return guarded([&] { *needed(space, "space") = &space_of(trial); });
}
ks_status ks_trial_config(const ks_trial* trial, uint32_t* config, size_t length) {
  return guarded([&] {
    (void)space_of(trial);
    write_config(*trial->config, config, length);
  });
}
ks_status ks_trial_verdict(const ks_trial* trial, ks_verdict* verdict) {
  return guarded(
      [&] { *needed(verdict, "verdict") = static_cast<ks_verdict>(evaluation_of(trial).verdict); });
}
ks_status ks_trial_seconds(const ks_trial* trial, double* seconds) {
  return guarded([&] {
    needed(seconds, "seconds");
    if (evaluation_of(trial).verdict != Verdict::ok)
      refuse(KS_NONE, "the trial has no time", std::string(to_string(evaluation_of(trial).verdict)),
             "ks_trial_reason() says why");
    *seconds = trial->objective;
  });
}
ks_status ks_trial_objective(const ks_trial* trial, const char* name, double* value) {
  return guarded([&] {
    needed(value, "value");
    *value = objective_value(evaluation_of(trial), text_of(name, "name"));
  });
}
ks_status ks_trial_reason(const ks_trial* trial, char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] { write_text(evaluation_of(trial).reason, text, capacity, needed_bytes); });
}
ks_status ks_trial_foreign(const ks_trial* trial, int* foreign) {
  return guarded([&] { *needed(foreign, "foreign") = checked(trial).foreign ? 1 : 0; });
}
ks_status ks_trial_code(const ks_trial* trial, const char* region, char* text, size_t capacity,
                        size_t* needed_bytes) {
  return guarded([&] {
    const ks_trial& of = checked(trial);
    const auto which = kernel_region_from(text_of(region, "region"));
    if (!which) refuse(KS_UNKNOWN_NAME, "a kernel has no such region", region, "name device, host or macros");
    if (of.code == nullptr)
      refuse(KS_NONE, "the trial is not a kernel", "trial " + std::to_string(of.number),
             "only runs have their kernels' text");
    write_text(kernelsearch::text_of(*of.code, *which), text, capacity, needed_bytes);
  });
}
