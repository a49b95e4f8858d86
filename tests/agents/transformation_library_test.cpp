// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/transformation_library.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string library_refusal(const std::string& json) {
  try {
    (void)parse_transformation(json, "mine.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

const std::string smallest =
    R"({"schema": 1, "name": "mine", "description": "d", "passes": [{"edits": [{"region": "device", "instruction": "do"}]}]})";

}  // namespace

TEST_CASE("TransformationLibrary: the paper's matmul transformations, by passes and calls") {
  const TransformationLibrary library;
  struct Row {
    std::size_t passes, calls, paper;  // the paper's calls, section 4.1 and table 2; 0: it gives no number
    const char* why;                   // ours differs
  };
  const std::map<std::string, Row> table{
      {"refactor", {2, 3, 3, ""}},
      {"tb_tiling", {6, 9, 9, ""}},
      {"thread_tiling", {3, 3, 3, ""}},
      {"split_k", {1, 3, 3, ""}},
      {"offset", {1, 2, 2, ""}},
      {"pipelining", {1, 2, 2, ""}},
      {"warp_tiling", {1, 3, 1, "a fragment needs 256 outputs of a warp: tiles and grid must grow"}},
      {"tensor_core", {1, 2, 1, "types of fragments and their header stand in the macros"}},
      {"transpose", {1, 2, 1, "accesses are macros, so the layout is one too"}},
      {"tensor_tiling", {1, 3, 0, "the grid shrinks"}},
      {"block_swizzle", {1, 3, 0, "the grid is linear"}},
      {"thread_cache", {1, 1, 0, ""}},
      {"thread_chunk", {1, 2, 0, ""}},
      {"register_staging", {1, 2, 0, ""}},
      {"vector_access", {1, 2, 0, "ours"}},
      {"tensor_core_hip", {1, 2, 0, "as tensor_core"}}};
  std::size_t calls = 0;
  for (const auto& [name, row] : table) {
    const std::string text = name;
    CAPTURE(text);
    CHECK(library.at(text).passes.size() == row.passes);
    CHECK(library.at(text).calls() == row.calls);
    CHECK((row.calls == row.paper || row.paper == 0 || std::string(row.why) != ""));
    calls += row.calls;
  }
  CHECK(table.size() == 16);  // section 4.1
  CHECK(calls == 44);         // section 1.2 has 37; the rest is what the column `why` says
  // The fp16 chain: each of these needs what an edit of the host says.
  for (const char* name : {"warp_tiling", "tensor_tiling", "block_swizzle", "split_k", "grid_stride",
                           "large_shared_memory", "tma_wgmma", "persistent", "stream_k"}) {
    CAPTURE(std::string(name));
    bool host = false;
    for (const TransformationPass& pass : library.at(name).passes)
      for (const RegionEdit& edit : pass.edits) host = host || edit.region == KernelRegion::host;
    CHECK(host);
  }
  // Leading dimensions of matrix units' loads are multiples of 8 halves; a stage must hold a fragment.
  for (const Value& value : library.at("offset").tunables.tunables.front().values)
    CHECK(std::get<std::int64_t>(value) % 8 == 0);
  CHECK(library.at("thread_tiling").tunables.tunables.size() == 2);
  CHECK(library.at("tb_tiling").tunables.tunables.front().name == "TILE_K_SIZE");
  CHECK(library.at("tb_tiling").passes[2].snippets.size() == 1);
}

TEST_CASE("TransformationLibrary: all that there are make sense") {
  const TransformationLibrary library;
  for (const Transformation& t : library.transformations()) {
    CAPTURE(t.name);
    CHECK_FALSE(t.description.empty());
    CHECK_FALSE(t.source.empty());
    CHECK_FALSE(t.tags.empty());
    for (const std::string& before : t.after) CHECK(library.find(before) != nullptr);
    std::string instructions;
    for (const TransformationPass& pass : t.passes) {
      CHECK_FALSE(pass.name.empty());
      for (const RegionEdit& edit : pass.edits) instructions += edit.instruction;
    }
    // What it introduces, it must say how to use.
    for (const Tunable& tunable : t.tunables.tunables)
      CHECK(instructions.find(tunable.name) != std::string::npos);
    CHECK_NOTHROW((void)kernel_with_declared(Space::build({}), {"", "", declaration_line(t.tunables)}));
  }
}

TEST_CASE("TransformationLibrary: names for a backend, what others build on first") {
  const TransformationLibrary library;
  const auto gpu = library.names("cuda", "matmul");
  CHECK(gpu.size() == 21);  // the paper's without the one for HIP, and six of ours
  const auto at = [&](const char* name) { return std::find(gpu.begin(), gpu.end(), name) - gpu.begin(); };
  CHECK(at("refactor") < at("tb_tiling"));
  CHECK(at("tb_tiling") < at("warp_tiling"));
  CHECK(at("warp_tiling") < at("tensor_core"));
  CHECK(at("tensor_core") < at("tensor_tiling"));
  const auto host = library.names("host");
  CHECK(host.size() >= 6);
  for (const std::string& name : host) CHECK(library.at(name).applies_to("host"));
  CHECK(library.names("host", "matmul").empty());
  Transformation a, b;
  a.name = "a", a.after = {"b"};
  b.name = "b", b.after = {"a"};
  CHECK(TransformationLibrary({b, a}).names("x") == std::vector<std::string>{"a", "b"});
  CHECK_THROWS_AS(TransformationLibrary({a, a}), ConfigError);
}

TEST_CASE("TransformationLibrary: users' files replace ours and join them") {
  const TemporaryFolder folder;
  write_file(folder / "transformations/mine.json", smallest);
  write_file(
      folder / "transformations/transpose.json",
      R"({"schema": 1, "name": "transpose", "description": ["two", "lines"], "passes": [{"insert": ["help"], "edits": []}]})");
  write_file(folder / "snippets/help.json",
             R"({"schema": 1, "name": "help", "region": "macros", "text": ["#define H", ""],
              "text_for": {"opencl": "#define H 2\n"}})");
  const TransformationLibrary library(folder.path());
  CHECK(library.at("mine").passes.size() == 1);
  CHECK(library.at("transpose").description == "two\nlines\n");
  CHECK(library.at("transpose").passes[0].snippets.front().text == "#define H\n\n");
  const SnippetUse& help = library.at("transpose").passes[0].snippets.front();
  CHECK(help.text_for("opencl") == "#define H 2\n");
  CHECK(help.text_for("cuda") == help.text);
  CHECK(library.at("split_k").calls() == 3);
  write_file(folder / "snippets/help.json", R"({"schema": 1, "name": "help", "region": "macros", "text": "",
    "text_for": {"openclo": ""}})");
  CHECK_THROWS_AS(TransformationLibrary(folder.path()), ConfigError);
  try {
    (void)library.at("splitk");
    FAIL("found");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()).find("did you mean split_k?") != std::string::npos);
  }
}

