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

}  // namespace

ReportExtras report_extras(const RunStore& store, RunId run, const std::filesystem::path& exchanges) {
  ReportExtras extras;
  const std::filesystem::path folder =
      exchanges.empty() ? detail::exchanges_of(store.file(), number(run)) : exchanges;
  std::error_code error;
  if (std::filesystem::is_directory(folder, error))
    ExchangeFolder(folder.string())
        .each_question([&extras](const ChatRequest& request, const ChatResult& result) {
          extras.exchanges.push_back(report_exchange(request, result));
        });
  extras.peaks = detail::read_peaks(detail::decode_options(store.run(run)).peaks);
  return extras;
}

}  // namespace kernelsearch
