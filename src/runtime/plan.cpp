// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "plan_order.hpp"
#include "shape_distance.hpp"
#include "values_json.hpp"

namespace kernelsearch {
namespace {

using json = nlohmann::ordered_json;
using detail::values_json;
using detail::values_of;

/// The rules that this version applies. A file with others is refused rather than misunderstood.
constexpr std::string_view distance_rule = "log2";
constexpr std::string_view ties_rule = "default, then better proven";

std::string one_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json entry_json(const PlanEntry& entry) {
  json object{{"shape", values_json(entry.shape)}};
  if (!entry.values.empty()) object["settings"] = values_json(entry.values);
  if (entry.over_default)
    object["over_default"] = {
        {"ratio", entry.over_default->ratio},
        {"interval", {entry.over_default->interval.low, entry.over_default->interval.high}},
        {"pairs", entry.over_default->pairs}};
  if (entry.seconds > 0.0) object["seconds"] = entry.seconds;
  if (!entry.values.empty()) object["trial"] = entry.trial;
  if (!entry.toolchain.empty()) object["toolchain"] = entry.toolchain;
  return object;
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error(what);
}

std::string required_text(const json& object, const char* name) {
  auto text = object.at(name).get<std::string>();
  if (text.empty()) refuse(std::string("\"") + name + "\" is empty");
  return text;
}

double positive(const json& value, const char* name) {
  const auto number = value.get<double>();
  if (!std::isfinite(number) || !(number > 0.0)) refuse(std::string("\"") + name + "\" must be above 0");
  return number;
}

PlanEntry entry_of(const json& object) {
  PlanEntry entry;
  entry.shape = values_of(object.at("shape"));
  if (const auto values = object.find("settings"); values != object.end()) entry.values = values_of(*values);
  if (const auto over = object.find("over_default"); over != object.end()) {
    Speedup speedup;
    speedup.ratio = positive(over->at("ratio"), "ratio");
    const json& interval = over->at("interval");
    if (!interval.is_array() || interval.size() != 2) refuse("\"interval\" must be two numbers");
    speedup.interval = {positive(interval[0], "interval"), positive(interval[1], "interval")};
    if (speedup.interval.low > speedup.interval.high) refuse("\"interval\" must be ascending");
    const json& pairs = over->at("pairs");
    if (!pairs.is_number_unsigned() || pairs.get<std::uint64_t>() == 0 ||
        pairs.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      refuse("\"pairs\" must be a count");
    speedup.pairs = pairs.get<std::uint32_t>();
    entry.over_default = speedup;
  }
  if (object.contains("seconds")) entry.seconds = positive(object["seconds"], "seconds");
  if (const auto trial = object.find("trial"); trial != object.end()) {
    if (!trial->is_number_unsigned()) refuse("\"trial\" must be a number from 0");
    entry.trial = trial->get<std::uint64_t>();
  }
  entry.toolchain = object.value("toolchain", "");
  return entry;
}

ProblemPlan part_of(const json& object) {
  ProblemPlan part;
  part.problem = required_text(object, "problem");
  part.problem_digest = required_text(object, "problem_digest");
  part.kernel_digest = required_text(object, "kernel_digest");
  part.backend = required_text(object, "backend");
  part.device = required_text(object, "device");
  part.cache = object.value("cache", "");
  part.never_worse = object.at("never_worse").get<bool>();
  const json& nearest = object.at("nearest_shape");
  if (nearest.at("distance") != distance_rule || nearest.at("ties") != ties_rule)
    refuse("its rules for the nearest shape are not known to this version");
  const json& most = nearest.at("max_distance");
  part.max_distance = most.get<double>();
  if (!std::isfinite(part.max_distance) || part.max_distance < 0.0)
    refuse("\"max_distance\" must be 0 or more");
  part.default_values = values_of(object.at("default"));
  const auto read = [](const json& all, const char* name, std::vector<PlanEntry>& entries) {
    if (!all.is_array()) refuse(std::string("\"") + name + "\" must be a list");
    for (std::size_t i = 0; i < all.size(); ++i) {
      try {
        entries.push_back(entry_of(all[i]));
      } catch (const std::exception& problem) {
        refuse(std::string(name) + "[" + std::to_string(i) + "]: " + problem.what());
      }
    }
  };
  read(object.at("entries"), "entries", part.entries);
  read(object.at("default_kept"), "default_kept", part.default_kept);
  for (std::size_t i = 0; i < part.entries.size(); ++i)
    if (part.entries[i].values.empty())
      refuse("entries[" + std::to_string(i) + "]: no settings");
    else if (part.never_worse && !part.entries[i].proven())
      refuse("entries[" + std::to_string(i) +
             "]: not above 1 over the default, though \"never_worse\" says so");
  return part;
}

/// What makes bytes of the same entries the same: parts and shapes in order.
void sort(std::vector<ProblemPlan>& parts) {
  for (ProblemPlan& part : parts) {
    part.device = device_identity(part.device);
    for (auto* entries : {&part.entries, &part.default_kept})
      std::stable_sort(entries->begin(), entries->end(), [](const PlanEntry& a, const PlanEntry& b) {
        return detail::shape_before(a.shape, b.shape);
      });
  }
  std::stable_sort(parts.begin(), parts.end(), [](const ProblemPlan& a, const ProblemPlan& b) {
    return detail::part_key(a) < detail::part_key(b);
  });
}

void require_distinct(const ProblemPlan& part) {
  std::vector<const PlanEntry*> all;
  for (const auto* entries : {&part.entries, &part.default_kept})
    for (const PlanEntry& entry : *entries) {
      for (const PlanEntry* other : all)
        if (detail::same_shape(other->shape, entry.shape))
          detail::raise<ConfigError>(
              "a plan has a shape twice",
              part.problem + " on " + part.device + ", " + one_line(values_json(entry.shape)),
              "merge plans with `kernelsearch plan merge`");
      all.push_back(&entry);
    }
}

}  // namespace

Plan::Plan(std::vector<ProblemPlan> parts) : parts_(std::move(parts)) {
  sort(parts_);
  for (const ProblemPlan& part : parts_) {
    if (part.problem.empty() || part.device.empty())
      detail::raise<ConfigError>("a plan says for which problem and device it is",
                                 part.problem.empty() ? "no problem" : "no device", "name both");
    require_distinct(part);
  }
}

Plan Plan::parse(std::string_view text, std::string_view name) {
  std::vector<ProblemPlan> parts;
  try {
    const json object = json::parse(text);
    if (object.at("plan_format") != format_version)
      refuse("plan_format " + one_line(object.at("plan_format")) + " is not known to this version");
    const json& all = object.at("plans");
    if (!all.is_array()) refuse("\"plans\" must be a list");
    for (std::size_t i = 0; i < all.size(); ++i) {
      try {
        parts.push_back(part_of(all[i]));
      } catch (const std::exception& problem) {
        refuse("plans[" + std::to_string(i) + "]: " + problem.what());
      }
    }
  } catch (const std::exception& problem) {
    detail::raise<ConfigError>("the plan cannot be used", std::string(name) + ": " + problem.what(),
                               "export it again with `kernelsearch plan export`");
  }
  return Plan(std::move(parts));
}

Plan Plan::load(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return {};
  const std::optional<std::string> text = try_whole_file(file);
  if (!text) detail::raise<ConfigError>("the plan cannot be read", file.string(), "check its permissions");
  return parse(*text, file.string());
}

std::string Plan::text() const {
  // By hand, so that each shape has one line.
  std::string text = "{\n  \"plan_format\": " + std::to_string(format_version) + ",\n  \"plans\": [";
  const auto member = [&text](const char* name, const json& value) {
    text += std::string("      \"") + name + "\": " + one_line(value) + ",\n";
  };
  const auto list = [&text](const char* name, const std::vector<PlanEntry>& entries, const char* end) {
    text += std::string("      \"") + name + "\": [";
    for (std::size_t i = 0; i < entries.size(); ++i)
      text += (i == 0 ? "\n        " : ",\n        ") + one_line(entry_json(entries[i]));
    text += entries.empty() ? std::string("]") + end : std::string("\n      ]") + end;
  };
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const ProblemPlan& part = parts_[p];
    text += p == 0 ? "\n    {\n" : ",\n    {\n";
    member("problem", part.problem);
    member("problem_digest", part.problem_digest);
    member("kernel_digest", part.kernel_digest);
    member("backend", part.backend);
    member("device", part.device);
    if (!part.cache.empty()) member("cache", part.cache);
    member("never_worse", part.never_worse);
    member("nearest_shape",
           {{"distance", distance_rule}, {"max_distance", part.max_distance}, {"ties", ties_rule}});
    member("default", values_json(part.default_values));
    list("entries", part.entries, ",\n");
    list("default_kept", part.default_kept, "\n    }");
  }
  return text + (parts_.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

void Plan::save(const std::filesystem::path& file) const {
  // Beside it first: a program that loads the plan meanwhile sees the old one or the new one.
  const std::filesystem::path beside = file.string() + "." + std::to_string(::getpid()) + ".new";
  std::error_code error;
  {
    std::ofstream out(beside, std::ios::binary);
    out << text() << std::flush;
    if (out) std::filesystem::rename(beside, file, error);
    if (out && !error) return;
  }
  std::filesystem::remove(beside, error);
  detail::raise<ConfigError>("the plan cannot be written", file.string(),
                             "check that its folder exists and can be written");
}

std::optional<Settings> Plan::best_for(std::string_view problem, std::string_view device,
                                       std::span<const std::pair<std::string, Value>> shape,
                                       std::string_view kernel_digest) const {
  const PlanEntry* best = nullptr;
  bool kept = false;
  double nearest = std::numeric_limits<double>::infinity();
  const ProblemPlan* chosen = nullptr;
  std::string_view kernel = kernel_digest;
  for (const ProblemPlan& part : parts_) {
    if (part.problem != problem || !same_device(part.device, device)) continue;
    if (!kernel_digest.empty() && part.kernel_digest != kernel_digest) continue;
    if (kernel.empty()) kernel = part.kernel_digest;
    if (part.kernel_digest != kernel)
      detail::raise<ConfigError>(
          "the plan has several kernels of this problem for this device", problem,
          "say which one is built in, by the digest that `kernelsearch plan check` prints");
    const auto consider = [&](const PlanEntry& entry, bool keeps) {
      const double away = detail::shape_distance(entry.shape, shape);
      if (away > part.max_distance || away > nearest) return;
      if (away == nearest && (kept || (!keeps && !detail::better_proven(entry, *best)))) return;
      nearest = away;
      best = &entry;
      kept = keeps;
      chosen = &part;
    };
    for (const PlanEntry& entry : part.default_kept) consider(entry, true);
    for (const PlanEntry& entry : part.entries) consider(entry, false);
  }
  if (best == nullptr || kept) return std::nullopt;
  Settings settings;
  settings.problem = chosen->problem;
  settings.device = chosen->device;
  settings.shape = best->shape;
  settings.values = best->values;
  settings.seconds = best->seconds;
  if (best->over_default) {
    settings.speedup = best->over_default->ratio;
    settings.speedup_interval = best->over_default->interval;
  }
  settings.source = "plan, trial " + std::to_string(best->trial);
  return settings;
}

}  // namespace kernelsearch
