// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How well attribution tells what a method earned: a host kernel with three methods of known effect (0 %,
// 3 %, 30 %) and its three ablations, really compiled, judged and compared with PairedWithParent, over and
// over: attribution_bench [--repeats N] [--load THREADS] [--json FILE]. Results:
// docs/benchmarks/attribution.md.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/policy/attribution.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;
using nlohmann::json;

namespace {

// One chain in which every step waits for the one before, so that time is the number of steps times the
// latency of a multiplication, a shift and an exclusive or: the effects are those of counting. Without a
// method the kernel takes further steps whose result it throws away (30 % and 3 % of them), or the same steps
// by other instructions (0 %).
constexpr const char* kernel_source = R"(
constexpr int steps = 40000;
static inline unsigned step(unsigned v) { v *= 2654435761u; return v ^ (v >> 15); }
static inline unsigned run(unsigned v, int count) {
#if KEEP_NOTHING
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) v = step(v);
#else
  unsigned idle = v;
#pragma GCC unroll 1
  for (int i = 0; i < count; ++i) {
    v = step(v);
    idle += i;  // beside the chain: it costs instructions, not time
    asm volatile("" : "+r"(idle));
  }
#endif
  return v;
}
extern "C" void chain(int n, const unsigned* x, unsigned* y) {
  unsigned none = 0, before = 0;
  asm volatile("" : "+r"(none));  // 0, but the compiler does not know
  for (int i = 0; i < n; ++i) {
    unsigned v = run(x[i] ^ before, steps), more = v;
    y[i] = v;
    if (!KEEP_THIRTY) more = run(more, steps * 30 / 100);
    if (!KEEP_THREE) more = run(more, steps * 3 / 100);
    before = more & none;  // the next chain waits for this one
  }
}
)";

constexpr const char* problem_text = R"json({
  "schema": 1, "name": "chain", "backend": "host", "function": "chain",
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "u32", "size": "n", "low": 0, "high": 4000000000},
                {"name": "y", "type": "u32", "size": "n", "role": "out"}],
  "kernel": {"device": {"text": "// the one above"}},
  "tunables": {"KEEP_NOTHING": [0, 1], "KEEP_THREE": [0, 1], "KEEP_THIRTY": [0, 1]},
  "default": {"KEEP_NOTHING": 1, "KEEP_THREE": 1, "KEEP_THIRTY": 1},
  "shapes": [{"name": "four", "n": 4}],
  "reference": {"function": "chain_reference", "source": {"text": "void chain_reference(int n, const std::uint32_t* x, std::uint32_t* y) { for (int i = 0; i < n; ++i) { std::uint32_t v = x[i]; for (int k = 0; k < 40000; ++k) { v *= 2654435761u; v ^= v >> 15; } y[i] = v; } }"}},
  "build": {"compiler": "g++", "flags": ["-O2"]}})json";

struct MethodKnown {
  const char* name;
  double effect;
  double allowed;  ///< of the estimate, where the interval misses the truth
};
constexpr std::array<MethodKnown, 3> methods{
    {{"0 %", 0.0, 0.005}, {"3 %", 0.03, 0.01}, {"30 %", 0.30, 0.01}}};

struct Ablated {
  Attribution attribution;
  Contribution contribution = Contribution::unknown;
  double noise = 0, seconds = 0;
  double apart = 0;  ///< the effect by the two measurements, made at different moments

  /// The known effect is that of the chains; the call around them, some 0.02 % of the time, is not in it.
  [[nodiscard]] bool holds(double effect) const {
    constexpr double around = 0.0005;
    return attribution.interval.low <= effect + around && effect - around <= attribution.interval.high;
  }
  /// The rule of the document: the right answer to "does it contribute", and the size.
  [[nodiscard]] bool sign_right(const MethodKnown& m) const {
    return attribution.paired &&
           (m.effect > 0 ? contribution == Contribution::yes : contribution == Contribution::no);
  }
  [[nodiscard]] bool size_right(const MethodKnown& m) const {
    return attribution.paired && (holds(m.effect) || std::abs(attribution.effect - m.effect) <= m.allowed);
  }
};

/// What other programs do to a machine: bursts of work through more memory than the caches hold.
class Load {
 public:
  explicit Load(int threads) {
    for (int t = 0; t < threads; ++t)
      workers_.emplace_back([t](const std::stop_token& stop) {
        Rng rng(static_cast<std::uint64_t>(t));
        std::vector<std::uint64_t> memory(std::size_t{1} << 22);
        while (!stop.stop_requested()) {
          const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5 + rng.below(200));
          while (std::chrono::steady_clock::now() < until)
            for (int i = 0; i < 4096; ++i) memory[rng.below(memory.size())] += static_cast<std::uint64_t>(i);
          std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(60)));
        }
      });
  }

 private:
  std::vector<std::jthread> workers_;
};

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

