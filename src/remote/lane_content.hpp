// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::remote {

/// Bytes under the SHA-256 by which the other end asks for them and checks them.
struct Content {
  std::string digest;
  std::shared_ptr<const std::string> bytes;
};

[[nodiscard]] Content content_of(std::string bytes);

/// A data file of a problem, which is sent where the worker does not find the same bytes under its path.
struct ContentFile {
  std::string name;  ///< in the problem's folder
  std::string path;  ///< here
  std::string digest;
};

/// All that a worker needs of a problem. Values of tunables have the same places there, and constraints are
/// left out: the one who proposes has seen to them, and some are C++ functions.
struct ProblemContent {
  Content text;  ///< of a problem.json with its sources inside
  std::vector<ContentFile> files;
};

/// A ConfigError for a text that is not UTF-8.
[[nodiscard]] ProblemContent problem_content(const Problem& problem);

/// Where a data file of a problem is put; a ConfigError for a name that leads out of the folder.
[[nodiscard]] std::filesystem::path file_in(const std::filesystem::path& folder, const std::string& name);

/// The texts of kernels with their tunables as JSON, each made once. Thread-safe.
class KernelTexts {
 public:
  explicit KernelTexts(Problem problem) : problem_(std::move(problem)) {}
  [[nodiscard]] Content of(const std::shared_ptr<const Kernel>& kernel);

 private:
  Problem problem_;
  std::mutex mutex_;
  // Holding the kernels keeps the addresses from being used again.
  std::unordered_map<const Kernel*, std::pair<std::shared_ptr<const Kernel>, Content>> known_;
};

/// The kernel of such a text; raises what parsers raise.
[[nodiscard]] std::shared_ptr<const Kernel> kernel_from(const std::string& text);

[[nodiscard]] nlohmann::json context_json(const EvaluationContext& context);
/// Without the stop, the budget and the hook, which belong to a process.
[[nodiscard]] EvaluationContext context_from(const nlohmann::json& json);
/// How built kernels are launched: of each the bytes of shared memory and the block, as in BuiltLaunch.
[[nodiscard]] nlohmann::json launches_json(const std::vector<BuiltLaunch>& launches);
/// None, or one for each of that many functions; nothing where the JSON is something else.
[[nodiscard]] std::optional<std::vector<BuiltLaunch>> launches_from(const nlohmann::json& json,
                                                                    std::size_t functions);
[[nodiscard]] nlohmann::json pairs_json(const PairOptions& pairs);
[[nodiscard]] PairOptions pairs_from(const nlohmann::json& json);

}  // namespace kernelsearch::remote
