// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_control.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "kernelsearch/run/run_lock.hpp"
#include "problem/replace_file.hpp"
#include "working_file.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;
constexpr std::size_t longest = 16 << 10;  // of what a process may say

json number_or_null(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

std::optional<double> number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

}  // namespace

RunControl::RunControl(std::filesystem::path store, RunId run) : store_(std::move(store)), run_(run) {}

bool RunControl::pause() const {
  if (!RunLock::holder(store_, run_)) return false;
  return !detail::create_private_file(detail::working_file(store_, run_, ".pause")) && paused();
}

bool RunControl::go_on() const {
  std::error_code error;
  return std::filesystem::remove(detail::working_file(store_, run_, ".pause"), error);
}

bool RunControl::paused() const {
  std::error_code error;
  return std::filesystem::exists(detail::working_file(store_, run_, ".pause"), error);
}

std::optional<RunNow> RunControl::now() const {
  if (!RunLock::holder(store_, run_)) return std::nullopt;
  std::ifstream file(detail::working_file(store_, run_, ".now"), std::ios::binary);
  std::string text(longest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const json said = json::parse(text, nullptr, false);
  if (!said.is_object()) return std::nullopt;
  RunNow now;
  if (const auto doing = said.find("doing"); doing != said.end() && doing->is_string())
    now.doing = doing->get<std::string>();
  now.paused = said.contains("paused") && said["paused"] == true;
  if (const auto trials = said.find("trials"); trials != said.end() && trials->is_number_unsigned())
    now.standing.trials = trials->get<std::uint64_t>();
  now.standing.seconds = number_in(said, "seconds").value_or(0.0);
  now.standing.filled = number_in(said, "filled");
  now.standing.left = number_in(said, "left");
  return now;
}

void RunControl::say(const RunNow& now) const {
  const json said{{"doing", now.doing.substr(0, 1000)},
                  {"paused", now.paused},
                  {"trials", now.standing.trials},
                  {"seconds", now.standing.seconds},
                  {"filled", number_or_null(now.standing.filled)},
                  {"left", number_or_null(now.standing.left)}};
  (void)detail::replace_private_file(detail::working_file(store_, run_, ".now"),
                                     said.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace kernelsearch
