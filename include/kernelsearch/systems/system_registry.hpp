// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/recall.hpp"
#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/generator/any_generator.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/optimizer/tuned_options.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_info.hpp"
#include "kernelsearch/systems/system_options.hpp"

namespace kernelsearch {

class RunStore;

/// All that is known when a system is made by name.
struct SystemSetup {
  Problem problem;
  AnyChatModel model = {};  ///< empty for a system that asks none, or takes kernels from files
  SystemOptions options = {};
  std::uint64_t inner_trials = 0;   ///< of a kernel that is written, over its tunables; 0: none tunes it
  std::optional<Config> root = {};  ///< of the problem's kernel, where the search begins; empty: its default
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> budget = {};  ///< trials, where the budget is a number of trials
  std::filesystem::path methods = {};        ///< the user's prompts, strategies and transformations
  std::string hardware = {};                 ///< facts of the machine, for prompts (run/machine_text.hpp)
  ProblemFacts facts = {};                   ///< how the problem is measured, for prompts
  MethodDevice device = {};                  ///< as far as conditions of methods and strategies ask
  std::vector<MoveExample> examples = {};    ///< moves of earlier runs, for systems that learn from them
  std::string earlier = {};                  ///< SystemEntry::settings of the run that is continued
  /// What was done to the checkpoints of the run that is continued; for systems with a workflow.
  std::vector<PlacedCheckpointEdit> checkpoint_edits = {};
  Recall recall = nullptr;  ///< what earlier runs learned, for prompts
  DialogueLog log = nullptr;
  std::stop_token stop = {};
  std::function<void(const std::string&)> say = nullptr;  ///< is told what is waited for
};

/// A policy and a generator that fit each other, their types erased.
template <class P>
struct SearchParts {
  AnyPolicy<P> policy;
  AnyGenerator<P> generator;
};

/// Makes the policy that searches one kernel's tunables; see `LearningPolicyMaker`.
using InnerPolicyMaker =
    std::function<AnyPolicy<Config>(const Space& space, std::uint64_t seed, std::vector<EarlierRun> earlier)>;

/// Each kernel is searched over its own tunables; see `Tuned`.
struct InnerSearch {
  InnerPolicyMaker policy;
  TunedOptions options = {};
  bool counted = true;  ///< the run's budget of trials is of inner ones; otherwise of kernels
  /// A validator that is asked for sees each right kernel at its best configuration and at that many others;
  /// nothing: it sees finalists alone.
  std::optional<std::size_t> validated_samples = {};
};

/// Writes the pages of a finished run into a folder and returns the page to begin with. `peaks` are the roofs
/// of its picture.
using RunReport = std::function<std::filesystem::path(
    const RunStore& store, RunId run, const std::filesystem::path& folder, const DevicePeaks& peaks)>;

/// Brings the pages that are kept while a run goes on up to date with the store, after each trial.
using RunProgressPages = std::function<void(const RunStore& store, RunId run,
                                            const std::filesystem::path& folder, const DevicePeaks& peaks)>;

/// A system that was made: what the one who drives it composes into an Optimizer.
struct SystemSearch {
  std::variant<SearchParts<Config>, SearchParts<Move>> parts;
  KernelMaker kernel_of =
      nullptr;  ///< makes stored kernels again; empty: the problem's kernel is the only one
  std::optional<InnerSearch> inner = {};
  bool pair_with_parent = false;  ///< the policy judges by times against the parent
  bool one_at_a_time = false;     ///< its generator must not be asked by several threads
  std::string settings =
      {};  ///< what repeats the search when the run is continued, as JSON; empty: the options do
  RunReport report = nullptr;
  RunProgressPages progress = nullptr;
  std::filesystem::path report_folder = {};  ///< empty: below the folder of the winner's files
};

/// What is observed of a right candidate besides its times.
enum class ObservationLevel : std::uint8_t {
  times,       ///< nothing
  counters,    ///< a profiler's counters, where they can be had
  everything,  ///< traits, place in the roofline, machine code
};

/// Inner trials where a system tunes and nothing is said: few, so that a run of a paper's number of kernels
/// stays one of minutes.
inline constexpr std::uint64_t usual_inner_trials = 8;

/// A published system, or a baseline of one, by its name.
struct SystemEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view composition;  ///< policy, generator, evaluator
  std::string_view budget;      ///< where none is given, as `--budget` reads it: the paper's where it has one
  bool rewrites = false;        ///< it writes kernels; otherwise it searches configurations of one
  bool asks = true;             ///< it needs a language model
  bool outlives_model = false;  ///< and goes on where no model gives a usable reply
  bool tunes = false;           ///< kernels that it writes can be tuned (SystemSetup::inner_trials)
  bool from_best = false;  ///< it can begin at another configuration than the default (SystemSetup::root)
  /// Why it can go by nothing but the time, in words that follow a colon; empty: any objectives will do.
  std::string_view needs_times = {};
  std::string_view instead_of_model = {};  ///< the option that, where it is given, makes it ask none
  ObservationLevel observation = ObservationLevel::times;
  SystemSearch (*make)(SystemSetup setup) = nullptr;
  /// Whether, with these options, it learns from moves of earlier runs (SystemSetup::examples); null: never.
  bool (*learns)(const SystemOptions& given) = nullptr;
  /// What repeats the search of this setup when the run is continued, as a JSON object that is stored with
  /// the run and comes back as SystemSetup::earlier; null: the options do.
  std::string (*settings)(const SystemSetup& setup) = nullptr;
  /// For a system whose policy is a `Workflow`: its options in a run with these options and settings, without
  /// what needs the problem; null: its runs have no checkpoints of their own.
  WorkflowOptions (*workflow)(const SystemOptions& given, std::string_view settings) = nullptr;
  std::vector<SystemVariant> variants = {};  ///< the first is the standard one
  std::vector<SystemOption> options = {};    ///< the first is `variant`

  /// The variant that the options name.
  [[nodiscard]] const SystemVariant& variant_of(const SystemOptions& given) const;
};

/// All of them, by name.
[[nodiscard]] std::span<const SystemEntry> system_entries();

/// The system of that name; ConfigError with the nearest name for another one.
[[nodiscard]] const SystemEntry& find_system(std::string_view name);

}  // namespace kernelsearch
