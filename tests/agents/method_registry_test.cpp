// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/text_features.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::string file_with(const std::string& methods, const std::string& more = "",
                      const std::string& backend = "host") {
  return R"({"schema": 1, "name": "x", "backends": [")" + backend + R"("], )" + more + R"("methods": [)" +
         methods + "]}";
}

std::string method_with(const std::string& more, const std::string& id = "compute.mine") {
  return R"({"id": ")" + id + R"(", "priority": 900, "description": "d")" + (more.empty() ? "" : ", ") +
         more + "}";
}

const Method& find(const std::vector<Method>& methods, const std::string& id) {
  const auto at = std::find_if(methods.begin(), methods.end(), [&](const Method& m) { return m.id == id; });
  REQUIRE_MESSAGE(at != methods.end(), id);
  return *at;
}

bool lists(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

TEST_CASE("methods: the published registry is there: 22, 22 and 19 methods by priority") {
  const std::vector<Method> methods = read_methods("cuda");
  REQUIRE(methods.size() == 63);
  std::array<std::size_t, 3> count{};
  for (const Method& method : methods) {
    CAPTURE(method.id);
    CHECK(method.priority == ++count[static_cast<std::size_t>(method.axis)]);
    CHECK(method.id == std::string(to_string(method.axis)) + "." + method.name);
    CHECK(method.description.size() > 40);
  }
  CHECK(count == std::array<std::size_t, 3>{22, 22, 19});
  CHECK(find(methods, "compute.tensor_core").architecture == 70);
  CHECK(find(methods, "latency.cluster_launch_control_scheduler").architecture == 100);
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"memory.multi_stage_pipeline", "latency.async_pipeline"},
           {"memory.async_copy", "latency.async_pipeline"},
           {"memory.tma_multicast", "memory.distributed_smem"},
           {"compute.gemm_softmax_interleave", "latency.online_recomputation"},
           {"latency.pingpong_warpgroup_schedule", "latency.intra_wg_gemm_softmax_pipeline"},
           {"memory.epilogue_fusion", "memory.epilogue_visitor_tree_fusion"},
           {"latency.atomic_optimize", "latency.warp_aggregated_atomics"},
           {"latency.cuda_graphs", "latency.static_launch_grid_graph"}}) {
    CHECK(lists(find(methods, a).coupled, b));
    CHECK(lists(find(methods, b).coupled, a));
  }
  CHECK(lists(find(methods, "memory.split_k_parallel_reduce").excludes, "latency.stream_k_load_balancing"));
  CHECK(lists(find(methods, "compute.fp8_fast_accumulation_mode").excludes,
              "compute.two_level_accumulation_promotion"));
}

TEST_CASE("methods: what devices are asked for is what some architecture has, or a launch of one's own") {
  std::set<std::string> known{"host_launch"};
  for (const unsigned architecture : {90u, 100u, 120u})
    for (const std::string& feature : features_of_architecture(architecture)) known.insert(feature);
  for (const Method& method : read_methods("cuda"))
    for (const std::string& need : method.needs) CHECK_MESSAGE(known.contains(need), method.id, " ", need);
}

TEST_CASE("methods: machine code is compared in features of machine code, or in what compiling tells") {
  for (const char* backend : {"cuda", "host"})
    for (const Method& method : read_methods(backend)) {
      auto changes = method.signature.any;
      changes.insert(changes.end(), method.signature.all.begin(), method.signature.all.end());
      for (const CodeChange& change : changes) {
        const std::string prefix = change.feature.substr(0, 5);
        const std::string expected = std::string(backend) == "cuda" ? "sass." : "code.";
        // What varies from one profile to the next needs a margin; what a launch is told does not vary.
        const bool profiled = change.feature == "coalescing" || change.feature == "bank_conflicts" ||
                              change.feature == "l2_hit";
        const bool told = change.feature == "ncu.launches" || change.feature == "shared_bytes" ||
                          change.feature.starts_with("ncu.launch__");
        CHECK_MESSAGE(
            (prefix == expected || (change.feature == "registers" && change.less) || profiled || told),
            method.id, " ", change.feature);
        CHECK_MESSAGE((change.by > 0) == profiled, method.id, " ", change.feature);
      }
    }
}

