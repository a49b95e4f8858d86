// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The recordings of bench/landscapes: each is read, and what is guessed of the tunables that declare no role.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/space/guessed_role.hpp"

using namespace kernelsearch;

namespace {

/// Each name of a tunable in bench/landscapes that declares no role, and the role that is guessed.
const std::map<std::string, const char*> expected{{"AGGREGATE", "none"},
                                                  {"ASYNC", "stages"},
                                                  {"ATOMIC", "algorithm"},
                                                  {"A_LOAD", "none"},
                                                  {"BAND", "none"},
                                                  {"BITS", "none"},
                                                  {"BK", "tile"},
                                                  {"BLOCKS_PER_SM", "none"},
                                                  {"BLOCK_X", "threads"},
                                                  {"BLOCK_Y", "threads"},
                                                  {"BM", "tile"},
                                                  {"BN", "tile"},
                                                  {"CHAINS", "work"},
                                                  {"CHUNKED", "none"},
                                                  {"CLUSTER", "none"},
                                                  {"COLUMNS", "work"},
                                                  {"CONSUMERS", "warps"},
                                                  {"COPIES", "none"},
                                                  {"DEPTH", "tile"},
                                                  {"DIAGONAL", "layout"},
                                                  {"EARLY", "none"},
                                                  {"EPILOGUE", "none"},
                                                  {"EVICT_FIRST", "none"},
                                                  {"EXCHANGE", "none"},
                                                  {"EXP_POLYNOMIAL", "none"},
                                                  {"FRAGMENTS", "none"},
                                                  {"GROUP", "threads"},
                                                  {"GROUPS", "none"},
                                                  {"GROUP_SIZE", "threads"},
                                                  {"GROUP_X", "threads"},
                                                  {"GROUP_Y", "threads"},
                                                  {"HEAD_GROUP", "none"},
                                                  {"INTERLEAVED", "none"},
                                                  {"ITEMS", "work"},
                                                  {"KEEP", "none"},
                                                  {"KEPT", "shared"},
                                                  {"LANES_M", "threads"},
                                                  {"LANE_COLS", "none"},
                                                  {"LANE_ORDER", "layout"},
                                                  {"LAYERS", "work"},
                                                  {"LAZY_RESCALE", "none"},
                                                  {"LINES", "threads"},
                                                  {"LOAD", "none"},
                                                  {"MERGE", "none"},
                                                  {"METHOD", "algorithm"},
                                                  {"MIN_BLOCKS", "none"},
                                                  {"ONLINE", "none"},
                                                  {"ORDER", "layout"},
                                                  {"OVERLAP", "none"},
                                                  {"PAD", "pad"},
                                                  {"PERSISTENT", "algorithm"},
                                                  {"PINGPONG", "none"},
                                                  {"PLACE", "none"},
                                                  {"PREFETCH", "stages"},
                                                  {"PROMOTION", "none"},
                                                  {"ROWS", "work"},
                                                  {"ROW_THREADS", "threads"},
                                                  {"SHUFFLE_TAIL", "none"},
                                                  {"SLOTS", "stages"},
                                                  {"SNAKE", "layout"},
                                                  {"SPLIT_K", "algorithm"},
                                                  {"STAGE", "shared"},
                                                  {"STAGED", "shared"},
                                                  {"STAGES", "stages"},
                                                  {"STORE", "none"},
                                                  {"STORE_BULK", "none"},
                                                  {"STRATEGY", "algorithm"},
                                                  {"SWAP", "layout"},
                                                  {"THREADS", "threads"},
                                                  {"TILE", "tile"},
                                                  {"TILED", "shared"},
                                                  {"TILE_COLS", "tile"},
                                                  {"TILE_ROWS", "tile"},
                                                  {"TM", "work"},
                                                  {"TN", "work"},
                                                  {"UNROLL", "unroll"},
                                                  {"VEC", "vector"},
                                                  {"WIDTH", "vector"},
                                                  {"block_size_x", "threads"},
                                                  {"block_size_y", "threads"},
                                                  {"block_sizes_0", "block_size"},
                                                  {"block_sizes_1", "block_size"},
                                                  {"block_sizes_2", "block_size"},
                                                  {"depth_unroll", "unroll"},
                                                  {"host_tensor_descriptors", "none"},
                                                  {"indexing_0", "none"},
                                                  {"indexing_1", "none"},
                                                  {"indexing_2", "none"},
                                                  {"indexing_3", "none"},
                                                  {"indexing_4", "none"},
                                                  {"indexing_5", "none"},
                                                  {"indexing_6", "none"},
                                                  {"indexing_7", "none"},
                                                  {"indexing_8", "none"},
                                                  {"indexing_9", "none"},
                                                  {"l2_groupings_0", "layout"},
                                                  {"load_eviction_policies_0", "none"},
                                                  {"load_eviction_policies_1", "none"},
                                                  {"load_eviction_policies_2", "none"},
                                                  {"load_eviction_policies_3", "none"},
                                                  {"load_eviction_policies_4", "none"},
                                                  {"load_eviction_policies_5", "none"},
                                                  {"load_eviction_policies_6", "none"},
                                                  {"load_eviction_policies_7", "none"},
                                                  {"loop_orders_0", "layout"},
                                                  {"maxnreg", "none"},
                                                  {"num_sm_multiplier", "none"},
                                                  {"num_stages", "stages"},
                                                  {"num_warps", "warps"},
                                                  {"pid_type", "algorithm"},
                                                  {"range_flattens_0", "none"},
                                                  {"range_flattens_1", "none"},
                                                  {"range_multi_buffers_0", "stages"},
                                                  {"range_multi_buffers_1", "stages"},
                                                  {"range_num_stages_0", "stages"},
                                                  {"range_num_stages_1", "stages"},
                                                  {"range_unroll_factors_0", "unroll"},
                                                  {"range_unroll_factors_1", "unroll"},
                                                  {"reduction_fusion", "none"},
                                                  {"reduction_loops_0", "none"},
                                                  {"tile_size_x", "work"},
                                                  {"tile_size_y", "work"}};

}  // namespace

