// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/model_file.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

constexpr const char* whole_file = R"({
  // comments are allowed
  "models": {
    "big": {"provider": "anthropic", "model": "big-1", "key_env": "BIG_KEY",
            "prices": {"input": 3, "output": 15, "cached": 0.3, "cache_written": 3.75},
            "limits": {"requests_per_minute": 50, "concurrency": 4, "max_tokens": 9000},
            "timeouts": {"connect": 1, "first_byte": 2, "idle": 3, "total": 4},
            "headers": {"x-team": "kernels", "x-gateway-key": "env:GATEWAY"},
            "stream": false, "temperature": false, "structured_output": "none"},
    "small": {"provider": "openai", "base_url": "http://127.0.0.1:8000/v1", "model": "local/small",
              "max_tokens_field": "max_completion_tokens", "parameters": {"reasoning_effort": "low", "list": [1, 2.5, null]}}
  },
  "default": "small",
  "roles": {"planner": {"model": "big", "temperature": 0.8}, "coder": {"temperature": 0.1, "max_tokens": 7000}}
})";

std::string error_of(const std::string& text) {
  try {
    (void)parse_model_file(text, "m.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool file_has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("model file: everything that it says is read") {
  const ModelFile file = parse_model_file(whole_file);
  REQUIRE(file.models.size() == 2);
  const Endpoint& big = file.models[0];
  CHECK(big.name == "big");
  CHECK(big.provider == Provider::anthropic);
  CHECK(big.base_url == "https://api.anthropic.com");
  CHECK(big.key_env == "BIG_KEY");
  CHECK(big.prices == Prices{3, 15, 0.3, 3.75});
  CHECK(big.limits == EndpointLimits{50, 4, 9000});
  CHECK(big.timeouts == CallTimeouts{1, 2, 3, 4});
  REQUIRE(big.headers.size() == 2);
  CHECK(big.headers[1].second == "env:GATEWAY");
  CHECK_FALSE(big.stream);
  CHECK_FALSE(big.send_temperature);
  CHECK(big.structured == StructuredOutput::none);
  const Endpoint& small = file.models[1];
  CHECK(small.base_url == "http://127.0.0.1:8000/v1");
  CHECK(small.max_tokens_field == "max_completion_tokens");
  CHECK(small.parameters == R"({"reasoning_effort":"low","list":[1,2.5,null]})");
  CHECK_FALSE(small.prices);
  CHECK(file.default_model == "small");
}

TEST_CASE("model file: a request gets what its role and its model say, before what it says itself") {
  const ModelFile file = parse_model_file(whole_file);
  ChatRequest request;
  request.role = "planner";
  request.max_tokens = 20000;
  auto [endpoint, resolved] = file.resolve(request);
  CHECK(endpoint->name == "big");
  CHECK(resolved.model == "big-1");
  CHECK(resolved.temperature == 0.8);
  CHECK(resolved.max_tokens == 9000);  // the model's limit
  request.role = "coder";
  request.temperature = 0.5;
  std::tie(endpoint, resolved) = file.resolve(request);
  CHECK(endpoint->name == "small");
  CHECK(resolved.temperature == 0.1);  // agents have one of their own, which the user's file replaces
  CHECK(resolved.max_tokens == 7000);
  request.model = "big-1";  // the provider's name does as well
  CHECK(file.resolve(request).first->name == "big");
  request.model = "huge";
  CHECK_THROWS_AS((void)file.resolve(request), ConfigError);
  request = {};
  request.role = "stranger";
  CHECK(file.resolve(request).first->name == "small");
  CHECK_FALSE(file.resolve(request).second.temperature);
  request.temperature = 0.5;  // the file says nothing of this role
  CHECK(file.resolve(request).second.temperature == 0.5);
}

TEST_CASE("model file: what is wrong is said with file, line and remedy") {
  CHECK(error_of(whole_file).empty());
  CHECK(file_has(error_of("{\n\"models\": {\"a\": {\n\"provider\": \"opena\", \"model\": \"x\"}}}"),
                 "m.json:3"));
  const std::string model = R"({"models": {"a": {"provider": "openai", "model": "x", )";
  const std::pair<std::string, std::vector<const char*>> wrong[] = {
      {R"({"models": {"a": {"provider": "opena", "model": "x"}}})",
       {"m.json:1: /models/a/provider is not a known provider: \"opena\"", "did you mean openai?"}},
      {R"({"models": {"a": {"provider": "openai"}}})", {"/models/a lacks the key \"model\""}},
      {R"({"models": {"a": {"provider": "openai", "model": ""}}})", {"/models/a/model is empty"}},
      {R"({"models": {"a": {"model": "x"}}})", {"lacks the key \"provider\"", "openai or anthropic"}},
      {R"({"models": {}})", {"/models names no model"}},
      {"[]", {"the document is a list, not an object"}},
      {R"({"model": {}})", {"/model is an unknown key", "did you mean \"models\"?"}},
      {model + R"("price": {}}}})", {"/models/a/price is an unknown key", "did you mean \"prices\"?"}},
      {model + R"("prices": {"input": -1}}}})", {"/models/a/prices/input is too small: -1", "at least 0"}},
      {model + R"("prices": {"in": 1}}}})", {"input, output, cached, cache_written"}},
      {model + R"("limits": {"concurrency": 0}}}})",
       {"/limits/concurrency is out of range: 0", "at least 1"}},
      {model + R"("limits": {"max_tokens": 1.5}}}})", {"is a number, not an integer: 1.5", "whole number"}},
      {model + R"("timeouts": {"idle": 0}}}})", {"/models/a/timeouts/idle is too small: 0"}},
      {model + R"("stream": "yes"}}})", {"/models/a/stream is neither true nor false: \"yes\""}},
      {model + R"("parameters": []}}})", {"/models/a/parameters is not an object"}},
      {R"({"models": {"a": {"provider": "openai", "model": "x"}}, "default": "b"})",
       {"/default is not among `models`: \"b\""}},
      {R"({"models": {"a": {"provider": "openai", "model": "x"}}, "roles": {"r": {"model": "b"}}})",
       {"/roles/r/model is not among `models`: \"b\""}},
  };
  for (const auto& one : wrong)
    for (const char* part : one.second) {
      CAPTURE(one.first);
      const std::string error = error_of(one.first);
      CHECK_MESSAGE(file_has(error, part), error);
    }
}

TEST_CASE("model file: keys are refused and never shown") {
  const std::string model = R"({"models": {"a": {"provider": "openai", "model": "x", )";
  for (const char* line :
       {R"("api_key": "hush-hush-hush"}}})", R"("key_env": "hush-hush-hush"}}})",
        R"("headers": {"Authorization": "hush-hush-hush"}}}})",
        R"("headers": {"x-api-key": ["hush-hush-hush"]}}}})", R"("headers": "hush-hush-hush"}}})",
        R"("key_env": {"value": "hush-hush-hush"}}}})", R"("KEY": {"is": "hush-hush-hush"}}}})"}) {
    CAPTURE(line);
    const std::string error = error_of(model + line);
    CHECK_FALSE(error.empty());
    CHECK_FALSE(file_has(error, "hush"));
  }
}

TEST_CASE("model file: is found where it is said to be") {
  const TemporaryFolder folder;
  CHECK(find_model_file("given.json") == "given.json");
  const std::string path = (folder / "m.json").string();
  ::setenv("KERNELSEARCH_MODELS", path.c_str(), 1);
  CHECK(find_model_file() == path);
  CHECK_THROWS_AS((void)read_model_file(path), ConfigError);
  std::ofstream(path) << whole_file;
  CHECK(read_model_file(path).models.size() == 2);
  ::unsetenv("KERNELSEARCH_MODELS");
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  CHECK_THROWS_AS((void)find_model_file(), ConfigError);
  std::filesystem::create_directories(folder / "kernelsearch");
  std::filesystem::copy_file(path, folder / "kernelsearch/models.json");
  CHECK(find_model_file() == (folder / "kernelsearch/models.json").string());
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST_CASE("model file: one that lies in the current folder sends nothing anywhere unasked") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  // It came with a problem; its server would have got the key, as `key_env` may name any variable.
  std::ofstream(folder / "models.json")
      << R"({"models": {"a": {"provider": "openai", "model": "x", "base_url": "http://127.0.0.1:1/v1",
             "key_env": "AWS_SECRET_ACCESS_KEY"}}})";
  std::filesystem::current_path(folder.path());
  ::setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
  std::string error;
  try {
    error = "found " + find_model_file();
  } catch (const ConfigError& refused) {
    error = refused.what();
  }
  CHECK_MESSAGE(file_has(error, "there is no model file"), error);
  CHECK_MESSAGE(file_has(error, "models.json of this folder is not read unasked"), error);
  CHECK(find_model_file("models.json") == "models.json");
  ::setenv("XDG_CONFIG_HOME", ".", 1);  // not absolute, which the specification says to ignore
  CHECK(find_model_file("x") == "x");
  std::filesystem::create_directories(folder / "kernelsearch");
  std::filesystem::copy_file(folder / "models.json", folder / "kernelsearch/models.json");
  try {
    error = find_model_file();
  } catch (const ConfigError& refused) {
    error = refused.what();
  }
  CHECK(error != "./kernelsearch/models.json");
  ::unsetenv("XDG_CONFIG_HOME");
  std::filesystem::current_path(before);
}

TEST_CASE("model file: the example of the documents is one") {
  std::ifstream file(KERNELSEARCH_SOURCE_DIR "/docs/models.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = text.find("```json\n");
  REQUIRE(begin != std::string::npos);
  const std::string example = text.substr(begin + 8, text.find("```", begin + 8) - begin - 8);
  CHECK(parse_model_file(example, "docs/models.md").models.size() >= 2);
}
