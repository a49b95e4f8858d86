// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/ledger.hpp"
#include "kernelsearch/run/run_options.hpp"
#include "message_sink.hpp"

namespace kernelsearch::detail {

/// Replies that could not be used, by what was wrong with them.
class FaultCount {
 public:
  void add(ReplyFault fault);
  [[nodiscard]] std::string text() const;  ///< `2 (1 no_code, 1 same_code)`; empty without any
  [[nodiscard]] nlohmann::json json() const;

 private:
  mutable std::mutex mutex_;
  std::array<std::uint64_t, reply_fault_count> counts_{};
};

/// Follows what models answer in a run: says what goes wrong while it does, and knows whether any reply was
/// of use. Safe from several threads at once.
class ModelWatch {
 public:
  explicit ModelWatch(MessageTeller say) : say_(std::move(say)) {}

  void see(const Exchange& exchange);
  /// A kernel of an earlier part of the run came from a model.
  void see_earlier() { ++usable_; }
  /// That no reply was of use, and what the last question came to; empty where one was, or nothing was asked.
  [[nodiscard]] std::string no_reply() const;

 private:
  MessageTeller say_;
  mutable std::mutex mutex_;
  std::uint64_t asked_ = 0;
  std::atomic<std::uint64_t> usable_ = 0;
  std::uint64_t in_a_row_ = 0;
  std::string last_kind_, last_;
};

/// The models that a run asks, and what it has cost.
struct RunModels {
  AnyChatModel model;
  std::shared_ptr<Ledger> ledger;
  std::shared_ptr<FaultCount> faults = std::make_shared<FaultCount>();
  std::filesystem::path folder;  ///< of the exchanges

  /// What asking has cost and which replies could not be used, in lines of text and as a JSON object.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;
};

/// As the options say: models of the model file, a recording or a script. Every exchange is kept in `folder`
/// unless it comes from a recording, and asked again only where it is not there. What is there already counts
/// towards the limits. `say` is told of calls that are tried again.
[[nodiscard]] RunModels open_models(const RunModelOptions& options, const std::filesystem::path& folder,
                                    MessageTeller say = nullptr);

/// Where a run of this store keeps its exchanges.
[[nodiscard]] std::filesystem::path exchanges_of(const std::filesystem::path& store, std::int64_t run);

}  // namespace kernelsearch::detail
