// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/test_data.hpp"

/// Kernels that try to get a time or a verdict that they did not earn, and what becomes of them.
namespace hostile {

namespace fs = std::filesystem;
using namespace kernelsearch;

using support::test_data;

inline std::string read(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A kernel and what its first comment lines `// key: value` say:
/// `hack`: its number in the table of docs/hostile.md, or `-`;
/// `kind`: of the attack;
/// `problem`: in problems/, with its honest kernel beside it;
/// `expect`: `rejected` (any verdict but ok), `no gain`, `rejected or no gain`, or `degenerate problem`: the
/// kernel is right within the tolerance, and `kernelsearch check` says what is wrong with the problem;
/// `finding`: in what words it says that;
/// `naive`: `fooled` if a naive harness takes it for right and fast, with what habit, `notices`, or `not
/// tried`;
/// `judged`: `pairs` if it is made against its rival in interleaved pairs, `cold` if with empty caches;
/// `after`: how many honest candidates the same evaluator has judged before, at least; it is sampled longer;
/// `needs`: `x86` if it is of no effect on other processors.
struct Attack {
  std::string name, code;
  std::map<std::string, std::string> says;

  [[nodiscard]] std::string value(const std::string& key) const {
    const auto found = says.find(key);
    return found == says.end() ? std::string() : found->second;
  }
  [[nodiscard]] bool may_be_rejected() const { return value("expect").find("rejected") != std::string::npos; }
  [[nodiscard]] bool may_be_ok() const { return value("expect").find("no gain") != std::string::npos; }
  [[nodiscard]] bool blames_the_problem() const { return value("expect") == "degenerate problem"; }
};

/// The honest kernel of a problem: NAME.hpp, and where there is none that of the name up to its last `_`, so
/// that problems of one kernel share it.
inline fs::path honest_kernel_of(std::string problem) {
  const fs::path folder = test_data() / "hostile" / "problems";
  while (!fs::exists(folder / (problem + ".hpp"))) {
    const auto last = problem.rfind('_');
    if (last == std::string::npos)
      throw std::runtime_error("no honest kernel of the problem in " + folder.string());
    problem.resize(last);
  }
  return folder / (problem + ".hpp");
}

/// The text with what it includes of this folder in place of `#include "..."`.
inline std::string with_pieces(std::string text, const std::string& problem) {
  const fs::path folder = test_data() / "hostile";
  const std::map<std::string, fs::path> pieces{{"honest.hpp", honest_kernel_of(problem)},
                                               {"tools.hpp", folder / "tools.hpp"},
                                               {"postponed.hpp", folder / "postponed.hpp"},
                                               {"every_eighth.hpp", folder / "every_eighth.hpp"},
                                               {"whole_batch.hpp", folder / "whole_batch.hpp"},
                                               {"expected_calls.hpp", folder / "expected_calls.hpp"},
                                               {"part_of_batch.hpp", folder / "part_of_batch.hpp"},
                                               {"walks_the_table.hpp", folder / "walks_the_table.hpp"},
                                               {"arena.hpp", folder / "arena.hpp"}};
  for (const auto& [name, path] : pieces) {
    const std::string line = "#include \"" + name + "\"";
    if (const auto at = text.find(line); at != std::string::npos) text.replace(at, line.size(), read(path));
  }
  return text;
}

/// What the first comment lines of a kernel say.
inline std::map<std::string, std::string> said_by(const std::string& code) {
  std::map<std::string, std::string> says;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line) && line.starts_with("// ");) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos && line.find(' ', 3) > colon)
      says[line.substr(3, colon - 3)] = line.substr(colon + 2);
  }
  return says;
}

/// The kernels of a folder, by name.
inline std::vector<Attack> kernels_of(const fs::path& folder) {
  std::vector<Attack> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    Attack attack{entry.path().stem().string(), read(entry.path()), {}};
    attack.says = said_by(attack.code);
    all.push_back(std::move(attack));
  }
  std::sort(all.begin(), all.end(), [](const Attack& a, const Attack& b) { return a.name < b.name; });
  return all;
}

inline std::vector<Attack> attacks() {
  std::vector<Attack> all = kernels_of(test_data() / "hostile" / "attacks");
#if !defined(__x86_64__)
  std::erase_if(all, [](const Attack& attack) { return attack.value("needs") == "x86"; });
#endif
  for (Attack& attack : all) attack.code = with_pieces(attack.code, attack.value("problem"));
  return all;
}

/// Those of tests/evaluator/host, whose verdicts are tested there: kernels of `scale` that are refused
/// (hostile), or do what pays where others measure (harmless).
inline std::vector<Attack> scale_attacks() {
  std::vector<Attack> all;
  for (const char* folder : {"hostile", "harmless"})
    for (Attack& attack : kernels_of(test_data() / "evaluator" / "host" / folder)) {
      attack.says["problem"] = "scale";
      attack.says["kind"] = folder;
      all.push_back(std::move(attack));
    }
  return all;
}

inline Problem problem(const std::string& name) {
  const fs::path folder = test_data() / "hostile" / "problems";
  return parse_problem(read(folder / (name + ".json")), folder);
}

