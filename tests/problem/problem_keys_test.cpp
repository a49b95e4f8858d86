// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

// Keys of problem.json are read, written and counted in the digest in three places, and described in a
// schema. Here is a row for each key. A new key needs one, and a place that forgets a key fails.

using namespace kernelsearch;
using namespace kernelsearch_test;
using Json = nlohmann::ordered_json;

namespace {

const char* const host_keys = R"json({
  "schema": 1, "name": "x", "description": "d", "function": "f",
  "kernel": {"device": {"text": "#include \"a.hpp\"\n"}, "host": {"text": "h"}, "macros": {"text": "m"},
             "sources": ["a.cpp"]},
  "files": {"a.hpp": {"text": "int a;"}, "a.cpp": {"text": "int b;"}, "b.cpp": {"text": "int c;"}},
  "arguments": [
    {"name": "n", "type": "i32"},
    {"name": "twice", "type": "i32", "value": "2*n"},
    {"name": "x", "type": "f32", "size": "n", "role": "inout"},
    {"name": "normal", "type": "f32", "size": "n", "init": "normal", "mean": 0.5, "deviation": 2},
    {"name": "rows", "type": "i32", "size": "n+1", "init": "offsets", "total": "4*n"},
    {"name": "w", "type": "f32", "size": 2, "init": "file", "file": "two.safetensors", "tensor": "a"},
    {"name": "q", "type": "i8", "size": "n", "quantised": {"scale": "s"}},
    {"name": "s", "type": "f32", "size": 1},
    {"name": "scales", "type": "f32", "size": 1},
    {"name": "floats", "type": "f32", "size": "n"},
    {"name": "p", "size": "n", "role": "inout",
     "type": {"struct": "P", "fields": [{"name": "x", "type": "f32"}]}},
    {"name": "y", "type": "f32", "size": "n", "role": "out", "tolerance": {"error_cap": {"absolute": 1}}},
    {"name": "count", "type": "i32", "size": 1, "role": "out"}],
  "shapes": [{"name": "s", "n": 64}, {"name": "t", "n": 33}],
  "tunables": {"T": {"values": [1, 2]}, "R": {"range": [1, 3]}, "O": {"permutation": 2},
                "W": {"powers_of_two": [1, 4]}},
  "reference": {"source": {"text": "r"}, "function": "r"},
  "build": {"flags": ["-O3"]}
})json";

const char* const command_keys = R"json({
  "schema": 1, "name": "x", "function": "f", "kernel": {"device": {"name": "kernel.cpp", "text": "f"}},
  "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}], "shapes": [{"n": 64}, {"n": 33}],
  "files": {"build.sh": {"text": "make"}}, "reference": {"source": {"text": "r"}, "function": "r"},
  "build": {"command": ["sh", "${LIBRARY}"]}, "hidden_shapes": {"ranges": {"n": {"low": 1, "high": 64}}}
})json";

const char* const launched_keys = R"json({
  "schema": 1, "name": "x", "backend": "cuda", "function": "f",
  "kernel": {"device": {"text": "f"}, "host": {"text": "h"}}, "shapes": [{"n": 64}],
  "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}]
})json";

const char* const opencl_keys = R"json({
  "schema": 1, "name": "x", "backend": "opencl", "function": "f", "kernel": {"device": {"text": "f"}},
  "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}], "shapes": [{"n": 64}],
  "reference": {"source": {"text": "r"}, "function": "r", "launch": {"grid": [1], "block": [1]}},
  "launch": [{"function": "f", "grid": ["n"], "block": [64], "local": [{"name": "a", "bytes": 256}]}]
})json";

const char* const external_keys = R"json({
  "schema": 1, "name": "x", "backend": "external", "function": "f",
  "kernel": {"device": {"name": "kernel.py", "text": "pass"}}, "shapes": [{"n": 64}],
  "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "files": {"a.py": {"text": "a"}, "b.py": {"text": "b"}},
  "reference": {"source": {"text": "r"}, "function": "r"},
  "external": {"command": ["python3", "${FILES}/a.py"], "files": ["a.py"]}
})json";

