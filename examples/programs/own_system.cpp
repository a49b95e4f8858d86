// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A system of one's own in a file: a policy over moves that is new, the language model's rewriter and a host
// evaluator that are not. Here a fixed script answers, so that it runs without a key; with
// `ModelSet(read_model_file("models.json"))` in its place a real model does.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;

namespace {

/// The policy: rewrite the best kernel of two and mend whatever fails, at once and only once.
class MendFirst {
 public:
  using Proposal = Move;
  MendFirst() : ledger_({}, {.debugs = 1}) {}

  std::vector<Move> ask(std::size_t n) {
    return ledger_.ask(n, [this]() -> std::optional<Move> {
      for (std::size_t node = ledger_.tree().size(); node-- > 0;)
        if (ledger_.can_debug(node)) return ledger_.propose_debug(node);
      const std::optional<std::size_t> best = ledger_.best_expandable();
      if (!best) return std::nullopt;
      return ledger_.propose(*best, 0);
    });
  }
  void tell(std::span<const Observation<Move>> batch) {
    for (const Observation<Move>& one : batch) ledger_.tell(one);
  }

 private:
  MoveLedger ledger_;
};

/// In place of a model: a kernel that forgets the last elements, and the mended one. Written for this
/// example.
struct Script {
  ChatResult chat(const ChatRequest& request, std::stop_token) const {
    const std::string loop =
        "  float sum[8] = {};\n  std::int32_t i = 0;\n  for (; i + 8 <= n; i += 8)\n"
        "    for (int lane = 0; lane < 8; ++lane) sum[lane] += x[i + lane];\n  float all = 0;\n";
    const std::string rest = "  for (; i < n; ++i) all += x[i];\n";
    ChatResult result;
    result.reply.emplace();
    result.reply->text =
        "```cpp device\n#include <cstdint>\nextern \"C\" void total(std::int32_t n, const float* x, float* "
        "y) "
        "{\n" +
        loop + (request.role == "debugger" ? rest : "") +
        "  for (const float one : sum) all += one;\n  *y = all;\n}\n```\n";
    return result;
  }
};

constexpr const char* text = R"({
  "schema": 1, "name": "total", "function": "total",
  "kernel": {"device": {"text": "#include <cstdint>\nextern \"C\" void total(std::int32_t n, const float* x, float* y) {\n  float all = 0;\n  for (std::int32_t i = 0; i < n; ++i) all += x[i];\n  *y = all;\n}\n"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n", "init": "uniform", "low": 0, "high": 1},
                {"name": "y", "type": "f32", "size": "1", "role": "out", "tolerance": {"absolute": 1e-4, "relative": 1e-4}}],
  "shapes": [{"name": "even", "n": 8192}, {"name": "odd", "n": 1003}],
  "tunables": {}})";

}  // namespace

int main() {
  const Problem problem = parse_problem(text, ".");
  OptimizerOptions options;
  options.budget = std::make_shared<TrialBudget>(3);
  Optimizer search(MendFirst(), LlmRewriter(Script{}, problem, {.common = {.tunables = false}}),
                   HostEvaluator(problem, {.sandbox = Sandbox::none}), options);
  search.run();
  for (const auto& trial : search.trials())
    fmt::print("{}: {}\n", number(trial.outcome.id), to_string(trial.outcome.evaluation.verdict));
  if (search.best() != nullptr) fmt::print("best: trial {}\n", number(search.best()->outcome.id));
}
