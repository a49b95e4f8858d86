// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/text_features.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "metric.hpp"

namespace kernelsearch {
namespace {

using detail::has_whole_word;

/// The text without comments: what they mention is not there.
std::string without_comments(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const bool line = text.substr(at, 2) == "//", block = text.substr(at, 2) == "/*";
    if (!line && !block) {
      code += text[at++];
      continue;
    }
    const std::size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
    code += ' ';
    at = end == std::string_view::npos ? text.size() : end + (line ? 0 : 2);
  }
  return code;
}

std::size_t occurrences(std::string_view text, std::initializer_list<std::string_view> words) {
  std::size_t count = 0;
  for (const std::string_view word : words)
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + word.size()))
      ++count;
  return count;
}

bool is_exact(const Problem& problem) {
  constexpr double least = 1e-3;  // a product of TF32 or half precision is off by up to 0.0005 of its value
  return std::any_of(
      problem.arguments.begin(), problem.arguments.end(), [&problem](const Argument& argument) {
        return argument.is_array && argument.role != Role::in &&
               (argument.type == ElementType::f32 || argument.type == ElementType::f64) &&
               !detail::is_unchecked(argument) && problem.tolerance_of(argument).relative < least;
      });
}

}  // namespace

Features text_features(const Problem& problem, const Kernel& kernel) {
  Features features;
  if (!is_gpu(problem.backend)) return features;
  const std::string host = without_comments(kernel.regions.host);
  const std::string code =
      host + without_comments(kernel.regions.device) + without_comments(kernel.regions.macros);
  features.set("text.barriers",
               static_cast<double>(occurrences(code, {"__syncthreads", ".sync()", "bar.sync", "barrier.sync",
                                                      "mbarrier", "cuda::barrier", "barrier(CLK"})));
  const auto launches =
      problem.launch.empty()
          ? occurrences(code, {"<<<", "cudaLaunchKernel", "hipLaunchKernel", "cuLaunchKernel"})
          : static_cast<std::size_t>(std::count_if(problem.launch.begin(), problem.launch.end(),
                                                   [](const LaunchStep& step) { return step.zero.empty(); }));
  if (launches > 0 && !has_whole_word(host, "for") && !has_whole_word(host, "while"))
    features.set("text.launches", static_cast<double>(launches));
  features.set("text.exact", is_exact(problem) ? 1 : 0);
  return features;
}

}  // namespace kernelsearch
