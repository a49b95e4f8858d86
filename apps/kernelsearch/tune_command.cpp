// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "mlir_options.hpp"
#include "option_file.hpp"
#include "sandbox_option.hpp"
#include "tune_options.hpp"

namespace kernelsearch::app {
namespace {

/// Options of systems that have one of their own on the command line, most of them cuda_skill_v2's.
struct SkillOptions {
  std::int64_t iterations = 3, branches = 4, rewrites = 3, pairs = 0, repairs = 1;
  double noise = 0.02, wait = 0;
  bool from_frontier = false;
  std::string stage2 = "ours", workflow = "";
};

/// Those that were given as the system's JSON object, over those of the file.
std::string system_options(const CLI::App& sub, const SkillOptions& skill, const std::string& from_files,
                           const OptionFile& file) {
  nlohmann::json options = nlohmann::json::object();
  const auto add = [&](const char* flag, const char* name, const nlohmann::json& value) {
    if (sub.count(flag) > 0) options[name] = value;
  };
  add("--repairs", "repairs", skill.repairs);
  add("--iterations", "iterations", skill.iterations);
  add("--branches", "branches", skill.branches);
  add("--rewrites", "rewrites", skill.rewrites);
  add("--ablate-pairs", "pairs", skill.pairs);
  add("--noise", "noise", skill.noise);
  add("--from-frontier", "from_frontier", skill.from_frontier);
  add("--wait", "wait", skill.wait);
  add("--stage2", "stage2", skill.stage2);
  // A file is found again when the run goes on, wherever that is done.
  const bool is_file = skill.workflow.ends_with(".json") || skill.workflow.find('/') != std::string::npos;
  add("--workflow", "workflow",
      is_file ? std::filesystem::absolute(skill.workflow).lexically_normal().string() : skill.workflow);
  if (!from_files.empty()) options["from_files"] = std::filesystem::absolute(from_files).string();
  return with_option_file(file, options.empty() ? "" : options.dump());
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code, const std::vector<std::string>& behind) {
  auto* sub = app.add_subcommand("tune", "Search for the fastest configuration of a problem");
  auto o = std::make_shared<TuneOptions>();
  o->behind = behind;
  auto skill = std::make_shared<SkillOptions>();
  auto file = std::make_shared<OptionFile>();
  sub->add_option("PROBLEM", o->problem,
                  "Problem folder or problem.json; a schedule of MLIR (.mlir), whose problem is written to "
                  "./FUNCTION_problem; or a folder with a make_problem.json, whose command makes it in "
                  "./NAME_problem and gets what stands behind `--` (may be left out with --resume)");
  add_mlir_options(*sub, o->mlir);
  auto* policy = sub->add_option("--policy", o->run.policy, "Search policy; see `kernelsearch list policies`")
                     ->capture_default_str();
  auto* own =
      sub->add_option("--policy-command", o->run.policy_command,
                      "A policy of your own in any language instead: 'COMMAND' or 'NAME: COMMAND', run "
                      "by /bin/sh -c; it speaks docs/formats/policy_protocol.md")
          ->excludes(policy);
  sub->add_option("--policy-timeout", o->run.policy_timeout,
                  "Seconds within which that command must answer each time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--policy-plugin", o->run.policy_plugin,
                  "Shared library that has the policy that --policy names, or its only one")
      ->excludes(own);
  sub->add_option("--evaluator", o->evaluator, "auto, or one of `kernelsearch list evaluators`")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "host", "cuda", "hip", "opencl", "vulkan"}));
  sub->add_option("--baseline", o->baseline,
                  "For a task in Python: also compare answers in pairs with this solution of the definition "
                  "(JSON) or this answer (.py)")
      ->check(CLI::ExistingFile);
  sub->add_option("--budget", o->run.budget,
                  "Trials (200), time (30s, 5m), both (200,30s), or all; default 200, or the "
                  "system's own");
  sub->add_option("--where", o->run.where,
                  "Only configurations for which this expression over tunables holds; repeatable")
      ->allow_extra_args(false);
  sub->add_option("--configs", o->run.configs, "Only the configurations listed in this JSON file")
      ->check(CLI::ExistingFile);
  sub->add_option("--target-speedup", o->run.target_speedup,
                  "End once the best is so many times the reference");
  sub->add_option("--no-gain", o->run.no_gain, "End after so many trials in a row without gain");
  sub->add_option("--seed", o->run.seed, "Seed of every random choice of the search")->capture_default_str();
  sub->add_option("--jobs", o->run.measurement.jobs,
                  "Compilers at a time; default one for each core but the measured one");
  sub->add_option("--core", o->run.measurement.core,
                  "Processor core to measure on; default the last that no other run measures on");
  sub->add_option(
         "--samples", o->run.measurement.samples,
         "Timed samples of every shape, fewer only of what is surely slower, and at most as many pairs "
         "of finalists; default until the median is known to 1 %")
      ->check(CLI::Range(1, 1000));
  sub->add_option(
         "--devices", o->devices,
         "GPUs to measure on, by number: equal ones, e.g. 0,1; of OpenCL also by platform and number "
         "within it, e.g. 1:0; default 0")
      ->delimiter(',');
  sub->add_option(
         "--cache", o->run.measurement.cache,
         "Caches at the start of a timed call: warm or cold; default warm on the host, cold on a GPU")
      ->check(CLI::IsMember({"warm", "cold"}));
  sub->add_option(
      "--validate", o->run.validate,
      "Tools of Compute Sanitizer that finalists must pass, e.g. memcheck,racecheck,initcheck; one "
      "with faults makes room for the next best; of peak every new kernel must, at its best "
      "configuration and a few others");
  sub->add_flag("!--no-bounds", o->run.bounds,
                "Let a host kernel win that reads or writes past its arrays without being noticed: finalists "
                "are not run between pages that nobody may access");
  sub->add_option("--sandbox", o->run.measurement.sandbox, sandbox_help)
      ->capture_default_str()
      ->check(CLI::IsMember(sandbox_names()));
  sub->add_option("--readable", o->run.measurement.readable, readable_help)->allow_extra_args(false);
  sub->add_option("--require-sandbox", o->run.measurement.require_sandbox,
                  "Measure nothing in a weaker sandbox than this: bubblewrap or landlock")
      ->check(CLI::IsMember({"bubblewrap", "landlock"}));
  sub->add_option(
         "--launch", o->launch,
         "Measure by workers that this starts: local, or a prefix such as 'ssh gpu3' or 'srun -N1 -n1 "
         "--gpus=1', a count behind it as x4; repeatable; see docs/scale.md")
      ->allow_extra_args(false);
  sub->add_option("--build-launch", o->build_launch, "The same of workers that compile, and measure nothing")
      ->allow_extra_args(false);
  sub->add_option("--pools", o->pools, "The same of a JSON file of pools")->check(CLI::ExistingFile);
  sub->add_option("--device-class", o->device_class, "Only pools of that file that are of this class");
  sub->add_option("--slurm", o->run.lanes.slurm,
                  "Measure on nodes of Slurm: nodes=4,gpus=2,partition=...,time=...; see docs/scale.md");
  sub->add_option(
      "--worker", o->run.lanes.worker,
      "The program kernelsearch where workers run; default by PATH, here and in Slurm's jobs this one");
  sub->add_option("--lane-tolerance", o->run.lanes.tolerance,
                  "Set a lane aside whose time of the default configuration differs by more; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--other-lanes", o->other_lanes,
                  "Lanes of another device, toolchain or speed than the first: refuse them, or search apart "
                  "with each class of lanes, a run each")
      ->capture_default_str()
      ->check(CLI::IsMember({"refuse", "apart"}));
  sub->add_option("--lane-start", o->run.lanes.start_seconds, "Seconds until a worker must be ready")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  sub->add_option("--lane-silence", o->run.lanes.silence_seconds,
                  "Seconds after which a worker that says nothing is given up")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  sub->add_option(
         "--in-flight", o->run.lanes.in_flight,
         "Proposals in flight with --launch and --slurm; with the same number the same seed and outcomes "
         "give the same proposals whatever the number of lanes; default by compilers and lanes")
      ->check(CLI::Range(1, 100000));
  sub->add_option("--store", o->run.store,
                  "SQLite file of runs; default $KERNELSEARCH_STORE or the user's data folder");
  sub->add_option("--name", o->run.name, "Name of the run; default the problem's");
  sub->add_option("--resume", o->resume, "Go on with a run: its number or name, or `latest`")
      ->expected(0, 1)
      ->default_str("latest");
  sub->add_option("--out", o->run.out, "Folder for the winner's files; default ./PROBLEM_tuned");
  sub->add_option("--record", o->run.record,
                  "File for all that was measured, as a cachefile (.json) or T4 (.t4.json)");
  sub->add_option("--learn-from", o->run.learn_from,
                  "Earlier runs of the same space on other devices, shapes or versions: recordings, stores, "
                  "STORE:RUN; those of this problem in --store are learned from anyway");
  sub->add_option("--system", o->run.system,
                  "A published system instead of a policy; see `kernelsearch list systems`");
  add_option_file(*sub, *file);
  sub->add_option("--models", o->run.models.file,
                  "Model file; default $KERNELSEARCH_MODELS, "
                  "~/.config/kernelsearch/models.json");
  sub->add_option("--model", o->run.models.model, "Its model for every role");
  auto* record = sub->add_option("--record-exchanges", o->run.models.record,
                                 "Folder for what models are asked and say; default one beside the store");
  sub->add_option("--replay-exchanges", o->run.models.replay,
                  "Folder of recorded exchanges, or with a script.json, that answers instead of models")
      ->excludes(record)
      ->check(CLI::ExistingDirectory);
  sub->add_option("--max-tokens", o->run.models.max_tokens,
                  "Ask models for no more tokens than these in all");
  sub->add_option("--max-cost", o->run.models.max_cost,
                  "Spend no more than this, in the currency of the model file's prices")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--methods", o->run.methods,
                  "Folder with prompts/, strategies/, transformations/, workflows/ of your own, which "
                  "replace or join ours")
      ->check(CLI::ExistingDirectory);
  sub->add_option(
         "--repairs", skill->repairs,
         "best_of_k, greedy_refine, kernelband: questions that mend a kernel that failed, each a trial "
         "of its own; default 1, in a paper's variant 0; the other systems have their own way")
      ->check(CLI::Range(0, 100));
  sub->add_option("--proposals", o->run.proposals, "Kernels that a system writes and judges at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  sub->add_option(
         "--inner-trials", o->run.inner_trials,
         "Trials over the tunables of each kernel that a system writes; 0: kernels are not tuned, as in "
         "most papers; default 8, in a paper's variant 0, peak 100")
      ->check(CLI::Range(0, 100000));
  sub->add_option("--root", o->run.root,
                  "Where a system that writes kernels begins: the best configuration that the store knows of "
                  "this kernel and device, or the default; default best, in a paper's variant default")
      ->check(CLI::IsMember({"best", "default"}));
  sub->add_option(
         "--from-files", o->from_files,
         "cuda_skill_v2: take its kernels from this folder, where a person or an agent writes them; it "
         "holds what is asked for")
      ->excludes(record);
  sub->add_option("--wait", skill->wait,
                  "Wait so many seconds for each of these files; default only what is there")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--iterations", skill->iterations, "cuda_skill_v2: rounds of methods")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  sub->add_option("--branches", skill->branches, "cuda_skill_v2: implementations of each round's methods")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  sub->add_option("--rewrites", skill->rewrites,
                  "cuda_skill_v2: attempts to mend a round without a right kernel")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  sub->add_option("--ablate-pairs", skill->pairs,
                  "cuda_skill_v2: pairs of methods that are taken out together in each round")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  sub->add_option("--noise", skill->noise, "cuda_skill_v2: least relative difference in time that counts")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  sub->add_flag("--from-frontier", skill->from_frontier,
                "cuda_skill_v2: after a round without gain go on from the best branch that was not chosen");
  sub->add_option("--stage2", skill->stage2,
                  "helion_hybrid: what searches after the model, our LFBO or Helion's own search")
      ->capture_default_str()
      ->check(CLI::IsMember({"ours", "helion"}));
  sub->add_option(
      "--workflow", skill->workflow,
      "peak: the transformations and their order, by a name of `kernelsearch list workflows` or as a "
      "JSON file; default all that fit, in the order that what the kernel is short of says");
  sub->add_flag("!--no-counters", o->run.counters,
                "Without Nsight Compute's counters, which kernelband takes on CUDA where they can be had");
  sub->add_flag("!--no-learning", o->run.learn, "Learn from no earlier runs of the store");
  sub->add_flag("!--no-memory", o->run.memory,
                "Systems that write kernels: prompts show nothing of what earlier runs of the store learned; "
                "see `kernelsearch memory`");
  sub->add_flag("!--no-reuse", o->run.reuse, "Measure anew what earlier runs have measured");
  sub->add_flag("--json", o->json, "Print the result as one JSON object");
  sub->add_flag("-q,--quiet", o->quiet, "No progress on stderr");
  sub->add_flag("--serve", o->serve,
                "Show the run to browsers of this machine while it works, and print the address");
  sub->footer(
      "Examples:\n"
      "  kernelsearch tune examples/host/matmul --budget 60s\n"
      "  kernelsearch tune mine --policy random --budget 500 --seed 3 --json > result.json\n"
      "  kernelsearch tune mine --policy-command 'python3 my_policy.py'\n"
      "  kernelsearch tune mine --policy exhaustive --budget all --record mine.json.gz\n"
      "  kernelsearch tune examples/cuda/matmul_f32 --budget 5m --devices 0,1\n"
      "  kernelsearch tune examples/cuda/matmul_f32 --launch 'ssh gpu3' x2 --launch local\n"
      "  kernelsearch tune examples/cuda/matmul_f32 --slurm nodes=4,gpus=2,partition=gpu,time=1:00:00\n"
      "  kernelsearch tune examples/mlir/matmul/schedule.mlir --budget 40\n"
      "  kernelsearch tune examples/llvm/program --budget 80 -- --compiler clang-19 --plugin "
      "kernelsearch_loops.so\n"
      "  kernelsearch tune mine --validate memcheck,racecheck,initcheck\n"
      "  kernelsearch tune mine --where 'STAGES == 3' --where 'TILE <= 64' --policy exhaustive --budget all\n"
      "  kernelsearch tune mine --learn-from other_device.json.gz\n"
      "  kernelsearch tune mine --system stark --models models.json --max-cost 2\n"
      "  kernelsearch tune mine --system kernelband --variant v1 --options mine_options.json\n"
      "  kernelsearch tune examples/cuda/matmul_peak --system peak --workflow a6000_fp32 --models "
      "models.json\n"
      "  kernelsearch tune mine --system cuda_skill_v2 --from-files mine_kernels --wait 3600\n"
      "  kernelsearch tune --resume latest --budget 400");
  sub->callback([sub, o, skill, file, &exit_code] {
    for (const std::string& launch : o->launch) o->run.lanes.pools.push_back(launch_pool(launch));
    for (const std::string& launch : o->build_launch) {
      o->run.lanes.pools.push_back(launch_pool(launch));
      o->run.lanes.pools.back().builds_only = true;
    }
    if (!o->pools.empty())
      for (LaunchPool& pool : read_pools(o->pools, o->device_class))
        o->run.lanes.pools.push_back(std::move(pool));
    if (sub->count("--resume") > 0 && o->resume.empty()) o->resume = "latest";
    if (o->other_lanes == "apart" && o->run.lanes.pools.empty() && o->run.lanes.slurm.empty())
      throw CLI::ValidationError("--other-lanes",
                                 "without workers there is one lane: give --launch, --pools or --slurm");
    if (o->other_lanes == "apart" && !o->resume.empty())
      throw CLI::ValidationError("--other-lanes",
                                 "a run is of one class: resume each with workers of its own");
    if (o->problem.empty() && o->resume.empty()) throw CLI::RequiredError("PROBLEM");
    const bool mlir_only = sub->count("--payload") + sub->count("--function") + sub->count("--reference") > 0;
    if (mlir_only && !is_mlir_file(o->problem))
      throw CLI::ValidationError("--payload",
                                 "only a schedule of MLIR (.mlir) has --payload, --function, --reference");
    if (sub->count("--policy-plugin") > 0 && sub->count("--policy") == 0) o->run.policy.clear();
    const bool repairs = sub->count("--repairs") > 0;
    if (repairs && o->run.system.empty() && o->resume.empty())
      throw CLI::ValidationError("--repairs",
                                 "a policy writes no kernels to mend: leave it out, or name a --system");
    if (sub->count("--stage2") > 0 && o->run.system.empty() && o->resume.empty())
      throw CLI::ValidationError(
          "--stage2", "a policy has no second stage: leave it out, or name --system helion_hybrid");
    if (sub->count("--workflow") > 0 && o->run.system.empty() && o->resume.empty())
      throw CLI::ValidationError("--workflow", "a policy has none: leave it out, or name --system peak");
    if (o->run.system.empty() && o->resume.empty() && (!file->variant.empty() || !file->options.empty()))
      throw CLI::ValidationError(file->variant.empty() ? "--options" : "--variant",
                                 "a policy has none: leave it out, or name a --system");
    if (!o->run.system.empty() || !o->resume.empty())
      o->run.system_options = system_options(*sub, *skill, o->from_files, *file);
    exit_code = tune(*o);
  });
}

}  // namespace kernelsearch::app
