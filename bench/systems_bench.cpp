// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SIMULATION: the systems' loops, prompts and parsers with a scripted model in place of a real one, on
// made-up kernels. It compares how the loops spend a budget of questions, and says nothing of any model or
// hardware: systems_bench [SEEDS] [QUESTIONS]. Results: docs/benchmarks/systems.md.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/systems/best_of_k.hpp"
#include "kernelsearch/systems/geak.hpp"
#include "kernelsearch/systems/greedy_refine.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/peak.hpp"
#include "kernelsearch/systems/stark.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;

namespace {

constexpr std::size_t bottlenecks = 3, strategies = 9;

/// These kernels have counters and strategies of their own, none of KernelBand's.
systems::KernelBandSettings made_up(systems::KernelBandSettings settings) {
  settings.features = systems::KernelBandFeatures::all;
  return settings;
}

/// A kernel is what was done to it, line by line: `sK ok`, `sK slow` or `bug`.
struct State {
  double time = 100.0;  ///< at the best values of its tunables
  std::size_t bottleneck = 0;
  bool bug = false;
  std::array<std::size_t, 2> best{};  ///< these values, by their places in `block` and `unroll` (block_space)
};

/// Each strategy relieves one of three bottlenecks: there it mostly succeeds and takes 8 to 20 % of the time
/// away, elsewhere it mostly fails. A success moves the bottleneck one time in four, and as often the best
/// value of a tunable by one place.
class Landscape {
 public:
  explicit Landscape(std::uint64_t seed) : seed_(seed) {
    Rng rng = Rng::stream(seed, "landscape");
    start_ = rng.below(bottlenecks);
    best_ = {rng.below(blocks), rng.below(unrolls)};
    for (std::size_t s = 0; s < strategies; ++s) {
      gain_[s] = rng.uniform(0.08, 0.20);
      for (std::size_t b = 0; b < bottlenecks; ++b)
        success_[b][s] = s % bottlenecks == b ? rng.uniform(0.5, 0.9) : rng.uniform(0.0, 0.25);
    }
  }

  [[nodiscard]] State of(const std::string& code) const {
    State state;
    state.bottleneck = start_;
    state.best = best_;
    std::istringstream lines(code);
    std::string prefix;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("<<<")) continue;  // an anchor of a plan is no part of the kernel
      prefix += line;
      if (line.starts_with("  bug")) state.bug = true;
      if (!line.starts_with("  s")) continue;
      const std::size_t s = static_cast<std::size_t>(line[3] - '0');
      if (line.find("slow") != std::string::npos) {
        state.time *= 1.03;
        continue;
      }
      state.time *= 1 - gain_[s];
      Rng rng = Rng::stream(seed_, prefix);
      if (rng.chance(0.25)) state.bottleneck = rng.below(bottlenecks);
      if (rng.chance(0.25)) {
        const std::size_t tunable = rng.below(2), most = tunable == 0 ? blocks - 1 : unrolls - 1;
        std::size_t& place = state.best[tunable];
        place = rng.chance(0.5) ? std::min(place + 1, most) : place - std::min<std::size_t>(place, 1);
      }
    }
    return state;
  }
  [[nodiscard]] double success(std::size_t bottleneck, std::size_t s) const {
    return success_[bottleneck][s];
  }

 private:
  std::uint64_t seed_;
  static constexpr std::size_t blocks = 7, unrolls = 4;
  std::size_t start_ = 0;
  std::array<std::size_t, 2> best_{};
  std::array<double, strategies> gain_{};
  std::array<std::array<double, strategies>, bottlenecks> success_{};
};

/// Plays every role on these kernels. Where it may choose the strategy, it knows the bottleneck with the
/// probability `insight`.
struct Player {
  std::shared_ptr<const Landscape> landscape;
  double insight = 0.5, mends = 0.7, garbled = 0.05;
  std::uint64_t seed = 0;

