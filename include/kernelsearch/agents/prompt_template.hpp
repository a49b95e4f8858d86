// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// What the names of a template stand for; an empty text counts as false.
using PromptValues = std::map<std::string, std::string, std::less<>>;

/// A question to a model with places for what changes, read from a text file (docs/agents.md#prompts):
///
///     What stands before the first message is a comment.
///     requires: kernel
///     @system stable
///     You improve kernels.
///     @user
///     {{#if strategy}}
///     Apply {{strategy}}.
///     {{else}}
///     Choose what to do.
///     {{/if}}
///     {{kernel}}
///
/// Values are put in as they are: nothing in them is read as a message, a name or a condition.
class PromptTemplate {
 public:
  /// `name` is used in errors. ConfigError with the line for a message of an unknown speaker, a template
  /// without messages, and braces or conditions that do not close.
  [[nodiscard]] static PromptTemplate parse(std::string_view text, std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// SHA-256 of the text: the template's version.
  [[nodiscard]] const std::string& hash() const noexcept { return hash_; }
  /// The names that it uses, sorted.
  [[nodiscard]] std::span<const std::string> names() const noexcept { return names_; }
  /// Those that a replacement must use too.
  [[nodiscard]] std::span<const std::string> required() const noexcept { return required_; }

  /// The messages. ConfigError for a name without a value, with the nearest that has one.
  [[nodiscard]] std::vector<Message> render(const PromptValues& values) const;

 private:
  struct Piece;
  struct Section {
    Speaker speaker = Speaker::user;
    bool stable = false;
    std::vector<Piece> pieces;
  };
  struct Parser;
  void write(const std::vector<Piece>& pieces, const PromptValues& values, std::string& text) const;

  std::string name_, hash_;
  std::vector<std::string> names_, required_;
  std::shared_ptr<const std::vector<Section>> sections_;
};

}  // namespace kernelsearch
