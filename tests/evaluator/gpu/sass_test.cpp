// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;

namespace {

const SassFunction& sass_function(const std::vector<SassFunction>& functions, const std::string& name) {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const SassFunction& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != functions.end(), name);
  return *found;
}
const SassFunction& sass_function(std::vector<SassFunction>&&,
                                  const std::string&) = delete;  // it would dangle

}  // namespace

TEST_CASE("functions and their hot loops in nvdisasm's output for Hopper") {
  const auto functions = parse_sass(tool_test::read_data("sm90_features.nvdisasm"));
  REQUIRE(functions.size() == 4);
  const SassFunction& saxpy = sass_function(functions, "saxpy4");
  CHECK(saxpy.counts.total() == 40);
  CHECK(saxpy.complete);
  REQUIRE(saxpy.loops.size() == 1);  // the branch to itself at the end is none
  REQUIRE(saxpy.hot_loop() != nullptr);
  CHECK(saxpy.hot_loop()->begin == 0xe0);
  CHECK(saxpy.hot_loop()->end == 0x190);
  CHECK(saxpy.hot_loop()->counts.total() == 12);
  CHECK(saxpy.hot_loop()->counts.root("FFMA") == 4);
  CHECK(saxpy.hot_loop()->counts.widths("LDG") == std::map<unsigned, std::size_t>{{128, 2}});
  const SassFunction& reduce = sass_function(functions, "reduce_shfl");
  CHECK(reduce.counts.of(SassSignature::shuffle) == 5);
  CHECK(reduce.counts.of(SassSignature::atomics) == 1);
  CHECK(reduce.hot_loop()->counts.of(SassSignature::shuffle) == 0);
  CHECK(sass_function(functions, "wmma_gemm").hot_loop()->counts.of(SassSignature::tensor_core) == 2);
  CHECK(sass_function(functions, "cp_async_copy").hot_loop()->counts.of(SassSignature::cp_async) == 1);
}

TEST_CASE("spills in the loop, in cuobjdump's output for Ampere") {
  const auto functions = parse_sass(tool_test::read_data("sm80_spilling.cuobjdump"));
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "spilling");
  CHECK(functions[0].counts.total() == 208);
  REQUIRE(functions[0].hot_loop() != nullptr);
  CHECK(functions[0].hot_loop()->counts.of(SassSignature::spills) == 46);
  CHECK(functions[0].hot_loop()->counts.root("FFMA") == 34);
}

TEST_CASE("a warp-specialised matrix product: waiting out of line makes no loop, and no wait is hot") {
  const auto functions = parse_sass(tool_test::read_data("sm90_wgmma_matmul.cuobjdump"));
  REQUIRE(functions.size() == 1);
  const SassFunction& matmul = functions[0];
  CHECK(matmul.counts.of(SassSignature::tensor_core) == 4);
  CHECK(matmul.counts.of(SassSignature::tma) == 5);
  CHECK(matmul.counts.of(SassSignature::warpgroup_wait) == 2);
  CHECK(matmul.counts.of(SassSignature::register_reallocation) == 2);
  REQUIRE(matmul.loops.size() == 7);
  const SassLoop* hot = matmul.hot_loop();
  REQUIRE(hot != nullptr);
  CHECK(hot->begin == 0xad0);
  CHECK(hot->depth == 2);
  CHECK(hot->counts.total() == 75);  // of 336 between its first and last address
  CHECK(hot->counts.of(SassSignature::tensor_core) == 4);
  CHECK(hot->own.total() == 73);  // less a wait within
  // The copies are made by other warps, in loops of their own: the hot loop has none, the loops have all.
  CHECK(matmul.in_loops.of(SassSignature::tma) == 5);
  CHECK(matmul.in_loops.of(SassSignature::tma_load) == 3);
  CHECK(matmul.in_loops.of(SassSignature::tensor_core) == 4);
  CHECK(matmul.in_loops.of(SassSignature::tensor_map_prefetch) == 0);
  CHECK(matmul.in_loops.of(SassSignature::warpgroup_overlap) == 1);
  CHECK(matmul.in_loops.total() < matmul.counts.total());
  CHECK(matmul.in_product_loops.of(SassSignature::tma_load) == 0);
  CHECK(matmul.in_product_loops.of(SassSignature::mbarrier_arrive) == 2);
  CHECK(matmul.in_product_loops.of(SassSignature::barrier_arrive) == 0);
  CHECK(matmul.in_product_loops.of(SassSignature::barrier) == 4);  // which make nobody take turns
  const Features features = sass_features(functions);
  CHECK(features.find("sass.loop.tma") == 0);
  CHECK(features.find("sass.loops.tma") == 5);
  CHECK(features.find("sass.loops.tma_load") == 3);
  CHECK(features.find("sass.loops.instructions") == static_cast<double>(matmul.in_loops.total()));
  CHECK(features.find("sass.product_loops.mbarrier_arrive") == 2);
}

