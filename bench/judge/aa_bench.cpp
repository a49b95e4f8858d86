// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>
#include <fmt/core.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "comparing_tools.hpp"
#include "hostile/honest_kernels.hpp"
#include "judge_bench.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace judge_bench {
namespace counted {

// The kernel of `ab` once more, to count what it does.
unsigned long steps_done = 0;
#define COUNT_A_STEP() ++steps_done
#define EXTRA extra
#define chain chain_that_counts
int extra = 0;
#include "chain.inc"
#undef chain
#undef EXTRA
#undef COUNT_A_STEP

}  // namespace counted

namespace {

using namespace kernelsearch;

constexpr int extra_percent = 3;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double counted_steps(int extra) {
  const std::array<unsigned, 4> x{1, 2, 3, 4};
  std::array<unsigned, 4> y{};
  counted::extra = extra;
  counted::steps_done = 0;
  counted::chain_that_counts(4, x.data(), y.data());
  return static_cast<double>(counted::steps_done);
}

constexpr const char* chain_problem = R"json({
  "schema": 1, "name": "chain", "backend": "host", "function": "chain",
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "u32", "size": "n", "low": 0, "high": 4000000000},
                {"name": "y", "type": "u32", "size": "n", "role": "out"}],
  "kernel": {"device": {"text": "// chain.inc"}},
  "shapes": [{"name": "eight", "n": 8}],
  "reference": {"function": "chain_reference", "source": {"text": "void chain_reference(int n, const std::uint32_t* x, std::uint32_t* y) { for (int i = 0; i < n; ++i) { std::uint32_t v = x[i]; for (int k = 0; k < 1000; ++k) { v *= 2654435761u; v ^= v >> 15; } y[i] = v; } }"}},
  "build": {"compiler": "g++", "flags": ["-O2"]}})json";

Candidate with_code(const Problem& problem, std::string code) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = std::move(code);
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

/// A built kernel in this process, with arrays of its own, for tools that time in process.
class Loaded {
 public:
  Loaded(const Problem& problem, const std::filesystem::path& library) : shape_(problem.shapes.back()) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const symbol = handle != nullptr ? dlsym(handle, "kernelsearch_entry") : nullptr;
    if (symbol == nullptr)
      kernelsearch::detail::raise<ConfigError>("a kernel cannot be loaded", library.string(), dlerror());
    entry_ = reinterpret_cast<void (*)(void* const*)>(symbol);
    Rng rng(1);
    for (const Argument& argument : problem.arguments) {
      const std::size_t bytes =
          argument.is_array ? element_count(argument, shape_) * argument.element_bytes() : 8;
      // aligned as the judge's arrays are
      storage_.emplace_back(bytes + 64);
      std::byte* at = storage_.back().data();
      at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
      if (!argument.is_array) {
        const std::int64_t value = std::get<std::int64_t>(scalar_value(argument, shape_));  // all are i32
        std::memcpy(at, &value, sizeof value);
      } else if (argument.role != Role::out) {
        fill_input(at_shape(argument, shape_), element_count(argument, shape_), rng, at);
      }
      pointers_.push_back(at);
    }
  }
  void operator()() const { entry_(pointers_.data()); }

 private:
  Shape shape_;
  void (*entry_)(void* const*) = nullptr;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<void*> pointers_;
};

/// Two kernels to compare, and what is known of them.
struct Rivals {
  std::string name;
  std::unique_ptr<HostEvaluator> evaluator;
  Candidate candidate, champion;
  std::unique_ptr<Loaded> candidate_here, champion_here;
};

std::filesystem::path library_of(HostEvaluator& evaluator, const Candidate& candidate) {
  const auto staged = evaluator.build(candidate, {});
  if (!staged.artifact)
    kernelsearch::detail::raise<ConfigError>("a kernel of the bench does not build", staged.evaluation.reason,
                                             "mend it");
  return staged.artifact->library;
}

Rivals rivals(std::string name, const Problem& problem, const HostOptions& options, const std::string& one,
              const std::string& other) {
  Rivals r;
  r.name = std::move(name);
  r.evaluator = std::make_unique<HostEvaluator>(problem, options);
  r.candidate = with_code(problem, one);
  r.champion = with_code(problem, other);
  r.candidate_here = std::make_unique<Loaded>(problem, library_of(*r.evaluator, r.candidate));
  r.champion_here = std::make_unique<Loaded>(problem, library_of(*r.evaluator, r.champion));
  return r;
}

/// What one tool said over all runs.
struct Tally {
  std::string tool;
  int runs = 0, differ = 0, right_way = 0, no_answer = 0;
  std::vector<double> ratios;
  std::map<std::string, int> claims;  ///< of each kernel
  double seconds = 0;

  void add(const std::string& kernel, const Said& said) {
    ++runs;
    if (!said.answered) {
      ++no_answer;
      return;
    }
    differ += said.differs;
    claims[kernel] += said.differs;
    right_way += said.differs && said.ratio > 1;
    ratios.push_back(said.ratio);
  }
};

