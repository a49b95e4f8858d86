// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/code_samples.hpp"

#include <algorithm>
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

std::size_t line_at(const ObjectCode& code, std::uint64_t address) {
  const auto place =
      std::lower_bound(code.places.begin(), code.places.end(), address,
                       [](const ObjectPlace& one, std::uint64_t a) { return one.address < a; });
  return place != code.places.end() && place->address == address ? place->source_line : 0;
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
  std::map<std::size_t, std::size_t> by_line;
  for (const CodeSample& sample : samples) {
    all += sample.count;
    std::size_t line = 0;
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
    } else {
      line = line_at(code, sample.address);
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
  return features;
}

}  // namespace kernelsearch::detail
