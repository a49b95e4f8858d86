// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/endpoint.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Endpoint: the defaults let a model think and do not let it hang") {
  const Endpoint endpoint;
  CHECK(endpoint.timeouts.connect < endpoint.timeouts.idle);
  CHECK(endpoint.timeouts.idle < endpoint.timeouts.first_byte);
  CHECK(endpoint.timeouts.first_byte < endpoint.timeouts.total);
  CHECK(endpoint.stream);
  CHECK(to_string(Provider::openai) == "openai");
  CHECK(to_string(Provider::anthropic) == "anthropic");
}
