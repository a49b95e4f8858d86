// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/result_cache.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {

ResultCache::ResultCache(RunStore& store, ResultScope scope) : store_(&store), scope_(std::move(scope)) {
  if (scope_.device.empty() || scope_.problem_digest.empty())
    detail::raise<ConfigError>("results cannot be shared without knowing what they belong to",
                               scope_.device.empty() ? "no device" : "no problem digest",
                               "give the device's identity and problem_digest(problem)");
}

std::string ResultCache::key(const Candidate& candidate) const {
  return key(candidate_digest(candidate));
}

std::string ResultCache::key(const std::string& content) const {
  const std::string now = digest(scope_.device, content);
  return scope_.former_device.empty() ? now : now + " " + digest(scope_.former_device, content);
}

std::string ResultCache::digest(const std::string& device, const std::string& content) const {
  // With lengths, so that no two lists of parts read the same.
  std::string bytes = "kernelsearch result 1";
  for (const std::string* part : {&scope_.problem_digest, &device, &scope_.toolchain, &content})
    bytes += "\n" + std::to_string(part->size()) + ":" + *part;
  return sha256(bytes);
}

std::optional<Evaluation> ResultCache::find(const std::string& key) const {
  const std::size_t blank = key.find(' ');
  std::optional<StoredResult> known = store_->find_result(key.substr(0, blank));
  if (!known && blank != std::string::npos) known = store_->find_result(key.substr(blank + 1));
  if (!known) return std::nullopt;
  std::string& provenance = known->evaluation.provenance;
  auto object = nlohmann::json::parse(provenance, nullptr, false);
  if (object.is_object()) {
    object["reused_from"] = known->at;
    provenance = json_text(object);
  } else {
    provenance = "reused, measured " + known->at + (provenance.empty() ? "" : ": " + provenance);
  }
  return std::move(known->evaluation);
}

void ResultCache::insert(const std::string& key, const Evaluation& evaluation) {
  if (worth_keeping(evaluation)) store_->put_result(key.substr(0, key.find(' ')), scope_.device, evaluation);
}

bool ResultCache::worth_keeping(const Evaluation& evaluation) {
  switch (evaluation.verdict) {
    case Verdict::not_generated:
    case Verdict::not_applicable:
    case Verdict::launch_failed:
    case Verdict::crashed:
    case Verdict::timed_out:
      return false;
    default:
      break;
  }
  const auto& shapes = evaluation.measurement.shapes;
  return std::none_of(shapes.begin(), shapes.end(),
                      [](const ShapeMeasurement& shape) { return shape.ended == SamplingEnd::slower; });
}

}  // namespace kernelsearch
