// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/observed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "feature_names.hpp"
#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/quoted_text.hpp"

namespace kernelsearch {
namespace {

/// A feature in words.
struct Quantity {
  std::string_view feature;
  std::string_view words;  ///< `{}` is the value
  double most = 0;         ///< larger values are shown as this one, where it is above 0
  double times = 1;        ///< what it is shown as, of a share per cent
};

struct Line {
  std::string_view begins;
  std::vector<Quantity> quantities;
};

constexpr double whole = 100;  // hit rates of Nsight Compute pass it by some percent

const std::vector<Line>& lines() {
  static const std::vector<Line> all{
      {"use of the device, of its peaks",
       {{"sm_utilisation", "multiprocessors {} %"},
        {"memory_utilisation", "memory system {} %"},
        {"dram_utilisation", "main memory {} %"},
        {"l2_utilisation", "L2 {} %"},
        {"l1_utilisation", "L1 and shared memory {} %"}}},
      {"arithmetic units, of their peaks",
       {{"tensor_utilisation", "matrix units {} %"},
        {"fp32_utilisation", "single precision {} %"},
        {"fp64_utilisation", "double precision {} %"},
        {"xu_utilisation", "special functions {} %"}}},
      {"cache hits", {{"l1_hit", "L1 {} %", whole}, {"l2_hit", "L2 {} %", whole}}},
      {"residency",
       {{"achieved_occupancy", "{} % of the warps that a multiprocessor holds"},
        {"occupancy", "{} % possible by its resources", 0, whole},
        {"blocks_per_multiprocessor", "{} blocks a multiprocessor"},
        {"registers", "{} registers a thread"},
        {"shared_bytes", "{} bytes of shared memory a block"},
        {"local_bytes", "{} bytes spilled to local memory a thread"}}},
      {"accesses",
       {{"coalescing", "{} % of the bytes moved by global loads and stores were asked for"},
        {"bank_conflicts", "bank conflicts are {} % of the accesses to shared memory"},
        {"warp_efficiency", "{} % of a warp's threads active"}}},
      {"instructions", {{"ipc", "{} a cycle and multiprocessor"}}},
  };
  return all;
}

/// What a warp waits for, by Nsight Compute's name of the reason.
std::string stall_words(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> words{
      {{"long_scoreboard", "data from global or local memory"},
       {"short_scoreboard", "data from shared memory, or special functions"},
       {"barrier", "other warps at a barrier"},
       {"mio_throttle", "the queue to shared memory and special functions"},
       {"lg_throttle", "the queue to global memory"},
       {"wait", "the fixed latency of the instruction before"},
       {"math_pipe_throttle", "a busy arithmetic unit"},
       {"membar", "a memory fence"},
       {"gmma", "matrix instructions of the warp group"},
       {"no_instruction", "instructions to be fetched"},
       {"not_selected", "other warps that were ready too"},
       {"dispatch_stall", "the dispatcher"},
       {"drain", "stores to finish before the end"},
       {"tex_throttle", "the queue to the texture unit"},
       {"imc_miss", "constants"}}};
  for (const auto& [name, text] : words)
    if (name == reason) return fmt::format("{} ({})", text, name);
  return std::string(reason);
}

std::vector<std::pair<double, std::string>> stalls_of(const Features& features) {
  constexpr std::string_view prefix = "stall_";
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, value] : features)
    // A warp that issues, or could have, does not wait.
    if (name.starts_with(prefix) && name != "stall_selected" && name != "stall_not_selected" && value > 0)
      stalls.emplace_back(value, name.substr(prefix.size()));
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return stalls;
}

std::string number_text(double value, double most) {
  if (most > 0) value = std::min(value, most);
  return fmt::format("{:.3g}", value);
}

/// Instructions of the hot loop, or of all code where there is none.
std::string loop_text(const Features& features, std::string_view prefix,
                      const std::vector<std::pair<std::string_view, std::string_view>>& kinds,
                      const std::vector<std::string_view>& even_if_none) {
  const auto value = [&](std::string_view where, std::string_view kind) {
    return features.find(std::string(prefix) + std::string(where) + std::string(kind));
  };
  const bool loop = value("loop.", "instructions").has_value();
  const std::string_view where = loop ? "loop." : "";
  const auto instructions = value(where, "instructions");
  if (!instructions) return {};
  const auto share = features.find(std::string(prefix) + "hot_loop.share");
  const std::string which = !loop   ? "machine code (no hot loop is known)"
                            : share ? fmt::format("hot loop (by samples: {:.3g} % of the time)", *share)
                                    : "hot loop (guessed from the code)";
  std::string text = fmt::format("- {}: {:.4g} instructions", which, *instructions);
  for (const auto& [kind, words] : kinds) {
    const auto count = value(where, kind);
    const bool always = std::find(even_if_none.begin(), even_if_none.end(), kind) != even_if_none.end();
    if (count && (*count > 0 || always)) text += fmt::format(", {:.4g} {}", *count, words);
  }
  return text + '\n';
}