Outcome outcome_of(std::uint64_t id, std::vector<TrialId> parents, Evaluation evaluation) {
  Outcome outcome;
  outcome.id = TrialId{id};
  outcome.parents = std::move(parents);
  outcome.evaluation = std::move(evaluation);
  return outcome;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  int repeats = 100, load = 0;
  std::string file;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--repeats") repeats = std::atoi(argv[i + 1]);
    if (option == "--load") load = std::atoi(argv[i + 1]);
    if (option == "--json") file = argv[i + 1];
  }
  Problem problem = parse_problem(problem_text, ".");
  problem.kernel.regions.device = kernel_source;
  HostOptions options;
  const auto scratch = std::filesystem::temp_directory_path() / fmt::format("attribution-{}", getpid());
  options.cache_directory = scratch;
  options.pairs.when = Pairing::never;
  options.sampling.budget_seconds = 0.1;
  const HostEvaluator about(problem, options);
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const auto candidate = [&kernel](std::size_t without) {
    Config config = kernel->space.default_config();
    if (without < methods.size()) config.indices[without] = 0;
    return Candidate{kernel, config};
  };

  const Load work(load);
  std::vector<std::array<Ablated, 3>> results;
  json record = json::array();
  const double begin = now();
  for (int r = 0; r < repeats; ++r) {
    PairedWithParent judge{HostEvaluator(problem, options)};
    EvaluationContext context;
    context.trial = TrialId{0};
    const Outcome champion = outcome_of(0, {}, judge.evaluate(candidate(methods.size()), context));
    if (!champion.ok()) {
      fmt::print(stderr, "the champion is {}: {}\n", to_string(champion.evaluation.verdict),
                 champion.evaluation.reason);
      return 1;
    }
    auto& row = results.emplace_back();
    json entry = {{"load", load_average()}, {"methods", json::array()}};
    for (std::size_t m = 0; m < methods.size(); ++m) {
      context.trial = TrialId{m + 1};
      context.parents = {TrialId{0}};
      const double from = now();
      const Outcome ablated = outcome_of(m + 1, context.parents, judge.evaluate(candidate(m), context));
      Ablated& result = row[m];
      result.seconds = now() - from;
      result.attribution = attribution_of(champion, ablated);
      result.noise = noise_threshold(result.attribution, champion.evaluation.measurement);
      result.contribution = contributes(result.attribution, result.noise);
      const Attribution& a = result.attribution;
      result.apart = ablated.evaluation.measurement.seconds / champion.evaluation.measurement.seconds - 1;
      entry["methods"].push_back({{"known", methods[m].effect},
                                  {"effect", a.effect},
                                  {"low", a.interval.low},
                                  {"high", a.interval.high},
                                  {"paired", a.paired},
                                  {"noise", result.noise},
                                  {"contributes", to_string(result.contribution)},
                                  {"verdict", to_string(ablated.evaluation.verdict)},
                                  {"apart", result.apart},
                                  {"seconds", result.seconds}});
      if (!ablated.ok() || !a.paired)
        fmt::print(stderr, "{} {} {}\n", to_string(ablated.evaluation.verdict), ablated.evaluation.reason,
                   ablated.evaluation.provenance);
    }
    record.push_back(std::move(entry));
  }
  const double spent = now() - begin;

  const auto count = [&](auto&& holds) { return std::count_if(results.begin(), results.end(), holds); };
  fmt::print("{} on {}, {} repeats in {:.0f} s, load of {} threads\n\n", about.toolchain_id(),
             about.device_name(), repeats, spent, load);
  fmt::print(
      "| effect | sign right | size right | both | interval holds it | mean of estimates | their 5 to 95 % | "
      "half width | noise | measured apart, 5 to 95 % |\n|---|---|---|---|---|---|---|---|---|---|\n");
  json summary = json::array();
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const MethodKnown& known = methods[m];
    std::vector<double> effects, apart;
    double mean = 0, width = 0, noise = 0;
    for (const auto& row : results) {
      effects.push_back(row[m].attribution.effect);
      apart.push_back(row[m].apart);
      mean += row[m].attribution.effect / repeats;
      width += (row[m].attribution.interval.high - row[m].attribution.interval.low) / 2 / repeats;
      noise += row[m].noise / repeats;
    }
    std::sort(effects.begin(), effects.end());
    std::sort(apart.begin(), apart.end());
    const auto sign = count([&](const auto& row) { return row[m].sign_right(known); });
    const auto size = count([&](const auto& row) { return row[m].size_right(known); });
    const auto both =
        count([&](const auto& row) { return row[m].sign_right(known) && row[m].size_right(known); });
    const auto holds = count([&](const auto& row) { return row[m].holds(known.effect); });
    fmt::print(
        "| {} | {} | {} | {} | {} | {:.3f} % | {:.2f} to {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} to {:.2f} % "
        "|\n",
        known.name, sign, size, both, holds, 100 * mean, 100 * effects[effects.size() / 20],
        100 * effects[effects.size() - 1 - effects.size() / 20], 100 * width, 100 * noise,
        100 * apart[apart.size() / 20], 100 * apart[apart.size() - 1 - apart.size() / 20]);
    summary.push_back({{"known", known.effect},
                       {"sign_right", sign},
                       {"size_right", size},
                       {"both", both},
                       {"interval_holds", holds}});
  }
  const auto all = count([](const auto& row) {
    for (std::size_t m = 0; m < methods.size(); ++m)
      if (!row[m].sign_right(methods[m]) || !row[m].size_right(methods[m])) return false;
    return true;
  });
  fmt::print("\nall three right: {} of {}\n", all, repeats);
  if (!file.empty())
    std::ofstream(file) << json{{"benchmark", "attribution"},
                                {"device", about.device_id()},
                                {"toolchain", about.toolchain_id()},
                                {"repeats", repeats},
                                {"load_threads", load},
                                {"seconds", spent},
                                {"all_right", all},
                                {"methods", summary},
                                {"runs", record}}
                               .dump(1)
                        << "\n";
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  return 0;
}