  ChatResult operator()(const ChatRequest& request) const {
    using scripted::RuleChat;
    const std::string text = scripted::text_of(request);
    Rng rng = Rng::stream(seed + 1000 * request.repetition, text);
    if (rng.chance(garbled)) return RuleChat::replied("I would rather talk about it.");
    if (request.role == "reflector") return RuleChat::replied("There is a bug: remove it.");
    std::string code = scripted::SkilledModel::block_after(text, "# Kernel to change");
    if (request.role == "planner") {
      const std::string strategy = chosen(text, code, rng);
      // Around the last line, so that what the coder adds comes after the earlier changes, as everyone's.
      const std::size_t end = code.rfind('}');
      code.insert(end, "<<<IMPROVE ENDS>>>\n");
      code.insert(code.rfind('\n', end - 2) + 1, "<<<IMPROVE BEGINS>>>\n");
      return RuleChat::replied("```cpp device\n" + code + "```\n\n1. Strategy: " + strategy + "\n");
    }
    if (text.find("## How it failed") != std::string::npos) {
      if (const std::size_t at = code.find("  bug"); at != std::string::npos && rng.chance(mends))
        code.erase(at, code.find('\n', at) + 1 - at);
      else
        code.insert(code.rfind('}'), "  guess" + std::to_string(rng.below(100000)) + "\n");
      return RuleChat::replied("```cpp device\n" + code + "```\n");
    }
    const bool fills = request.role == "coder";
    const std::string strategy = chosen(text, code, rng);
    const State state = landscape->of(code);
    const std::size_t s = static_cast<std::size_t>(strategy[1] - '0');
    const bool ok = rng.chance(landscape->success(state.bottleneck, s));
    const bool wrong = !ok && rng.chance(0.6);
    const std::string mark = std::to_string(rng.below(1000000));
    // At the end, whoever writes it: a kernel is what was done in order.
    const std::string lines = "  " + strategy + (ok || wrong ? " ok " : " slow ") + mark + "\n" +
                              (wrong ? "  bug " + mark + "\n" : "");
    code.insert(fills ? code.rfind("<<<IMPROVE ENDS>>>") : code.rfind('}'), lines);
    return RuleChat::replied("```cpp device\n" + code + "```\n");
  }

 private:
  [[nodiscard]] std::string chosen(const std::string& text, const std::string& code, Rng& rng) const {
    if (const std::size_t at = text.rfind("Strategy: s"); at != std::string::npos)
      return text.substr(at + 10, 2);
    std::size_t s = rng.below(strategies);
    if (rng.chance(insight))
      s = rng.below(strategies / bottlenecks) * bottlenecks + landscape->of(code).bottleneck;
    return "s" + std::to_string(s);
  }
};

struct Judge {
  std::shared_ptr<const Landscape> landscape;
  std::uint64_t seed = 0;
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const std::string& code = candidate.kernel->regions.device;
    const State state = landscape->of(code);
    if (state.bug) return Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2", 0.5);
    // Each place from the best value of a tunable costs 8 %.
    double time = state.time;
    for (std::size_t i = 0; i < state.best.size(); ++i) {
      const double away =
          static_cast<double>(candidate.config.indices[i]) - static_cast<double>(state.best[i]);
      time *= 1 + 0.08 * std::abs(away);
    }
    Evaluation evaluation = Evaluation::succeeded(time * 1e-6);
    Rng rng = Rng::stream(seed, code + " profile");
    for (std::size_t b = 0; b < bottlenecks; ++b)
      evaluation.features.set("stalls_" + std::to_string(b),
                              (b == state.bottleneck ? 60.0 : 20.0) + 14.0 * rng.normal());
    return evaluation;
  }
};

struct Score {
  double log_speedup = 0.0, kernels = 0.0, right = 0.0, measured = 0.0;
};

struct Setting {
  std::uint64_t seed = 0, questions = 60;
  double insight = 0.5;
  std::size_t repairs = 0;  ///< of systems that do not mend failures in a way of their own
  std::uint64_t inner = 0;  ///< trials of the search over each kernel's tunables
};

/// Kernels and configurations that were measured.
template <class Search>
double measured_by(const Search& search) {
  double measured = 0;
  for (const auto& trial : search.trials())
    if (trial.candidate) measured += trial.outcome.evaluation.features.find("inner_trials").value_or(1.0);
  return measured;
}

/// One search of at most so many questions. `make` gets the model, the problem, the evaluator and the loop.
template <class Make>
Score play(const Setting& setting, Make make) {
  const auto landscape = std::make_shared<const Landscape>(setting.seed);
  std::stop_source stop;
  auto asked = std::make_shared<std::atomic<std::uint64_t>>(0);
  const Player player{.landscape = landscape, .insight = setting.insight, .seed = setting.seed};
  const scripted::RuleChat chat(
      scripted::RuleChat::Rule([player, asked, &stop, most = setting.questions](const ChatRequest& request) {
        if (++*asked > most) {
          stop.request_stop();
          return ChatResult::failed(ChatFailure::budget, "all questions are asked");
        }
        return player(request);
      }));
  AgentOptions agents;
  for (std::size_t s = 0; s < strategies; ++s)
    agents.strategies.push_back({"s" + std::to_string(s), "Do it.", "words", "", {}, "", {"host"}});
  agents.tunables = false;
  OptimizerOptions loop;
  loop.stop = stop.get_token();
  const Judge judge{landscape, setting.seed};
  const Problem problem = scripted::problem_of_words();
  const double root =
      judge
          .evaluate({std::make_shared<const Kernel>(problem.kernel), problem.kernel.space.default_config()},
                    {})
          .measurement.seconds;
  const auto scored = [root](auto search) {
    const RunSummary summary = search.run();
    Score score;
    score.log_speedup = std::log(root / search.best()->outcome.objective);
    score.kernels = static_cast<double>(summary.trials - 1);
    score.right = static_cast<double>(summary.verdicts[static_cast<std::size_t>(Verdict::ok)] - 1);
    score.measured = measured_by(search);
    return score;
  };
  if (setting.inner == 0) return scored(make(AnyChatModel(chat), problem, judge, agents, loop));
  Tuned<systems::TunesByBayes, Judge> tuned({}, judge, {.max_trials = setting.inner, .seed = setting.seed});
  return scored(make(AnyChatModel(chat), problem, std::move(tuned), agents, loop));
}

