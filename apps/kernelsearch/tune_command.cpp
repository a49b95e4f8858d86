// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/systems/system_options.hpp"
#include "mlir_options.hpp"
#include "option_file.hpp"
#include "run_flags.hpp"
#include "terminal.hpp"
#include "tune_options.hpp"

namespace kernelsearch::app {
void add_tune(CLI::App& app, int& exit_code, const std::vector<std::string>& behind) {
  auto* sub = app.add_subcommand("tune", "Search for the fastest configuration of a problem");
  auto o = std::make_shared<TuneOptions>();
  o->behind = behind;
  auto file = std::make_shared<OptionFile>();
  sub->add_option("PROBLEM", o->problem,
                  "Problem folder or problem.json; a schedule of MLIR (.mlir), whose problem is written to "
                  "./FUNCTION_problem; or a folder with a make_problem.json, whose command makes it in "
                  "./NAME_problem and gets what stands behind `--` (may be left out with --resume)");
  add_mlir_options(*sub, o->mlir);
  add_run_flags(*sub, o->run);
  const FormerFlags former(*sub);
  sub->get_option("--policy-command")->excludes(sub->get_option("--policy"));
  sub->get_option("--policy-plugin")->excludes(sub->get_option("--policy-command"));
  sub->get_option("--replay-exchanges")->excludes(sub->get_option("--record-exchanges"));
  sub->get_option("--from-files")->excludes(sub->get_option("--record-exchanges"));
  const auto in = [](OptionGroup group) { return std::string(heading_of(group)); };
  add_option_file(*sub, *file);
  for (const char* of_systems : {"--variant", "--options"})
    sub->get_option(of_systems)->group(in(OptionGroup::models));
  const RunOption& devices = **try_find_run_option("devices");
  sub->add_option(devices.command_flag(), o->devices, "")
      ->description(
          "GPUs to measure on, by number: equal ones, e.g. 0,1; of OpenCL also by platform and "
          "number within it, e.g. 1:0; default 0")
      ->delimiter(',')
      ->group(in(devices.group));
  sub->add_option("--evaluator", o->evaluator, "auto, or one of `kernelsearch list evaluators`")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "host", "cuda", "hip", "opencl", "vulkan"}))
      ->group(in(OptionGroup::measuring));
  sub->add_option("--baseline", o->baseline,
                  "For a task in Python: also compare answers in pairs with this solution of the definition "
                  "(JSON) or this answer (.py)")
      ->check(CLI::ExistingFile)
      ->group(in(OptionGroup::measuring));
  sub->add_option(
         "--launch", o->launch,
         "Measure by workers that this starts: local, or a prefix such as 'ssh gpu3' or 'srun -N1 -n1 "
         "--gpus=1', a count behind it as x4; repeatable; see docs/scale.md")
      ->allow_extra_args(false)
      ->group(in(OptionGroup::workers));
  sub->add_option("--build-launch", o->build_launch, "The same of workers that compile, and measure nothing")
      ->allow_extra_args(false)
      ->group(in(OptionGroup::workers));
  sub->add_option("--pools", o->pools, "The same of a JSON file of pools")
      ->check(CLI::ExistingFile)
      ->group(in(OptionGroup::workers));
  sub->add_option("--device-class", o->device_class, "Only pools of that file that are of this class")
      ->group(in(OptionGroup::workers));
  sub->add_option("--other-lanes", o->other_lanes,
                  "Lanes of another device, toolchain or speed than the first: refuse them, or search apart "
                  "with each class of lanes, a run each")
      ->capture_default_str()
      ->check(CLI::IsMember({"refuse", "apart"}))
      ->group(in(OptionGroup::workers));
  sub->add_option("--resume", o->resume, "Go on with a run: its number or name, or `latest`")
      ->expected(0, 1)
      ->default_str("latest")
      ->group(in(OptionGroup::files));
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
      "  kernelsearch tune examples/cuda/matmul_peak --system 'peak(workflow=a6000_fp32)' --models "
      "models.json\n"
      "  kernelsearch tune mine --system 'cuda_skill_v2(from_files=mine_kernels, wait=3600)'\n"
      "  kernelsearch tune --resume latest --budget 400");
  sub->callback([sub, o, former, file, &exit_code] {
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
    if (o->run.system.empty() && o->resume.empty() && (!file->variant.empty() || !file->options.empty()))
      throw CLI::ValidationError(file->variant.empty() ? "--options" : "--variant",
                                 "a policy has none: leave it out, or name a --system");
    if (!o->run.system.empty() || !o->resume.empty()) o->run.system_options = with_option_file(*file, "");
    const std::string more = former.options(o->run, !o->resume.empty());
    if (!o->quiet) print_clean(stderr, "{}", former.notices(o->run));
    split_system(o->run);
    o->run.system_options = merged_system_options(o->run.system_options, more, "the system's options");
    exit_code = tune(*o);
  });
}

}  // namespace kernelsearch::app
