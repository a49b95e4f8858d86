// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch {

/// What a tool answers: words for a reader, and the same as data.
struct ToolReply {
  std::string text;
  std::string structured = {};  ///< a JSON object that fits the tool's output schema; empty: none
  bool error = false;           ///< the tool could not do it, and `text` says what to do about that

  [[nodiscard]] static ToolReply failed(std::string text) { return {std::move(text), {}, true}; }
};

/// One call of a tool while it runs: whether the caller still wants it, and where to tell how far it is.
class ToolCall {
 public:
  /// Done so far, in all where known, and a few words; `done` rises from one to the next.
  using Progress = std::function<void(double done, std::optional<double> total, std::string_view message)>;

  ToolCall() = default;
  explicit ToolCall(std::stop_token stop, Progress progress = nullptr)
      : stop_(std::move(stop)), progress_(std::move(progress)) {}

  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  void progress(double done, std::optional<double> total = {}, std::string_view message = {}) const {
    if (progress_) progress_(done, total, message);
  }

 private:
  std::stop_token stop_;
  Progress progress_;
};

/// What a client can call by name.
struct Tool {
  std::string name;
  std::string title;
  std::string description;         ///< for the model that chooses: what it does, when to use it
  std::string input_schema;        ///< JSON Schema 2020-12 of the arguments, an object; see schema_fault()
  std::string output_schema = {};  ///< of `ToolReply::structured`; empty: it has none
  bool read_only = false;          ///< changes nothing
  bool idempotent = false;         ///< again with the same arguments changes nothing more
  std::vector<std::string> capabilities = {};  ///< that the client must have declared, e.g. `sampling`
  /// Called with arguments that fit the schema, on a thread of the call's own, several at once. Errors of
  /// this library that it throws become failed replies.
  std::function<ToolReply(const nlohmann::json& arguments, const ToolCall& call)> run = nullptr;
};

}  // namespace kernelsearch