const char* const module_keys = R"json({
  "schema": 1, "name": "x", "backend": "external", "function": "Model",
  "kernel": {"device": {"name": "kernel.py", "text": "pass"}}, "shapes": [{"n": 64}], "arguments": [],
  "reference": {"python": {"text": "class Model: pass"}}, "external": {"command": ["python3"]}
})json";

const char* const task_keys = R"json({
  "schema": 1, "name": "x", "backend": "external", "function": "f",
  "kernel": {"device": {"name": "kernel.py", "text": "pass"}}, "shapes": [{"n": 64}], "arguments": [],
  "reference": {"commands": {"text": "{}"}}, "external": {"command": ["python3"]}
})json";

const char* const small_blocks = R"json({
  "schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 64}],
  "arguments": [{"name": "q", "type": "i8", "size": "n*n",
                 "quantised": {"scale": "s", "columns": "n", "block": ["n", 1]}},
                {"name": "s", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "hidden_shapes": {"none": "made for these"}
})json";

const char* const generator_keys = R"json({
  "schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 64}],
  "arguments": [{"name": "x", "type": "f32", "size": "n", "init": "generator"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "generator": {"source": {"text": "g"}}
})json";

const char* const matrix_keys = R"json({
  "schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 64}],
  "arguments": [{"name": "a", "type": "i32", "size": "rows+1", "init": "generator"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "generator": {"matrix_market": "a.mtx", "row_pointers": "a", "columns": "a"}
})json";

/// Another value of a key, and whether the problem's digest has the key.
struct KeyRow {
  const char* key;
  const char* value;
  bool in_digest = true;
};

/// Keys of an object in a problem, and where problem.schema.json describes it. Several of these are of one
/// kind of object if none can have all of its keys at once.
struct KeyPlace {
  const char* text;
  const char* pointer;
  const char* schema;
  std::vector<KeyRow> rows;
};

constexpr bool no = false;

