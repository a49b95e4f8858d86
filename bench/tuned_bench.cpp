// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What `Tuned` makes of earlier tunings and of several lanes, as Markdown tables; nothing is measured on
// hardware.
//   tuned_bench retuned [--seeds N] [RECORDING...]   a kernel whose text alone changes, against its parent
//   tuned_bench failing                              inner trials of kernels that are never right
//   tuned_bench lanes                                inner trials a second on four lanes, which sleep
//   tuned_bench children [--seeds N] [--carried K] [--lanes L] [--policy NAME] [--told] RECORDING...
//                                                    20 trials of a child against 100 without its parent
//   tuned_bench devices [the same] RECORDING...      the same where the child is the recording of another
//                                                    device; a space is known by its file's name up to `_`
// `--told`: the policy is told what the parent's tuning found instead of being made with it.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;

namespace {

/// The inner policy by its name, as systems make it.
struct Tunes {
  std::string name = "bayesian";
  AnyPolicy<Config> operator()(const Space& space, std::uint64_t seed,
                               std::vector<EarlierRun> earlier = {}) const {
    return make_config_policy(name, {.space = space, .seed = seed, .earlier = std::move(earlier)});
  }
};

/// The same, told of earlier tunings and not made with them.
struct TunesTold {
  Tunes tunes;
  AnyPolicy<Config> operator()(const Space& space, std::uint64_t seed) const { return tunes(space, seed); }
};

/// Judges candidates by a function of text and configuration.
struct Judged {
  std::function<double(const Candidate&)> time_of;
  std::size_t count = 1;
  [[nodiscard]] std::size_t lanes() const { return count; }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const double time = time_of(candidate);
    if (std::isinf(time)) return Evaluation::failed(Verdict::launch_failed, "too many resources");
    return Evaluation::succeeded(time);
  }
};

Candidate kernel_of(const std::string& text, const Space& space) {
  return {std::make_shared<const Kernel>(Kernel{{text, {}, {}}, space}), space.default_config()};
}

double best_of(const Evaluation& evaluation) {
  return evaluation.verdict == Verdict::ok ? evaluation.measurement.seconds
                                           : std::numeric_limits<double>::infinity();
}

/// A random function of a configuration with variance 1 over its terms: a walk over the values of each
/// tunable, and a product of two walks for some pairs.
class SmoothField {
 public:
  SmoothField(const Space& space, std::uint64_t seed) {
    Rng rng = Rng::stream(seed, "smooth field");
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (space.usable(i).size() < 2) continue;
      single_.push_back({i, walk(space.tunable(i).values.size(), rng)});
    }
    for (std::size_t i = 0; i + 1 < single_.size(); ++i) {
      const std::size_t other = i + 1 + rng.below(single_.size() - i - 1);
      pairs_.push_back({{single_[i].tunable, walk(single_[i].values.size(), rng)},
                        {single_[other].tunable, walk(single_[other].values.size(), rng)}});
    }
  }
  [[nodiscard]] double operator()(const Config& config) const {
    double sum = 0;
    for (const Term& term : single_) sum += term.at(config);
    for (const auto& [a, b] : pairs_) sum += a.at(config) * b.at(config);
    return sum / std::sqrt(static_cast<double>(std::max<std::size_t>(1, single_.size() + pairs_.size())));
  }

 private:
  struct Term {
    std::size_t tunable;
    std::vector<double> values;
    [[nodiscard]] double at(const Config& config) const { return values[config.indices[tunable]]; }
  };
  static std::vector<double> walk(std::size_t n, Rng& rng) {
    std::vector<double> values(n);
    double at = 0, sum = 0, squares = 0;
    for (double& value : values) value = at += rng.normal();
    for (const double value : values) sum += value, squares += value * value;
    const double mean = sum / static_cast<double>(n);
    const double deviation = std::sqrt(std::max(1e-12, squares / static_cast<double>(n) - mean * mean));
    for (double& value : values) value = (value - mean) / deviation;
    return values;
  }
  std::vector<Term> single_;
  std::vector<std::pair<Term, Term>> pairs_;
};

