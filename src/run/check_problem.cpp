// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/check_problem.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_preprocess.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"
#include "kernelsearch/evaluator/host/host_preprocess.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"

namespace kernelsearch {
namespace {

/// For telling a few per cent from nothing within a second or two for each value.
const PairOptions effect_pairs{.when = Pairing::always,
                               .min_pairs = 12,
                               .max_pairs = 120,
                               .precision = 0.01,
                               .budget_seconds = 0.5,
                               .rounds = 2};

/// The message without the program's name, which belongs at the beginning of a line only.
std::string in_words(const Error& error) {
  const std::string text = error.what(), name = "kernelsearch: ";
  return text.rfind(name, 0) == 0 ? text.substr(name.size()) : text;
}

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

class Checker {
 public:
  Checker(const Problem& problem, const ProblemCheckOptions& options,
          const std::function<void(std::string_view)>& on_stage)
      : problem_(problem), options_(options), on_stage_(on_stage) {}

  ProblemCheck run() {
    if (problem_.backend == Backend::host && options_.run)
      on_host();
    else if (is_gpu(problem_.backend) && options_.run)
      on_gpu();
    else {
      check_.findings = lint_static(problem_);
      look_for_unused({});
      if (problem_.external && options_.run) try_answers();
    }
    return std::move(check_);
  }

 private:
  void begin(std::string_view stage) const {
    if (on_stage_) on_stage_(stage);
  }

  bool has_errors() const {
    return std::any_of(check_.findings.begin(), check_.findings.end(), [](const LintFinding& finding) {
      return finding.severity == LintFinding::Severity::error;
    });
  }

  void try_answers() {
    begin("trying answers without any work");
    TrivialAnswers tried = try_trivial_answers(problem_, options_.host);
    for (TrivialAnswer& answer : tried.passed)
      check_.findings.push_back(
          {LintFinding::Severity::error, std::move(answer.what), std::move(answer.todo)});
    append(check_.left_out, std::move(tried.left_out));
  }

  void look_for_unused(const Preprocess& preprocess) {
    for (UnusedTunable& unused : find_unused_tunables(problem_, preprocess)) {
      unused_.push_back(unused.tunable);
      check_.findings.push_back(std::move(unused.finding));
    }
  }

  void on_host() {
    begin("running reference and default");
    HostLintRunner runner(problem_, options_.host);
    check_.findings = lint(problem_, runner, options_.lint);
    for (const Shape* shape : linted_shapes(problem_, options_.lint.max_shapes))
      check_.shapes.push_back(shape->name);
    if (!has_errors()) try_answers();
    look_for_unused(host_preprocess(problem_, options_.host));
    if (options_.quick) return;
    begin("running the default with AddressSanitizer and UndefinedBehaviorSanitizer");
    HostSanitized sanitized = sanitize_on_host(problem_, options_.host, options_.host_sanitizer);
    append(check_.findings, std::move(sanitized.findings));
    for (const std::string& why : sanitized.left_out)
      check_.left_out.push_back("accesses past arrays: " + why);
    if (!may_measure()) return;
    HostEvaluator evaluator(problem_, options_.host);
    measure(evaluator);
  }

  void on_gpu() {
    begin("judging the default");
    check_.findings = lint_static(problem_);
    check_.gpu = check_on_gpu(problem_, options_.gpu);
    append(check_.findings, check_.gpu->findings);
    look_for_unused(gpu_preprocess(problem_, options_.gpu));
    if (options_.quick) return;
    if (check_.gpu->depth != GpuCheck::Depth::judged) {
      check_.left_out.emplace_back("Compute Sanitizer and what tunables change: there is no device");
      return;
    }
    begin("running the default under Compute Sanitizer");
    under_compute_sanitizer();
    if (!may_measure()) return;
    GpuEvaluator evaluator(problem_, options_.gpu);
    measure(evaluator);
  }

  void under_compute_sanitizer() {
    try {
      ComputeSanitizer sanitizer(problem_, options_.gpu, options_.gpu_sanitizer);
      for (const SanitizerFinding& finding : sanitizer.examine(problem_.default_candidate()))
        if (finding.verdict == Verdict::timed_out)
          check_.left_out.push_back("Compute Sanitizer: " + finding.reason);
        else if (finding.verdict != Verdict::ok)
          check_.findings.push_back({LintFinding::Severity::error, "the default: " + finding.reason,
                                     "fix the kernel; `kernelsearch profile` shows the whole report"});
    } catch (const Error& error) {  // not there, or not able to work on this device
      check_.left_out.push_back("Compute Sanitizer: " + in_words(error));
    }
  }

  bool may_measure() {
    if (has_errors()) check_.left_out.emplace_back("what tunables change: there are errors");
    return !has_errors();
  }

  template <class Evaluator>
  void measure(Evaluator& evaluator) {
    begin("measuring what tunables change");
    TunableEffects effects = measure_tunable_effects(
        problem_,
        [&](const Candidate& candidate, const Candidate& champion) -> std::optional<Speedup> {
          return evaluator.compare(candidate, champion, effect_pairs);
        },
        unused_, options_.effects);
    append(check_.findings, std::move(effects.findings));
    append(check_.left_out, std::move(effects.left_out));
  }

  const Problem& problem_;
  const ProblemCheckOptions& options_;
  const std::function<void(std::string_view)>& on_stage_;
  ProblemCheck check_;
  std::vector<std::size_t> unused_;
};

}  // namespace

ProblemCheck check_problem(const Problem& problem, const ProblemCheckOptions& options,
                           const std::function<void(std::string_view)>& on_stage) {
  Problem with_sizes = problem;
  if (options.run) fill_generated_sizes(with_sizes, options.host);
  return Checker(with_sizes, options, on_stage).run();
}

}  // namespace kernelsearch
