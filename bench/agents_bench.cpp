// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a system does between two questions to a model, beside building and measuring: prompts, replies read,
// policy, loop. The model and the judge answer at once: docs/benchmarks/llm.md.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/systems/geak.hpp"
#include "kernelsearch/systems/greedy_refine.hpp"
#include "kernelsearch/systems/helion_llm.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/peak.hpp"
#include "kernelsearch/systems/stark.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;

namespace {

/// Processor time of the whole program: others may be using the machine.
double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Seconds between an answer and the next question, and from the start to the first one.
struct Gaps {
  double since = now();
  std::vector<double> seconds;
  std::size_t bytes = 0;  ///< of all questions
};

/// A kernel of 200 lines, 12 kB; each change adds a line before its end.
Problem large_problem() {
  Problem problem = scripted::problem_of_words();
  std::string body;
  for (int i = 0; i < 200; ++i)
    body += fmt::format("  acc[{:>3}] += tile[{:>3}][threadIdx.x] * row[{:>3}];  // step\n", i, i, i);
  problem.kernel.regions.device = "extern \"C\" void f() {\n  base\n" + body + "}\n";
  return problem;
}

/// Writes what is asked for without thinking.
ChatResult answered(const ChatRequest& request, std::uint64_t count) {
  using scripted::RuleChat;
  const std::string text = scripted::text_of(request);
  if (request.role == "reflector") return RuleChat::replied("There is a bug: remove it.");
  if (request.role == "config_search") {
    std::string configs;
    for (std::uint64_t i = 0; i < 15; ++i)
      configs += fmt::format("{}{{\"block\": {}, \"unroll\": {}}}", i == 0 ? "" : ",",
                             1 << ((count * 15 + i) % 7), 1 + (count + i) % 4);
    return RuleChat::replied("{\"configs\": [" + configs + "]}");
  }
  if (request.role == "transformer") {
    std::string code = scripted::SkilledModel::block_after(text, "## device");
    code.insert(code.rfind('}'), fmt::format("  change {};\n", count));
    return RuleChat::replied("```cpp\n" + code + "```\n");
  }
  std::string code = scripted::SkilledModel::block_after(text, "# Kernel to change");
  if (request.role == "planner") {
    const std::size_t end = code.rfind('}');
    code.insert(end, "<<<IMPROVE ENDS>>>\n");
    code.insert(code.rfind('\n', end - 2) + 1, "<<<IMPROVE BEGINS>>>\n");
    return RuleChat::replied("```cpp device\n" + code + "```\n\n1. Change it.\n");
  }
  const std::size_t anchor = code.rfind("<<<IMPROVE ENDS>>>");
  code.insert(anchor == std::string::npos ? code.rfind('}') : anchor, fmt::format("  change {};\n", count));
  return RuleChat::replied("```cpp device\n" + code + "```\n");
}

/// Every fifth kernel is wrong; the others have what a real measurement has.
struct Judge {
  std::shared_ptr<std::uint64_t> count = std::make_shared<std::uint64_t>(0);
  Evaluation evaluate(const Candidate&, const EvaluationContext&) const {
    if (++*count % 5 == 0) return Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2", 0.5);
    Evaluation evaluation = Evaluation::succeeded(1e-3 / static_cast<double>(*count));
    for (int i = 0; i < 5; ++i) {
      ShapeMeasurement shape;
      shape.shape = "shape" + std::to_string(i);
      shape.samples.assign(200, 1e-3);
      shape.median = 1e-3;
      shape.speedup = Speedup{2.0, {1.9, 2.1}, 200};
      evaluation.measurement.shapes.push_back(shape);
    }
    for (int i = 0; i < 40; ++i) evaluation.features.set("feature_" + std::to_string(i), i);
    return evaluation;
  }
};

template <class Make>
void play(const char* name, std::size_t questions, Make make) {
  auto gaps = std::make_shared<Gaps>();
  std::stop_source stop;
  const scripted::RuleChat chat(
      scripted::RuleChat::Rule([gaps, questions, &stop](const ChatRequest& request) {
        gaps->seconds.push_back(now() - gaps->since);
        for (const Message& message : request.messages) gaps->bytes += message.text.size();
        if (gaps->seconds.size() > questions) stop.request_stop();
        const ChatResult result = gaps->seconds.size() > questions
                                      ? ChatResult::failed(ChatFailure::budget, "all questions are asked")
                                      : answered(request, gaps->seconds.size());
        gaps->since = now();
        return result;
      }));
  const Problem problem = large_problem();
  OptimizerOptions loop;
  loop.stop = stop.get_token();
  gaps->since = now();
  make(AnyChatModel(chat), problem, Judge{}, loop).run();
  if (gaps->seconds.size() < 3) throw std::runtime_error(std::string(name) + " asks nothing");
  const double first = gaps->seconds.front();
  std::vector<double> rest(gaps->seconds.begin() + 1, gaps->seconds.end());
  const double last = rest.back();
  std::sort(rest.begin(), rest.end());
  fmt::print(
      "{:<14} {:>4} questions of {:>5.1f} kB: first {:.2f} ms, median {:.2f}, 95 % {:.2f}, last {:.2f}\n",
      name, gaps->seconds.size(),
      static_cast<double>(gaps->bytes) * 1e-3 / static_cast<double>(gaps->seconds.size()), first * 1e3,
      rest[rest.size() / 2] * 1e3, rest[rest.size() * 95 / 100] * 1e3, last * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t questions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const std::string only = argc > 2 ? argv[2] : "";
  const double begun = now();
  const PromptLibrary prompts;
  const double parsed = now();
  const std::vector<Strategy> strategies = read_strategies("cuda");
  const TransformationLibrary library;
  fmt::print("once a run: {} prompts read in {:.2f} ms, {} strategies and all transformations in {:.2f} ms\n",
             prompts.names().size(), (parsed - begun) * 1e3, strategies.size(), (now() - parsed) * 1e3);
  AgentOptions agents;
  agents.tunables = false;
  const auto over_kernels = [&](const char* name, auto settings, auto make) {
    if (!only.empty() && only != name) return;
    play(name, questions, [&](auto model, auto problem, auto judge, auto loop) {
      settings.loop = loop;
      return make(model, problem, judge, settings);
    });
  };
  {
    systems::StarkSettings settings;
    settings.team.common = agents;
    over_kernels("stark", settings, [](auto... a) { return systems::stark(a...); });
  }
  {
    systems::GeakSettings settings;
    settings.team.common = agents;
    over_kernels("geak", settings, [](auto... a) { return systems::geak(a...); });
  }
  {
    systems::KernelBandSettings settings;
    settings.rewriter.common = agents;
    over_kernels("kernelband", settings, [](auto... a) { return systems::kernelband(a...); });
  }
  {
    systems::GreedyRefineSettings settings;
    settings.rewriter.common = agents;
    over_kernels("greedy_refine", settings, [](auto... a) { return systems::greedy_refine(a...); });
  }
  over_kernels("peak", systems::PeakSettings{.tuning = {.max_trials = 1}},
               [](auto... a) { return systems::peak(a...); });
  over_kernels("helion_llm", systems::HelionLlmSettings{},
               [](auto... a) { return systems::helion_llm(a...); });
}
