// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/evaluator_decorator.hpp"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/evaluator/pool.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"
#include "support/word_evaluator.hpp"

using namespace kernelsearch;
using support::candidate_with;
using support::small_problem;
using support::Words;

namespace {

/// Has every capability that an evaluator of this library has, and counts what is asked of it.
struct Everything : Words {
  struct Counts {
    int compared = 0, compared_as_set = 0, compared_with_reference = 0, renewed = 0;
    double max_pairs = 0;
  };
  struct Settings {
    std::string word = "settings";
  };
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
  Settings settings{};

  [[nodiscard]] std::size_t lanes() const { return 3; }
  [[nodiscard]] std::string device_name() const { return "a name"; }
  [[nodiscard]] int device() const { return 7; }
  [[nodiscard]] const Settings& options() const { return settings; }
  [[nodiscard]] double busy_seconds() const { return 2.5; }
  [[nodiscard]] double virtual_seconds() const { return 3.5; }
  void renew() { ++counts->renewed; }
  Speedup compare(const Candidate&, const Candidate&, const PairOptions& pairs) {
    ++counts->compared;
    counts->max_pairs = static_cast<double>(pairs.max_pairs);
    return {1.5, {1.4, 1.6}, 8};
  }
  Speedup compare(const Candidate&, const Candidate&) {
    ++counts->compared_as_set;
    return {1.25, {1.2, 1.3}, 8};
  }
  Speedup compare_with_reference(const Candidate&) {
    ++counts->compared_with_reference;
    return {4.0, {3.9, 4.1}, 8};
  }
};

/// What remains of `Everything` when one capability is taken away.
struct NoName : Everything {
  void device_name() const = delete;
};
struct NoPairs : Words {};
struct NoContext {
  Evaluation evaluate(const Candidate&, const EvaluationContext&) { return Evaluation::succeeded(1); }
};
struct OwnBudget : NoContext {
  static constexpr bool draws_own_budget = true;
};

struct Inspector {
  template <class Artifact>
  Features inspect(const Artifact&) const {
    Features features;
    features.set("inspected", 1);
    return features;
  }
};
struct Observer {
  Features profile(const Candidate&) const {
    Features features;
    features.set("profiled", 1);
    return features;
  }
};
struct Accepting {
  std::optional<Evaluation> validate(const Candidate&) const { return std::nullopt; }
};
struct KeyOf {
  std::string operator()(const Candidate& candidate) const { return candidate.kernel->regions.device; }
};

template <class E>
std::vector<E> one(E evaluator) {
  std::vector<E> members;
  members.push_back(std::move(evaluator));
  return members;
}

// One maker for each decorator.
struct AsIs {
  template <class E>
  auto operator()(E e) const {
    return e;
  }
};
struct InCached {
  template <class E>
  auto operator()(E e) const {
    return Cached<E, KeyOf>(std::move(e), KeyOf{});
  }
};
struct InProfiled {
  template <class E>
  auto operator()(E e) const {
    return Profiled<E, Candidate, Observer>(std::move(e), {});
  }
};
struct InValidated {
  template <class E>
  auto operator()(E e) const {
    return Validated<E, Candidate, Accepting>(std::move(e), {});
  }
};
struct InRoofline {
  template <class E>
  auto operator()(E e) const {
    return Then<E, Candidate, CountedRoofline>(std::move(e), CountedRoofline{small_problem(), {}});
  }
};
struct InInspected {
  template <class E>
  auto operator()(E e) const {
    return CodeInspected<E, Candidate, Inspector>(std::move(e), {});
  }
};
struct InPaired {
  template <class E>
  auto operator()(E e) const {
    return PairedWithParent<E>(std::move(e));
  }
};
struct InPool {
  template <class E>
  auto operator()(E e) const {
    return Pool<E>(one(std::move(e)));
  }
};

template <class... Makers, class Function>
void each_of(Function function) {
  (function(Makers{}), ...);
}
template <class Function>
void each_decorator(Function function) {
  each_of<AsIs, InCached, InProfiled, InValidated, InRoofline, InInspected, InPaired, InPool>(function);
}

template <class E>
constexpr bool pooled = false;
template <class E>
constexpr bool pooled<Pool<E>> = true;

/// Whatever is around `Everything`, all of it is reached.
template <class E>
void check_all(E& evaluator, Everything::Counts& counts, std::size_t lanes) {
  static_assert(StagedEvaluator<E, Candidate>);
  static_assert(PairingEvaluator<E, Candidate>);
  static_assert(DeviceEvaluator<E>);
  static_assert(!DrawsOwnBudget<E>);
  const Candidate candidate = candidate_with("fast");
  const E& asked = evaluator;
  CHECK(asked.lanes() == lanes);
  CHECK(asked.problem().name == "twice");
  CHECK(asked.device_id() == "a scripted device");
  CHECK(asked.device_name() == "a name");
  CHECK(asked.toolchain_id() == "a scripted compiler 1.0");
  CHECK(evaluator.compare(candidate, candidate, {.max_pairs = 77}).ratio == 1.5);
  CHECK(counts.compared == 1);
  CHECK(counts.max_pairs == 77);
  evaluator.renew();
  CHECK(counts.renewed == 1);
  auto staged = evaluator.build(candidate, {});
  REQUIRE(staged.artifact);
  CHECK(evaluator.run(std::move(staged), {}).verdict == Verdict::ok);
  CHECK(evaluator.evaluate(candidate_with("bug"), {}).verdict == Verdict::wrong_result);
}

template <class E>
void check_details(E& evaluator, Everything::Counts& counts) {
  const E& asked = evaluator;
  const Candidate candidate = candidate_with("fast");
  CHECK(asked.device() == 7);
  CHECK(asked.options().word == "settings");
  static_assert(std::is_same_v<decltype(asked.options()), const Everything::Settings&>);  // not copied
  CHECK(asked.busy_seconds() == 2.5);
  CHECK(asked.virtual_seconds() == 3.5);
  CHECK(evaluator.compare(candidate, candidate).ratio == 1.25);
  CHECK(counts.compared_as_set == 1);
  CHECK(evaluator.compare_with_reference(candidate).ratio == 4.0);
  CHECK(counts.compared_with_reference == 1);
}

template <class E>
constexpr bool has_details = requires(E& e, const Candidate& c) {
  e.device();
  e.options();
  e.busy_seconds();
  e.virtual_seconds();
  e.compare(c, c);
  e.compare_with_reference(c);
};
template <class E>
constexpr bool has_context = requires(const E& e) {
  e.problem();
}
|| requires(const E& e) {
  e.device_id();
}
|| requires(const E& e) {
  e.toolchain_id();
}
|| requires(const E& e) {
  e.device_name();
};
template <class E>
constexpr bool has_name = requires(const E& e) {
  e.device_name();
};
template <class E>
constexpr bool can_renew = requires(E& e) {
  e.renew();
};
template <class E>
constexpr bool has_lanes = requires(const E& e) {
  e.lanes();
};

}  // namespace

