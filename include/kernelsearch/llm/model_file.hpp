// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/endpoint.hpp"

namespace kernelsearch {

/// What the model file says of a role; what is empty is left to the request.
struct RoleChoice {
  std::string role;
  std::string model;  ///< a name in the file; empty: the file's default
  std::optional<double> temperature;
  std::uint32_t max_tokens = 0;  ///< 0: the request's
  friend bool operator==(const RoleChoice&, const RoleChoice&) = default;
};

/// The models that a user has, with prices and limits, and which role uses which (docs/formats/models.md).
struct ModelFile {
  std::vector<Endpoint> models;
  std::vector<RoleChoice> roles;
  std::string default_model;  ///< of roles that name none; the first model where the file names none

  /// By name, else by the provider's name of it; null for a stranger.
  [[nodiscard]] const Endpoint* find(std::string_view model) const noexcept;
  /// The model for a request and the request with all that the file decides filled in. A ConfigError for a
  /// model that is not in the file.
  [[nodiscard]] std::pair<const Endpoint*, ChatRequest> resolve(ChatRequest request) const;
};

/// A ConfigError names the file, the line, what was found and what to write instead.
[[nodiscard]] ModelFile parse_model_file(std::string_view text, const std::string& file = "models.json");
[[nodiscard]] ModelFile read_model_file(const std::string& path);

/// `given`, else $KERNELSEARCH_MODELS, else ~/.config/kernelsearch/models.json; a
/// ConfigError where none is there.
[[nodiscard]] std::string find_model_file(const std::string& given = {});

}  // namespace kernelsearch