const std::vector<KeyPlace> key_places = {
    {host_keys,
     "",
     "",
     {{"name", R"("z")", no},
      {"description", R"("z")", no},
      {"function", R"("z")"},
      {"kernel", R"({"device": {"text": "z"}, "sources": ["a.cpp"]})"},
      {"files", R"({"a.hpp": {"text": "z"}, "a.cpp": {"text": ""}})"},
      {"arguments", R"([{"name": "y", "type": "f32", "size": "n", "role": "out"}])"},
      {"shapes", R"([{"n": 64}])"},
      {"tunables", R"({"Z": [1, 2]})", no},
      {"constraints", R"(["T < 2"])", no},
      {"default", R"({"T": 2})", no},
      {"valid", R"("n > T")"},
      {"reference", R"({"source": {"text": "z"}, "function": "r"})"},
      {"build", R"({"flags": ["-O2"]})"},
      {"tolerances", R"({"f32": {"absolute": 1}})"},
      {"aggregate", R"("geometric_mean")"},
      {"threads", "2"},
      {"operations", R"("n")", no},
      {"bytes", R"("n")", no},
      {"traits", R"(["matmul"])", no},
      {"bit_exact", "true"},
      {"memory_gib", "2", no},
      {"trivial_answers", R"("z")"},
      {"libraries", R"(["m"])"},
      {"over_read_bytes", "63"},
      {"objectives", R"(["maximize rate = 2 / time"])", no}}},
    {launched_keys, "", "", {{"backend", R"("hip")"}}},
    {opencl_keys, "", "", {{"launch", R"({"grid": ["n"], "block": [32]})"}}},
    {external_keys, "", "", {{"external", R"({"command": ["z"]})"}}},
    {command_keys, "", "", {{"hidden_shapes", R"({"none": "z"})"}}},
    {generator_keys, "", "", {{"generator", R"({"source": {"text": "z"}})"}}},

    {host_keys,
     "/kernel",
     "/properties/kernel",
     {{"device", R"({"text": "#include \"a.hpp\" //"})", no},
      {"host", R"({"text": "z"})", no},
      {"macros", R"({"text": "z"})", no},
      {"include", R"(["include"])"},
      {"sources", R"(["a.cpp", "b.cpp"])"}}},
    {command_keys,
     "/kernel/device",
     "/$defs/source/oneOf/1",
     {{"text", R"("z")", no}, {"name", R"("z.cpp")"}}},

    {host_keys, "/arguments/0", "/$defs/argument", {{"type", R"("i64")"}}},
    {host_keys, "/arguments/1", "/$defs/argument", {{"name", R"("z")"}, {"value", R"("3*n")"}}},
    {host_keys,
     "/arguments/2",
     "/$defs/argument",
     {{"size", R"("2*n")"},
      {"role", R"("in")"},
      {"init", R"("sorted")"},
      {"low", "-2"},
      {"high", R"("n")"},
      {"edge", "[0.5]"},
      {"exact", R"("z")"},
      {"tolerance", R"({"absolute": 1})"}}},
    {host_keys, "/arguments/3", "/$defs/argument", {{"mean", "1"}, {"deviation", "1"}}},
    {host_keys, "/arguments/4", "/$defs/argument", {{"total", R"("5*n")"}, {"skew", "1"}}},
    {host_keys,
     "/arguments/5",
     "/$defs/argument",
     {{"file", R"("other.safetensors")"}, {"tensor", R"("b")"}}},
    {host_keys, "/arguments/6", "/$defs/argument", {{"quantised", R"({"scale": "scales"})"}}},
    {host_keys, "/arguments/12", "/$defs/argument", {{"check", "false"}}},
    {device_problem,
     "/arguments/3",
     "/$defs/argument",
     {{"tensor_map", R"({"array": "a", "sizes": ["k"], "box": [8]})"}}},
    {device_problem, "/arguments/4", "/$defs/argument", {{"symbol", R"("z")"}}},

    {host_keys,
     "/arguments/6/quantised",
     "/$defs/quantised",
     {{"scale", R"("scales")"}, {"of", R"("floats")"}, {"columns", R"("n")"}}},
    {small_blocks, "/arguments/0/quantised", "/$defs/quantised", {{"block", R"([1, "n"])"}}},

    {host_keys,
     "/arguments/10/type",
     "/$defs/struct",
     {{"struct", R"("Z")"}, {"fields", R"([{"name": "x", "type": "f32"}, {"name": "z", "type": "f32"}])"}}},
    {host_keys,
     "/arguments/10/type/fields/0",
     "/$defs/struct/properties/fields/items",
     {{"name", R"("z")"}, {"type", R"("f64")"}, {"count", "2"}, {"low", "-2"}, {"high", "2"}}},

    {host_keys,
     "/arguments/11/tolerance",
     "/$defs/tolerance",
     {{"absolute", "0.5"},
      {"relative", "0.5"},
      {"matched_ratio", "0.5"},
      {"error_cap", "2"},
      {"infinities", R"("negative")"}}},
    {host_keys,
     "/arguments/11/tolerance/error_cap",
     "/$defs/tolerance/properties/error_cap/anyOf/1",
     {{"absolute", "2"}, {"relative", "2"}}},

    {host_keys, "/shapes/0", "/$defs/shape", {{"name", R"("z")"}, {"weight", "0"}}},

    {device_problem,
     "/launch/1",
     "/$defs/step/oneOf",
     {{"function", R"("z")"},
      {"arguments", R"(["n", "map_c", "partial"])"},
      {"grid", R"(["n"])"},
      {"block", "[64]"},
      {"cluster", "[4]"},
      {"shared_bytes", "0"},
      {"if", R"("SPLIT > 0")"}}},
    {device_problem, "/launch/0", "/$defs/step/oneOf", {{"zero", R"("c")"}, {"if", R"("SPLIT > 2")"}}},
    {opencl_keys, "/launch/0", "/$defs/step/oneOf", {{"local", R"([{"name": "a", "bytes": 512}])"}}},
    {opencl_keys, "/launch/0/local/0", "/$defs/local/items", {{"name", R"("z")"}, {"bytes", "512"}}},
    {device_problem,
     "/reference/launch",
     "/$defs/geometry",
     {{"grid", "[1]"}, {"block", "[64]"}, {"cluster", "[2]"}, {"shared_bytes", "0"}}},
    {opencl_keys, "/reference/launch", "/$defs/geometry", {{"local", R"([{"name": "a", "bytes": 512}])"}}},

    {device_problem, "/arguments/3/tensor_map", "/$defs/tensor_map", {{"strides", R"(["k*2"])"}}},
    {device_problem,
     "/arguments/7/tensor_map",
     "/$defs/tensor_map",
     {{"array", R"("partial")"},
      {"sizes", R"(["n"])"},
      {"box", "[32]"},
      {"swizzle", "0"},
      {"promotion", "128"}}},

    {host_keys,
     "/tunables/T",
     "/$defs/tunable/anyOf/1",
     {{"values", "[1, 4]", no}, {"default", "2", no}, {"if", R"("R > 1")", no}, {"role", R"("warps")", no}}},
    {host_keys, "/tunables/R", "/$defs/tunable/anyOf/1", {{"range", "[1, 5]", no}}},
    {host_keys, "/tunables/O", "/$defs/tunable/anyOf/1", {{"permutation", "3", no}}},
    {host_keys, "/tunables/W", "/$defs/tunable/anyOf/1", {{"powers_of_two", "[1, 8]", no}}},

    {host_keys,
     "/reference",
     "/properties/reference",
     {{"source", R"({"text": "z"})"},
      {"function", R"("z")"},
      {"compiler", R"("clang++")"},
      {"flags", R"(["-O1"])"},
      {"sources", R"(["b.cpp"])"},
      {"libraries", R"(["m"])"}}},
    {opencl_keys, "/reference", "/properties/reference", {{"launch", R"({"grid": [2], "block": [1]})"}}},
    {task_keys, "/reference", "/properties/reference", {{"commands", R"({"text": "{ }"})"}}},
    {module_keys,
     "/reference",
     "/properties/reference",
     {{"python", R"({"text": "z"})"}, {"function", R"("Z")"}, {"flags", R"(["z"])"}}},

    {host_keys,
     "/build",
     "/properties/build",
     {{"compiler", R"("clang++")"}, {"flags", R"(["-O1"])"}, {"libraries", R"(["m"])"}}},
    {command_keys,
     "/build",
     "/properties/build",
     {{"command", R"(["z", "${LIBRARY}"])"},
      {"files", R"(["build.sh"])"},
      {"identity", R"([["z"]])"},
      {"readable", R"(["/opt/z"])"}}},

    {external_keys,
     "/external",
     "/properties/external",
     {{"command", R"(["z"])"},
      {"files", R"(["a.py", "b.py"])"},
      {"identity", R"([["z"]])"},
      {"readable", R"(["/opt/z"])"},
      {"devices", "true"},
      {"time", R"("claimed")"},
      {"answer_seconds", "5", no}}},

    {generator_keys,
     "/generator",
     "/properties/generator/anyOf",
     {{"source", R"({"text": "z"})"}, {"flags", R"(["-O1"])"}, {"sizes", R"(["z"])"}}},
    {matrix_keys,
     "/generator",
     "/properties/generator/anyOf",
     {{"matrix_market", R"("b.mtx")"},
      {"row_pointers", "null"},
      {"columns", "null"},
      {"values", R"("a")"},
      {"sizes", R"(["rows", "z", "entries"])"}}},

    {command_keys,
     "/hidden_shapes",
     "/properties/hidden_shapes/anyOf",
     {{"count", "5"}, {"ranges", R"({"n": [1, 63]})"}, {"where", R"(["n > 1"])"}}},
    {small_blocks, "/hidden_shapes", "/properties/hidden_shapes/anyOf", {{"none", R"("z")", no}}},
    {command_keys,
     "/hidden_shapes/ranges/n",
     "/properties/hidden_shapes/anyOf/1/properties/ranges/additionalProperties/anyOf/1",
     {{"low", "2"}, {"high", "63"}, {"multiple_of", "2"}}},
};

std::string tensors_file(const std::string& data) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  return static_cast<char>(header.size()) + std::string(7, '\0') + header + data;
}

