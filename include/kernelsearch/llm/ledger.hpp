// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/prices.hpp"

namespace kernelsearch {

/// What may be spent; 0: no limit.
struct LedgerLimits {
  double money = 0.0;
  std::uint64_t tokens = 0;  ///< input and output
  std::uint64_t calls = 0;
};

/// What was spent by one role on one model, or in all.
struct Spending {
  std::uint64_t calls = 0;  ///< questions answered or failed, replayed ones included
  std::uint64_t failed = 0;
  std::uint64_t replayed = 0;  ///< answered by a recording
  std::uint64_t attempts = 0;
  TokenUsage usage;
  double money = 0.0;  ///< as if nothing had been replayed, so that a resumed run stops where it would have
  double replayed_money = 0.0;  ///< the part of it that was not paid now
  double seconds = 0.0;         ///< of waiting for replies, added up over concurrent calls
  Spending& operator+=(const Spending& other);
};

/// One row of a ledger.
struct LedgerRow {
  std::string role, model;
  Spending spending;
};

/// Counts tokens, money and time, by role and model, and says no before a call that could pass a limit. What
/// is under way is reserved at its largest possible size. Safe from several threads at once.
class Ledger {
 public:
  /// What a call may cost at most.
  struct Estimate {
    std::uint64_t tokens = 0;
    double money = 0.0;
  };

  explicit Ledger(LedgerLimits limits = {}) : limits_(limits) {}

  /// A token for each three characters of the question, and `max_tokens` for the reply. Kernels and diffs
  /// have 2.5 to 4 characters a token, so that a question alone may be a fifth above it.
  [[nodiscard]] static Estimate estimate(const ChatRequest& request, const std::optional<Prices>& prices);

  /// Where it succeeds `settle` must follow; else why the call must not be made.
  [[nodiscard]] Result<void, std::string> reserve(const Estimate& estimate, bool priced);
  /// Frees the reservation and books what came.
  void settle(const Estimate& estimate, std::string_view role, std::string_view model,
              const ChatResult& result, double seconds, const std::optional<Prices>& prices);
  /// Books the usage of a call that was not reserved, as one of an earlier part of a run.
  void book(std::string_view role, std::string_view model, const ChatResult& result, double seconds,
            const std::optional<Prices>& prices);

  [[nodiscard]] Spending total() const;
  [[nodiscard]] std::vector<LedgerRow> rows() const;  ///< by role, then model
  [[nodiscard]] const LedgerLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::string text() const;  ///< a table
  [[nodiscard]] std::string json() const;  ///< {"limits", "total", "rows"}

 private:
  [[nodiscard]] Spending total_locked() const;
  void book_locked(std::string_view role, std::string_view model, const ChatResult& result, double seconds,
                   const std::optional<Prices>& prices);

  LedgerLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Spending> rows_;
  std::uint64_t reserved_tokens_ = 0, reserved_calls_ = 0;
  double reserved_money_ = 0.0;
};

}  // namespace kernelsearch
