// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane_content.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::remote {
namespace {

using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// The same tunables, with the default, and every combination of values: constraints may be C++ functions,
/// which have no text.
Space unconstrained(const Space& space) {
  std::vector<Tunable> tunables(space.tunables().begin(), space.tunables().end());
  for (std::size_t i = 0; i < tunables.size(); ++i) {
    tunables[i].default_index = space.default_config().indices[i];
    tunables[i].active_if.reset();  // a constraint, too
  }
  return Space::build(std::move(tunables));
}

Problem as_written(Problem problem) {
  problem.kernel.space = unconstrained(problem.kernel.space);
  return problem;
}

}  // namespace

Content content_of(std::string bytes) {
  std::string digest = sha256(bytes);
  return {std::move(digest), std::make_shared<const std::string>(std::move(bytes))};
}

ProblemContent problem_content(const Problem& problem) {
  ProblemContent content{content_of(problem_json(as_written(problem))), {}};
  const auto add = [&content](const InputFile& file) {
    for (const ContentFile& known : content.files)
      if (known.name == file.name) return;
    content.files.push_back({file.name, std::filesystem::absolute(file.path).string(), file.digest});
  };
  for (const Argument& argument : problem.arguments)
    for (const InputFile& file : argument.files) add(file);
  if (problem.generator)
    for (const InputFile& file : problem.generator->matrix_market) add(file);
  return content;
}

std::filesystem::path file_in(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == "..")
    detail::raise<ConfigError>("a data file of the problem leads out of its folder", name,
                               "name files below the folder");
  return folder / path;
}

Content KernelTexts::of(const std::shared_ptr<const Kernel>& kernel) {
  const std::lock_guard lock(mutex_);
  auto found = known_.find(kernel.get());
  if (found == known_.end()) {
    Problem about = problem_;
    about.kernel.space = kernel->space;
    // In their order: a configuration is a list of places.
    const OrderedJson whole = OrderedJson::parse(problem_json(as_written(std::move(about))));
    OrderedJson space = OrderedJson::object();
    for (const char* part : {"tunables", "default"})
      if (whole.contains(part)) space[part] = whole.at(part);
    const json text{{"device", kernel->regions.device},
                    {"host", kernel->regions.host},
                    {"macros", kernel->regions.macros},
                    {"space", space.dump()}};
    found = known_.emplace(kernel.get(), std::pair(kernel, content_of(json_text(text)))).first;
  }
  return found->second.second;
}

std::shared_ptr<const Kernel> kernel_from(const std::string& text) {
  const json in = json::parse(text);
  return std::make_shared<const Kernel>(
      Kernel{{in.at("device").get<std::string>(), in.at("host").get<std::string>(),
              in.at("macros").get<std::string>()},
             parse_space(in.at("space").get<std::string>(), "a candidate's kernel")});
}

json launches_json(const std::vector<BuiltLaunch>& launches) {
  json list = json::array();
  for (const BuiltLaunch& one : launches)
    list.push_back({{"shared_bytes", one.shared_bytes}, {"block", one.block}});
  return list;
}

std::optional<std::vector<BuiltLaunch>> launches_from(const json& list, std::size_t functions) {
  if (!list.is_array() || (!list.empty() && list.size() != functions)) return std::nullopt;
  std::vector<BuiltLaunch> launches;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (const json& one : list) {
    if (!one.is_object() || !one.contains("shared_bytes") || !one.contains("block")) return std::nullopt;
    const json &shared = one.at("shared_bytes"), &block = one.at("block");
    if (!shared.is_number_integer() || !block.is_array() || block.size() != 3) return std::nullopt;
    BuiltLaunch launch;
    launch.shared_bytes = shared.get<std::int64_t>();
    if (launch.shared_bytes > most) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!block[i].is_number_integer()) return std::nullopt;
      const auto extent = block[i].get<std::int64_t>();
      if (extent < 0 || extent > most) return std::nullopt;
      launch.block[i] = static_cast<std::uint32_t>(extent);
    }
    launches.push_back(launch);
  }
  return launches;
}

json context_json(const EvaluationContext& context) {
  json out{{"trial", number(context.trial)}};
  if (context.incumbent) out["incumbent"] = *context.incumbent;
  if (context.finalist) out["finalist"] = true;
  if (context.rival) out["rival"] = *context.rival;
  return out;
}

EvaluationContext context_from(const json& in) {
  EvaluationContext context;
  context.trial = TrialId{in.at("trial").get<std::uint64_t>()};
  if (in.contains("incumbent")) context.incumbent = in.at("incumbent").get<double>();
  context.finalist = in.value("finalist", false);
  if (in.contains("rival")) context.rival = in.at("rival").get<double>();
  return context;
}

json pairs_json(const PairOptions& pairs) {
  return {{"when", static_cast<int>(pairs.when)},   {"min_pairs", pairs.min_pairs},
          {"max_pairs", pairs.max_pairs},           {"precision", pairs.precision},
          {"budget_seconds", pairs.budget_seconds}, {"rounds", pairs.rounds}};
}

PairOptions pairs_from(const json& in) {
  PairOptions pairs;
  pairs.when = static_cast<Pairing>(std::clamp(in.at("when").get<int>(), 0, 2));
  pairs.min_pairs = in.at("min_pairs").get<std::size_t>();
  pairs.max_pairs = in.at("max_pairs").get<std::size_t>();
  pairs.precision = in.at("precision").get<double>();
  pairs.budget_seconds = in.at("budget_seconds").get<double>();
  pairs.rounds = in.at("rounds").get<std::size_t>();
  return pairs;
}

}  // namespace kernelsearch::remote
