// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/ledger.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kernelsearch {
namespace {

using json = nlohmann::ordered_json;

json to_json(const Spending& one) {
  return {{"calls", one.calls},
          {"failed", one.failed},
          {"replayed", one.replayed},
          {"attempts", one.attempts},
          {"tokens",
           {{"input", one.usage.input},
            {"output", one.usage.output},
            {"cached", one.usage.cached},
            {"cache_written", one.usage.cache_written},
            {"reasoning", one.usage.reasoning}}},
          {"money", one.money},
          {"replayed_money", one.replayed_money},
          {"seconds", one.seconds}};
}

std::string line(std::string_view role, std::string_view model, const Spending& one) {
  return fmt::format("{:<12} {:<20} {:>6} {:>6} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10.4f} {:>8.1f}\n", role,
                     model, one.calls, one.failed, one.replayed, one.usage.input, one.usage.cached,
                     one.usage.output, one.usage.reasoning, one.money,
                     one.calls ? one.seconds / static_cast<double>(one.calls) : 0.0);
}

}  // namespace

Spending& Spending::operator+=(const Spending& other) {
  calls += other.calls;
  failed += other.failed;
  replayed += other.replayed;
  attempts += other.attempts;
  usage.input += other.usage.input;
  usage.output += other.usage.output;
  usage.cached += other.usage.cached;
  usage.cache_written += other.usage.cache_written;
  usage.reasoning += other.usage.reasoning;
  money += other.money;
  replayed_money += other.replayed_money;
  seconds += other.seconds;
  return *this;
}

Ledger::Estimate Ledger::estimate(const ChatRequest& request, const std::optional<Prices>& prices) {
  std::size_t characters = request.json_schema.size();
  for (const Message& message : request.messages) characters += message.text.size() + 12;  // its frame
  TokenUsage most;
  most.input = (characters + 2) / 3;
  most.output = request.max_tokens;
  Estimate estimate{most.total(), 0.0};
  if (prices) {
    // Writing to a provider's cache may cost more than plain input.
    Prices dearest = *prices;
    dearest.input = std::max(dearest.input, dearest.cache_written);
    estimate.money = dearest.cost(most);
  }
  return estimate;
}

Result<void, std::string> Ledger::reserve(const Estimate& estimate, bool priced) {
  const std::lock_guard lock(mutex_);
  const Spending spent = total_locked();
  if (limits_.calls != 0 && spent.calls + reserved_calls_ + 1 > limits_.calls)
    return fmt::format("the budget of {} calls is used up; raise it to go on", limits_.calls);
  if (limits_.tokens != 0 && spent.usage.total() + reserved_tokens_ + estimate.tokens > limits_.tokens)
    return fmt::format(
        "the budget of {} tokens could be passed: {} spent, {} reserved by calls under way, {} more at most; "
        "raise it, "
        "or ask for shorter replies",
        limits_.tokens, spent.usage.total(), reserved_tokens_, estimate.tokens);
  if (limits_.money != 0.0) {
    if (!priced)
      return std::string("a budget in money needs the model's prices; write them in the model file");
    if (spent.money + reserved_money_ + estimate.money > limits_.money)
      return fmt::format(
          "the budget of {:.4f} could be passed: {:.4f} spent, {:.4f} reserved by calls under way, {:.4f} "
          "more at "
          "most; raise it, or ask for shorter replies",
          limits_.money, spent.money, reserved_money_, estimate.money);
  }
  ++reserved_calls_;
  reserved_tokens_ += estimate.tokens;
  reserved_money_ += estimate.money;
  return {};
}

void Ledger::settle(const Estimate& estimate, std::string_view role, std::string_view model,
                    const ChatResult& result, double seconds, const std::optional<Prices>& prices) {
  const std::lock_guard lock(mutex_);
  --reserved_calls_;
  reserved_tokens_ -= estimate.tokens;
  reserved_money_ = reserved_calls_ == 0 ? 0.0 : reserved_money_ - estimate.money;  // no rest of rounding
  book_locked(role, model, result, seconds, prices);
}

void Ledger::book(std::string_view role, std::string_view model, const ChatResult& result, double seconds,
                  const std::optional<Prices>& prices) {
  const std::lock_guard lock(mutex_);
  book_locked(role, model, result, seconds, prices);
}

void Ledger::book_locked(std::string_view role, std::string_view model, const ChatResult& result,
                         double seconds, const std::optional<Prices>& prices) {
  Spending one;
  one.calls = 1;
  one.failed = result ? 0 : 1;
  one.replayed = result && result.reply->replayed ? 1 : 0;
  one.attempts = result ? result.reply->attempts : result.error.attempts;
  one.usage = result ? result.reply->usage : result.error.usage;
  one.money = prices ? prices->cost(one.usage) : 0.0;
  one.replayed_money = one.replayed != 0 ? one.money : 0.0;
  one.seconds = result && result.reply->replayed ? result.reply->seconds : seconds;
  rows_[{std::string(role), std::string(model)}] += one;
}

Spending Ledger::total_locked() const {
  Spending all;
  for (const auto& [key, one] : rows_) all += one;
  return all;
}

Spending Ledger::total() const {
  const std::lock_guard lock(mutex_);
  return total_locked();
}

std::vector<LedgerRow> Ledger::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<LedgerRow> all;
  for (const auto& [key, one] : rows_) all.push_back({key.first, key.second, one});
  return all;
}

std::string Ledger::text() const {
  std::string text = fmt::format("{:<12} {:<20} {:>6} {:>6} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n",
                                 "role", "model", "calls", "failed", "replayed", "input", "cached", "output",
                                 "reasoning", "money", "s/call");
  const std::vector<LedgerRow> all = rows();
  for (const LedgerRow& row : all) text += line(row.role, row.model, row.spending);
  return text += line("all", "", total());
}

std::string Ledger::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const LedgerRow& row : rows()) {
    nlohmann::ordered_json one = {{"role", row.role}, {"model", row.model}};
    one.update(to_json(row.spending));
    all.push_back(std::move(one));
  }
  const nlohmann::ordered_json document = {
      {"limits", {{"money", limits_.money}, {"tokens", limits_.tokens}, {"calls", limits_.calls}}},
      {"total", to_json(total())},
      {"rows", std::move(all)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kernelsearch
