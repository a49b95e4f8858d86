// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/ncu_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>

namespace kernelsearch {
namespace {

using Record = std::vector<std::string>;

/// Records of lines that begin with a quote; everything else in the text is not a table.
std::vector<Record> read_records(std::string_view text) {
  std::vector<Record> records;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '"') {
      at = text.find('\n', at);
      if (at == std::string_view::npos) break;
      ++at;
      continue;
    }
    Record record;
    bool more = true;
    while (more) {
      std::string field;
      if (at < text.size() && text[at] == '"') {
        for (++at; at < text.size(); ++at) {
          if (text[at] != '"') {
            field += text[at];
          } else if (at + 1 < text.size() && text[at + 1] == '"') {
            field += text[at++];
          } else {
            ++at;
            break;
          }
        }
      }
      while (at < text.size() && text[at] != ',' && text[at] != '\n') {
        if (text[at] != '\r') field += text[at];
        ++at;
      }
      record.push_back(std::move(field));
      more = at < text.size() && text[at] == ',';
      if (at < text.size()) ++at;
    }
    records.push_back(std::move(record));
  }
  return records;
}

/// "1,234.5" and "12.5 (of several instances)"; nothing for "no data", "n/a" and the like.
std::optional<double> read_number(const std::string& text) {
  std::string digits;
  for (const char c : text.substr(0, text.find(" (")))
    if (c != ',' && c != ' ') digits += c;
  if (digits.empty() || digits.find_first_not_of("+-.0123456789eE") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (end != digits.c_str() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// What a number in this unit is multiplied with: ns, bytes, Hz and what they are divided by stay as they
/// are.
double to_base(const std::string& unit) {
  const std::string first = unit.substr(0, unit.find('/'));
  struct Prefixed {
    std::string_view unit;
    double factor;
  };
  constexpr Prefixed known[] = {{"s", 1e9},     {"second", 1e9},  {"ms", 1e6},    {"msecond", 1e6},
                                {"us", 1e3},    {"usecond", 1e3}, {"Kbyte", 1e3}, {"Mbyte", 1e6},
                                {"Gbyte", 1e9}, {"Tbyte", 1e12},  {"Khz", 1e3},   {"KHz", 1e3},
                                {"Mhz", 1e6},   {"MHz", 1e6},     {"Ghz", 1e9},   {"GHz", 1e9}};
  for (const Prefixed& one : known)
    if (first == one.unit) return one.factor;
  return 1;
}

std::size_t column(const Record& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

/// What describes a launch and is not a metric.
bool describes(const std::string& name) {
  constexpr std::string_view names[] = {"ID",
                                        "Process ID",
                                        "Process Name",
                                        "Host Name",
                                        "Kernel Name",
                                        "Kernel Time",
                                        "Context",
                                        "Stream",
                                        "Block Size",
                                        "Grid Size",
                                        "Device",
                                        "CC",
                                        "Section Name",
                                        "Metric Name",
                                        "Metric Unit",
                                        "Metric Value",
                                        "Rule Name",
                                        "Rule Type",
                                        "Rule Description",
                                        "Estimated Speedup Type",
                                        "Estimated Speedup",
                                        "Invocations"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void set_metric(NcuLaunch& launch, const std::string& name, const std::string& value,
                const std::string& unit) {
  if (name.empty()) return;
  if (const auto number = read_number(value)) launch.metrics.set(name, *number * to_base(unit));
}

std::vector<NcuLaunch> read_details(const std::vector<Record>& records, std::size_t first) {
  const Record& header = records[first];
  const std::size_t id = column(header, "ID"), kernel = column(header, "Kernel Name"),
                    name = column(header, "Metric Name"), unit = column(header, "Metric Unit"),
                    value = column(header, "Metric Value");
  std::vector<NcuLaunch> launches;
  std::vector<std::string> ids;
  for (std::size_t i = first + 1; i < records.size(); ++i) {
    const Record& record = records[i];
    const auto field = [&](std::size_t at) { return at < record.size() ? record[at] : std::string(); };
    if (kernel >= record.size() || record[kernel].empty()) continue;
    auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), field(id)) - ids.begin());
    if (at == ids.size() || launches[at].kernel != record[kernel]) {
      at = launches.size();
      ids.push_back(field(id));
      launches.push_back({record[kernel], {}});
    }
    set_metric(launches[at], field(name), field(value), field(unit));
  }
  return launches;
}

std::vector<NcuLaunch> read_raw(const std::vector<Record>& records, std::size_t first) {
  const Record& header = records[first];
  const std::size_t id = column(header, "ID"), kernel = column(header, "Kernel Name");
  Record units;
  std::vector<NcuLaunch> launches;
  for (std::size_t i = first + 1; i < records.size(); ++i) {
    const Record& record = records[i];
    const bool named = kernel < record.size() && !record[kernel].empty();
    if (!named) {
      if (id >= record.size() || record[id].empty()) units = record;
      continue;
    }
    NcuLaunch launch{record[kernel], {}};
    for (std::size_t c = 0; c < header.size() && c < record.size(); ++c)
      if (!describes(header[c])) set_metric(launch, header[c], record[c], c < units.size() ? units[c] : "");
    launches.push_back(std::move(launch));
  }
  return launches;
}

constexpr const char* duration = "gpu__time_duration.sum";
constexpr std::array<const char*, 9> stalls{"long_scoreboard",    "short_scoreboard", "barrier",
                                            "mio_throttle",       "lg_throttle",      "wait",
                                            "math_pipe_throttle", "membar",           "gmma"};

/// A feature and the metrics that say it, the best first; other chips and versions have others.
struct Source {
  const char* feature;
  std::vector<const char*> metrics;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all{
      {"l2_hit", {"lts__t_sector_hit_rate.pct"}},
      {"l1_hit", {"l1tex__t_sector_hit_rate.pct"}},
      {"dram_utilisation",
       {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"sm_utilisation", {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"l2_utilisation", {"lts__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"l1_utilisation", {"l1tex__throughput.avg.pct_of_peak_sustained_active"}},
      {"memory_utilisation", {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"achieved_occupancy", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
      {"registers", {"launch__registers_per_thread"}},
      {"ipc", {"sm__inst_executed.avg.per_cycle_active"}},
      {"tensor_utilisation",
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
      {"fp32_utilisation",
       {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"}},
      {"fp64_utilisation",
       {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"}},
      {"xu_utilisation", {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"}},
  };
  return all;
}

std::string stall_metric(const char* reason) {
  return "smsp__average_warps_issue_stalled_" + std::string(reason) + "_per_issue_active.ratio";
}

constexpr const char* warps_per_issue = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr const char* threads_per_instruction = "smsp__thread_inst_executed_per_inst_executed.ratio";
constexpr const char* conflicts[] = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"};
constexpr const char* wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr const char* sector_bytes[] = {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
                                        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"};
constexpr const char* sectors[] = {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"};

/// The share of the fetched and written bytes that threads asked for, loads and stores by their sectors.
std::optional<double> coalescing(const Features& metrics) {
  double weight = 0, sum = 0;
  for (int i = 0; i < 2; ++i) {
    const auto share = metrics.find(sector_bytes[i]), count = metrics.find(sectors[i]);
    if (!share || !count || *count <= 0) continue;
    weight += *count;
    sum += *count * *share;
  }
  if (weight <= 0) return std::nullopt;  // nothing was accessed that way
  return sum / weight;
}

}  // namespace

std::vector<NcuLaunch> read_ncu_csv(std::string_view text) {
  const std::vector<Record> records = read_records(text);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& header = records[i];
    if (column(header, "ID") == header.size() || column(header, "Kernel Name") == header.size()) continue;
    return column(header, "Metric Name") < header.size() ? read_details(records, i) : read_raw(records, i);
  }
  return {};
}

const std::vector<std::string>& ncu_metrics() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{duration,
                                   warps_per_issue,
                                   threads_per_instruction,
                                   wavefronts,
                                   "dram__bytes.sum",
                                   "lts__t_bytes.sum",
                                   "launch__occupancy_limit_registers",
                                   "launch__occupancy_limit_shared_mem",
                                   "launch__waves_per_multiprocessor"};
    for (const Source& source : sources())
      names.insert(names.end(), source.metrics.begin(), source.metrics.end());
    names.insert(names.end(), std::begin(conflicts), std::end(conflicts));
    names.insert(names.end(), std::begin(sector_bytes), std::end(sector_bytes));
    names.insert(names.end(), std::begin(sectors), std::end(sectors));
    for (const char* reason : stalls) names.push_back(stall_metric(reason));
    return names;
  }();
  return all;
}

const NcuLaunch* dominant_launch(const std::vector<NcuLaunch>& launches) {
  const NcuLaunch* longest = nullptr;
  double most = -2;
  for (const NcuLaunch& launch : launches) {
    const double took = launch.metrics.find(duration).value_or(-1);
    if (took <= most) continue;
    most = took;
    longest = &launch;
  }
  return longest;
}

Features ncu_features(const std::vector<NcuLaunch>& launches) {
  Features features;
  const NcuLaunch* launch = dominant_launch(launches);
  if (launch == nullptr) return features;
  const Features& metrics = launch->metrics;
  for (const auto& [name, value] : metrics) features.set("ncu." + name, value);
  for (const Source& source : sources())
    for (const char* metric : source.metrics)
      if (const auto value = metrics.find(metric)) {
        features.set(source.feature, *value);
        break;
      }
  if (const auto threads = metrics.find(threads_per_instruction))
    features.set("warp_efficiency", 100 * *threads / 32);
  const auto loads = metrics.find(conflicts[0]), stores = metrics.find(conflicts[1]),
             waves = metrics.find(wavefronts);
  if (loads && stores && waves)
    features.set("bank_conflicts", *waves > 0 ? 100 * (*loads + *stores) / *waves : 0.0);
  if (const auto share = coalescing(metrics)) features.set("coalescing", *share);
  if (const auto all = metrics.find(warps_per_issue); all && *all > 0)
    for (const char* reason : stalls)
      if (const auto stalled = metrics.find(stall_metric(reason)))
        features.set("stall_" + std::string(reason), 100 * *stalled / *all);
  double seconds = 0;
  bool known = true;
  for (const NcuLaunch& one : launches) {
    const auto took = one.metrics.find(duration);
    known = known && took;
    seconds += 1e-9 * took.value_or(0);
  }
  if (known) features.set("ncu.seconds", seconds);
  features.set("ncu.launches", static_cast<double>(launches.size()));
  return features;
}

}  // namespace kernelsearch