TEST_CASE("methods: each of the 63 has a trace, or the reason why it has none") {
  std::set<std::string> without;
  for (const Method& method : read_methods("cuda")) {
    CHECK_MESSAGE(method.signature.empty() != method.no_trace.empty(), method.id);
    if (method.signature.empty()) without.insert(method.id);
  }
  CHECK(without == std::set<std::string>{"compute.handwritten_ptx_inline", "compute.overlap_compute_memory",
                                         "latency.cuda_graphs", "latency.static_launch_grid_graph",
                                         "latency.stream_event"});
}

TEST_CASE("methods: those that leave one trace are coupled, for nothing else tells them apart") {
  const std::vector<Method> methods = read_methods("cuda");
  std::size_t pairs = 0;
  for (const Method& one : methods)
    for (const Method& other : methods) {
      if (&one == &other || one.signature.empty() || !share_a_trace(one.signature, other.signature)) continue;
      if (!traces_beside(one.signature, other.signature).empty() ||
          !traces_beside(other.signature, one.signature).empty())
        continue;  // each may leave one of its own
      ++pairs;
      CHECK_MESSAGE((lists(one.coupled, other.id) || lists(one.excludes, other.id)), one.id, " ", other.id);
    }
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"compute.tensor_core", "compute.tf32_emulation_3xtf32_bf16x6"},
           {"compute.reduction", "compute.warp_shuffle"},
           {"compute.reduction", "latency.warp_shuffle_sync"},
           {"compute.warp_shuffle", "latency.warp_shuffle_sync"},
           {"memory.kernel_fusion", "memory.epilogue_fusion"},
           {"memory.kernel_fusion", "memory.epilogue_visitor_tree_fusion"},
           {"memory.epilogue_fusion", "memory.epilogue_visitor_tree_fusion"}}) {
    CHECK(lists(find(methods, a).coupled, b));
    CHECK(lists(find(methods, b).coupled, a));
  }
  CHECK(pairs >= 14);
}

TEST_CASE("methods: one that needs a launch of its own is chosen where there is a launch function") {
  const std::vector<Method> methods = read_methods("cuda");
  Features profile;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{
           {"trait.multi_launch", 0},  // a launch function declares no steps
           {"ncu.launches", 3},
           {"sm_utilisation", 30},
           {"l2_hit", 50},
           {"dram_utilisation", 60}})
    profile.set(name, value);
  std::set<std::string> without, with;
  for (const bool function : {false, true}) {
    MethodDevice device{90, {}};
    if (function) device.features.emplace_back("host_launch");
    for (const MethodDecision& one : choose_methods(methods, profile, device, {{9, 30, 30}}).decisions)
      if (one.reason == MethodReason::taken && lists(methods[one.method].needs, "host_launch"))
        (function ? with : without).insert(methods[one.method].id);
  }
  CHECK(without.empty());
  // of the two by graphs one at a time
  CHECK(with == std::set<std::string>{"latency.pdl_overlap", "latency.static_launch_grid_graph",
                                      "latency.stream_event", "memory.l2_persistence_window"});
}

TEST_CASE("methods: narrow loads ask for wide ones, also of 8 and 16 bits") {
  const std::vector<Method> methods = read_methods("cuda");
  const auto reason = [&](const char* narrow, double count) {
    Features profile;
    for (const char* name :
         {"sass.ldg_8", "sass.ldg_16", "sass.ldg_32", "stall_mio_throttle", "stall_lg_throttle"})
      profile.set(name, 0);
    profile.set("sass.ldg_128", 2);
    profile.set(narrow, count);
    for (const MethodDecision& one : choose_methods(methods, profile, {90, {}}, {{0, 30, 0}}).decisions)
      if (methods[one.method].id == "memory.vectorized_access") return one.reason;
    return MethodReason::over_budget;
  };
  for (const char* narrow : {"sass.ldg_8", "sass.ldg_16", "sass.ldg_32"})
    CHECK(reason(narrow, 4) == MethodReason::taken);
  CHECK(reason("sass.ldg_16", 0) == MethodReason::skip_condition);
}

