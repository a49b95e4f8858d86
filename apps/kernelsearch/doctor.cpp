// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/profiling_tools.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/llm/ping_model.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/process/sandbox.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct Finding {
  std::string what;
  bool works = false;
  bool needed = false;  ///< without it kernels cannot be tuned here
  std::string detail;   ///< what was found, or how to get it
};

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / name;
    if (::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

Finding compiler(const std::string& name, bool needed) {
  const std::string path = find_program(name);
  return {name, !path.empty(), needed,
          path.empty() ? "apt-get install " + (name == "clang++" ? "clang" : name) : path};
}

/// Builds, checks and times a tiny kernel: everything between the command and a measurement.
Finding whole_chain() {
  Finding finding{"a kernel end to end", false, true, ""};
  try {
    const Problem problem = parse_problem(R"({
      "schema": 1, "name": "doctor", "function": "add_one",
      "kernel": {"device": {"text": "extern \"C\" void add_one(int n, const float* a, float* b) { for (int i = 0; i < n; ++i) b[i] = a[i] + 1; }"}},
      "arguments": [{"name": "n", "type": "i32"}, {"name": "a", "type": "f32", "size": "n"},
                    {"name": "b", "type": "f32", "size": "n", "role": "out"}],
      "shapes": [{"name": "one", "n": 4096}],
      "tunables": {}})",
                                          std::filesystem::temp_directory_path());
    HostOptions options;
    options.pairs.when = Pairing::never;
    HostEvaluator evaluator(problem, options);
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    const Evaluation evaluation = evaluator.evaluate({kernel, kernel->space.default_config()}, {});
    finding.works = evaluation.verdict == Verdict::ok;
    finding.detail = finding.works
                         ? fmt::format("built, checked and timed in {:.2f} s", evaluation.phases.total())
                         : std::string(to_string(evaluation.verdict)) + ": " + evaluation.reason;
  } catch (const Error& error) {
    finding.detail = error.what();
  }
  return finding;
}

/// Devices and run-time compiler of a backend, each found or with what is missing.
void add_gpus(GpuBackend backend, std::vector<Finding>& findings) {
  const bool cuda = backend == GpuBackend::cuda, opencl = backend == GpuBackend::opencl,
             vulkan = backend == GpuBackend::vulkan;
  const std::string name = cuda ? "CUDA" : opencl ? "OpenCL" : vulkan ? "Vulkan" : "HIP";
  const GpuStatus status = gpu_status(backend);
  for (const GpuDevice& device : status.devices)
    findings.push_back(
        {fmt::format("{} device {}", name, device.ordinal), true, false,
         fmt::format(
             "{}{}, {} {}, {:.0f} GiB",
             device.platform < 0
                 ? ""
                 : fmt::format("platform {}, device {} of it: ", device.platform, device.number_in_platform),
             device.id(), device.multiprocessors, opencl || vulkan ? "compute units" : "multiprocessors",
             static_cast<double>(device.memory) / (1 << 30))});
  if (!status.devices.empty())
    for (const UnusableGpu& device : status.unusable)
      findings.push_back({fmt::format("{} device {}", name, device.ordinal), false, false, device.problem});
  if (status.devices.empty())
    findings.push_back(
        {name + " device", false, false,
         status.problem + (vulkan ? "; on this machine's processors: apt-get install libvulkan1 "
                                    "mesa-vulkan-drivers"
                                  : "")});
  findings.push_back({cuda     ? "NVRTC"
                      : opencl ? "OpenCL compiler"
                      : vulkan ? "glslang"
                               : "hipRTC",
                      !status.compiler.empty(), false,
                      status.compiler.empty() ? status.compiler_problem : status.compiler});
}

