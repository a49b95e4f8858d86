// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/kernel_codec.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

KernelLookup lookup_among(std::vector<std::shared_ptr<const Kernel>> kernels) {
  std::unordered_map<std::string, std::shared_ptr<const Kernel>> known;
  for (auto& kernel : kernels) {
    std::string digest = kernel_digest(*kernel);
    known.emplace(std::move(digest), std::move(kernel));
  }
  return [known = std::move(known)](const std::string& digest) {
    const auto found = known.find(digest);
    if (found == known.end())
      detail::raise<ConfigError>("the kernel of a stored trial is not known", digest.substr(0, 16),
                                 "the problem's sources or tunables have changed since: start a new run");
    return found->second;
  };
}

KernelLookup lookup_in(const RunStore& store, KernelMaker make) {
  auto known = std::make_shared<std::unordered_map<std::string, std::shared_ptr<const Kernel>>>();
  return [&store, make = std::move(make), known](const std::string& digest) {
    if (const auto found = known->find(digest); found != known->end()) return found->second;
    if (std::optional<StoredKernel> stored = store.kernel(digest)) {
      auto kernel =
          make(Regions{std::move(stored->device), std::move(stored->host), std::move(stored->macros)});
      if (kernel && kernel_digest(*kernel) == digest)
        return known->emplace(digest, std::move(kernel)).first->second;
    }
    detail::raise<ConfigError>("the kernel of a stored trial is not known", digest.substr(0, 16),
                               "the problem's tunables have changed since: start a new run");
  };
}

Candidate tuned(const Candidate& candidate, const std::string& key) {
  const Space& space = candidate.kernel->space;
  std::vector<Value> values;
  std::size_t at = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    // A value's text may hold commas: the longest that fits is its own.
    const Value* best = nullptr;
    std::size_t length = 0;
    for (const Value& value : space.tunable(i).values) {
      const std::string text = to_string(value);
      const std::size_t end = at + text.size();
      const bool ends = end == key.size() || (end < key.size() && key[end] == ',');
      if (ends && key.compare(at, text.size(), text) == 0 && (best == nullptr || text.size() > length))
        best = &value, length = text.size();
    }
    if (best == nullptr) return candidate;
    values.push_back(*best);
    at += length + 1;
  }
  std::optional<Config> config = space.config_of(values);
  if (!config || space.key(*config) != key) return candidate;
  return {candidate.kernel, *std::move(config)};
}

const std::string& CandidateCodec<Candidate>::digest_of(const std::shared_ptr<const Kernel>& kernel) {
  auto& entry = digests_[kernel.get()];
  if (!entry.first) entry = {kernel, kernel_digest(*kernel)};
  return entry.second;
}

StoredCandidate CandidateCodec<Candidate>::encode(const Candidate& candidate) {
  const Space& space = candidate.kernel->space;
  nlohmann::json values = nlohmann::json::object();
  for (std::size_t i = 0; i < space.size(); ++i)
    values[space.tunable(i).name] = value_to_json(space.value(candidate.config, i));
  return {digest_of(candidate.kernel), to_json_text(candidate.config), space.key(candidate.config),
          json_text(values)};
}

std::optional<StoredKernel> CandidateCodec<Candidate>::kernel(const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  return StoredKernel{digest_of(candidate.kernel), regions.device, regions.host, regions.macros};
}

Candidate CandidateCodec<Candidate>::decode(const StoredCandidate& stored) const {
  if (!lookup_)
    detail::raise<ConfigError>("stored kernels cannot be read without a lookup", stored.kernel.substr(0, 16),
                               "give CandidateCodec<Candidate>(lookup_among({kernel}))");
  Candidate candidate{lookup_(stored.kernel), from_json_text<Config>(stored.config)};
  const Space& space = candidate.kernel->space;
  bool fits = candidate.config.indices.size() == space.size();
  for (std::size_t i = 0; fits && i < space.size(); ++i)
    fits = candidate.config.indices[i] < space.tunable(i).values.size();
  if (!fits)
    detail::raise<ConfigError>("a stored configuration does not fit its kernel's space", stored.config,
                               "the file is damaged: start a new run");
  return candidate;
}

}  // namespace kernelsearch
