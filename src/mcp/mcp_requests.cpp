// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mcp_server_impl.hpp"

#include <utility>

namespace kernelsearch {

detail::McpEra McpServer::Impl::era_of(const std::string& method, const json& params) const {
  const json meta = params.value("_meta", json::object());
  if (!meta.is_object()) throw RpcFault{RpcError::invalid_params, "params._meta must be an object"};
  const auto version = meta.find(detail::meta_version);
  if (version != meta.end()) {
    if (!version->is_string())
      throw RpcFault{RpcError::invalid_params,
                     std::string("params._meta.") + detail::meta_version + " must be a text"};
    if (*version != detail::modern_version)
      throw RpcFault{RpcError::unsupported_version,
                     "Unsupported protocol version",
                     {{"supported", detail::all_versions()}, {"requested", *version}}};
    const auto capabilities = meta.find(detail::meta_capabilities);
    if (capabilities == meta.end() || !capabilities->is_object())
      throw RpcFault{RpcError::invalid_params, std::string("params._meta.") + detail::meta_capabilities +
                                                   " must be an object: {} if there are none"};
    return {std::string(detail::modern_version), *capabilities};
  }
  if (method == "initialize") return {std::string(detail::legacy_versions[0]), {}};
  if (method == "ping" && agreed.empty()) return {std::string(detail::legacy_versions[0]), {}};
  // The one who asks what is spoken here cannot know it yet.
  if (method == "server/discover" && agreed.empty()) return {std::string(detail::modern_version), {}};
  if (agreed.empty())
    throw RpcFault{RpcError::invalid_params,
                   std::string("the request names no protocol version: give params._meta[\"") +
                       detail::meta_version + "\"] = \"" + std::string(detail::modern_version) +
                       "\" and [\"" + detail::meta_capabilities + "\"], or begin with initialize"};
  return {agreed, client_capabilities};
}

void McpServer::Impl::request(const json& id, const std::string& method, const json& params,
                              const std::shared_ptr<Batch>& batch) {
  const Era era = era_of(method, params);
  const bool legacy = !era.modern();
  if (method == "tools/call") return call(id, params, era, batch);
  json result;
  if (method == "tools/list")
    result = list(params, era);
  else if (method == "server/discover" && !legacy)
    result = discover();
  else if (method == "initialize" && legacy)
    result = initialize(params);
  else if (method == "ping" && legacy)
    result = json::object();
  else
    throw RpcFault{RpcError::unknown_method,
                   "no such method in revision " + era.version + ": " + method.substr(0, 100) +
                       "; there are server/discover, tools/list and tools/call (before "
                       "2026-07-28 also initialize and ping)"};
  finish(result, era);
  const std::lock_guard lock(mutex);
  if (running.contains(detail::id_key(id)))
    answer(detail::error_message(id, {RpcError::invalid_request, "the id is that of a request in progress"}),
           batch);
  else
    answer(detail::result_message(id, std::move(result)), batch);
}

nlohmann::json McpServer::Impl::server_info() const {
  json info{{"name", options.name}, {"version", options.version}};
  if (!options.title.empty()) info["title"] = options.title;
  return info;
}

void McpServer::Impl::finish(json& result, const Era& era) const {
  if (!era.modern()) return;
  result["resultType"] = "complete";
  result["_meta"][detail::meta_server] = server_info();
}

void McpServer::Impl::cacheable(json& result) const {
  result["ttlMs"] = options.ttl_ms;
  result["cacheScope"] = "public";
}

nlohmann::json McpServer::Impl::capabilities() const {
  return {{"tools", {{"listChanged", false}}}};
}

nlohmann::json McpServer::Impl::discover() const {
  json result{{"supportedVersions", detail::all_versions()}, {"capabilities", capabilities()}};
  if (!options.instructions.empty()) result["instructions"] = options.instructions;
  cacheable(result);
  return result;
}

nlohmann::json McpServer::Impl::initialize(const json& params) {
  const auto version = params.find("protocolVersion");
  if (version == params.end() || !version->is_string())
    throw RpcFault{RpcError::invalid_params, "params.protocolVersion must be a text such as \"2025-11-25\""};
  const auto capable = params.find("capabilities");
  if (capable == params.end() || !capable->is_object())
    throw RpcFault{RpcError::invalid_params, "params.capabilities must be an object"};
  const auto client = params.find("clientInfo");
  if (client == params.end() || !client->is_object() || !client->value("name", json()).is_string())
    throw RpcFault{RpcError::invalid_params, "params.clientInfo must be an object with name and version"};
  const auto wanted = version->get<std::string>();
  agreed = detail::is_legacy(wanted) ? wanted : std::string(detail::legacy_versions[0]);
  client_capabilities = *capable;
  json result{{"protocolVersion", agreed}, {"capabilities", capabilities()}, {"serverInfo", server_info()}};
  if (!options.instructions.empty()) result["instructions"] = options.instructions;
  return result;
}

nlohmann::json McpServer::Impl::list(const json& params, const Era& era) const {
  if (params.contains("cursor"))
    throw RpcFault{RpcError::invalid_params, "unknown cursor: the list has one page, leave cursor out"};
  json all = json::array();
  for (const Offered& offered : tools) {
    const Tool& tool = offered.tool;
    json one{{"name", tool.name}, {"description", tool.description}, {"inputSchema", offered.input}};
    if (era.version >= "2025-03-26")
      one["annotations"] = {{"title", tool.title},
                            {"readOnlyHint", tool.read_only},
                            {"destructiveHint", false},
                            {"idempotentHint", tool.read_only || tool.idempotent},
                            {"openWorldHint", false}};
    if (era.version >= "2025-06-18") {
      one["title"] = tool.title;
      if (options.output_schemas && !offered.output.is_null()) one["outputSchema"] = offered.output;
    }
    all.push_back(std::move(one));
  }
  json result{{"tools", std::move(all)}};
  if (era.modern()) cacheable(result);
  return result;
}

}  // namespace kernelsearch
