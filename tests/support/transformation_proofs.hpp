// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/agents/unified_diff.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// data/transformations/proofs: hand-written applications of transformations (docs/systems/peak.md).
namespace proofs {

using namespace kernelsearch;
namespace fs = std::filesystem;

struct Proof {
  std::string name;            ///< of its folder
  std::string transformation;  ///< that it proves
  std::string before;          ///< the proof whose kernel it changes; empty: the problem's own kernel
  nlohmann::json content;      ///< of proof.json
  Problem problem;             ///< with the changed kernel
  Config config;               ///< that was measured

  [[nodiscard]] Candidate candidate() const {
    return {std::make_shared<const Kernel>(problem.kernel), config};
  }
};

inline std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The declared defaults with what the object says instead. The space's own default configuration is another
/// where the declared defaults break a constraint.
inline Config config_of(const Space& space, const nlohmann::json& settings) {
  std::vector<Value> values;
  for (const Tunable& tunable : space.tunables()) values.push_back(tunable.values.at(tunable.default_index));
  for (const auto& [name, setting] : settings.items()) {
    const auto at = space.find(name);
    if (!at) throw std::invalid_argument("no tunable " + name);
    values[*at] = setting.get<std::int64_t>();
  }
  const auto config = space.config_of(values);
  if (!config || !space.contains(*config))
    throw std::invalid_argument("no configuration of the space: " + settings.dump());
  return *config;
}

/// A region after the proof's change: its own file where it has one; else `before`, changed by its diff where
/// it has one (bench/cuda/proof_files.py writes both).
inline std::string region_of(const fs::path& file, const std::string& before) {
  if (fs::exists(file)) return text_of(file);
  const fs::path diff = file.string() + ".diff";
  if (!fs::exists(diff)) return before;
  const PatchResult patched = apply_unified_diff(before, text_of(diff));
  if (!patched.judgement.ok()) throw std::invalid_argument(diff.string() + ": " + patched.judgement.detail);
  return patched.text;
}

/// The regions of a proof of that problem, changed step after step from the problem's own.
inline Regions regions_of(const fs::path& folder, const nlohmann::json& content, const Problem& problem) {
  const std::string before = content.value("before", "");
  const fs::path parent = folder.parent_path() / before;
  const Regions old =
      before.empty() ? problem.kernel.regions
                     : regions_of(parent, nlohmann::json::parse(text_of(parent / "proof.json")), problem);
  const bool host = problem.backend == Backend::host;
  Regions regions;
  regions.macros = region_of(folder / (host ? "macros.hpp" : "macros.cuh"), old.macros);
  regions.device = region_of(folder / (host ? "device.cpp" : "device.cu"), old.device);
  if (!host) regions.host = region_of(folder / "host.cu", old.host);
  return regions;
}

/// Reads one; the kernel has what its line `//@tunables` declares. `root` is the source tree.
inline Proof read_proof(const fs::path& root, const fs::path& folder) {
  Proof proof;
  proof.name = folder.filename().string();
  proof.content = nlohmann::json::parse(text_of(folder / "proof.json"));
  proof.transformation = proof.content.at("transformation");
  proof.before = proof.content.value("before", "");
  proof.problem = read_problem(root / proof.content.at("problem").get<std::string>());
  proof.problem.kernel = kernel_with_declared(
      proof.problem.kernel.space, regions_of(folder, proof.content, proof.problem), kernel_limits);
  proof.config =
      config_of(proof.problem.kernel.space, proof.content.value("config", nlohmann::json::object()));
  return proof;
}

/// All of them in order of their names.
inline std::vector<Proof> read_proofs(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root / "data" / "transformations" / "proofs"))
    if (fs::exists(entry.path() / "proof.json")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Proof> all;
  for (const fs::path& folder : folders) all.push_back(read_proof(root, folder));
  return all;
}

}  // namespace proofs
