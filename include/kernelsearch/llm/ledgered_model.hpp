// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/ledger.hpp"

namespace kernelsearch {

/// Books every call of a model in a ledger, and makes none that the ledger refuses (`ChatFailure::budget`).
template <ChatModel M>
class LedgeredModel {
 public:
  /// `name` is the model's in the ledger; without prices only tokens and calls can be limited.
  LedgeredModel(M model, std::shared_ptr<Ledger> ledger, std::string name, std::optional<Prices> prices = {})
      : model_(std::move(model)), ledger_(std::move(ledger)), name_(std::move(name)), prices_(prices) {}

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) {
    const Ledger::Estimate estimate = Ledger::estimate(request, prices_);
    if (const auto reserved = ledger_->reserve(estimate, prices_.has_value()); !reserved)
      return ChatResult::failed(ChatFailure::budget, reserved.error());
    // Booked whatever happens: a model that throws must not keep its reservation.
    Booking booking(*this, request, estimate);
    booking.result = model_.chat(request, std::move(stop));
    return booking.result;
  }

 private:
  struct Booking {
    LedgeredModel& self;
    const ChatRequest& request;
    const Ledger::Estimate& estimate;
    ChatResult result;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

    Booking(LedgeredModel& model, const ChatRequest& asked, const Ledger::Estimate& most)
        : self(model), request(asked), estimate(most) {}
    Booking(const Booking&) = delete;
    Booking& operator=(const Booking&) = delete;
    ~Booking() {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      self.ledger_->settle(estimate, request.role, self.name_, result, took.count(), self.prices_);
    }
  };

  M model_;
  std::shared_ptr<Ledger> ledger_;
  std::string name_;
  std::optional<Prices> prices_;
};

}  // namespace kernelsearch