TEST_CASE("an exponential by __expf shows in the factor that it begins with") {
  const auto functions = parse_sass(tool_test::read_data("sm90_exponentials.nvdisasm"));
  const auto count = [&](const char* name, SassSignature signature) {
    return sass_function(functions, name).in_loops.of(signature);
  };
  CHECK(count("exact", SassSignature::exact_exponential) == 5);
  CHECK(count("exact", SassSignature::scaled_exponential) == 0);
  CHECK(count("fast", SassSignature::exact_exponential) == 0);
  CHECK(count("fast", SassSignature::scaled_exponential) == 5);
  for (const char* name : {"scaled", "raw"}) {  // with the factor folded in: as many exponentials, no FMUL
    CHECK(count(name, SassSignature::scaled_exponential) == 0);
    CHECK(count(name, SassSignature::ex2) == count("fast", SassSignature::ex2));
  }
}

TEST_CASE("loads and stores of 8 and 16 bits are counted, and the average width tells them from wide ones") {
  const Features narrow = sass_features(parse_sass(
      "Function : f\n/*0000*/ LDG.E.U8 R0, [R2] ;\n/*0010*/ LDG.E.U16 R1, [R2] ;\n/*0020*/ STG.E.U16 [R2], "
      "R1 ;\n/*0030*/ EXIT ;\n"));
  CHECK(narrow.find("sass.ldg_8") == 1);
  CHECK(narrow.find("sass.ldg_16") == 1);
  CHECK(narrow.find("sass.ldg_32") == 0);
  CHECK(narrow.find("sass.ldg_bits") == 12);
  CHECK(narrow.find("sass.stg_bits") == 16);
  const Features none = sass_features(parse_sass("Function : f\n/*0000*/ EXIT ;\n"));
  CHECK(none.find("sass.ldg_8") == 0);
  CHECK_FALSE(none.find("sass.ldg_bits"));
  CHECK_FALSE(none.find("sass.loops.tma"));  // it may have been unrolled
  CHECK_FALSE(none.find("sass.product_loops.barrier_arrive"));
}

TEST_CASE("what is in several loops, and in subroutines that they call, is counted once") {
  const auto functions = parse_sass(
      "Function : f\n"
      "/*0000*/ CALL.REL.NOINC 0x60 ;\n"
      "/*0010*/ @P0 BRA 0x0 ;\n"
      "/*0020*/ CALL.REL.NOINC 0x60 ;\n"
      "/*0030*/ FFMA R0, R0, R1, R2 ;\n"
      "/*0040*/ @P1 BRA 0x20 ;\n"
      "/*0050*/ EXIT ;\n"
      "/*0060*/ SHFL.BFLY R0, R1 ;\n"
      "/*0070*/ RET ;\n");
  REQUIRE(functions.size() == 1);
  REQUIRE(functions[0].loops.size() == 2);
  CHECK(functions[0].in_loops.of(SassSignature::shuffle) == 1);
  CHECK(functions[0].in_loops.total() == 7);
}

TEST_CASE("Blackwell: branches on uniform predicates; gathering a warp's threads is no loop") {
  const auto functions = parse_sass(tool_test::read_data("sm100_tcgen05.nvdisasm"));
  REQUIRE(functions.size() == 1);
  REQUIRE(functions[0].loops.size() == 1);
  CHECK(functions[0].hot_loop()->counts.of(SassSignature::tensor_core) == 1);
  CHECK(functions[0].hot_loop()->begin == 0xf0);
  CHECK(functions[0].hot_loop()->end == 0x230);
}

TEST_CASE("encodings beside the instructions are passed over") {
  const auto functions = parse_sass(tool_test::read_data("sm120_bulk_atomics_fp8.cuobjdump"));
  REQUIRE(functions.size() == 3);
  const SassFunction& atoms = sass_function(functions, "atoms");
  CHECK(atoms.counts.total() == 48);
  CHECK(atoms.counts.of(SassSignature::atomics) == 3);
  CHECK(atoms.hot == std::nullopt);
  CHECK(sass_function(functions, "fp8").counts.of(SassSignature::tensor_core) == 1);
  const SassFunction& bulk = sass_function(functions, "bulk");
  CHECK(bulk.counts.of(SassSignature::tma) == 1);
  CHECK(bulk.counts.of(SassSignature::dependent_launch) == 2);
  CHECK(bulk.loops.size() == 1);
  CHECK(bulk.hot_loop() == nullptr);  // it only waits
}