std::string host_loop_text(const Features& features) {
  return loop_text(features, "code.",
                   {{"vector_512", "on vectors of 512 bits"},
                    {"vector_256", "on vectors of 256 bits"},
                    {"vector_128", "on vectors of 128 bits"},
                    {"fma", "fused multiplications with addition"},
                    {"scalar_fp", "scalar floating-point operations"},
                    {"spill", "loads and stores of spilled values"},
                    {"gather", "gathers"},
                    {"division", "divisions"},
                    {"call", "calls"},
                    {"branch", "branches"},
                    {"prefetch", "prefetches"},
                    {"streaming_store", "streaming stores"}},
                   {"vector_512", "vector_256", "vector_128", "scalar_fp", "spill"});
}

/// What the hot loop calls, from where, and what of the time that takes; what is called elsewhere and takes
/// time; then the line with most of it.
std::string call_text(const Features& features) {
  constexpr std::string_view prefix = "code.call.";
  struct Called {
    std::string function;
    std::optional<double> places, line, share;  ///< places in the hot loop
  };
  std::vector<Called> called;
  bool sampled = features.find("code.hot_line").has_value();
  for (const auto& [name, value] : features) {
    if (!name.starts_with(prefix)) continue;
    const std::string function = name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
    if (called.empty() || called.back().function != function) called.push_back({function, {}, {}, {}});
    if (name.size() == prefix.size() + function.size()) called.back().places = value;
    if (name.ends_with(".line")) called.back().line = value;
    if (name.ends_with(".share")) called.back().share = value;
    sampled = sampled || name.ends_with(".share");
  }
  std::stable_sort(called.begin(), called.end(), [](const Called& a, const Called& b) {
    return a.share.value_or(0) > b.share.value_or(0);
  });
  const bool loop = features.find("code.loop.instructions").has_value();
  const auto is_in_loop = [&](const Called& one) { return !loop || one.places.value_or(0) > 0; };
  std::string text;
  const auto list = [&](std::string_view words, bool in_loop) {
    std::string_view before = words;
    for (const Called& one : called) {
      if (is_in_loop(one) != in_loop || (!in_loop && !one.share)) continue;
      (text += before) += clean_text(one.function);
      before = "; ";
      if (one.line) text += fmt::format(" from line {:.0f}", *one.line);
      if (one.share)
        text += fmt::format(", {:.3g} % of the time", *one.share);
      else if (sampled)
        text += ", less than 1 % of the time";
    }
    if (before != words) text += sampled ? "\n" : " (their share of the time was not sampled)\n";
  };
  list("- it calls ", true);
  list("- called outside of that loop: ", false);
  const auto line = features.find("code.hot_line"), share = features.find("code.hot_line.share");
  if (line && share)
    text += fmt::format("- line with most of the time, what it calls included: {:.0f} ({:.3g} %)\n", *line,
                        *share);
  return text;
}

std::string gpu_loop_text(const Features& features) {
  return loop_text(features, "sass.",
                   {{"tensor_core", "on the matrix units"},
                    {"fma", "fused multiplications with addition"},
                    {"half_arithmetic", "in half precision"},
                    {"global_load", "loads from global memory"},
                    {"vector_access", "loads of 128 bits and more"},
                    {"global_store", "stores to global memory"},
                    {"shared_access", "accesses to shared memory"},
                    {"vector_shared_access", "of them of 128 bits"},
                    {"ldmatrix", "ldmatrix or stmatrix"},
                    {"cp_async", "cp.async copies"},
                    {"tma", "TMA copies"},
                    {"barrier", "barriers"},
                    {"shuffle", "shuffles"},
                    {"atomics", "atomics"},
                    {"spills", "loads and stores of local memory (spills)"}},
                   {"tensor_core", "spills"});
}

/// Features that this text tells in other words, or that tell a model nothing.
bool is_told(std::string_view name) {
  constexpr std::array<std::string_view, 6> prefixes{"ncu.",   "sass.",        "code.",
                                                     "trait.", "times_parent", "load."};
  // What the judge keeps of its own work.
  constexpr std::array<std::string_view, 14> of_the_judge{"calls_per_sample",  "charged_batches",
                                                          "clock_mhz",         "clock_overhead",
                                                          "inner_trials",      "memory_level",
                                                          "one_by_one",        "outside_over_events",
                                                          "throttled_batches", "timed_alone",
                                                          "timed_calls",       "temperature",
                                                          "unpaired",          "watts"};
  if (std::find(of_the_judge.begin(), of_the_judge.end(), name) != of_the_judge.end()) return true;
  for (const std::string_view prefix : prefixes)
    if (name.starts_with(prefix)) return true;
  return detail::is_feature_name(name, {}) || name == "roof_utilisation" || name == "verified_calls" ||
         name.starts_with("stall_");
}

}  // namespace