TEST_CASE("methods: a matmul that leaves the tensor cores idle is told to use them, and others why not") {
  const std::vector<Method> methods = read_methods("cuda");
  Features profile;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, double>>{{"tensor_utilisation", 0},
                                                             {"fp32_utilisation", 40},
                                                             {"sm_utilisation", 45},
                                                             {"stall_long_scoreboard", 55},
                                                             {"stall_barrier", 12},
                                                             {"ipc", 0.8},
                                                             {"achieved_occupancy", 60},
                                                             {"l1_utilisation", 80},
                                                             {"l2_hit", 90},
                                                             {"trait.matmul", 1},
                                                             {"trait.attention", 0},
                                                             {"trait.convolution", 0},
                                                             {"trait.stencil", 0},
                                                             {"trait.elementwise", 0},
                                                             {"trait.low_precision", 0},
                                                             {"sass.cp_async", 0},
                                                             {"sass.tma_load", 0}})
    profile.set(name, value);
  const MethodChoice choice = choose_methods(methods, profile, {90, {}}, {{1, 1, 1}});
  REQUIRE(choice.taken.size() == 3);
  CHECK(methods[choice.taken[0]].id == "compute.tensor_core");
  CHECK(methods[choice.taken[1]].id == "memory.tiling_smem");
  CHECK(methods[choice.taken[2]].id == "latency.async_pipeline");
  CHECK(choice.decisions.size() == 63);
  const auto reason = [&](const std::string& id) {
    for (const MethodDecision& one : choice.decisions)
      if (methods[one.method].id == id) return one.reason;
    return MethodReason::taken;
  };
  CHECK(reason("compute.gemm_softmax_interleave") == MethodReason::skip_condition);
  CHECK(reason("compute.block_scaled_precision") == MethodReason::architecture);
  CHECK(reason("compute.mixed_precision") == MethodReason::no_trigger);
  CHECK(reason("latency.cuda_graphs") == MethodReason::architecture);
  CHECK(reason("memory.async_copy") == MethodReason::over_budget);
}

TEST_CASE("methods: at least fifteen for host kernels, and a plain loop is told to use vectors") {
  const std::vector<Method> methods = read_methods("host");
  CHECK(methods.size() >= 15);
  Features profile;
  profile.set("compute_utilisation", 4);
  profile.set("code.loop.scalar_fp", 3);
  profile.set("code.loop.vector_128", 0);
  profile.set("code.loop.vector_256", 0);
  profile.set("code.loop.vector_512", 0);
  const MethodChoice choice = choose_methods(methods, profile, {}, {{1, 0, 0}});
  REQUIRE(choice.taken.size() == 1);
  CHECK(methods[choice.taken[0]].id == "compute.vectorise");
  CHECK(read_methods("").size() == methods.size() + read_methods("cuda").size());
  CHECK(read_methods("opencl").empty());
}