std::vector<Finding> examine() {
  const HostMachine machine = host_machine();
  std::vector<Finding> findings;
  findings.push_back({"processor", true, false,
                      fmt::format("{}, {} cores{}", machine.model, machine.cores.size(),
                                  machine.governor.empty() ? "" : ", governor " + machine.governor)});
  findings.push_back(compiler("g++", true));
  findings.push_back(compiler("clang++", false));
  // One of the two is needed; the first that works is used.
  const SandboxStatus& landlock = sandbox_status(Sandbox::landlock);
  const SandboxStatus& bubblewrap = sandbox_status(Sandbox::bubblewrap);
  findings.push_back({"bubblewrap", bubblewrap.works, !landlock.works,
                      bubblewrap.works ? bubblewrap.path + " " + bubblewrap.version
                      : bubblewrap.path.empty()
                          ? "apt-get install bubblewrap, or tune kernels you trust with --sandbox none"
                          : bubblewrap.problem});
  findings.push_back(
      {"landlock", landlock.works, false, landlock.works ? landlock.version : landlock.problem});
  findings.push_back(whole_chain());
  const auto store = RunStore::default_path();
  std::error_code ignored;
  findings.push_back(
      {"store of runs", true, false,
       store.string() + (std::filesystem::exists(store, ignored) ? "" : " (made when first needed)")});
  for (const GpuBackend backend : {GpuBackend::cuda, GpuBackend::hip, GpuBackend::opencl, GpuBackend::vulkan})
    add_gpus(backend, findings);
  const auto objdump = find_objdump();
  findings.push_back(
      {"objdump", !objdump.empty(), false,
       objdump.empty() ? "apt-get install binutils; evidence in machine code needs it" : objdump.string()});
  const ProfilingTools tools = profiling_tools();
  const auto add_tool = [&](const char* name, const std::filesystem::path& path) {
    findings.push_back({name, !path.empty(), false,
                        path.empty() ? "comes with the CUDA toolkit; `profile` needs it" : path.string()});
  };
  add_tool("Nsight Compute", tools.nsight_compute);
  add_tool("Compute Sanitizer", tools.compute_sanitizer);
  add_tool("nvdisasm", tools.disassembler);
  return findings;
}

/// One tiny call to each model of the file, or to the one named.
std::vector<Finding> ask_models(const std::string& models, const std::string& model) {
  std::vector<Finding> findings;
  try {
    const std::string path = find_model_file(models);
    const ModelFile file = read_model_file(path);
    findings.push_back({"model file", true, true, path});
    std::vector<Endpoint> asked = file.models;
    if (!model.empty()) {
      ChatRequest request;
      request.model = model;
      asked = {*file.resolve(request).first};
    }
    for (const Endpoint& endpoint : asked) {
      const PingReport report = ping_model(endpoint);
      findings.push_back({"model " + endpoint.name, report.answered, true, report.text});
    }
  } catch (const ConfigError& error) {
    findings.push_back({"model file", false, true, error.what()});
  }
  return findings;
}

struct DoctorOptions {
  bool json = false;
  bool llm = false;
  std::string models, model;
};

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("doctor", "Say what works on this machine and how to get the rest");
  auto o = std::make_shared<DoctorOptions>();
  auto* llm = sub->add_flag("--llm", o->llm,
                            "Ask each model of the model file for one word, which costs a few tokens");
  sub->add_option("--models", o->models, "Model file; default as for `tune --system`")->needs(llm);
  sub->add_option("--model", o->model, "Ask only this model of it")->needs(llm);
  sub->add_flag("--json", o->json, "Print a JSON array");
  sub->footer(
      "Examples:\n"
      "  kernelsearch doctor\n"
      "  kernelsearch doctor --llm --models models.json");
  sub->callback([o, &exit_code] {
    bool usable = true;
    auto array = nlohmann::ordered_json::array();
    for (const Finding& finding : o->llm ? ask_models(o->models, o->model) : examine()) {
      usable = usable && (finding.works || !finding.needed);
      if (o->json)
        array.push_back({{"what", finding.what},
                         {"works", finding.works},
                         {"needed", finding.needed},
                         {"detail", finding.detail}});
      else
        print_clean("{:<5} {:<20} {}\n",
                    finding.works    ? "ok"
                    : finding.needed ? "FAIL"
                                     : "-",
                    finding.what, finding.detail);
    }
    if (o->json) print_json(array);
    exit_code = usable ? success : no_device;
  });
}

}  // namespace kernelsearch::app
