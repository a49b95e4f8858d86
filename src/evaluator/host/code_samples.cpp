// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/code_samples.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace kernelsearch::detail {
namespace {

constexpr std::size_t least_samples = 50;  // 7 % is the standard deviation of a share of one half
constexpr double least_share = 1.0;        // percent

const ObjectFunction* function_with(const ObjectCode& code, std::uint64_t address) {
  const ObjectFunction* found = nullptr;
  for (const ObjectFunction& function : code.functions)
    if (function.address <= address) found = &function;
  return found;
}

/// The instruction at the address, or before the one that a call returns to.
const ObjectPlace* place_of(const ObjectCode& code, const CodeSample& sample) {
  const auto place =
      std::lower_bound(code.places.begin(), code.places.end(), sample.address,
                       [](const ObjectPlace& one, std::uint64_t a) { return one.address < a; });
  if (sample.outside) return place != code.places.begin() ? &*std::prev(place) : nullptr;
  return place != code.places.end() && place->address == sample.address ? &*place : nullptr;
}

/// The loop with most samples, if it can be told and is worth telling, as features.
void set_loop(Features& features, const ObjectCode& code, const std::map<std::size_t, std::size_t>& by_loop,
              std::size_t all) {
  const auto hottest = std::max_element(by_loop.begin(), by_loop.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (!code.loops_complete || !code.functions_complete || hottest == by_loop.end()) return;
  const double share = 100.0 * static_cast<double>(hottest->second) / static_cast<double>(all);
  if (share < least_share) return;
  // What the guessed loop calls was told from the code; this one may call it from no place.
  if (code.hot)
    for (const auto& [name, value] : loop_features(code, *code.hot))
      if (name.starts_with("code.call.") && !name.ends_with(".line")) features.set(name, 0);
  for (const auto& [name, value] : loop_features(code, hottest->first)) features.set(name, value);
  features.set("code.hot_loop.share", share);
}

}  // namespace

std::vector<CodeSample> read_samples(std::string_view output) {
  std::vector<CodeSample> samples;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark;
    CodeSample sample;
    if (words >> mark >> sample.outside >> sample.address >> sample.count && mark == "kernelsearch-sample")
      samples.push_back(sample);
  }
  return samples;
}

Features sampled_features(const ObjectCode& code, const std::vector<CodeSample>& samples) {
  std::size_t all = 0;
  std::map<std::string, std::size_t> called, lines;
  std::map<std::size_t, std::size_t> by_line, by_loop;
  for (const CodeSample& sample : samples) {
    all += sample.count;
    std::size_t line = 0;
    const ObjectPlace* const place = sample.address != 0 ? place_of(code, sample) : nullptr;
    if (place != nullptr && place->loop) by_loop[*place->loop] += sample.count;
    if (sample.outside) {
      const auto call = std::find_if(code.calls.begin(), code.calls.end(), [&](const ObjectCall& one) {
        return one.returns_to != 0 && one.returns_to == sample.address;
      });
      if (call == code.calls.end()) continue;
      if (!call->function.empty()) {
        called[call->function] += sample.count;
        lines.emplace(call->function, call->source_line);
      }
      line = call->source_line;
    } else if (place != nullptr) {
      line = place->source_line;
    }
    if (line > 0) by_line[line] += sample.count;
    // What is called within the library has its own instructions, and what these call in turn.
    if (const ObjectFunction* const in = function_with(code, sample.address)) {
      const auto call = std::find_if(code.calls.begin(), code.calls.end(), [&](const ObjectCall& one) {
        return one.target == in->address && !one.function.empty();
      });
      if (call != code.calls.end() && in->name != "kernelsearch_entry")
        called[call->function] += sample.count;
    }
  }
  Features features;
  if (all < least_samples) return features;
  const auto percent = [&](std::size_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(all);
  };
  for (const auto& [function, count] : called) {
    if (percent(count) < least_share) continue;
    features.set("code.call." + function + ".share", percent(count));
    if (const auto from = lines.find(function); from != lines.end() && from->second > 0)
      features.set("code.call." + function + ".line", static_cast<double>(from->second));
  }
  const auto hottest = std::max_element(by_line.begin(), by_line.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (hottest != by_line.end()) {
    features.set("code.hot_line", static_cast<double>(hottest->first));
    features.set("code.hot_line.share", percent(hottest->second));
  }
  set_loop(features, code, by_loop, all);
  return features;
}

}  // namespace kernelsearch::detail