TEST_CASE("methods: what the format does not allow names its line and place") {
  CHECK(parse_methods(file_with(method_with("")), "f").size() == 1);
  const std::vector<Method> full = parse_methods(
      file_with(method_with(R"("name": "Mine", "trigger": "mine > 1", "trigger_words": "t", "skip": "ipc > 1",
        "skip_words": "s", "strength": "0.2", "needs": ["tma"], "coupled": ["memory.x"], "excludes": ["memory.y"],
        "architecture": 90, "signature": {"any": [{"more": "sass.tma"}], "all": [{"fewer": "code.loop.spill"}]})"),
                R"("features": ["mine"], )"),
      "f");
  CHECK(full[0].name == "Mine");
  CHECK(full[0].trigger->text() == "mine > 1");
  CHECK(full[0].signature.any[0].feature == "sass.tma");
  CHECK(!full[0].signature.any[0].less);
  CHECK(full[0].signature.all[0].less);
  CHECK(full[0].signature.all[0].by == 0);
  const std::vector<Method> more = parse_methods(
      file_with(method_with(R"("signature": {"any": [{"fewer": "bank_conflicts", "by": 1.5}]})")), "f");
  CHECK(more[0].signature.any[0].by == 1.5);
  CHECK(parse_methods(file_with(method_with(R"("no_trace": "Order leaves none.")")), "f")[0].no_trace ==
        "Order leaves none.");
  CHECK(full[0].architecture == 90);
  CHECK(full[0].priority == 900);
  for (const std::string& bad :
       {std::string("{}"),
        std::string(""),
        std::string("7"),
        method_with("") + "," + method_with(""),
        method_with("") + "," + method_with("", "compute.same_priority"),
        method_with("", "compute."),
        method_with("", "compute.A"),
        method_with("", "speed.a"),
        method_with("", "mine"),
        method_with(R"("description": "twice")"),
        method_with(R"("wenn": "x")"),
        method_with(R"("architecture": -1)"),
        method_with(R"("trigger": "ipc <", "trigger_words": "t")"),
        method_with(R"("trigger": "ipc < 1")"),
        method_with(R"("skip": "ipc < 1")"),
        method_with(R"("trigger": "stall_wiat < 1", "trigger_words": "t")"),
        method_with(R"("trigger": "trait.matmull", "trigger_words": "t")"),
        method_with(R"("strength": "mine")"),
        method_with(R"("coupled": "memory.x")"),
        method_with(R"("coupled": ["memory.x", "memory.x"])"),
        method_with(R"("signature": {})"),
        method_with(R"("signature": {"any": ["sass.tma"]})"),
        method_with(R"("signature": {"any": [{"more": "sass.tma", "fewer": "sass.tma"}]})"),
        method_with(R"("signature": {"any": [{"more": "sass.tmaa"}]})"),
        method_with(R"("signature": {"any": [{"more": "l2_hit", "by": 0}]})"),
        method_with(R"("signature": {"any": [{"more": "l2_hit", "by": "much"}]})"),
        method_with(R"("signature": {"any": [{"more": "sass.tma"}]}, "no_trace": "none")"),
        method_with(R"("no_trace": "")"),
        std::string(R"({"id": "compute.a", "description": "d"})"),
        std::string(R"({"id": "compute.a", "priority": 0, "description": "d"})"),
        std::string(R"({"id": "compute.a", "priority": 1, "description": ""})")}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS((void)parse_methods(file_with(bad), "f.json"), doctest::Contains("f.json:1:"),
                         ConfigError);
  }
  CHECK_THROWS_WITH_AS(
      (void)parse_methods(file_with(method_with(R"("skip": "stall_wiat > 1", "skip_words": "s")")), "f"),
      doctest::Contains("/methods/0/skip"), ConfigError);
  CHECK_THROWS_WITH_AS(
      (void)parse_methods(file_with(method_with(R"("skip": "stall_wiat > 1", "skip_words": "s")")), "f"),
      doctest::Contains("did you mean \"stall_wait\""), ConfigError);
  CHECK_THROWS_AS((void)parse_methods(R"({"schema": 2, "name": "x", "backends": [], "methods": []})", "f"),
                  ConfigError);
  CHECK_THROWS_AS((void)parse_methods(file_with(method_with(""), "", "tpu"), "f"), ConfigError);
}

TEST_CASE("methods: a user's files extend ours, replace them one by one, or whole") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "methods");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / "methods" / name) << text;
  };
  const std::size_t ours = read_methods("host").size();
  write("mine.json", file_with(method_with("")));
  CHECK(read_methods("host", folder.path()).size() == ours + 1);
  CHECK(read_methods("cuda", folder.path()).size() == 63);
  write("mine.json", file_with(R"({"id": "compute.vectorise", "priority": 1, "description": "my way"})"));
  std::vector<Method> methods = read_methods("host", folder.path());
  CHECK(methods.size() == ours);
  CHECK(find(methods, "compute.vectorise").description == "my way");
  write("a_first.json", file_with(R"({"id": "compute.vectorise", "priority": 1, "description": "twice"})"));
  CHECK_THROWS_WITH_AS((void)read_methods("host", folder.path()), doctest::Contains("mine.json:1"),
                       ConfigError);
  write("a_first.json", file_with(R"({"id": "compute.fma", "priority": 3, "description": "before ours"})"));
  CHECK(find(read_methods("host", folder.path()), "compute.fma").description == "before ours");
  std::filesystem::remove(folder / "methods/a_first.json");
  std::filesystem::remove(folder / "methods/mine.json");
  write("host.json", file_with(method_with("")));
  CHECK(read_methods("host", folder.path()).size() == 1);
}

