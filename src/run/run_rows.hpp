// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "kernelsearch/core/impl/field_rows.hpp"
#include "kernelsearch/run/run_option.hpp"

/// The options of runs: the one table that every interface takes them from. A new
/// option is a member and a row.
namespace kernelsearch::detail::rows {

using fields::field, fields::natural;
using Lanes = RunLanes;
using Measuring = MeasurementOptions;
using Models = RunModelOptions;
using Run = RunOptions;

inline constexpr std::string_view cache_modes[] = {"warm", "cold"};
inline constexpr std::string_view sandboxes[] = {"auto", "bubblewrap", "landlock", "none"};
inline constexpr std::string_view real_sandboxes[] = {"bubblewrap", "landlock"};
inline constexpr std::string_view roots[] = {"best", "default"};

constexpr Field one_of(Field row, std::span<const std::string_view> choices) {
  row.choices = choices;
  return row;
}

constexpr fields::Bounds any_count{0, 1e6}, positive{0.001};

inline constexpr RunOption run[] = {
    // ---- Search
    {field<&Run::policy>("policy",
                         "search policy, with options where some are given, as 'genetic(population=40)'; "
                         "see `kernelsearch list policies`"),
     {.stored = StoredFor::elsewhere,
      .for_agents =
          "who decides what is tried: a policy over the kernel's tunables, with options where some are "
          "given, "
          "as \"genetic(population=40)\" (see list_methods), or \"submit\": you write the kernels and hand "
          "them in"}},
    {field<&Run::policy_command>(
         "policy_command",
         "a policy of your own in any language instead: 'COMMAND' or 'NAME: COMMAND', run by /bin/sh -c; it "
         "speaks docs/formats/policy_protocol.md"),
     {.resume = OnResume::ask_again, .stored = StoredFor::given}},
    {field<&Run::policy_folder>("policy_folder", "the folder in which that command runs"),
     {.resume = OnResume::given_now,
      .stored = StoredFor::command,
      .path = OptionPath::path,
      .flag = "-",
      .otherwise = "the current one"}},
    {field<&Run::policy_timeout>("policy_timeout", positive,
                                 "seconds within which that command must answer each time"),
     {.resume = OnResume::given_now, .stored = StoredFor::command}},
    {field<&Run::policy_plugin>("policy_plugin",
                                "shared library that has the policy that --policy names, or its only one"),
     {.resume = OnResume::ask_again, .stored = StoredFor::given, .path = OptionPath::path}},
    {field<&Run::suggest>("suggest",
                          "with the policy submit: the policy over moves that suggests what to write next; "
                          "none: no suggestions"),
     {.stored = StoredFor::submit,
      .flag = "-",
      .for_agents =
          "with policy submit: the policy over moves that suggests what to write next; \"none\" for "
          "no suggestions; see list_methods"}},
    {field<&Run::strategies>("strategies",
                             "with the policy submit: names of strategies that suggestions choose from; "
                             "none: the writer of the kernels chooses"),
     {.stored = StoredFor::submit,
      .flag = "-",
      .for_agents =
          "with policy submit: names of strategies that suggestions choose from; none: you choose"}},
    {field<&Run::where>("where",
                        "only configurations for which this expression over tunables holds; repeatable"),
     {}},
    {field<&Run::objectives>("objectives",
                             "what is minimized or maximized, e.g. 'time; energy = energy_joules' or "
                             "'maximize throughput = 2e9 / time' (docs/objectives.md)"),
     {.stored = StoredFor::given,
      .otherwise = "the problem's, else the time",
      .for_agents = "what is minimized or maximized, e.g. \"time; size = code.instructions\" or \"maximize "
                    "throughput = 2e9 / time\"; default the problem's, else the time"}},
    {field<&Run::configs>("configs", "only the configurations listed in this JSON file"),
     {.path = OptionPath::file}},
    {natural<&Run::seed>("seed", "seed of every random choice of the search"),
     {.stored = StoredFor::elsewhere, .for_agents = "of every random choice"}},
    {field<&Run::learn_from>("learn_from",
                             "earlier runs of the same space on other devices, shapes or versions: "
                             "recordings, stores, STORE:RUN; "
                             "those of this problem in --store are learned from anyway"),
     {.stored_name = "learned_from", .several = true}},
    {field<&Run::learn>("learn", "learn from earlier runs of the store"),
     {.resume = OnResume::not_stored, .flag = "no-learning"}},
    {field<&Run::reuse>("reuse", "use what earlier runs have measured, and do not measure it again"),
     {.resume = OnResume::replace}},

    // ---- Budget and limits
    {field<&Run::budget>("budget", "trials (200), time (30s, 5m), both (200,30s), or all"),
     {.group = OptionGroup::limits,
      .resume = OnResume::replace,
      .otherwise = "200, or the system's own",
      .for_agents =
          "of the whole run: trials (\"200\"), wall time (\"30s\", \"5m\"), both (\"200,30s\") or \"all\""}},
    {field<&Run::target_speedup>("target_speedup", fields::amount,
                                 "end once the best is this many times as fast as the reference; 0: never"),
     {.group = OptionGroup::limits, .resume = OnResume::not_stored}},
    {natural<&Run::no_gain>("no_gain", "end after this many trials in a row without gain; 0: never"),
     {.group = OptionGroup::limits, .resume = OnResume::not_stored}},

    // ---- Measuring
    {field<&Run::measurement, &Measuring::jobs>("jobs", any_count, "compilers at a time"),
     {.group = OptionGroup::measuring, .otherwise = "one for each core but the measured one"}},
    {field<&Run::measurement, &Measuring::core>("core", {-1, 1e6}, "processor core to measure on"),
     {.group = OptionGroup::measuring,
      .resume = OnResume::not_stored,
      .otherwise = "the last that no other run measures on"}},
    {field<&Run::measurement, &Measuring::samples>(
         "samples", {0, 1000},
         "timed samples of every shape, fewer only of what is certainly slower, and at most as many pairs of "
         "finalists"),
     {.group = OptionGroup::measuring,
      .resume = OnResume::replace,
      .otherwise = "until the median is known to 1 %"}},
    {field<&Run::measurement, &Measuring::devices>(
         "devices", any_count,
         "GPUs to measure on, by number: equal ones, e.g. 0,1; of OpenCL also by platform and number within "
         "it, e.g. 1:0"),
     {.group = OptionGroup::measuring}},
    {one_of(field<&Run::measurement, &Measuring::cache>("cache", "caches at the start of a timed call"),
            cache_modes),
     {.group = OptionGroup::measuring, .otherwise = "warm on the host, cold on a GPU"}},
    {field<&Run::measurement, &Measuring::inspect>("inspect",
                                                   "features of the machine code as well (docs/evidence.md)"),
     {.group = OptionGroup::measuring, .resume = OnResume::not_stored, .flag = "-"}},

    // ---- Checks and sandbox
    {field<&Run::validate>(
         "validate",
         "tools of Compute Sanitizer that finalists must pass, e.g. memcheck,racecheck,initcheck; one with "
         "faults makes room for the next best; with peak every new kernel must, at its best configuration "
         "and "
         "a few others"),
     {.group = OptionGroup::checks, .resume = OnResume::not_stored}},
    {field<&Run::bounds>("bounds",
                         "a host kernel that reads or writes past its arrays cannot win: finalists are run "
                         "between pages that "
                         "nothing may access"),
     {.group = OptionGroup::checks, .resume = OnResume::replace}},
    {one_of(field<&Run::measurement, &Measuring::sandbox>(
                "sandbox",
                "auto: the strongest that works here; bubblewrap; landlock; or none, for kernels you trust"),
            sandboxes),
     {.group = OptionGroup::checks, .resume = OnResume::given_now}},
    {field<&Run::measurement, &Measuring::readable>(
         "readable",
         "folder outside of the system's that build commands, and on the host compilers and kernels, may "
         "read "
         "in the sandbox, e.g. of a toolchain; may be given several times"),
     {.group = OptionGroup::checks,
      .resume = OnResume::ask_again,
      .stored = StoredFor::given,
      .path = OptionPath::path}},
    {one_of(field<&Run::measurement, &Measuring::require_sandbox>(
                "require_sandbox", "measure nothing in a weaker sandbox than this"),
            real_sandboxes),
     {.group = OptionGroup::checks, .resume = OnResume::given_now, .otherwise = "none is required"}},

    // ---- Workers
    {field<&Run::lanes, &Lanes::slurm>(
         "slurm", "measure on nodes of Slurm: nodes=4,gpus=2,partition=...,time=...; see docs/scale.md"),
     {.group = OptionGroup::workers, .resume = OnResume::not_stored}},
    {field<&Run::lanes, &Lanes::worker>("worker", "the program kernelsearch where workers run"),
     {.group = OptionGroup::workers,
      .resume = OnResume::not_stored,
      .otherwise = "by PATH, here and in Slurm's jobs this one"}},
    {field<&Run::lanes, &Lanes::tolerance>("lane_tolerance", fields::amount,
                                           "set a lane aside whose time of the default configuration differs "
                                           "by more than this share; 0: never"),
     {.group = OptionGroup::workers, .resume = OnResume::not_stored}},
    {field<&Run::lanes, &Lanes::start_seconds>("lane_start", positive,
                                               "seconds until a worker must be ready"),
     {.group = OptionGroup::workers, .resume = OnResume::not_stored}},
    {field<&Run::lanes, &Lanes::silence_seconds>(
         "lane_silence", positive, "seconds after which a worker that says nothing is given up"),
     {.group = OptionGroup::workers, .resume = OnResume::not_stored}},
    {field<&Run::lanes, &Lanes::in_flight>("in_flight", {0, 100000},
                                           "proposals in flight with --launch and --slurm; with the same "
                                           "number the same seed and outcomes give "
                                           "the same proposals with any number of lanes"),
     {.group = OptionGroup::workers,
      .resume = OnResume::replace,
      .stored = StoredFor::given,
      .otherwise = "by compilers and lanes"}},

    // ---- Systems and their models
    {field<&Run::system>("system",
                         "a published system instead of a policy, with options where some are given, as "
                         "'stark(debugs=2)'; see `kernelsearch list systems`"),
     {.group = OptionGroup::models, .stored = StoredFor::system}},
    {field<&Run::system_options>("system_options",
                                 "the system's options as a JSON object, over those of its variant"),
     {.group = OptionGroup::models,
      .resume = OnResume::replace,
      .stored = StoredFor::system,
      .path = OptionPath::json,
      .flag = "-",
      .otherwise = "as the variant has them"}},
    {field<&Run::models, &Models::file>("models", "model file"),
     {.group = OptionGroup::models,
      .resume = OnResume::ask_again,
      .stored = StoredFor::system,
      .path = OptionPath::path,
      .otherwise = "$KERNELSEARCH_MODELS, ~/.config/kernelsearch/models.json"}},
    {field<&Run::models, &Models::model>("model", "the model file's model for every role"),
     {.group = OptionGroup::models,
      .resume = OnResume::replace,
      .stored = StoredFor::system,
      .otherwise = "as the model file says"}},
    {field<&Run::models, &Models::record>("record_exchanges", "folder for what models are asked and say"),
     {.group = OptionGroup::models,
      .resume = OnResume::ask_again,
      .stored = StoredFor::system,
      .path = OptionPath::path,
      .otherwise = "one next to the store"}},
    {field<&Run::models, &Models::replay>(
         "replay_exchanges",
         "folder of recorded exchanges, or with a script.json, that answers instead of models"),
     {.group = OptionGroup::models,
      .resume = OnResume::replace,
      .stored = StoredFor::system,
      .path = OptionPath::folder}},
    {natural<&Run::models, &Models::max_tokens>(
         "max_tokens", "ask models for no more tokens than this in all; 0: no limit"),
     {.group = OptionGroup::models, .resume = OnResume::replace, .stored = StoredFor::system}},
    {field<&Run::models, &Models::max_cost>(
         "max_cost", fields::amount,
         "spend no more than this, in the currency of the model file's prices; 0: no limit"),
     {.group = OptionGroup::models, .resume = OnResume::replace, .stored = StoredFor::system}},

    // ---- How systems write kernels
    {field<&Run::methods>(
         "methods",
         "folder with prompts/, strategies/, transformations/, workflows/ of your own, which "
         "replace or join ours"),
     {.group = OptionGroup::writing, .stored = StoredFor::system, .path = OptionPath::folder}},
    {field<&Run::proposals>("proposals", {1, 64}, "kernels that a system writes and judges at a time"),
     {.group = OptionGroup::writing, .stored = StoredFor::system}},
    {field<&Run::inner_trials>(
         "inner_trials", {0, 100000},
         "trials over the tunables of each kernel that a system writes; 0: kernels are not tuned, as in most "
         "papers"),
     {.group = OptionGroup::writing,
      .stored = StoredFor::system,
      .otherwise = "8, in a paper's variant 0, peak 100"}},
    {one_of(field<&Run::root>("root",
                              "where a system that writes kernels begins: the best configuration that the "
                              "store knows of this kernel and device, or the default"),
            roots),
     {.group = OptionGroup::writing,
      .stored = StoredFor::elsewhere,
      .otherwise = "best, in a paper's variant default"}},
    {field<&Run::counters>("counters",
                           "Nsight Compute's counters, which kernelband takes on CUDA where they can be had"),
     {.group = OptionGroup::writing, .stored = StoredFor::system}},
    {field<&Run::memory>("memory",
                         "prompts show what earlier runs of the store learned; see `kernelsearch memory`"),
     {.group = OptionGroup::writing, .resume = OnResume::not_stored}},

    // ---- Store and files
    {field<&Run::store>("store", "SQLite file of runs"),
     {.group = OptionGroup::files,
      .resume = OnResume::not_stored,
      .path = OptionPath::path,
      .otherwise = "$KERNELSEARCH_STORE or the user's data folder"}},
    {field<&Run::name>("name", "name of the run"),
     {.group = OptionGroup::files,
      .stored = StoredFor::elsewhere,
      .otherwise = "the problem's",
      .for_agents = "of the run, for people"}},
    {field<&Run::out>("out", "folder for the winner's files"),
     {.group = OptionGroup::files,
      .resume = OnResume::not_stored,
      .path = OptionPath::path,
      .otherwise = "./PROBLEM_tuned of the command, none elsewhere"}},
    {field<&Run::record>("record", "file for all that was measured, as a cachefile (.json) or T4 (.t4.json)"),
     {.group = OptionGroup::files,
      .resume = OnResume::not_stored,
      .path = OptionPath::path,
      .otherwise = "none"}},
};

}  // namespace kernelsearch::detail::rows
