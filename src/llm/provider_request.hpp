// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/endpoint.hpp"

namespace kernelsearch::detail {

/// What is posted for a question. A ConfigError for a schema or parameters that are not JSON, and for
/// questions that the provider's interface cannot say.
[[nodiscard]] std::string request_body(const Endpoint& endpoint, const ChatRequest& request);

/// Where to, below the host: the base URL's path and the interface's own.
[[nodiscard]] std::string request_target(Provider provider, const std::string& base_path);

/// The interface's headers, the key's among them where there is one, then the endpoint's own.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> request_headers(
    const Endpoint& endpoint, const std::string& key,
    const std::vector<std::pair<std::string, std::string>>& own);

}  // namespace kernelsearch::detail