Said said_by_judge(Rivals& r, const PairOptions& pairs) {
  try {
    const Speedup speedup = r.evaluator->compare(r.candidate, r.champion, pairs);
    return {speedup.ratio, speedup.interval.low > 1 || speedup.interval.high<1, speedup.pairs> 0};
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}: {}\n", r.name, error.what());
    return {};
  }
}

}  // namespace

int compare_kernels(const Arguments& arguments, bool truly_different) {
  const int runs = arguments.number("runs", 100), load = arguments.number("load", 0);
  const Scratch scratch;
  print_machine(load);
  HostOptions options = honest::light_options(scratch.path());
  options.core = measured_core_number();
  PairOptions pairs = options.pairs;
  pairs.budget_seconds = arguments.real("budget", pairs.budget_seconds);
  pairs.rounds =
      static_cast<std::size_t>(arguments.number("rounds", 6));  // as many as compare() without limits takes

  std::vector<Rivals> all;
  const Problem chain = parse_problem(chain_problem, ".");
  const std::string code =
      honest::text_of(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "bench" / "judge" / "chain.inc");
  if (truly_different) {
    const double plain = counted_steps(0), more = counted_steps(extra_percent);
    fmt::print("{} steps against {}: {:.2f} % more\n\n", more, plain, 100 * (more / plain - 1));
    if (std::abs(more / plain - (1 + 0.01 * extra_percent)) > 1e-9)
      kernelsearch::detail::raise<ConfigError>("the kernels do not differ by what they should",
                                               fmt::format("{} and {} steps", plain, more), "mend chain.inc");
    all.push_back(
        rivals("chain", chain, options, code, fmt::format("#define EXTRA {}\n{}", extra_percent, code)));
  } else {
    const std::string twin = "\n// the same once more\n";
    all.push_back(rivals("chain", chain, options, code, code + twin));
    for (const char* name : {"dot_restrict", "matmul_templates", "softmax_plain", "gather_plain"}) {
      const auto kernel = honest::read_kernel(hostile_folder() / "honest" / (std::string(name) + ".cpp"));
      all.push_back(rivals(name, honest::problem_of(kernel, hostile_folder()), options, kernel.source,
                           kernel.source + twin));
    }
  }

  const BusyLoops loops(load);
  const double budget = pairs.budget_seconds;
  std::vector<Tally> tallies;
  const auto tally = [&](const std::string& tool, const std::function<Said(Rivals&)>& compare) {
    Tally& result = tallies.emplace_back();
    result.tool = tool;
    for (int i = 0; i < runs; ++i) {
      Rivals& r = all[static_cast<std::size_t>(i) % all.size()];
      const double begin = now();
      result.add(r.name, compare(r));
      result.seconds += now() - begin;
    }
  };
  tally("kernelsearch", [&](Rivals& r) { return said_by_judge(r, pairs); });
  {
    // The other tools run the kernels in this process: on the same core, as their manuals advise.
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(measured_core_number()), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (const Tool& tool : comparing_tools())
      tally(tool.name, [&](Rivals& r) { return tool.compare(*r.candidate_here, *r.champion_here, budget); });
    sched_setaffinity(0, sizeof before, &before);
  }
  for (const auto& why : tools_left_out()) fmt::print("left out: {}\n", why);

  fmt::print(
      "| tool | runs | {} | no answer | median ratio | 5 to 95 % | seconds a run "
      "|\n|---|---|---|---|---|---|---|\n",
      truly_different ? "3 % found" : "claim a difference");
  for (Tally& t : tallies) {
    std::sort(t.ratios.begin(), t.ratios.end());
    const auto at = [&](double q) {
      return t.ratios.empty()
                 ? 0.0
                 : t.ratios[static_cast<std::size_t>(q * static_cast<double>(t.ratios.size() - 1))];
    };
    fmt::print("| {} | {} | {} | {} | {:.4f} | {:.4f} to {:.4f} | {:.2f} |\n", t.tool, t.runs,
               truly_different ? t.right_way : t.differ, t.no_answer, at(0.5), at(0.05), at(0.95),
               t.seconds / std::max(runs, 1));
  }
  if (!truly_different) {
    fmt::print("\n| claims of |");
    for (const Rivals& r : all) fmt::print(" {} |", r.name);
    fmt::print("\n|---|");
    for (std::size_t i = 0; i < all.size(); ++i) fmt::print("---|");
    for (Tally& t : tallies) {
      fmt::print("\n| {} |", t.tool);
      for (const Rivals& r : all) fmt::print(" {} |", t.claims[r.name]);
    }
    fmt::print("\n");
  }
  // Of ours at most 5 of 100 equal ones may differ, and at least 90 of 100 different ones must.
  const Tally& ours = tallies.front();
  const bool good = truly_different ? 100 * ours.right_way >= 90 * runs : 100 * ours.differ <= 5 * runs;
  fmt::print("\n{}\n", good ? "as it should be" : "NOT as it should be");
  return good ? 0 : 1;
}

}  // namespace judge_bench
