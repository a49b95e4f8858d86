// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "feature_names.hpp"

#include <algorithm>
#include <vector>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"
#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch::detail {
namespace {

std::vector<std::string> make_names() {
  std::vector<std::string> names{
      // counters (docs/profiling.md) and the roofline (docs/roofline.md)
      "l2_hit", "l1_hit", "dram_utilisation", "l2_utilisation", "l1_utilisation", "sm_utilisation",
      "memory_utilisation", "compute_utilisation", "warp_efficiency", "achieved_occupancy", "bank_conflicts",
      "coalescing", "tensor_utilisation", "fp32_utilisation", "fp64_utilisation", "xu_utilisation", "ipc",
      "operations_per_second", "bytes_per_second", "intensity", "stall_long_scoreboard",
      "stall_short_scoreboard", "stall_barrier", "stall_mio_throttle", "stall_lg_throttle", "stall_wait",
      "stall_math_pipe_throttle", "stall_membar", "stall_gmma", "stall_backend", "stall_frontend",
      "ncu.seconds", "ncu.launches", "ncu.launch__waves_per_multiprocessor", "ncu.launch__block_size",
      "ncu.launch__grid_size", "ncu.launch__occupancy_limit_registers",
      "ncu.launch__occupancy_limit_shared_mem",
      // what compiling and loading tells
      "registers", "shared_bytes", "local_bytes", "blocks_per_multiprocessor", "occupancy", "block_threads",
      "block_x", "block_y", "image_bytes", "library_bytes", "nondeterministic",
      // machine code in general
      "sass.instructions", "sass.loops", "sass.loop.instructions", "sass.loops.instructions", "sass.complete",
      "code.instructions", "code.loops", "code.loop.instructions", "code.complete",
      // against the parent
      "times_parent", "times_parent.low", "times_parent.high"};
  for (const std::string_view signature : sass_signature_names) {
    names.push_back("sass." + std::string(signature));
    names.push_back("sass.loop." + std::string(signature));
    names.push_back("sass.loops." + std::string(signature));
  }
  for (const char* access : {"ldg", "stg", "lds", "sts"})
    for (const char* bits : {"8", "16", "32", "64", "128"})
      names.push_back(std::string("sass.") + access + "_" + bits);
  for (const char* name :
       {"ldg_bits", "stg_bits", "product_loops.barrier_arrive", "product_loops.mbarrier_arrive"})
    names.push_back(std::string("sass.") + name);
  for (const char* signature : {"vector_128", "vector_256", "vector_512", "scalar_fp", "fma", "prefetch",
                                "streaming_store", "gather", "division", "call", "branch", "spill"}) {
    names.push_back(std::string("code.") + signature);
    names.push_back(std::string("code.loop.") + signature);
  }
  for (const char* name : {"text.barriers", "text.launches", "text.exact"}) names.emplace_back(name);
  for (const std::string_view trait : known_traits) names.push_back("trait." + std::string(trait));
  return names;
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = make_names();
  return all;
}

bool begins(std::string_view name, std::string_view with) {
  return name.size() > with.size() && name.substr(0, with.size()) == with;
}

}  // namespace

bool is_feature_name(std::string_view name, std::span<const std::string> own) {
  if (std::find(names().begin(), names().end(), name) != names().end() ||
      std::find(own.begin(), own.end(), name) != own.end())
    return true;
  // A likely misspelling of one that we know is not one of the profiler's own.
  return begins(name, "ncu.") || (begins(name, "stall_") && nearest_name(name, names()).empty());
}

std::string nearest_feature_name(std::string_view name, std::span<const std::string> own) {
  std::vector<std::string> all(own.begin(), own.end());
  all.insert(all.end(), names().begin(), names().end());
  return nearest_name(name, all);
}

}  // namespace kernelsearch::detail
