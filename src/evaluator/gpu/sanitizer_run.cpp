// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/sanitizer_run.hpp"

#include <sys/wait.h>

#include "evaluator/gpu/replay_file.hpp"
#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::detail::gpu {
namespace {

Verdict verdict_of(SanitizerTool tool) {
  // A barrier that only some threads reach hangs or breaks off the kernel on other chips.
  return tool == SanitizerTool::memcheck || tool == SanitizerTool::synccheck ? Verdict::crashed
                                                                             : Verdict::wrong_result;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<std::filesystem::path> find_compute_sanitizer(const std::filesystem::path& given) {
  return find_tool("compute-sanitizer", "KERNELSEARCH_COMPUTE_SANITIZER", given,
                   {"/usr/local/cuda/compute-sanitizer", "/usr/local/cuda/extras/compute-sanitizer"});
}

SanitizerFinding run_sanitizer(const std::filesystem::path& program, SanitizerTool tool,
                               const std::vector<std::string>& command, double seconds) {
  const ScratchFolder scratch;
  const auto log = scratch.path() / "log";
  // Into a file of its own, as a kernel may print lines that look like the tool's. Refused calls of the
  // driver are the worker's affair: it asks for what some devices do not have.
  std::vector<std::string> argv{program.string(),
                                "--tool",
                                std::string(to_string(tool)),
                                "--report-api-errors",
                                "no",
                                "--show-backtrace",
                                "device",
                                "--print-limit",
                                "10",
                                "--log-file",
                                log.string()};
  argv.insert(argv.end(), command.begin(), command.end());
  const Finished finished = run_tool(argv, seconds);
  SanitizerFinding finding;
  finding.tool = tool;
  const std::string name(to_string(tool));
  if (finished.timed_out) {
    finding.verdict = Verdict::timed_out;
    finding.reason = name + " did not finish within " + std::to_string(static_cast<int>(seconds)) + " s";
    return finding;
  }
  const std::string text = read_text(log);
  finding.report = read_sanitizer_log(text);
  if (finding.report.errors > 0) {
    finding.verdict = verdict_of(tool);
    finding.reason =
        name + ": " +
        (finding.report.first.empty() ? "an error that it does not describe" : finding.report.first) + " (" +
        std::to_string(finding.report.errors) + (finding.report.errors == 1 ? " error)" : " errors)");
    return finding;
  }
  const int code = WIFEXITED(finished.status) ? WEXITSTATUS(finished.status) : -1;
  if (code == replay_refused) {  // the tool ran, and the driver refused the call
    finding.verdict = Verdict::launch_failed;
    finding.reason = name + ": " + first_line(finished.errors);
    return finding;
  }
  if (!finding.report.complete || code != 0)
    raise<DeviceError>(
        "Compute Sanitizer could not check the candidate",
        name + ": " + (text.empty() ? first_line(finished.errors + finished.output) : text.substr(0, 500)),
        "see docs/profiling.md for where it works");
  return finding;
}

}  // namespace kernelsearch::detail::gpu
