// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/http_chat_model.hpp"
#include "kernelsearch/llm/ledger.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/llm/recorded_model.hpp"

namespace kernelsearch {

struct ModelSetOptions {
  std::string recording;  ///< folder of exchanges; empty: none is kept
  RecordMode mode = RecordMode::replay_else_ask;
  std::shared_ptr<Ledger> ledger;  ///< null: one without limits
  /// Whether a reply of the recording is booked, and refused beyond a limit, as if it were paid for now.
  /// False where the ledger holds the recording's replies already: then each counts once, and is always
  /// given.
  bool book_replays = true;
  HttpOptions http;
};

/// All models of a model file as one: each request goes to the model that it names, else to its role's, with
/// the role's temperature, through the ledger and the recording. What a program opens to talk to models.
class ModelSet {
 public:
  explicit ModelSet(ModelFile file, ModelSetOptions options = {});

  /// A stranger's name is `ChatFailure::configuration`.
  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) const;

  [[nodiscard]] const ModelFile& file() const noexcept;
  [[nodiscard]] Ledger& ledger() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

static_assert(ChatModel<const ModelSet>);

}  // namespace kernelsearch
