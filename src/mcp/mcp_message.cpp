// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mcp_message.hpp"

#include <algorithm>
#include <iterator>

#include "kernelsearch/store/clean_json.hpp"

namespace kernelsearch::detail {
namespace {

/// Whether brackets nest deeper than `most`. Counted before parsing, since destroying and writing what is
/// nested a million times deep would need as deep a stack.
bool too_deep(std::string_view text, std::size_t most) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

bool is_legacy(std::string_view version) noexcept {
  return std::find(std::begin(legacy_versions), std::end(legacy_versions), version) !=
         std::end(legacy_versions);
}

nlohmann::json all_versions() {
  nlohmann::json versions = nlohmann::json::array({modern_version});
  for (const std::string_view version : legacy_versions) versions.push_back(version);
  return versions;
}

Parsed parse_message(std::string_view text, std::size_t depth) {
  if (too_deep(text, depth)) return {nullptr, "nested deeper than " + std::to_string(depth) + " levels"};
  try {
    return {nlohmann::json::parse(text), {}};
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();
    if (const auto end = why.find("] "); end != std::string::npos) why = why.substr(end + 2);
    return {nullptr, why.substr(0, 200)};
  }
}

std::string id_key(const nlohmann::json& id) {
  if (id.is_string()) return "\"" + id.get<std::string>();
  if (id.is_number_integer()) return id.dump();
  return {};
}

nlohmann::json error_message(const nlohmann::json& id, const RpcFault& fault) {
  nlohmann::json error{{"code", static_cast<int>(fault.code)}, {"message", fault.message}};
  if (!fault.data.is_null()) error["data"] = fault.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

nlohmann::json result_message(const nlohmann::json& id, nlohmann::json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

std::string one_line(const nlohmann::json& message) {
  return clean_json(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace kernelsearch::detail