TEST_CASE("nested loops, by the documented format") {
  // depth 1: 0x10-0x70; depth 2: 0x20-0x30 and 0x40-0x60
  const std::string text =
      "\t\tFunction : nested\n"
      "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
      "        /*0010*/                   FADD R0, R0, R1 ;\n"
      "        /*0020*/                   FFMA R0, R0, R1, R2 ;\n"
      "        /*0030*/               @P0 BRA 0x20 ;\n"
      "        /*0040*/                   FFMA R0, R0, R1, R2 ;\n"
      "        /*0050*/                   FFMA R0, R0, R1, R2 ;\n"
      "        /*0060*/                   BRA P1, 0x40 ;\n"
      "        /*0070*/              @!P2 BRA 0x10 ;\n"
      "        /*0080*/                   EXIT ;\n"
      "        /*0090*/                   BRA 0x90;\n";
  const auto functions = parse_sass(text);
  REQUIRE(functions.size() == 1);
  const auto& loops = functions[0].loops;
  REQUIRE(loops.size() == 3);
  CHECK(loops[0].begin == 0x10);
  CHECK(loops[0].end == 0x70);
  CHECK(loops[0].depth == 1);
  CHECK(loops[0].counts.total() == 7);
  CHECK(loops[0].own.total() == 2);
  CHECK(loops[1].begin == 0x20);
  CHECK(loops[1].depth == 2);
  CHECK(loops[2].depth == 2);
  CHECK(functions[0].hot == 2);
}

TEST_CASE("a computed jump leaves the loops uncertain; what is unreachable makes none") {
  const std::string text =
      "Function : jumps\n"
      "/*0000*/ BRX R4 -0x10 ;\n"
      "/*0010*/ FADD R0, R0, R1 ;\n"
      "/*0020*/ @P0 BRA 0x10 ;\n"
      "/*0030*/ EXIT ;\n";
  const auto functions = parse_sass(text);
  REQUIRE(functions.size() == 1);
  CHECK(!functions[0].complete);
  CHECK(functions[0].loops.empty());
}

TEST_CASE("features of the functions together") {
  const Features features = sass_features(parse_sass(tool_test::read_data("sm90_features.nvdisasm")));
  CHECK(features.find("sass.instructions") == 216);
  CHECK(features.find("sass.loops") == 4);
  CHECK(features.find("sass.tensor_core") == 2);
  CHECK(features.find("sass.loop.tensor_core") == 2);  // the loop with the most work
  CHECK(features.find("sass.loop.instructions") == 24);
  CHECK(features.find("sass.cp_async") == 1);
  CHECK(features.find("sass.ldg_128") == 2);
  CHECK(features.find("sass.lds_64") == 0);
  CHECK(sass_features({}).empty());
  const Features straight = sass_features(parse_sass("Function : f\n/*0000*/ EXIT ;\n"));
  CHECK(straight.find("sass.tensor_core") == 0);
  CHECK(!straight.find("sass.loop.tensor_core"));
}

TEST_CASE("any text can be parsed") {
  Rng rng(7);
  for (const char* name :
       {"sm90_features.nvdisasm", "sm90_wgmma_matmul.cuobjdump", "sm80_spilling.cuobjdump"}) {
    const std::string text = tool_test::read_data(name);
    REQUIRE(!text.empty());
    for (int i = 0; i < 100; ++i)
      for (const SassFunction& one : parse_sass(tool_test::damaged(text, rng))) {
        CHECK(!one.name.empty());
        for (const SassLoop& loop : one.loops) {
          CHECK(loop.begin <= loop.end);
          CHECK(loop.depth >= 1);
          CHECK(loop.own.total() <= loop.counts.total());
          CHECK(loop.counts.total() <= one.counts.total());
        }
      }
  }
  CHECK(parse_sass("").empty());
  CHECK(parse_sass("Function : \n/*0000*/ EXIT ;").empty());
  CHECK(parse_sass("Function : f\n/*zz*/ EXIT ;\n/*0000 EXIT ;\n/*0000*/ ;\n/*0000*/ @P0").empty());
}

TEST_CASE("images are disassembled by the program that is found") {
  const tool_test::Script tool(
      "printf 'Function : f\\n/*0000*/ FADD R0, R0, R1 ;\\n'; [ \"$1\" = -c ] && cat \"$2\"\n", "nvdisasm");
  const std::string text = "/*0010*/ EXIT ;\n";
  std::vector<std::byte> image;
  for (const char c : text) image.push_back(static_cast<std::byte>(c));
  const auto functions = read_sass(image, {.program = tool.path()});
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].counts.root("FADD") == 1);
  CHECK(functions[0].counts.root("EXIT") == 1);  // it was given the image

  const tool_test::Script other("[ \"$1\" = -sass ] && printf 'Function : g\\n/*0000*/ EXIT ;\\n'\n",
                                "cuobjdump");
  CHECK(read_sass(image, {.program = other.path()})[0].name == "g");
  const tool_test::Script refusing("echo 'not my format' >&2; exit 1\n", "nvdisasm");
  CHECK_THROWS_WITH_AS((void)read_sass(image, {.program = refusing.path()}),
                       doctest::Contains("not my format"), ConfigError);
  const tool_test::Script hanging("sleep 60\n", "nvdisasm");
  CHECK_THROWS_AS((void)read_sass(image, {.program = hanging.path(), .seconds = 0.2}), ConfigError);
  CHECK_THROWS_WITH_AS((void)read_sass(image, {.program = "/nonexistent/nvdisasm"}),
                       doctest::Contains("there is no disassembler"), ConfigError);
}