std::string feature_words(std::string_view name) {
  using Words = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Words, 9> whole_names{{{"ncu.launches", "kernels launched a call"},
                                              {"ncu.launch__block_size", "threads a block"},
                                              {"ncu.launch__grid_size", "blocks"},
                                              {"ncu.launch__waves_per_multiprocessor", "waves of blocks"},
                                              {"registers", "registers a thread"},
                                              {"bank_conflicts", "bank conflicts, as profiled"},
                                              {"coalescing", "bytes used of those fetched, as profiled"},
                                              {"l2_hit", "hits in the second-level cache, as profiled"},
                                              {"sass.loops", "loops"}}};
  // Where the name with blanks for underscores would not say it.
  constexpr std::array<Words, 49> kinds{
      {{"tensor_core", "instructions on the matrix units"},
       {"warpgroup_mma", "wgmma instructions"},
       {"narrow_tensor_core", "8-bit instructions on the matrix units"},
       {"half_arithmetic", "instructions in half precision"},
       {"float_arithmetic", "floating-point instructions"},
       {"fma", "fused multiplications with addition"},
       {"ex2", "exponentials to base 2 (ex2)"},
       {"exact_exponential", "exact exponentials (expf)"},
       {"scaled_exponential", "scalings of fast exponentials (__expf)"},
       {"warpgroup_overlap", "waits that leave wgmma under way"},
       {"ldg_bits", "bits a global load on average"},
       {"stg_bits", "bits a global store on average"},
       {"float_division", "exact floating-point divisions"},
       {"integer_division", "divisions by a variable integer"},
       {"conversion", "conversions between floating types"},
       {"lop3", "three-input logic instructions (LOP3)"},
       {"cp_async", "cp.async copies"},
       {"tma", "TMA copies"},
       {"tma_multicast", "TMA copies by multicast"},
       {"tma_im2col", "TMA copies in im2col mode"},
       {"tensor_map_prefetch", "prefetches of tensor maps"},
       {"tensor_map_update", "updates of tensor maps"},
       {"barrier", "barriers of the block"},
       {"barrier_arrive", "arrivals at a barrier without waiting"},
       {"mbarrier_arrive", "arrivals at an mbarrier"},
       {"cluster_barrier", "barriers of the cluster"},
       {"cluster_launch_control", "requests for the next block's work"},
       {"dependent_launch", "programmatic dependent launches"},
       {"register_reallocation", "changes of a warp's registers (setmaxnreg)"},
       {"ldmatrix", "ldmatrix or stmatrix instructions"},
       {"shared_access", "accesses to shared memory"},
       {"distributed_shared", "accesses to other blocks' shared memory"},
       {"shared_atomics", "atomics on shared memory"},
       {"generic_access", "accesses through generic pointers"},
       {"vector_access", "loads of 128 bits and more"},
       {"vector_store", "stores of 128 bits and more"},
       {"ldg_64", "global loads of 64 bits"},
       {"stg_64", "global stores of 64 bits"},
       {"streaming_access", "streaming accesses (.cs, .lu, no_allocate)"},
       {"l2_access", "accesses that pass the L1 cache (.cg)"},
       {"read_only_load", "loads through the read-only cache"},
       {"constant_load", "loads from constant memory"},
       {"warp_reduction", "reductions of a warp (redux)"},
       {"spills", "accesses to spilled registers"},
       {"spill", "loads and stores of spilled values"},
       {"scalar_fp", "scalar floating-point operations"},
       {"vector_128", "instructions on vectors of 128 bits"},
       {"vector_256", "instructions on vectors of 256 bits"},
       {"vector_512", "instructions on vectors of 512 bits"}}};
  constexpr std::array<Words, 9> plurals{{{"shuffle", "shuffles"},
                                          {"vote", "votes"},
                                          {"call", "calls"},
                                          {"branch", "branches"},
                                          {"gather", "gathers"},
                                          {"division", "divisions"},
                                          {"prefetch", "prefetches"},
                                          {"streaming_store", "streaming stores"},
                                          {"divergence", "branches that part a warp's threads"}}};
  const auto words_of = [](const auto& table, std::string_view wanted) -> std::string_view {
    for (const auto& [known, words] : table)
      if (known == wanted) return words;
    return {};
  };
  if (const std::string_view words = words_of(whole_names, name); !words.empty()) return std::string(words);
  std::string_view kind = name;
  if (kind.starts_with("sass.") || kind.starts_with("code.")) kind.remove_prefix(5);
  if (kind == name) return std::string(name);
  const std::array<Words, 3> places{{{"loop.", " in the hot loop"},
                                     {"loops.", " in loops"},
                                     {"product_loops.", " in loops with matrix instructions"}}};
  std::string_view where;
  for (const auto& [prefix, words] : places)
    if (kind.starts_with(prefix)) {
      kind.remove_prefix(prefix.size());
      where = words;
      break;
    }
  std::string text(words_of(kinds, kind));
  if (text.empty()) text = words_of(plurals, kind);
  if (text.empty()) {
    text = kind;
    std::replace(text.begin(), text.end(), '_', ' ');
  }
  return text + std::string(where);
}