TEST_CASE("parse_transformation: refusals name the place") {
  CHECK(library_refusal(smallest) == "none");
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = smallest;
    text.replace(text.find(from), from.size(), to);
    return library_refusal(text);
  };
  CHECK(with("\"schema\": 1", "\"schema\": 2").find("mine.json:1: /schema") != std::string::npos);
  CHECK(with("\"mine\"", "\"a b\"").find("/name is not a name") != std::string::npos);
  CHECK(with("device", "devise").find("/passes/0/edits/0/region") != std::string::npos);
  CHECK(with("\"do\"", "\"\"").find("has no instruction") != std::string::npos);
  CHECK(with("\"name\"", "\"nmae\"").find("nmae") != std::string::npos);
  CHECK(with("[{\"edits\": [{\"region\": \"device\", \"instruction\": \"do\"}]}]", "[]")
            .find("number of passes") != std::string::npos);
  CHECK(with("[{\"region\": \"device\", \"instruction\": \"do\"}]", "[]").find("does nothing") !=
        std::string::npos);
  CHECK(with("\"do\"}", "\"do\"}, {\"region\": \"device\", \"instruction\": \"x\"}")
            .find("edits a region twice") != std::string::npos);
  CHECK(with("\"edits\"", "\"insert\": [\"what\"], \"edits\"").find("names no snippet") != std::string::npos);
  CHECK(with("\"passes\"", "\"tunables\": {\"x\": [1]}, \"passes\"").find("use capitals") !=
        std::string::npos);
}
