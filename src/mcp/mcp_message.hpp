// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch::detail {

/// What JSON-RPC 2.0 and MCP call the ways in which a request can fail.
enum class RpcError : int {
  parse = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
  internal = -32603,
  missing_capability = -32021,
  unsupported_version = -32022,
};

/// A refusal on its way to the client.
struct RpcFault {
  RpcError code = RpcError::internal;
  std::string message;
  nlohmann::json data = nullptr;  ///< null: none
};

/// The newest revision, which is stateless.
inline constexpr std::string_view modern_version = "2026-07-28";
/// Revisions with a handshake, newest first.
inline constexpr std::string_view legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                       "2024-11-05"};

[[nodiscard]] bool is_legacy(std::string_view version) noexcept;
/// Every revision served, newest first.
[[nodiscard]] nlohmann::json all_versions();

/// Keys of `_meta`.
inline constexpr const char* meta_version = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* meta_capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* meta_server = "io.modelcontextprotocol/serverInfo";

/// The text as JSON, or why there is none: not UTF-8, not JSON, nested deeper than `depth`.
struct Parsed {
  nlohmann::json value;
  std::string fault;  ///< empty where it was read
};
[[nodiscard]] Parsed parse_message(std::string_view text, std::size_t depth);

/// A request's id as a key: numbers and strings never meet. Empty for what is not an id.
[[nodiscard]] std::string id_key(const nlohmann::json& id);

[[nodiscard]] nlohmann::json error_message(const nlohmann::json& id, const RpcFault& fault);
[[nodiscard]] nlohmann::json result_message(const nlohmann::json& id, nlohmann::json result);

/// One line; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string one_line(const nlohmann::json& message);

}  // namespace kernelsearch::detail