std::string limit_text(const Features& features) {
  const auto roof = features.find("roof_utilisation");
  const auto compute = features.find("compute_utilisation");
  const auto stalls = stalls_of(features);
  const std::string waits =
      stalls.empty() ? "" : "; warps wait mostly for " + stall_words(stalls.front().second);
  constexpr double near = 85, busy = 70;  // percent; 85 as roofline_gaps' near_peak
  if (roof) {
    if (*roof >= near)
      return fmt::format(
          "It runs at {:.3g} % of what the roofline allows for the counted work: only fewer operations or "
          "bytes "
          "can make it much faster.",
          *roof);
    // A profiler's memory_utilisation is of another peak than the roofline's, so the side is read off
    // computing.
    constexpr double same = 0.99;
    const bool computing = compute && *compute >= same * *roof;
    return fmt::format(
        "It reaches {:.3g} % of what the roofline allows: the limit that comes first is {}{}.", *roof,
        !compute    ? "not known"
        : computing ? "computing"
                    : "moving data",
        *roof < busy ? ", but it is held up before it gets there (latency, instructions around the "
                       "work, or units that are used badly)" +
                           waits
                     : waits);
  }
  double computing = -1, moving = -1;
  for (const char* name : {"tensor_utilisation", "fp32_utilisation", "fp64_utilisation", "sm_utilisation",
                           "compute_utilisation"})
    computing = std::max(computing, features.find(name).value_or(-1));
  for (const char* name : {"dram_utilisation", "memory_utilisation"})
    moving = std::max(moving, features.find(name).value_or(-1));
  if (computing < 0 && moving < 0) return {};
  const double most = std::max(computing, moving);
  const std::string_view what = computing >= moving ? "computing" : "moving data";
  if (most >= near)
    return fmt::format("It is limited by {}: {:.3g} % of that peak is used{}.", what, most, waits);
  return fmt::format(
      "Neither computing nor moving data is near its peak (most is {}, {:.3g} %), so latency limits it{}.",
      what, most, waits);
}

std::string observed_text(const Features& features, std::size_t most_others) {
  std::string text;
  for (const Line& line : lines()) {
    std::string list;
    for (const Quantity& quantity : line.quantities)
      if (const auto value = features.find(quantity.feature))
        (list += list.empty() ? "" : ", ") +=
            fmt::format(fmt::runtime(quantity.words), number_text(*value * quantity.times, quantity.most));
    if (!list.empty()) text += fmt::format("- {}: {}\n", line.begins, list);
  }
  if (const auto stalls = stalls_of(features); !stalls.empty()) {
    text += "- warps wait most for:";
    for (std::size_t i = 0; i < std::min<std::size_t>(stalls.size(), 3); ++i)
      text += fmt::format("{} {} {:.3g} % of the time", i == 0 ? "" : ",", stall_words(stalls[i].second),
                          stalls[i].first);
    text += '\n';
  }
  const auto operations = features.find("operations_per_second"), bytes = features.find("bytes_per_second");
  const auto intensity = features.find("intensity"), compute = features.find("compute_utilisation");
  if (operations || bytes) {
    text += "- counted work:";
    if (operations) text += " " + scaled_text(*operations) + "op/s";
    if (operations && compute) text += fmt::format(" ({:.3g} % of the peak)", *compute);
    if (bytes) text += fmt::format("{} {}B/s", operations ? "," : "", scaled_text(*bytes));
    if (intensity) text += fmt::format(", {:.3g} operations a byte", *intensity);
    text += '\n';
  }
  text += gpu_loop_text(features) + host_loop_text(features) + call_text(features);
  if (const auto nondeterministic = features.find("nondeterministic");
      nondeterministic && *nondeterministic > 0)
    text += "- its results differ from call to call, within the tolerance\n";
  std::size_t shown = 0, left_out = 0;
  for (const auto& [name, value] : features) {
    if (is_told(name)) continue;
    if (shown == most_others) {
      ++left_out;
      continue;
    }
    ++shown;
    text += fmt::format("- {} = {:.4g}\n", clean_text(name), value);
  }
  if (left_out > 0) text += fmt::format("- and {} more\n", left_out);
  if (const std::string limit = limit_text(features); !limit.empty()) text += limit + '\n';
  return text;
}

}  // namespace kernelsearch