/// What candidates of this text take in the recording: "parent" as it was recorded, a "child" a fifth less,
/// times the exponential of a smooth random field.
struct Recorded {
  explicit Recorded(const Recording& recording) : space(recording.space) {
    for (std::size_t i = 0; i < recording.trials.size(); ++i)
      times.emplace(recording.trials[i].config, recording.objective(i));
  }
  [[nodiscard]] double parent(const Config& config) const {
    const auto found = times.find(config);
    return found == times.end() ? std::numeric_limits<double>::infinity() : found->second;
  }
  [[nodiscard]] double child(const Config& config, const SmoothField& field, double sigma) const {
    return 0.8 * parent(config) * std::exp(sigma * field(config));
  }
  Space space;
  std::unordered_map<Config, double> times;
};

EvaluationContext context_of(std::uint64_t trial, std::vector<TrialId> parents, std::uint64_t budget) {
  EvaluationContext context;
  context.trial = TrialId{trial};
  context.parents = std::move(parents);
  context.budget = std::make_shared<TrialBudget>(budget);
  return context;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Arguments {
  std::uint64_t seeds = 40;
  std::size_t carried = TunedOptions{}.carried;
  std::size_t lanes = 1;
  std::string policy = Tunes{}.name;
  bool told = false;
  std::vector<std::string> files;
};

struct RetunedCounts {
  std::uint64_t worse = 0, better = 0, worse_alone = 0;
};

/// Two texts with the same times: `parent`, then `same` with and without knowing it.
template <class E>
void retune(const Candidate& parent, const Candidate& same, E judged, std::uint64_t seed,
            std::uint64_t trials, RetunedCounts& counts) {
  Tuned tuned(Tunes{}, judged, {.max_trials = trials, .seed = seed});
  const double before = best_of(tuned.evaluate(parent, context_of(1, {}, trials)));
  const double after = best_of(tuned.evaluate(same, context_of(2, {TrialId{1}}, trials)));
  Tuned alone(Tunes{}, judged, {.max_trials = trials, .seed = seed});
  const double without = best_of(alone.evaluate(same, context_of(2, {}, trials)));
  counts.worse += after > before ? 1U : 0U;
  counts.better += after < before ? 1U : 0U;
  counts.worse_alone += without > before ? 1U : 0U;
}

void retuned(const Arguments& arguments) {
  fmt::print("50 inner trials each (scripted: 8 of 28 configurations), {} seeds\n\n", arguments.seeds);
  fmt::print(
      "| landscape | retuned worse | better | worse where the parent is not known |\n|---|--:|--:|--:|\n");
  const auto print = [&](const std::string& name, const RetunedCounts& counts) {
    fmt::print("| {} | {} | {} | {} |\n", name, counts.worse, counts.better, counts.worse_alone);
  };
  const std::vector<std::set<std::string>> texts{{}, {"tiling"}, {"tiling", "vectorize"}};
  for (const auto& words : texts) {
    RetunedCounts counts;
    std::set<std::string> same = words;
    same.insert("renamed");
    for (std::uint64_t seed = 0; seed < arguments.seeds; ++seed)
      retune(scripted::kernel_with(words), scripted::kernel_with(same), scripted::KernelLandscape{}, seed, 8,
             counts);
    std::string name = "scripted";
    for (const std::string& word : words) name += " " + word;
    print(name, counts);
  }
  for (std::uint64_t rugged = 0; rugged < 3; ++rugged) {
    SpaceBuilder builder;
    for (char name = 'a'; name <= 'f'; ++name) builder.add(Tunable::integer(std::string(1, name), 1, 5));
    const Space space = builder.require("a * b <= 16").build();
    const SmoothField field(space, rugged);
    RetunedCounts counts;
    const Judged judged{[&](const Candidate& c) {
      std::uint64_t mixed = std::hash<Config>{}(c.config) + rugged;
      mixed = (mixed ^ (mixed >> 29U)) * 0x9e3779b97f4a7c15ULL;
      if ((mixed >> 40U) % 12 == 0) return std::numeric_limits<double>::infinity();
      return std::exp(field(c.config)) * (1 + static_cast<double>((mixed >> 20U) % 97) / 970);
    }};
    for (std::uint64_t seed = 0; seed < arguments.seeds; ++seed)
      retune(kernel_of("parent", space), kernel_of("renamed", space), judged, seed, 50, counts);
    print(fmt::format("rugged {}", rugged), counts);
  }
  for (const std::string& file : arguments.files) {
    const Recorded recorded(read_recording(file));
    const Judged judged{[&](const Candidate& c) { return recorded.parent(c.config); }};
    RetunedCounts counts;
    for (std::uint64_t seed = 0; seed < arguments.seeds; ++seed)
      retune(kernel_of("parent", recorded.space), kernel_of("renamed", recorded.space), judged, seed, 50,
             counts);
    print(std::filesystem::path(file).stem().stem().string(), counts);
  }
}

void failing() {
  fmt::print("| kernel | lanes | the first time | again | a third time |\n|---|--:|--:|--:|--:|\n");
  for (const std::size_t builders : {0, 4})
    for (const Verdict verdict : {Verdict::build_failed, Verdict::wrong_result}) {
      struct Failing {
        Verdict verdict;
        std::size_t count;
        Evaluation evaluate(const Candidate&, const EvaluationContext&) const {
          return Evaluation::failed(verdict, "always");
        }
        [[nodiscard]] std::size_t lanes() const { return count; }
      };
      const std::size_t lanes = builders == 0 ? 1 : 4;
      Tuned tuned(Tunes{}, Failing{verdict, lanes}, {.builders = builders});
      fmt::print("| always {} | {} |", to_string(verdict), lanes);
      for (std::uint64_t trial = 0; trial < 3; ++trial) {
        std::size_t trials = 0;
        EvaluationContext context = context_of(trial, {}, 1000);
        context.on_inner = [&trials](const InnerTrial&) { ++trials; };
        (void)tuned.evaluate(scripted::kernel_with({"bug"}), context);
        fmt::print(" {} |", trials);
      }
      fmt::print("\n");
    }
}

/// Builds and measures by sleeping, 10 to 30 ms each by configuration.
struct Sleeping {
  using Artifact = Candidate;
  std::size_t count;
  static void sleep(const Candidate& candidate, std::uint64_t which) {
    const std::uint64_t mixed = (std::hash<Config>{}(candidate.config) + which) * 0x9e3779b97f4a7c15ULL;
    std::this_thread::sleep_for(std::chrono::microseconds(10'000 + (mixed >> 40U) % 20'000));
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    sleep(candidate, 1);
    return {{}, candidate};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    sleep(*staged.artifact, 2);
    return Evaluation::succeeded(1.0 + static_cast<double>(staged.artifact->config.indices.front()));
  }
  [[nodiscard]] std::size_t lanes() const { return count; }
};

void lanes() {
  SpaceBuilder builder;
  for (char name = 'a'; name <= 'd'; ++name) builder.add(Tunable::integer(std::string(1, name), 1, 8));
  const Candidate kernel = kernel_of("sleeping", builder.build());
  const auto draws = [](const Space& space, std::uint64_t seed) {
    return RandomSearch(space, {.seed = seed});  // whose own time is next to nothing
  };
  fmt::print("200 inner trials; building and measuring sleep 10 to 30 ms each\n\n");
  fmt::print("| lanes | builders | inner trials a second, to one lane and builder |\n|--:|--:|--:|\n");
  double one = 0;
  for (const std::size_t count : {1, 2, 4, 8}) {
    Tuned tuned(draws, Sleeping{count}, {.max_trials = 200, .builders = count});
    const auto begun = std::chrono::steady_clock::now();
    (void)tuned.evaluate(kernel, context_of(1, {}, 200));
    const double rate = 200 / std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    if (count == 1) one = rate;
    fmt::print("| {} | {} | {:.2f} |\n", count, count, rate / one);
    std::fflush(stdout);
  }
}

/// Searches on a child, each as a multiple of the child's best: columns of one table.
struct Searched {
  std::vector<double> child, many, few, oracle;
  void append(const Searched& other) {
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(child, other.child), add(many, other.many), add(few, other.few), add(oracle, other.oracle);
  }
};

/// What 100 trials of the parent, then 20 of the child, find beside what the child's alone find. `parent` and
/// `child` are times; `parent` also what an oracle would know: the whole order.
template <class MakePolicy>
Searched search_child(const MakePolicy& make, const Space& space,
                      const std::function<double(const Config&)>& parent,
                      const std::function<double(const Config&)>& child, const Arguments& arguments,
                      std::uint64_t seed) {
  const Judged judged{[&](const Candidate& c) {
                        return c.kernel->regions.device == "parent" ? parent(c.config) : child(c.config);
                      },
                      arguments.lanes};
  std::vector<std::pair<double, double>> both;  // parent's and child's
  space.for_each([&](const Config& config) { both.emplace_back(parent(config), child(config)); });
  std::sort(both.begin(), both.end());
  double best = std::numeric_limits<double>::infinity(), oracle = best;
  for (std::size_t i = 0; i < both.size(); ++i) {
    best = std::min(best, both[i].second);
    if (i < 20) oracle = std::min(oracle, both[i].second);
  }
  const Candidate changed = kernel_of("child", space);
  const TunedOptions options{.max_trials = 100, .seed = seed, .carried = arguments.carried};
  TunedOptions short_one = options;
  short_one.max_trials = 20;
  Tuned alone(make, judged, options), brief(make, judged, short_one), family(make, judged, options);
  Tuned heir(make, judged, short_one);
  Searched found;
  found.many.push_back(best_of(alone.evaluate(changed, context_of(2, {}, 100))) / best);
  found.few.push_back(best_of(brief.evaluate(changed, context_of(2, {}, 20))) / best);
  KernelTuning known{kernel_of("parent", space).kernel, {}, {}};
  EvaluationContext context = context_of(1, {}, 100);
  std::unordered_map<std::string, Config> configs;
  space.for_each([&](const Config& config) { configs.emplace(space.key(config), config); });
  context.on_inner = [&](const InnerTrial& trial) {
    known.points.push_back(
        {configs.at(trial.key), trial.evaluation.verdict, trial.evaluation.measurement.seconds});
  };
  (void)family.evaluate(kernel_of("parent", space), context);
  heir.remember(TrialId{1}, std::move(known));
  found.child.push_back(best_of(heir.evaluate(changed, context_of(2, {TrialId{1}}, 20))) / best);
  found.oracle.push_back(oracle / best);
  return found;
}

/// The 95 % interval of a median, from resampled medians.
std::pair<double, double> median_interval(const std::vector<double>& values) {
  Rng rng = Rng::stream(1, "resampled medians");
  std::vector<double> medians, drawn(values.size());
  for (int round = 0; round < 2000; ++round) {
    for (double& one : drawn) one = values[rng.below(values.size())];
    medians.push_back(quantile(drawn, 0.5));
  }
  return {quantile(medians, 0.025), quantile(medians, 0.975)};
}

void print_header() {
  fmt::print(
      "| change | search | 25 % | median | its interval | 75 % | 90 % | geometric mean | within 5 % | no "
      "worse "
      "than 100 alone |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
}

void print_rows(const std::string& change, const Searched& all) {
  const auto print = [&](const char* name, const std::vector<double>& found) {
    std::size_t near = 0, reached = 0;
    double logarithms = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      near += found[i] <= 1.05 ? 1U : 0U;
      reached += found[i] <= all.many[i] ? 1U : 0U;
      logarithms += std::log(std::min(found[i], 10.0));  // nothing right counts as ten times
    }
    const auto n = static_cast<double>(found.size());
    const auto [low, high] = median_interval(found);
    fmt::print(
        "| {} | {} | {:.3f} | {:.3f} | {:.3f} to {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.0f} % | {:.0f} % |\n",
        change, name, quantile(found, 0.25), quantile(found, 0.5), low, high, quantile(found, 0.75),
        quantile(found, 0.9), std::exp(logarithms / n), 100 * static_cast<double>(near) / n,
        100 * static_cast<double>(reached) / n);
  };
  print("20 from the parent's 100", all.child);
  print("100 alone", all.many);
  print("20 alone", all.few);
  print("the 20 best of the parent's whole space", all.oracle);
  std::fflush(stdout);
}

Searched search_child_as(const Arguments& arguments, const Space& space,
                         const std::function<double(const Config&)>& parent,
                         const std::function<double(const Config&)>& child, std::uint64_t seed) {
  const Tunes tunes{arguments.policy};
  return arguments.told ? search_child(TunesTold{tunes}, space, parent, child, arguments, seed)
                        : search_child(tunes, space, parent, child, arguments, seed);
}

void introduce(const Arguments& arguments) {
  fmt::print(
      "{}{}, {} lanes, {} carried, {} seeds. Each number: the time of what was found over that of the "
      "child's "
      "best.\n\n",
      arguments.policy, arguments.told ? ", told" : "", arguments.lanes, arguments.carried, arguments.seeds);
}

void children(const Arguments& arguments) {
  introduce(arguments);
  print_header();
  std::vector<Recorded> all;
  for (const std::string& file : arguments.files) all.emplace_back(read_recording(file));
  for (const double sigma : {0.0, 0.02, 0.05, 0.1, 0.2}) {
    Searched found;
    for (const Recorded& recorded : all)
      for (std::uint64_t seed = 0; seed < arguments.seeds; ++seed) {
        const SmoothField field(recorded.space, seed);
        found.append(search_child_as(
            arguments, recorded.space, [&](const Config& c) { return recorded.parent(c); },
            [&](const Config& c) { return recorded.child(c, field, sigma); }, seed));
      }
    print_rows(fmt::format("{:.2f}", sigma), found);
  }
}

void devices(const Arguments& arguments) {
  introduce(arguments);
  print_header();
  std::vector<std::pair<std::string, Recorded>> all;
  for (const std::string& file : arguments.files) {
    const std::string name = std::filesystem::path(file).filename().string();
    all.emplace_back(name.substr(0, name.find('_')), Recorded(read_recording(file)));
  }
  Searched found;
  for (std::size_t from = 0; from < all.size(); ++from)
    for (std::size_t to = 0; to < all.size(); ++to) {
      if (from == to || all[from].first != all[to].first) continue;
      const Space& space = all[to].second.space;
      const auto there = [&](const Config& config) {
        const std::optional<Config> same = same_config(space, config, all[from].second.space);
        return same ? all[from].second.parent(*same) : std::numeric_limits<double>::infinity();
      };
      for (std::uint64_t seed = 0; seed < arguments.seeds; ++seed)
        found.append(search_child_as(
            arguments, space, there, [&](const Config& c) { return all[to].second.parent(c); }, seed));
    }
  if (found.child.empty())
    fmt::print(stderr, "no two of these recordings are of one space: {} files\n", all.size());
  else
    print_rows("device", found);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  Arguments arguments;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool valued = argument == "--seeds" || argument == "--carried" || argument == "--lanes";
    if (valued && i + 1 < argc) {
      const std::uint64_t value = std::strtoull(argv[++i], nullptr, 10);
      if (argument == "--seeds")
        arguments.seeds = value;
      else if (argument == "--lanes")
        arguments.lanes = std::max<std::size_t>(1, value);
      else
        arguments.carried = value;
    } else if (argument == "--told") {
      arguments.told = true;
    } else if (argument == "--policy" && i + 1 < argc) {
      arguments.policy = argv[++i];
    } else if (std::filesystem::exists(argument)) {
      arguments.files.push_back(argument);
    } else {
      fmt::print(stderr, "skipped, for there is no such recording: {}\n", argument);
    }
  }
  if (what == "retuned") {
    retuned(arguments);
  } else if (what == "failing") {
    failing();
  } else if (what == "lanes") {
    lanes();
  } else if (what == "children" && !arguments.files.empty()) {
    children(arguments);
  } else if (what == "devices" && !arguments.files.empty()) {
    devices(arguments);
  } else {
    fmt::print(
        stderr,
        "usage: tuned_bench retuned|failing|lanes|children|devices [--seeds N] [--carried K] [--lanes L] "
        "[--policy NAME] [--told] [RECORDING...]; children and devices need recordings\n");
    return 2;
  }
}