using Player1 = std::function<Score(const Setting&)>;

struct Row {
  std::string name;
  Player1 play;
  bool repairs = true;  ///< failures come back by `Setting::repairs`
};

std::vector<Row> rows() {
  std::vector<Row> all;
  all.push_back({"kernelband", [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::KernelBandSettings settings = made_up({.loop = loop});
                     settings.search = HierarchicalUcbOptions::v1();
                     settings.search.seed = s.seed;
                     settings.rewriter.common = agents;
                     settings.repairs = s.repairs;
                     return systems::kernelband(model, problem, std::move(judge), settings);
                   });
                 }});
  all.push_back({"kernelband, our settings", [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::KernelBandSettings settings = made_up({.loop = loop});
                     settings.search.seed = s.seed;
                     settings.rewriter.common = agents;
                     settings.repairs = s.repairs;
                     return systems::kernelband(model, problem, std::move(judge), settings);
                   });
                 }});
  all.push_back({"stark",
                 [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::StarkSettings settings{.loop = loop};
                     settings.search.seed = s.seed;
                     settings.team.common = agents;
                     return systems::stark(model, problem, std::move(judge), settings);
                   });
                 },
                 false});
  all.push_back({"geak",
                 [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::GeakSettings settings{.loop = loop};
                     settings.search.seed = s.seed;
                     settings.team.common = agents;
                     return systems::geak(model, problem, std::move(judge), settings);
                   });
                 },
                 false});
  all.push_back({"greedy_refine", [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::GreedyRefineSettings settings{.loop = loop};
                     settings.search.seed = s.seed;
                     settings.rewriter.common = agents;
                     settings.repairs = s.repairs;
                     return systems::greedy_refine(model, problem, std::move(judge), settings);
                   });
                 }});
  all.push_back({"best_of_k", [](const Setting& s) {
                   return play(s, [&](auto model, auto problem, auto judge, auto agents, auto loop) {
                     systems::BestOfKSettings settings{.loop = loop};
                     settings.search.seed = s.seed;
                     settings.search.k = 1000;
                     settings.rewriter.common = agents;
                     settings.repairs = s.repairs;
                     return systems::best_of_k(model, problem, std::move(judge), settings);
                   });
                 }});
  return all;
}

/// Scores of a system over the seeds.
struct Total {
  double speedup = 1.0, low = 1.0, high = 1.0, kernels = 0.0, right = 0.0, measured = 0.0;
};

Total total_of(const Row& row, Setting setting, std::uint64_t seeds) {
  double sum = 0, squares = 0, kernels = 0, right = 0, measured = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    setting.seed = seed;
    const Score score = row.play(setting);
    sum += score.log_speedup;
    squares += score.log_speedup * score.log_speedup;
    kernels += score.kernels;
    right += score.right;
    measured += score.measured;
  }
  const double n = static_cast<double>(seeds), mean = sum / n;
  const double error = 1.96 * std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
  return {std::exp(mean), std::exp(mean - error), std::exp(mean + error),
          kernels / n,    right / kernels,        measured / n};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const std::uint64_t questions = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 60;
  for (const double insight : {0.0, 0.5}) {
    fmt::print(
        "\nA model that knows the bottleneck {:.0f} % of the time, {} questions, {} seeds (simulation)\n\n",
        100 * insight, questions, seeds);
    fmt::print(
        "| system | failures come back | inner trials | speedup (geometric mean) | 95 % | kernels | right | "
        "measured |\n|---|---|--:|--:|---|--:|--:|--:|\n");
    for (const Row& row : rows())
      for (const std::uint64_t inner : {0, 8})
        for (const std::size_t repairs : {0, 1}) {
          if (!row.repairs && repairs == 1) continue;
          const Total total = total_of(
              row, {.questions = questions, .insight = insight, .repairs = repairs, .inner = inner}, seeds);
          fmt::print("| {} | {} | {} | {:.2f} | {:.2f} to {:.2f} | {:.1f} | {:.0f} % | {:.0f} |\n", row.name,
                     !row.repairs   ? "its own way"
                     : repairs == 1 ? "yes"
                                    : "no",
                     inner, total.speedup, total.low, total.high, total.kernels, 100 * total.right,
                     total.measured);
          std::fflush(stdout);
        }
  }
  return 0;
}