TEST_CASE("decorators: what an evaluator can do survives any two of them, also inside AnyEvaluator") {
  each_decorator([](auto outer) {
    each_decorator([&outer](auto inner) {
      using Inner = std::invoke_result_t<decltype(inner), Everything>;
      using Composed = std::invoke_result_t<decltype(outer), Inner>;
      const std::size_t lanes =
          std::is_same_v<decltype(outer), InPool> || std::is_same_v<decltype(inner), InPool> ? 1 : 3;
      CAPTURE(typeid(Composed).name());
      {
        Everything everything{{small_problem()}};
        const auto counts = everything.counts;
        Composed evaluator = outer(inner(std::move(everything)));
        check_all(evaluator, *counts, lanes);
        check_details(evaluator, *counts);
      }
      {
        Everything everything{{small_problem()}};
        const auto counts = everything.counts;
        AnyEvaluator any(outer(inner(std::move(everything))));
        const Candidate candidate = candidate_with("fast");
        CHECK(any.lanes() == lanes);
        CHECK(any.problem().name == "twice");
        CHECK(any.device_id() == "a scripted device");
        CHECK(any.device_name() == "a name");
        CHECK(any.toolchain_id() == "a scripted compiler 1.0");
        const auto speedup = any.compare(candidate, candidate, {.max_pairs = 66});
        REQUIRE(speedup);
        CHECK(speedup->ratio == 1.5);
        CHECK(counts->compared == 1);
        CHECK(counts->max_pairs == 66);
        any.renew();
        CHECK(counts->renewed == 1);
        CHECK(any.evaluate(candidate, {}).verdict == Verdict::ok);
      }
    });
  });
}

TEST_CASE("decorators: AnyEvaluator stays what it is inside any of them") {
  each_decorator([](auto outer) {
    Everything everything{{small_problem()}};
    const auto counts = everything.counts;
    auto evaluator = outer(AnyEvaluator(std::move(everything)));
    const Candidate candidate = candidate_with("fast");
    CHECK(evaluator.device_name() == "a name");
    const std::optional<Speedup> speedup = evaluator.compare(candidate, candidate, {.max_pairs = 55});
    REQUIRE(speedup);
    CHECK(counts->max_pairs == 55);
    evaluator.renew();
    CHECK(counts->renewed == 1);
    AnyEvaluator again(std::move(evaluator));
    CHECK(again.problem().name == "twice");
    CHECK(again.compare(candidate, candidate).has_value());
  });
}