/// The kernel that does what the attacks on this problem pretend to do.
inline std::string honest_twin(const Problem& problem) {
  std::string parameters, names;
  for (const Argument& argument : problem.arguments) {
    const bool input = argument.is_array && argument.role == Role::in;
    parameters += (parameters.empty() ? "" : ", ") + std::string(input ? "const " : "") +
                  std::string(cpp_name(argument.type)) + (argument.is_array ? "* " : " ") + argument.name;
    names += (names.empty() ? "" : ", ") + argument.name;
  }
  return with_pieces("#include \"honest.hpp\"\n", problem.name) + "extern \"C\" void " + problem.function +
         "(" + parameters + ") {\n  honest(" + names + ");\n}\n";
}

inline Candidate with_code(const Problem& problem, const std::string& code) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = code;
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

/// What became of an attack once.
struct Judgement {
  Verdict verdict = Verdict::ok;
  std::string reason{};
  double gain = 0;  ///< the honest twin's time by the attack's, measured next to each other; 0 if rejected
                    ///< before it was measured
  bool refused_by_pairs = false;  ///< measured with a gain first, then found out while it was compared
  bool claims = false;  ///< accepted, at less than 0.9 of the honest time and with a gain of 5 % by its pairs

  [[nodiscard]] bool rejected() const { return verdict != Verdict::ok; }
};

/// A gain is believed from here on: less is what a machine does to two equal kernels.
inline constexpr double least_gain = 1 / 0.9, least_gain_of_pairs = 1.05;

/// Fast settings: verdicts and gains, no exact times.
inline HostOptions light(const fs::path& cache) {
  HostOptions options;
  options.cache_directory = cache;
  options.limits.build_seconds = 60;
  options.limits.load_seconds = 5;  // a sandbox that starts on a machine that others keep busy, too
  options.limits.call_seconds = 1;
  options.limits.run_memory = std::uint64_t{512} << 20;
  options.sampling.budget_seconds = 0.04;
  options.pairs.when = Pairing::never;
  options.pairs.min_pairs = 8;
  options.pairs.max_pairs = 24;
  options.pairs.budget_seconds = 0.2;
  return options;
}

/// What attacks that one arbiter can judge have in common.
inline std::string place_of(const Attack& attack) {
  return attack.value("problem") + (attack.value("judged") == "cold" ? " cold" : "") +
         (attack.value("after").empty() ? "" : " late");
}

/// Judges the attacks of one `place_of` beside their honest kernel.
class Arbiter {
 public:
  Arbiter(const std::string& place, const HostOptions& options)
      : problem_(with_honest_default(problem(place.substr(0, place.find(' '))))),
        twin_(with_code(problem_, honest_twin(problem_))),
        evaluator_(problem_, fit_for(place, options)) {}

  [[nodiscard]] HostEvaluator& evaluator() { return evaluator_; }
  [[nodiscard]] const Candidate& twin() const { return twin_; }
  [[nodiscard]] Candidate candidate(const Attack& attack) const { return with_code(problem_, attack.code); }

  /// The honest kernel, which must be ok.
  [[nodiscard]] Evaluation honest() {
    ++honest_ones_;
    return judged_calmly(twin_);
  }

  [[nodiscard]] Judgement judge(const Attack& attack) {
    const Candidate candidate = with_code(problem_, attack.code);
    for (const int before = std::atoi(attack.value("after").c_str()); honest_ones_ < before;) (void)honest();
    const Evaluation ours =
        attack.may_be_rejected() ? evaluator_.evaluate(candidate, {}) : judged_calmly(candidate);
    Judgement outcome{ours.verdict, ours.reason};
    if (outcome.rejected()) return outcome;
    const Evaluation honest = this->honest();
    if (honest.verdict != Verdict::ok)
      throw std::runtime_error("the honest kernel of " + problem_.name + " is refused: " + honest.reason);
    outcome.gain = honest.measurement.seconds / ours.measurement.seconds;
    const bool pairs = attack.value("judged") == "pairs";
    if (!pairs && outcome.gain <= least_gain) return outcome;
    try {
      const Speedup speedup = evaluator_.compare(candidate, twin_);
      outcome.gain = pairs ? speedup.ratio : std::min(outcome.gain, speedup.ratio);
      outcome.claims = speedup.interval.low > least_gain_of_pairs;
    } catch (const ConfigError& error) {  // found out while it was compared
      outcome.verdict = Verdict::cheated;
      outcome.reason = error.what();
      outcome.refused_by_pairs = true;
    }
    return outcome;
  }

 private:
  /// On a loaded machine the times of a kernel that does nothing wrong may be called not distinguishable, and
  /// a call may be kept waiting beyond its limit: then it is judged again.
  Evaluation judged_calmly(const Candidate& candidate) {
    Evaluation evaluation = evaluator_.evaluate(candidate, {});
    for (int again = 0; again < 4 && evaluation.verdict == Verdict::timed_out; ++again)
      evaluation = evaluator_.evaluate(candidate, {});
    return evaluation;
  }

  /// What a judge may compare candidates with: the problem's own kernel, which all else is measured by.
  static Problem with_honest_default(Problem problem) {
    problem.kernel.regions.device = honest_twin(problem);
    return problem;
  }

  static HostOptions fit_for(const std::string& place, HostOptions options) {
    options.cache = place.find(" cold") != std::string::npos ? CacheMode::cold : CacheMode::warm;
    // enough for hundreds of calls of milliseconds, most of which are late ones
    if (place.ends_with(" late")) options.sampling.budget_seconds = 0.2;
    return options;
  }

  Problem problem_;
  Candidate twin_;
  HostEvaluator evaluator_;
  int honest_ones_ = 0;  ///< how often the honest kernel was judged
};

}  // namespace hostile
