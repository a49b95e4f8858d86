// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/report_extras.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "evaluator/host/peaks.hpp"
#include "kernelsearch/llm/exchange_folder.hpp"
#include "run_models.hpp"
#include "stored_options.hpp"

namespace kernelsearch {
namespace {

ReportExchange report_exchange(const ChatRequest& request, const ChatResult& result) {
  ReportExchange exchange{request.role, request.model, {}, {}, {}, 0, 0, 0.0, {}};
  for (const Message& message : request.messages)
    exchange.question.emplace_back(to_string(message.speaker), message.text);
  const TokenUsage& usage = result ? result.reply->usage : result.error.usage;
  exchange.input_tokens = usage.input;
  exchange.output_tokens = usage.output;
  if (result) {
    exchange.reply = result.reply->text;
    exchange.seconds = result.reply->seconds;
    if (!result.reply->model.empty()) exchange.model = result.reply->model;
  } else {
    exchange.error = std::string(to_string(result.error.failure)) + ": " + result.error.text;
  }
  return exchange;
}

/// The run's own folder, where one was named that, else the recording that it was asked of.
std::filesystem::path folder_of(const RunStore& store, RunId run, const RunModelOptions& models) {
  std::error_code error;
  const std::filesystem::path own = models.record.empty() ? detail::exchanges_of(store.file(), number(run))
                                                          : std::filesystem::path(models.record);
  if (std::filesystem::is_directory(own, error)) return own;
  return models.replay;
}

}  // namespace

ReportExtras report_extras(const RunStore& store, RunId run) {
  ReportExtras extras;
  const detail::StoredOptions stored = detail::decode_options(store.run(run));
  if (const std::filesystem::path folder = folder_of(store, run, stored.options.models); !folder.empty())
    ExchangeFolder(folder.string())
        .each_question([&extras](const ChatRequest& request, const ChatResult& result) {
          extras.exchanges.push_back(report_exchange(request, result));
        });
  extras.peaks = detail::read_peaks(stored.peaks);
  return extras;
}

}  // namespace kernelsearch
