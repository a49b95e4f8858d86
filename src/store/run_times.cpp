// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

struct Cause {
  const char* key;
  const char* words;
  double RunTimes::*seconds;
};

constexpr std::array<Cause, 7> causes = {{{"starting", "starting", &RunTimes::starting},
                                          {"model", "model", &RunTimes::model},
                                          {"building", "waiting for builds", &RunTimes::building},
                                          {"reference", "reference", &RunTimes::reference},
                                          {"measuring", "measuring", &RunTimes::measuring},
                                          {"finalists", "finalists", &RunTimes::finalists},
                                          {"other", "other", &RunTimes::other}}};

}  // namespace

RunTimes& RunTimes::operator+=(const RunTimes& more) noexcept {
  for (const Cause& cause : causes) this->*cause.seconds += more.*cause.seconds;
  return *this;
}

std::string to_json_text(const RunTimes& times) {
  nlohmann::ordered_json out;
  for (const Cause& cause : causes) out[cause.key] = times.*cause.seconds;
  return out.dump();
}

RunTimes run_times_from(std::string_view json) {
  const nlohmann::json in = parse_json(json, "times of a run");
  RunTimes times;
  for (const Cause& cause : causes)
    if (const auto found = in.find(cause.key); found != in.end() && found->is_number())
      times.*cause.seconds = found->get<double>();
  return times;
}

std::string to_string(const RunTimes& times) {
  const double total = times.total();
  std::vector<Cause> shown;
  for (const Cause& cause : causes)
    if (total > 0 && times.*cause.seconds >= 0.005 * total) shown.push_back(cause);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const Cause& a, const Cause& b) { return times.*a.seconds > times.*b.seconds; });
  std::string text;
  for (const Cause& cause : shown)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", cause.words,
                        100 * (times.*cause.seconds) / total);
  return text;
}

}  // namespace kernelsearch