Json changed(const KeyPlace& place, const std::string& key, const Json& value) {
  Json json = Json::parse(place.text, nullptr, true, true);
  json[Json::json_pointer(place.pointer) / key] = value;
  return json;
}

/// The keys that a refusal of another one lists.
std::set<std::string> known_keys(const KeyPlace& place, const std::filesystem::path& folder) {
  const std::string said = refusal(changed(place, "\x01", true).dump(), folder);
  constexpr std::string_view before = "known here: ";
  std::set<std::string> keys;
  for (std::size_t at = said.find(before), end = 0; at != std::string::npos && end != std::string::npos;
       at = end) {
    at += end == 0 ? before.size() : 2;
    end = said.find(", ", at);
    keys.insert(said.substr(at, end - at));
  }
  return keys;
}

/// The properties of an object in problem.schema.json, or of several that it can be.
std::set<std::string> schema_keys(const Json& schema) {
  std::set<std::string> keys;
  if (schema.is_array())
    for (const Json& one : schema) keys.merge(schema_keys(one));
  else if (schema.contains("properties"))
    for (const auto& [key, property] : schema["properties"].items()) keys.insert(key);
  return keys;
}

}  // namespace

TEST_CASE("problem.json: each key changes what is written, is read back, and is in the digest or is not") {
  const TemporaryFolder folder;
  folder.write("two.safetensors", tensors_file("aaaabbbbccccdddd"));
  folder.write("other.safetensors", tensors_file("eeeebbbbccccdddd"));
  folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
  folder.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 2 1\n");
  const auto read = [&](const std::string& text) { return parse_problem(text, folder.path()); };
  for (const KeyPlace& place : key_places) {
    INFO(std::string(place.pointer));
    const Problem problem = read(place.text);
    for (const KeyRow& row : place.rows) {
      INFO(std::string(place.pointer), '/', std::string(row.key), " = ", std::string(row.value));
      const std::string text = changed(place, row.key, Json::parse(row.value)).dump();
      const std::string said = refusal(text, folder.path());
      CHECK(said == "accepted");
      if (said != "accepted") continue;
      const Problem other = read(text);
      const std::string written = problem_json(other);
      CHECK(written != problem_json(problem));
      CHECK(problem_json(read(written)) == written);
      CHECK(problem_digest(read(written)) == problem_digest(other));
      CHECK((problem_digest(other) != problem_digest(problem)) == row.in_digest);
    }
  }
}

TEST_CASE("problem.json: the reader, the schema and the test above know the same keys") {
  const TemporaryFolder folder;
  folder.write("two.safetensors", tensors_file("aaaabbbbccccdddd"));
  folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
  std::ifstream file(std::string(KERNELSEARCH_SOURCE_DIR) + "/docs/formats/problem.schema.json");
  const Json schema = Json::parse(file);
  std::map<std::string, std::set<std::string>> tested, known;
  for (const KeyPlace& place : key_places) {
    for (const KeyRow& row : place.rows) tested[place.schema].insert(row.key);
    known[place.schema].merge(known_keys(place, folder.path()));
  }
  tested[""].insert("schema");
  known["/$defs/shape"] = {"name", "weight"};  // all others are variables
  for (const auto& one : tested) {
    const std::string& place = one.first;
    const std::set<std::string>& keys = one.second;
    CAPTURE(place);
    CHECK(keys == known[place]);
    CHECK(keys == schema_keys(schema[Json::json_pointer(place)]));
  }
}