TEST_CASE("bench/landscapes: roles are guessed from the names of tunables that declare none") {
  std::set<std::string> seen;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KERNELSEARCH_SOURCE_DIR "/bench/landscapes")) {
    if (!entry.path().filename().string().ends_with(".t4.json.gz")) continue;
    ++files;
    const Recording recording = read_recording(entry.path());
    for (const Tunable& tunable : recording.space.tunables()) {
      if (tunable.role != TunableRole::none) {
        CHECK(role_of(tunable) == tunable.role);
        continue;
      }
      seen.insert(tunable.name);
      CAPTURE(entry.path().filename().string());
      CAPTURE(tunable.name);
      const auto known = expected.find(tunable.name);
      REQUIRE(known != expected.end());
      CHECK(std::string(to_string(role_of(tunable))) == known->second);
    }
  }
  CHECK(files > 0);
  CHECK(seen.size() == expected.size());
}

TEST_CASE("guessed_role: whole words, whatever their case, and axes and numbers at the end") {
  CHECK(guessed_role("UNROLL_K") == TunableRole::unroll);
  CHECK(guessed_role("loop_unroll") == TunableRole::unroll);
  CHECK(guessed_role("unrolling") == TunableRole::none);
  CHECK(guessed_role("block_size_x") == TunableRole::threads);
  CHECK(guessed_role("BLOCK_SIZE_Y") == TunableRole::threads);
  CHECK(guessed_role("block_sizes_1") == TunableRole::block_size);
  CHECK(guessed_role("tile_size_x") == TunableRole::work);
  CHECK(guessed_role("tile_rows") == TunableRole::tile);
  CHECK(guessed_role("_1") == TunableRole::none);
  CHECK(guessed_role("") == TunableRole::none);
  Tunable declared = Tunable::boolean("unroll");
  CHECK(role_of(declared) == TunableRole::unroll);
  declared.role = TunableRole::algorithm;
  CHECK(role_of(declared) == TunableRole::algorithm);
}