TEST_CASE("decorators: what an evaluator cannot do they cannot do either") {
  each_of<AsIs, InCached, InProfiled, InValidated, InRoofline, InInspected, InPool>([](auto outer) {
    using E = std::invoke_result_t<decltype(outer), NoPairs>;
    static_assert(StagedEvaluator<E, Candidate> && DeviceEvaluator<E>);
    static_assert(!PairingEvaluator<E, Candidate> && !has_details<E> && !has_name<E> && !can_renew<E>);
    static_assert(!has_name<std::invoke_result_t<decltype(outer), NoName>>);
    static_assert(PairingEvaluator<std::invoke_result_t<decltype(outer), NoName>, Candidate>);
    AnyEvaluator any(outer(NoPairs{{small_problem()}}));
    CHECK(!any.compare(candidate_with("fast"), candidate_with("slow")));
    CHECK(any.device_name() == "a scripted device");
  });
  each_of<AsIs, InCached, InProfiled, InValidated, InRoofline, InPool>([](auto outer) {
    using E = std::invoke_result_t<decltype(outer), NoContext>;
    static_assert(Evaluator<E, Candidate> && !StagedEvaluator<E, Candidate>);
    static_assert(!has_context<E> && !can_renew<E> && !DrawsOwnBudget<E>);
    static_assert(has_lanes<E> == pooled<E>);
    CHECK(outer(NoContext{}).evaluate(candidate_with("fast"), {}).verdict == Verdict::ok);
    static_assert(DrawsOwnBudget<std::invoke_result_t<decltype(outer), OwnBudget>>);
  });
  using Seconds = FunctionEvaluator<double (*)(const int&)>;
  static_assert(Evaluator<Cached<Seconds, std::string (*)(int)>, int>);
  static_assert(!Evaluator<Cached<Seconds, std::string (*)(int)>, std::string>);
}

TEST_CASE("Tuned: knows what its evaluator measures on, but compares no kernels and has no phases") {
  const auto make = [](const Space& space, std::uint64_t seed) {
    return RandomSearch(space, {.seed = seed});
  };
  Everything everything{{small_problem()}};
  const auto counts = everything.counts;
  Tuned tuned(make, std::move(everything));
  using E = decltype(tuned);
  static_assert(DrawsOwnBudget<E> && !StagedEvaluator<E, Candidate> && !PairingEvaluator<E, Candidate>);
  CHECK(tuned.problem().name == "twice");
  CHECK(tuned.device_id() == "a scripted device");
  CHECK(tuned.device_name() == "a name");
  CHECK(tuned.toolchain_id() == "a scripted compiler 1.0");
  CHECK(tuned.options().word == "settings");
  CHECK(tuned.busy_seconds() == 2.5);
  tuned.renew();
  CHECK(counts->renewed == 1);
  static_assert(!has_context<Tuned<decltype(make), NoContext>>);
  static_assert(!can_renew<Tuned<decltype(make), NoContext>>);
}

TEST_CASE("Pool: all members are renewed, each when nobody measures on it, and their times are added") {
  std::vector<Everything> members;
  std::vector<std::shared_ptr<Everything::Counts>> counts;
  std::vector<std::shared_ptr<Words::Gate>> gates;
  for (int i = 0; i < 3; ++i) {
    members.push_back({{small_problem()}});
    counts.push_back(members.back().counts);
    gates.push_back(members.back().gate);
  }
  Pool<Everything> pool(std::move(members));
  CHECK(pool.busy_seconds() == 7.5);
  CHECK(pool.virtual_seconds() == 10.5);
  CHECK(pool.lanes() == 3);
  // One member is kept busy: its turn comes when it is free, the others need not wait.
  auto busy = std::async(std::launch::async, [&] { return pool.evaluate(candidate_with("wait"), {}); });
  const auto taken = [&] {
    for (std::size_t i = 0; i < gates.size(); ++i)
      if (gates[i]->waiting > 0) return i;
    return gates.size();
  };
  while (taken() == gates.size()) std::this_thread::yield();
  const std::size_t waiting = taken();
  auto renewing = std::async(std::launch::async, [&] { pool.renew(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(renewing.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gates[waiting]->let_go();
  renewing.get();
  CHECK(busy.get().verdict == Verdict::ok);
  for (const auto& count : counts) CHECK(count->renewed == 1);
}
