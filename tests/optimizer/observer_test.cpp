// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/observer.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

// One archetype a hook: each alone makes an observer, and each is called.
struct OnAsk {
  int calls = 0;
  void on_ask(const AskEvent&) { ++calls; }
};
struct OnStart {
  int calls = 0;
  void on_start(TrialId, const int&) { ++calls; }
};
struct OnTrial {
  int calls = 0;
  void on_trial(const Trial<int>&, const int&) { ++calls; }
};
struct OnBest {
  int calls = 0;
  void on_best(const Trial<int>&) { ++calls; }
};
struct OnRevised {
  int calls = 0;
  void on_revised(const Trial<int>&) { ++calls; }
};
struct OnInner {
  int calls = 0;
  void on_inner(TrialId, const InnerTrial&) { ++calls; }
};
struct OnEnd {
  int calls = 0;
  void on_end(std::string_view) { ++calls; }
};
static_assert(Observer<OnAsk, int, int>);
static_assert(Observer<OnStart, int, int>);
static_assert(Observer<OnTrial, int, int>);
static_assert(Observer<OnBest, int, int>);
static_assert(Observer<OnRevised, int, int>);
static_assert(Observer<OnInner, int, int>);
static_assert(Observer<OnEnd, int, int>);

// Not observers: no hook, a misspelt one, one for other candidates or proposals.
struct Nothing {};
struct Misspelt {
  void on_trail(const Trial<int>&, const int&) {}
};
static_assert(!Observer<Nothing, int, int>);
static_assert(!Observer<Misspelt, int, int>);
static_assert(!Observer<OnTrial, std::string, int>);
static_assert(!Observer<OnTrial, int, Move>);
static_assert(!Observer<OnBest, std::string, int>);

/// Reports one inner trial for each candidate.
struct Searching {
  Evaluation evaluate(const int& x, const EvaluationContext& context) {
    if (context.on_inner) context.on_inner(InnerTrial{0, "only", Evaluation::succeeded(1.0)});
    return Evaluation::succeeded(10.0 - x);
  }
};

}  // namespace

TEST_CASE("Observer: each hook alone is called as often as its event happens, in either loop") {
  for (const std::size_t in_flight : {1, 3}) {
    OnAsk ask;
    OnStart start;
    OnTrial trial;
    OnBest best;
    OnRevised revised;
    OnInner inner;
    OnEnd end;
    Optimizer search{
        scripted::Counting{.last = 5}, scripted::Copying{}, Searching{}, {.in_flight = in_flight}};
    search.run(ask, start, trial, best, revised, inner, end);
    search.revise(TrialId{2}, Evaluation::succeeded(9.0), revised);
    CHECK(ask.calls >= 3);
    CHECK(start.calls == 5);
    CHECK(trial.calls == 5);
    CHECK(best.calls == 5);
    CHECK(revised.calls == 1);
    CHECK(inner.calls == 5);
    CHECK(end.calls == 1);
  }
}
