// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/load_meter.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "process/process.hpp"

namespace kernelsearch::detail {

namespace fs = std::filesystem;

namespace {

/// Shorter than this many ticks of the system's accounting (100 a second) a share says nothing.
constexpr double fewest_ticks = 5;

bool among(const std::vector<int>& cores, int core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

/// `0-1,8` as numbers.
std::vector<int> list_of(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    if (end == part.c_str()) continue;
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    for (long core = first; core <= last && core - first < 4096; ++core)
      numbers.push_back(static_cast<int>(core));
  }
  return numbers;
}

double share(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
}

/// Seconds that the thread of this folder waited for a core; nothing where the system does not say.
std::optional<double> waited_by(const fs::path& thread) {
  std::ifstream file(thread / "schedstat");
  double ran = 0, waited = 0;  // nanoseconds
  if (!(file >> ran >> waited)) return std::nullopt;
  return 1e-9 * waited;
}

}  // namespace

double waited_seconds(pid_t pid, const fs::path& proc) {
  std::error_code error;
  double seconds = -1;
  for (fs::directory_iterator at(proc / std::to_string(pid) / "task", error), end; !error && at != end;
       at.increment(error))
    if (const auto waited = waited_by(at->path())) seconds = std::max(seconds, 0.0) + *waited;
  return seconds;
}

double waited_here() {
  return waited_by("/proc/thread-self").value_or(-1);
}

std::vector<int> sibling_cores(const std::vector<int>& cores, const fs::path& root) {
  std::vector<int> siblings;
  for (const int core : cores) {
    std::string text;
    std::ifstream(root / ("cpu" + std::to_string(core)) / "topology" / "thread_siblings_list") >> text;
    for (const int sibling : list_of(text))
      if (!among(cores, sibling) && !among(siblings, sibling)) siblings.push_back(sibling);
  }
  return siblings;
}

double MachineLoad::disturbance() const noexcept {
  return std::max({core.value_or(0.0), steal.value_or(0.0), sibling.value_or(0.0)});
}

void MachineLoad::set(Features& features) const {
  const auto add = [&features](const char* name, const std::optional<double>& value) {
    if (value) features.set(name, *value);
  };
  add("load.core", core);
  add("load.steal", steal);
  add("load.sibling", sibling);
  add("load.runnable", runnable);
  add("load.pressure", pressure);
}

LoadMeter::LoadMeter(std::vector<int> cores, fs::path proc, fs::path sys)
    : cores_(std::move(cores)), siblings_(sibling_cores(cores_, sys)), proc_(std::move(proc)) {
  before_ = read();
}

LoadMeter::Reading LoadMeter::read() const {
  Reading reading;
  reading.at = monotonic_seconds();
  std::ifstream stat(proc_ / "stat");
  for (std::string line; std::getline(stat, line) && line.rfind("cpu", 0) == 0;) {
    std::istringstream in(line.substr(3));
    int core = 0;
    if (line.size() < 4 || line[3] == ' ' || !(in >> core)) continue;  // all cores together
    double part[8] = {};  // user, nice, system, idle, iowait, irq, softirq, steal
    for (double& value : part) in >> value;
    for (auto* const ticks : {&reading.cores, &reading.siblings}) {
      if (!among(ticks == &reading.cores ? cores_ : siblings_, core)) continue;
      if (!*ticks) *ticks = Ticks{};  // no emplace(): clang 14 does not see the members' initialisers yet
      for (const double value : part) (*ticks)->all += value;
      (*ticks)->idle += part[3] + part[4];
      (*ticks)->steal += part[7];
    }
  }
  std::string field;
  std::ifstream average(proc_ / "loadavg");
  for (int i = 0; i < 4; ++i) average >> field;  // the fourth: running/all
  if (average) reading.runnable = std::max(0.0, std::strtod(field.c_str(), nullptr) - 1);
  std::ifstream pressure(proc_ / "pressure" / "cpu");
  for (std::string line; std::getline(pressure, line);)
    if (const auto at = line.find("total="); line.rfind("some", 0) == 0 && at != std::string::npos)
      reading.pressure_us = std::strtod(line.c_str() + at + 6, nullptr);
  return reading;
}

MachineLoad LoadMeter::load(double had_seconds, double waited_seconds) const {
  const Reading now = read();
  MachineLoad load;
  if (had_seconds >= 0 && waited_seconds >= 0)
    load.core = share(waited_seconds, had_seconds + waited_seconds);
  const auto since = [](const Ticks& a, const Ticks& b) {
    return Ticks{b.all - a.all, b.idle - a.idle, b.steal - a.steal};
  };
  if (before_.cores && now.cores)
    if (const Ticks t = since(*before_.cores, *now.cores); t.all >= fewest_ticks)
      load.steal = share(t.steal, t.all);
  if (before_.siblings && now.siblings)
    if (const Ticks t = since(*before_.siblings, *now.siblings); t.all >= fewest_ticks)
      load.sibling = share(t.all - t.idle, t.all);
  if (before_.runnable && now.runnable) load.runnable = std::max(*before_.runnable, *now.runnable);
  if (before_.pressure_us && now.pressure_us)
    load.pressure = share(1e-6 * (*now.pressure_us - *before_.pressure_us), now.at - before_.at);
  return load;
}

}  // namespace kernelsearch::detail
