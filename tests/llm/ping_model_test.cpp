// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/ping_model.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/approx.hpp"
#include "support/loopback_server.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("ping_model: one tiny call, and a line for a person") {
  LoopbackServer server([](const LoopbackServer::Request& asked, LoopbackServer::Peer& peer) {
    if (asked.index > 0) return peer.answer(503, "down for repairs");
    peer.answer(200, R"({"model":"m-2026","choices":[{"message":{"content":"ready"},"finish_reason":"stop"}],
                         "usage":{"prompt_tokens":14,"completion_tokens":1}})");
  });
  Endpoint endpoint;
  endpoint.name = "mine";
  endpoint.model = "m";
  endpoint.base_url = server.url();
  endpoint.prices = Prices{1, 2};
  HttpOptions options;
  options.proxies = ProxySettings{};
  const PingReport fine = ping_model(endpoint, options);
  CHECK(fine.answered);
  CHECK(fine.text.find("mine: m-2026 answers") == 0);
  CHECK(fine.money == approx(16e-6));
  CHECK(nlohmann::json::parse(server.requests()[0].body).at("max_tokens") == 256);
  const PingReport down = ping_model(endpoint, options);
  CHECK_FALSE(down.answered);
  CHECK(down.text.find("down for repairs") != std::string::npos);
  CHECK(server.requests().size() == 2);  // it reports, and does not insist
}
