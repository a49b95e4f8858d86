// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_peaks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "evaluator/host/peak_kernels.hpp"
#include "evaluator/host/peaks.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "problem/replace_file.hpp"
#include "process/process.hpp"

namespace kernelsearch {
namespace detail {
namespace {

constexpr const char* header = "kernelsearch peaks 1";

void put(std::string& text, const char* name, const std::optional<double>& value) {
  char line[64];
  std::snprintf(line, sizeof line, "%.17g", value.value_or(0.0));
  text += std::string(name) + " " + (value ? line : "unknown") + "\n";
}

std::optional<double> positive(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !(value > 0)) return std::nullopt;
  return value;
}

void keep_higher(std::optional<double>& one, const std::optional<double>& other) {
  if (other && (!one || *other > *one)) one = other;
}

}  // namespace

std::string peaks_text(const DevicePeaks& peaks) {
  std::string text = std::string(header) + "\ndevice " + peaks.device + "\nsource " + peaks.source + "\n";
  put(text, "f16", peaks.f16);
  put(text, "f32", peaks.f32);
  put(text, "f64", peaks.f64);
  for (const MemoryLevel& level : peaks.levels) {
    char line[96];
    std::snprintf(line, sizeof line, "level %.17g ", level.bytes);
    put(text, (line + level.name).c_str(), level.bandwidth);
  }
  return text + "end\n";
}

std::optional<DevicePeaks> read_peaks(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != header) return std::nullopt;
  DevicePeaks peaks;
  while (std::getline(lines, line)) {
    if (line == "end") return peaks;
    const auto blank = line.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    const std::string name = line.substr(0, blank), rest = line.substr(blank + 1);
    if (name == "device")
      peaks.device = rest;
    else if (name == "source")
      peaks.source = rest;
    else if (name == "f16")
      peaks.f16 = positive(rest);
    else if (name == "f32")
      peaks.f32 = positive(rest);
    else if (name == "f64")
      peaks.f64 = positive(rest);
    else if (name == "level") {
      std::istringstream words(rest);
      std::string bytes, label, bandwidth;
      words >> bytes >> label >> bandwidth;
      const auto holds = positive(bytes);
      if (!holds || label.empty()) return std::nullopt;
      peaks.levels.push_back({label, *holds, positive(bandwidth)});
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;  // cut off
}

DevicePeaks higher_peaks(DevicePeaks one, const DevicePeaks& other) {
  keep_higher(one.f16, other.f16);
  keep_higher(one.f32, other.f32);
  keep_higher(one.f64, other.f64);
  for (MemoryLevel& level : one.levels)
    for (const MemoryLevel& same : other.levels)
      if (same.name == level.name) keep_higher(level.bandwidth, same.bandwidth);
  return one;
}

}  // namespace detail

DevicePeaks host_peaks(const HostPeaksOptions& options) {
  using namespace detail;
  namespace fs = std::filesystem;
  const HostMachine machine = host_machine();
  const std::vector<int> cores = peak_cores(machine, options);
  // Machines under one name may differ in what a guest gets to see of them.
  std::string key = std::string(header) + "\n" + machine.former_id() + "\n" + std::to_string(cores.size()) +
                    "\n" + peak_kernels().vectors + "\n";
  for (const std::size_t bytes : cache_sizes(cores.front()).bytes) key += std::to_string(bytes) + "\n";
  const fs::path folder =
      (options.cache_directory.empty() ? default_cache_directory() : options.cache_directory) / "peaks";
  const fs::path file = folder / (sha256(key) + ".txt");
  const auto kept = read_peaks(try_whole_file(file).value_or(""));
  if (kept && !options.again) return *kept;

  DevicePeaks peaks = measure_host_peaks(options);
  if (kept) peaks = higher_peaks(std::move(peaks), *kept);
  // Peaks that cannot be kept are measured again next time, which is not a reason to fail.
  (void)create_private_folders(folder);
  (void)replace_file(file, peaks_text(peaks));
  return peaks;
}

}  // namespace kernelsearch
