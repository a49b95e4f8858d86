// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/report_extras.hpp"

#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "evaluator/host/peaks.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/exchange_folder.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "run_models.hpp"
#include "stored_options.hpp"

namespace kernelsearch {
namespace {

/// The user's own model file, for its prices; empty where there is none that can be read. The file that the
/// store names is not read.
ModelFile own_models() {
  try {
    return read_model_file(find_model_file());
  } catch (const ConfigError&) {  // then nobody knows what it cost
    return {};
  }
}

ReportExchange report_exchange(const ChatRequest& request, const ChatResult& result, const std::string& kept,
                               const ModelFile& models) {
  ReportExchange exchange;
  exchange.role = request.role;
  exchange.model = request.model;
  exchange.kept = kept;
  for (const Message& message : request.messages)
    exchange.question.emplace_back(to_string(message.speaker), message.text);
  const TokenUsage& usage = result ? result.reply->usage : result.error.usage;
  exchange.input_tokens = usage.input;
  exchange.output_tokens = usage.output;
  if (const Endpoint* model = models.find(request.model); model != nullptr && model->prices)
    exchange.money = model->prices->cost(usage);
  if (result) {
    exchange.reply = result.reply->text;
    exchange.seconds = result.reply->seconds;
    if (!result.reply->model.empty()) exchange.model = result.reply->model;
  } else {
    exchange.error = std::string(to_string(result.error.failure)) + ": " + result.error.text;
  }
  return exchange;
}

std::vector<ReportCheckpoint> report_checkpoints(const RunStore& store, RunId run) {
  std::vector<ReportCheckpoint> checkpoints;
  try {
    const RunCheckpoints known(store, run);
    const CheckpointTree& tree = known.tree();
    for (const Checkpoint& one : tree.list()) {
      ReportCheckpoint checkpoint{
          one.name, one.parent, one.trial, one.transformation, one.note, one.closed, &one == tree.current(),
          {}};
      for (const CheckpointTree::Branch& branch : tree.branches())
        if (branch.tip == one.name) checkpoint.tip_of.push_back(branch.name);
      checkpoints.push_back(std::move(checkpoint));
    }
  } catch (const std::exception&) {  // of a workflow that is not there any more, or a stranger's store
    checkpoints.clear();
  }
  return checkpoints;
}

std::vector<ReportMemory> report_memory(const RunStore& store, const RunRow& row, std::int64_t until) {
  std::vector<ReportMemory> memory;
  if (until <= 0) return memory;
  for (StoredChange& one : store.changes({.problem = row.info.problem, .until = until, .limit = 50}))
    memory.push_back({one.number, std::move(one.change.strategies), std::move(one.change.device),
                      std::move(one.change.limiter), std::move(one.change.at), one.change.verdict,
                      one.change.effect});
  return memory;
}

}  // namespace

ReportExtras report_extras(const RunStore& store, RunId run, const std::filesystem::path& exchanges) {
  ReportExtras extras;
  const std::filesystem::path folder =
      exchanges.empty() ? detail::exchanges_of(store.file(), number(run)) : exchanges;
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) {
    const ModelFile models = own_models();
    ExchangeFolder(folder.string())
        .each_question([&](const ChatRequest& request, const ChatResult& result, const std::string& kept) {
          extras.exchanges.push_back(report_exchange(request, result, kept, models));
        });
  }
  const RunRow row = store.run(run);
  const detail::StoredOptions options = detail::decode_options(row);
  extras.peaks = detail::read_peaks(options.peaks);
  extras.checkpoints = report_checkpoints(store, run);
  extras.memory = report_memory(store, row, options.memory);
  return extras;
}

}  // namespace kernelsearch
