// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/agents/skill_texts.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/codec.hpp"
#include "problem/replace_file.hpp"
#include "skill_files.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using detail::SkillRecord;
using nlohmann::ordered_json;

class Folder {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) {}
  [[nodiscard]] Folder in(const std::string& name) const { return Folder(path_ / name); }

  void replace(const std::string& name, const std::string& text) const {
    std::error_code error;
    fs::create_directories(path_, error);
    const fs::path file = path_ / name;
    error = detail::replace_file(file, text);
    if (error)
      detail::raise<ConfigError>("a file of the run's folder cannot be written",
                                 file.string() + ": " + error.message(),
                                 "check its folder's permissions and space");
  }
  void replace(const std::string& name, const ordered_json& json) const {
    replace(name, json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n');
  }
  void keep(const std::string& name, const std::string& text) const {
    std::error_code error;
    if (!fs::exists(path_ / name, error)) replace(name, text);
  }

 private:
  fs::path path_;
};

/// All regions that a kernel has, as files.
void write_kernel(const SkillRecord& record, TrialId id, const Folder& folder, const std::string& extension) {
  const auto trial = record.store.trial(record.run, id);
  if (!trial || !trial->candidate) return;
  const auto kernel = record.store.kernel(trial->candidate->kernel);
  if (!kernel) return;
  folder.keep("kernel" + extension, kernel->device);
  if (!kernel->host.empty()) folder.keep("host" + extension, kernel->host);
  if (!kernel->macros.empty()) folder.keep("macros" + extension, kernel->macros);
}

void write_iteration(const SkillRecord& record, const SkillIteration& iteration, const Folder& root,
                     const std::string& extension) {
  const Folder folder = root.in(fmt::format("iterv{}", iteration.number));
  const RooflineBudget& search = record.search;
  const std::vector<Method>& methods = search.options().methods;
  const Features profile = record.features(iteration.start);
  const std::vector<SkillIteration> earlier(
      search.iterations().begin(),
      search.iterations().begin() + static_cast<std::ptrdiff_t>(iteration.number - 1));
  folder.keep("analysis.md", analysis_text(iteration, methods, profile, earlier));
  folder.keep("methods.json", methods_json(iteration, methods, profile));
  folder.replace("roofline.json", record.roofline_json(iteration));
  folder.replace("ncu_top.json", record.top_json(iteration));
  folder.replace("branch_results.json", record.branches_json(iteration));
  for (const SkillBranch& branch : iteration.branches) {
    const Folder its = folder.in("branches").in(branch_name(iteration, branch.move));
    write_kernel(record, branch.id, its, extension);
    its.replace("bench.json", record.bench_json(branch.id));
  }
  if (!iteration.champion) return;
  write_kernel(record, *iteration.champion, folder, extension);
  folder.replace("bench.json", record.bench_json(*iteration.champion));
  folder.replace("attribution.json", record.attribution_json(iteration));
  folder.replace("sass_check.json", record.evidence_json(iteration));
  for (const SkillAblation& ablation : iteration.ablations) {
    if (!ablation.id) continue;
    Move named;
    for (const std::size_t method : ablation.methods) named.strategies.push_back(methods[method].id);
    const Folder its = folder.in("ablations").in(ablation_name(named));
    write_kernel(record, *ablation.id, its, extension);
    its.replace("bench.json", record.bench_json(*ablation.id));
  }
}

}  // namespace

RooflineBudget replayed_skill(const RunStore& store, RunId run, RooflineBudgetOptions options) {
  RooflineBudget search(std::move(options));
  std::vector<Move> asked;
  const auto differs = [](const std::string& what) {
    detail::raise<ConfigError>("the run does not repeat its recorded proposals", what,
                               "use the version, the options and the methods that it was made with");
  };
  const auto tell = [&search](Move move, Outcome outcome) {
    const Observation<Move> observation{std::move(move), std::move(outcome)};
    search.tell(std::span<const Observation<Move>>(&observation, 1));
  };
  for (StoredEvent& event : store.events(run)) {
    if (const auto* ask = std::get_if<AskEvent>(&event)) {
      std::vector<Move> moves = search.ask(ask->wanted);
      if (moves.size() != ask->returned)
        differs(fmt::format("{} instead of {}", moves.size(), ask->returned));
      std::move(moves.begin(), moves.end(), std::back_inserter(asked));
    } else if (auto* told = std::get_if<StoredTold>(&event)) {
      const auto trial = store.trial(run, told->trial);
      if (!trial) differs(fmt::format("trial {} is gone", number(told->trial)));
      Move move = PointCodec<Move>::decode(trial->point);
      Outcome outcome = told->first ? *std::move(told->first) : trial->outcome;
      if (outcome.origin && (number(outcome.origin->proposal) >= asked.size() ||
                             !(asked[number(outcome.origin->proposal)] == move)))
        differs(fmt::format("proposal {}", number(outcome.origin->proposal)));
      tell(std::move(move), std::move(outcome));
    } else if (auto* revision = std::get_if<StoredRevision>(&event)) {
      const auto trial = store.trial(run, revision->trial);
      if (trial) tell(PointCodec<Move>::decode(trial->point), std::move(revision->outcome));
    }
  }
  return search;
}

std::string skill_summary(const RunStore& store, RunId run, const RooflineBudget& search) {
  return SkillRecord{store, run, search}.summary();
}

void write_skill_state(const RunStore& store, RunId run, const Problem& problem, const RooflineBudget& search,
                       const fs::path& path, const DevicePeaks& peaks) {
  const SkillRecord record{store, run, search};
  const Folder folder(path);
  folder.replace("env.json", record.environment_json(peaks));
  folder.replace("state.json", record.state_json(problem, path.filename().string(),
                                                 std::string(traits_of(problem.backend).extension)));
}

void write_skill_report(const RunStore& store, RunId run, const Problem& problem,
                        const RooflineBudget& search, const fs::path& path, const DevicePeaks& peaks) {
  const SkillRecord record{store, run, search};
  const Folder folder(path);
  const std::string extension(traits_of(problem.backend).extension);
  write_skill_state(store, run, problem, search, path, peaks);
  folder.replace("summary.md", record.summary());
  if (const auto end = record.end_json(); !end.is_null()) folder.replace("roofline.json", end);
  if (const std::string picture = record.picture(problem, peaks); !picture.empty())
    folder.replace("roofline.svg", picture);
  if (const auto root = record.root()) {
    write_kernel(record, *root, folder.in("baseline"), extension);
    folder.in("baseline").replace("bench.json", record.bench_json(*root));
  }
  for (const SkillIteration& iteration : search.iterations())
    write_iteration(record, iteration, folder, extension);
}

}  // namespace kernelsearch