TEST_CASE("methods: priorities and couplings hold across files") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "methods");
  const auto refused = [&](const std::string& methods, const std::string& part) {
    std::ofstream(folder / "methods/mine.json") << file_with(methods);
    CAPTURE(methods);
    CHECK_THROWS_WITH_AS((void)read_methods("host", folder.path()), doctest::Contains(part.c_str()),
                         ConfigError);
    CHECK_THROWS_AS((void)read_methods("", folder.path()), ConfigError);
    CHECK_NOTHROW((void)read_methods("cuda", folder.path()));
  };
  refused(R"({"id": "compute.new", "priority": 1, "description": "d"})",
          "has the priority 1 of compute.vectorise");
  refused(method_with(R"("coupled": ["memory.nothing"])"), "memory.nothing, which does not exist");
  refused(method_with(R"("coupled": ["compute.vectorise"])"), "which does not say so of it");
  refused(method_with(R"("excludes": ["compute.vectorise"])"), "is exclusive with compute.vectorise");
  refused(method_with(R"("coupled": ["compute.mine"])"), "coupled with itself");
}

TEST_CASE("methods: the schema has the reader's keys") {
  std::ifstream stream(KERNELSEARCH_SOURCE_DIR "/docs/formats/methods.schema.json");
  const auto schema = nlohmann::json::parse(stream);
  std::set<std::string> known;
  for (const auto& [key, value] : schema["$defs"]["method"]["properties"].items()) known.insert(key);
  CHECK(known == std::set<std::string>{"id", "name", "priority", "description", "architecture", "needs",
                                       "trigger", "trigger_words", "skip", "skip_words", "strength",
                                       "coupled", "excludes", "signature", "no_trace"});
}

TEST_CASE("methods: calls in a host's hot loop are replaced before it is vectorised") {
  Features profile;
  for (const char* kind : {"vector_128", "vector_256", "vector_512", "division", "spill", "gather", "fma"})
    profile.set("code.loop." + std::string(kind), 0);
  profile.set("code.loop.scalar_fp", 12);
  profile.set("code.loop.instructions", 40);
  profile.set("code.loop.branch", 1);
  profile.set("code.loop.call", 10);
  profile.set("compute_utilisation", 5);
  profile.set("memory_utilisation", 5);
  const std::vector<Method> methods = read_methods("host");
  AxisBudget budget;
  budget[Axis::compute] = 1;
  const MethodChoice with_calls = choose_methods(methods, profile, {}, budget);
  REQUIRE(with_calls.taken.size() == 1);
  CHECK(methods[with_calls.taken.front()].id == "compute.inline_functions");
  profile.set("code.loop.call", 0);
  const MethodChoice without = choose_methods(methods, profile, {}, budget);
  REQUIRE(without.taken.size() == 1);
  CHECK(methods[without.taken.front()].id == "compute.vectorise");
}

TEST_CASE(
    "methods: text alone rules out half precision, fusion of one launch and fewer barriers where none is") {
  // Nothing is profiled: triggers are unknown, and only what the text says speaks against a method.
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_naive_f32.json");
  const std::vector<Method> methods = read_methods("cuda");
  const auto decided = [&](bool by_text) {
    Features features = trait_features(problem);
    if (by_text)
      for (const auto& [name, value] : text_features(problem, problem.kernel)) features.set(name, value);
    std::map<std::string, MethodReason> reasons;
    const MethodChoice choice =
        choose_methods(methods, features, {90, features_of_architecture(90)}, {{2, 2, 2}});
    for (const MethodDecision& one : choice.decisions) reasons[methods[one.method].id] = one.reason;
    return reasons;
  };
  const auto known = decided(true), unknown = decided(false);
  for (const char* id : {"compute.mixed_precision", "memory.kernel_fusion", "memory.epilogue_fusion",
                         "latency.reduce_sync_count", "latency.warp_shuffle_sync"}) {
    CAPTURE(id);
    CHECK(known.at(id) == MethodReason::skip_condition);
    CHECK(unknown.at(id) != MethodReason::skip_condition);
  }
}
