// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/ping_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kernelsearch {

PingReport ping_model(const Endpoint& endpoint, HttpOptions options, std::stop_token stop) {
  options.retry.attempts = 1;
  Endpoint quick = endpoint;
  quick.timeouts.total = std::min(quick.timeouts.total, 60.0);
  ChatRequest request;
  request.role = "ping";
  request.max_tokens = 256;  // thinking models use some up before they say the word
  request.messages.push_back({Speaker::user, "Reply with the single word: ready", false});
  PingReport report;
  report.result = HttpChatModel(std::move(quick), std::move(options)).chat(request, std::move(stop));
  report.answered = static_cast<bool>(report.result);
  if (!report.answered) {
    report.text = fmt::format("{}: {} ({})", endpoint.name, report.result.error.text,
                              to_string(report.result.error.failure));
    return report;
  }
  const ChatReply& reply = *report.result.reply;
  report.text = fmt::format("{}: {} answers in {:.2f} s, {} tokens in, {} out", endpoint.name,
                            reply.model.empty() ? endpoint.model : reply.model, reply.seconds,
                            reply.usage.input, reply.usage.output);
  if (endpoint.prices) {
    report.money = endpoint.prices->cost(reply.usage);
    report.text += fmt::format(", {:.6f} paid", report.money);
  } else {
    report.text += ", no prices in the model file";
  }
  if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter)
    report.text += fmt::format("; it would not say the word ({})", to_string(reply.finish));
  return report;
}

}  // namespace kernelsearch
