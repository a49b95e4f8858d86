// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/ncu_run.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <sstream>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::detail::gpu {
namespace {

namespace fs = std::filesystem;

/// A regular expression of exactly these names.
std::string any_of_names(const std::vector<std::string>& names) {
  std::string text = "regex:^(";
  for (const std::string& name : names) {
    if (text.back() != '(') text += '|';
    for (const char c : name) {
      if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) text += '\\';
      text += c;
    }
  }
  return text + ")$";
}

/// The lines in which ncu complains, without their mark.
std::vector<std::string> complaints(const std::string& text) {
  constexpr std::string_view mark = "==ERROR==";
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(mark, 0) != 0) continue;
    const std::size_t begin = line.find_first_not_of(' ', mark.size());
    if (begin != std::string::npos) lines.push_back(line.substr(begin));
  }
  return lines;
}

/// Whether a line names the metric and not one that only begins like it.
bool names_metric(const std::string& line, const std::string& metric) {
  const auto part_of_name = [](char c) { return in_word(c) || c == '.'; };
  for (std::size_t at = line.find(metric); at != std::string::npos; at = line.find(metric, at + 1)) {
    const std::size_t end = at + metric.size();
    const bool begins = at == 0 || !part_of_name(line[at - 1]);
    // a full stop may end the sentence rather than go on with the name
    const bool ends = end == line.size() || !part_of_name(line[end]) ||
                      (line[end] == '.' && (end + 1 == line.size() || !part_of_name(line[end + 1])));
    if (begins && ends) return true;
  }
  return false;
}

std::size_t drop_unknown(std::vector<std::string>& metrics, const std::vector<std::string>& lines) {
  return static_cast<std::size_t>(std::erase_if(metrics, [&](const std::string& metric) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return names_metric(line, metric); });
  }));
}

}  // namespace

std::optional<fs::path> find_ncu(const fs::path& given) {
  std::vector<fs::path> more;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/opt/nvidia/nsight-compute", error))
    more.push_back(entry.path());
  std::sort(more.rbegin(), more.rend());  // the newest first
  return find_tool("ncu", "KERNELSEARCH_NCU", given, more);
}

NcuObservation run_ncu(const fs::path& program, const NcuTask& task, std::vector<std::string>& metrics) {
  constexpr int most_tries = 4;
  NcuObservation seen;
  for (int i = 0; i < most_tries; ++i) {
    const ScratchFolder scratch;
    const fs::path log = scratch.path() / "log";
    // Into a file of its own, as a kernel may print lines that look like the table's.
    std::vector<std::string> argv{program.string(),
                                  "--csv",
                                  "--page",
                                  "raw",
                                  "--print-units",
                                  "base",
                                  "--clock-control",
                                  "none",
                                  "--cache-control",
                                  task.cold ? "all" : "none",
                                  "--kernel-name-base",
                                  "mangled",
                                  "--kernel-name",
                                  any_of_names(task.kernels),
                                  "--launch-skip",
                                  std::to_string(task.skip),
                                  "--launch-count",
                                  std::to_string(task.count),
                                  "--metrics",
                                  joined(metrics, ","),
                                  "--log-file",
                                  log.string()};
    argv.insert(argv.end(), task.command.begin(), task.command.end());
    const Finished finished = run_tool(argv, task.seconds);
    if (finished.timed_out) {
      seen.problem = "ncu did not finish within " + std::to_string(static_cast<int>(task.seconds)) + " s";
      return seen;
    }
    const std::string report = read_text(log);
    const std::vector<std::string> lines =
        complaints(report + "\n" + finished.output + "\n" + finished.errors);
    for (const std::string& line : lines)
      if (line.find("ERR_NVGPUCTRPERM") != std::string::npos)
        raise<ConfigError>("Nsight Compute may not read the counters of this device", line,
                           "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    seen.launches = read_ncu_csv(report);
    if (!seen.launches.empty()) break;
    if (drop_unknown(metrics, lines) > 0 && !metrics.empty()) continue;
    if (!lines.empty())
      seen.problem = "ncu: " + lines.front();
    else if (!finished.errors.empty())
      seen.problem = finished.errors.substr(0, finished.errors.find('\n'));
    else
      seen.problem = "ncu saw none of the kernels " + joined(task.kernels, ",");
    return seen;
  }
  if (seen.launches.empty()) seen.problem = "ncu knows too few of the metrics";
  seen.features = ncu_features(seen.launches);
  return seen;
}

}  // namespace kernelsearch::detail::gpu
