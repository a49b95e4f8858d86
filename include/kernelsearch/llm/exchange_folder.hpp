// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/redactor.hpp"

namespace kernelsearch {

/// Questions with their replies or failures, each in a file named by the SHA-256 of the question,
/// `repetition` included (docs/models.md#recording). Files appear whole or not at all, and hold no key.
/// Several threads and processes may use a folder at once.
class ExchangeFolder {
 public:
  /// Made where it is not there, when the first exchange is kept.
  explicit ExchangeFolder(std::string folder, Redactor redactor = {});

  /// The question in one spelling. Whether a message is `stable` does not enter: it changes no reply.
  [[nodiscard]] std::string canonical(const ChatRequest& request) const;
  /// SHA-256 of `canonical`, 64 hexadecimal digits.
  [[nodiscard]] std::string digest(const ChatRequest& request) const;

  /// Both, so that a call spells and hashes its question once.
  struct Asked {
    std::string canonical, digest;
  };
  [[nodiscard]] Asked asked(const ChatRequest& request) const;

  /// What was kept for an equal question, marked `replayed`; nothing where there is none. A ConfigError for a
  /// file that cannot be read.
  [[nodiscard]] std::optional<ChatResult> find(const Asked& asked) const;
  [[nodiscard]] std::optional<ChatResult> find(const ChatRequest& request) const {
    return find(asked(request));
  }
  /// Keeps it in place of an earlier one and returns what `find` will return, but for `replayed`.
  ChatResult keep(const Asked& asked, const ChatResult& result) const;
  ChatResult keep(const ChatRequest& request, const ChatResult& result) const {
    return keep(asked(request), result);
  }

  /// Calls back with the question and the result of each exchange kept, in any order; files that cannot be
  /// read are left out. The question has role, model and messages. `kept`: when, in UTC as the store
  /// writes it, by the time of the file.
  void each_question(const std::function<void(const ChatRequest& request, const ChatResult& result,
                                              const std::string& kept)>& visit) const;
  /// The same with the role and the model alone.
  void each(const std::function<void(const std::string& role, const std::string& model,
                                     const ChatResult& result)>& visit) const;
  [[nodiscard]] std::size_t size() const;  ///< exchanges kept
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const Redactor& redactor() const noexcept { return redactor_; }

 private:
  [[nodiscard]] std::string path_of(const std::string& digest) const;

  std::string folder_;
  Redactor redactor_;
};

}  // namespace kernelsearch
