// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ask_model MODELS.json MODEL PROMPT [SCHEMA]: one call, printed as JSON; for tests that are written in
// Python.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/model_set.hpp"

int main(int argc, char** argv) {
  using namespace kernelsearch;
  if (argc < 4) return 2;
  try {
    ModelSetOptions options;
    options.http.retry.attempts = 2;
    options.http.retry.first_seconds = 0.05;
    const ModelSet models(read_model_file(argv[1]), options);
    ChatRequest request;
    request.role = "test";
    request.model = argv[2];
    request.max_tokens = 64;
    request.messages = {{Speaker::system, "Answer.", true}, {Speaker::user, argv[3], false}};
    if (argc > 4) request.json_schema = argv[4];
    const ChatResult result = models.chat(request);
    nlohmann::json told;
    if (result)
      told = {{"text", result.reply->text},           {"finish", to_string(result.reply->finish)},
              {"model", result.reply->model},         {"input", result.reply->usage.input},
              {"output", result.reply->usage.output}, {"attempts", result.reply->attempts}};
    else
      told = {{"failure", to_string(result.error.failure)},
              {"error", result.error.text},
              {"status", result.error.http_status},
              {"attempts", result.error.attempts}};
    std::cout << told.dump() << '\n';
    return 0;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
