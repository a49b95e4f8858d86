// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "problem/problem_texts.hpp"

using namespace kernelsearch_test;
using Json = nlohmann::ordered_json;

namespace {

/// One change of the full problem and what the refusal must say.
struct ProblemMistake {
  const char* pointer;
  const char* value;  ///< JSON; empty removes what stands there
  std::vector<std::string> said;
};

std::string changed_problem(const char* pointer, const char* value) {
  Json json = Json::parse(full_problem, nullptr, true, true);
  const Json::json_pointer at(pointer);
  if (*value == 0)
    json[at.parent_pointer()].erase(at.back());
  else
    json[at] = Json::parse(value);
  return json.dump(1);
}

void check_mistakes(std::initializer_list<ProblemMistake> mistakes) {
  for (const ProblemMistake& mistake : mistakes) {
    const std::string message = refusal(changed_problem(mistake.pointer, mistake.value));
    INFO(mistake.pointer << " = " << mistake.value << "\n" << message);
    for (const std::string& part : mistake.said) {
      INFO(part);
      CHECK(message.find(part) != std::string::npos);
    }
    CHECK(message.find("kernelsearch: problem.json:") == 0);
  }
}

}  // namespace

TEST_CASE("mistakes: text that is no JSON") {
  CHECK(refusal("").find("problem.json:1: the text is not JSON") != std::string::npos);
  CHECK(refusal("{\n\"schema\": 1,\n]").find("problem.json:3: the text is not JSON") != std::string::npos);
  CHECK(refusal("{\"a\": 1} 2").find("is not JSON") != std::string::npos);
  CHECK(refusal("{\"a\": 1e999}").find("is not JSON") != std::string::npos);
  CHECK(refusal("{\"a\": \"\xff\"}").find("is not JSON") != std::string::npos);
  CHECK(refusal("{\"a\": 18446744073709551615}").find("too large") != std::string::npos);
  CHECK(refusal("{\"a\": 1,\n \"a\": 2}").find("problem.json:2: the text has a key twice") !=
        std::string::npos);
  CHECK(refusal(std::string(70, '[')).find("nests too deep") != std::string::npos);
  CHECK(refusal("[]").find("the document is a list, not an object") != std::string::npos);
}

TEST_CASE("mistakes: keys and values of the document") {
  check_mistakes({
      {"/shema", "1", {"/shema is an unknown key", "did you mean \"schema\"?", "known here: schema, name"}},
      {"/zzzzzzzzzz", "1", {"/zzzzzzzzzz is an unknown key", "known here"}},
      {"/schema", "", {"the document lacks the key \"schema\"", "\"schema\": 1"}},
      {"/schema", "2", {"/schema is a version", "2"}},
      {"/schema", "\"1\"", {"/schema is a string, not an integer"}},
      {"/name", "", {"lacks the key \"name\""}},
      {"/name", "\"\"", {"/name is empty"}},
      {"/name", "3", {"/name is an integer, not a string"}},
      {"/description", "[]", {"/description is a list, not a string"}},
      {"/backend",
       "\"cudda\"",
       {"/backend is not a known backend", "did you mean cuda?", "host, cuda, hip, opencl"}},
      {"/function", "", {"lacks the key \"function\""}},
      {"/function", "\"2mul\"", {"/function is not a name for a function"}},
      {"/function", "\"while\"", {"/function is a word"}},
      {"/function", "\"kernelsearch_f\"", {"/function is a reserved name"}},
      {"/kernel", "", {"lacks the key \"kernel\""}},
      {"/kernel", "\"kernel.cpp\"", {"/kernel is a string, not an object", "known here: device"}},
      {"/kernel/device", "", {"/kernel lacks the key \"device\""}},
      {"/kernel/devise", "1", {"/kernel/devise is an unknown key", "did you mean \"device\"?"}},
      {"/kernel/device", "{\"txt\": \"\"}", {"/kernel/device/txt is an unknown key", "\"text\""}},
      {"/kernel/device", "{\"text\": [1]}", {"/kernel/device/text/0 is an integer, not a string"}},
      {"/kernel/device", "{\"text\": \" \"}", {"/kernel/device is an empty source"}},
      {"/aggregate", "\"mean\"", {"/aggregate is not a known aggregate", "geometric_mean"}},
      {"/threads", "0", {"/threads is not a number from 1 to 4096", "0"}},
      {"/threads", "1.5", {"/threads is a number, not an integer"}},
      {"/operations",
       "\"2*q\"",
       {"/operations names something unknown", "q in \"2*q\"", "shape variables: n, k"}},
      {"/operations", "\"0-n\"", {"/operations is not a count for shape \"square\"", "0-n is -512"}},
      {"/bytes", "\"n//(n-512)\"", {"/bytes cannot be evaluated for shape \"square\""}},
      {"/bytes", "\"TILE\"", {"/bytes names something unknown"}},
      {"/valid", "\"n >\"", {"/valid is not an expression"}},
      {"/valid", "\"TIEL > 1\"", {"/valid names something unknown", "did you mean TILE?"}},
      {"/valid", "\"n < 0\"", {"/valid rejects the default configuration for every shape"}},
      {"/valid", "\"1 // (n - 512)\"", {"/valid cannot be evaluated for shape \"square\""}},
      {"/launch", "{\"grid\": [1], \"block\": [1]}", {"/launch sizes the launch of a device kernel"}},
  });
}

TEST_CASE("mistakes: arguments") {
  check_mistakes({
      {"/arguments", "", {"lacks the key \"arguments\""}},
      {"/arguments", "{}", {"/arguments is an object, not a list"}},
      {"/arguments", "[]", {"/arguments has no output", "\"role\": \"out\""}},
      {"/arguments/0", "3", {"/arguments/0 is an integer, not an object"}},
      {"/arguments/0/nam", "1", {"/arguments/0/nam is an unknown key", "did you mean \"name\"?"}},
      {"/arguments/0/name", "", {"/arguments/0 lacks the key \"name\""}},
      {"/arguments/2/name", "\"n\"", {"/arguments/2/name is the name of two arguments"}},
      {"/arguments/0/name", "\"m\"", {"is a scalar without a value", "m"}},
      {"/arguments/0/name", "\"TILE\"", {"is the name of an argument and of a tunable"}},
      {"/arguments/0/name", "\"int\"", {"/arguments/0/name is a word"}},
      {"/arguments/0/type", "", {"/arguments/0 lacks the key \"type\""}},
      {"/arguments/0/type",
       "\"f31\"",
       {"/arguments/0/type is not a known element type", "\"f31\"", "did you mean f"}},
      {"/arguments/0/type", "\"i8\"", {"/arguments/0 is wrong", "512 as i8", "-128 to 127"}},
      {"/arguments/0/init", "\"ones\"", {"/arguments/0/init means nothing for a scalar"}},
      {"/arguments/0/role", "\"out\"", {"/arguments/0/role makes a scalar an output"}},
      {"/arguments/0/value", "\"n/3\"", {"/arguments/0 is wrong", "whole number"}},
      {"/arguments/0/value", "\"nn\"", {"/arguments/0/value names something unknown", "did you mean n?"}},
      {"/arguments/2/size", "\"n*\"", {"/arguments/2/size is not an expression"}},
      {"/arguments/2/size", "true", {"/arguments/2/size is a bool, not a string"}},
      {"/arguments/2/size", "\"n*kk\"", {"/arguments/2/size names something unknown", "did you mean k?"}},
      {"/arguments/2/size", "\"n - 513\"", {"/arguments/2 is wrong", "n - 513 is -1", "negative"}},
      {"/arguments/2/size", "\"n/3\"", {"/arguments/2 is wrong", "whole number"}},
      {"/arguments/2/size", "\"n**6\"", {"/arguments/2 is wrong", "2^40 bytes"}},
      {"/arguments/2/init",
       "\"unifrom\"",
       {"/arguments/2/init is not a known initialisation", "did you mean uniform?"}},
      {"/arguments/2/low", "0", {"/arguments/2/low is a bound", "\"mean\" and \"deviation\""}},
      {"/arguments/2/deviation", "-1", {"/arguments/2/deviation is a negative deviation"}},
      {"/arguments/2/mean", "\"1\"", {"/arguments/2/mean is a string, not a number"}},
      {"/arguments/2/value", "1", {"/arguments/2/value is a value for an array"}},
      {"/arguments/2/tolerance", "{}", {"/arguments/2/tolerance is a tolerance for an input"}},
      {"/arguments/3/low", "0", {"/arguments/3/low is a bound that this initialisation has not"}},
      {"/arguments/3/type", "\"u8\"", {"/arguments/3 is wrong", "512 elements", "wider type"}},
      {"/arguments/5/init", "\"ones\"", {"/arguments/5/init fills an output", "inout"}},
      {"/arguments/5/role", "\"output\"", {"/arguments/5/role is not a known role", "in, out, inout"}},
      {"/arguments/5/size",
       "\"n*TILE\"",
       {"/arguments/5/size makes the size of an output depend on a tunable"}},
      {"/arguments/5/tolerance/absolut", "1", {"absolut is an unknown key", "did you mean \"absolute\"?"}},
      {"/arguments/5/tolerance/relative", "-1", {"/arguments/5/tolerance/relative is a negative tolerance"}},
      {"/arguments/6/mean", "1", {"/arguments/6/mean belongs to a normal distribution"}},
      {"/arguments/6/low", "4", {"/arguments/6 has an empty range", "low 4.0, high 4.0"}},
      {"/tolerances/f31", "{}", {"/tolerances/f31 is an unknown key", "did you mean \"f32\"?"}},
      {"/tolerances/f64", "1", {"/tolerances/f64 is an integer, not an object"}},
      {"/tolerances/f64/absolute", "-1", {"/tolerances/f64/absolute is a negative tolerance"}},
  });
}

TEST_CASE("mistakes: shapes") {
  check_mistakes({
      {"/shapes", "", {"lacks the key \"shapes\""}},
      {"/shapes", "[]", {"/shapes lists no shape"}},
      {"/shapes", "{}", {"/shapes is an object, not a list"}},
      {"/shapes/0", "512", {"/shapes/0 is an integer, not an object"}},
      {"/shapes/0/name", "1", {"/shapes/0/name is an integer, not a string"}},
      {"/shapes/0/weight", "-1", {"/shapes/0/weight is a negative weight"}},
      {"/shapes/0/n", "\"512\"", {"/shapes/0/n is a string"}},
      {"/shapes/0/n", "[\"1\"]", {"/shapes/0/n/0 is a string"}},
      {"/shapes/0/n", "[1, 1]", {"/shapes/0/n/1 is listed twice"}},
      {"/shapes/0/n", "[]", {"/shapes/0/n lists no value"}},
      {"/shapes/0/n",
       "{\"rang\": [1, 2]}",
       {"/shapes/0/n/rang is an unknown key", "did you mean \"range\"?"}},
      {"/shapes/0/n", "{\"range\": [1, 2, 0]}", {"/shapes/0/n/range has step 0"}},
      {"/shapes/0/n", "{\"range\": [1, 9999]}", {"/shapes/0 expands to too many shapes", "over 4096"}},
      {"/shapes/0/k",
       "",
       {"/shapes/1 has a variable that shape \"square\" lacks", "all shapes have the same"}},
      {"/shapes/0/2k", "1", {"/shapes/0/2k is not a name for a shape variable"}},
      {"/shapes/0/min", "1", {"/shapes/0/min is a word"}},
      {"/shapes/1", "{\"name\": \"square\", \"n\": 1, \"k\": 1}", {"/shapes/1 is called like another shape"}},
      {"/shapes/1/q", "1", {"/shapes/1 has a variable that shape \"square\" lacks", "q"}},
      {"/shapes/1/n", "", {"/shapes/1 lacks a variable that shape \"square\" has", "n"}},
  });
}

TEST_CASE("mistakes: tunables, constraints, default") {
  check_mistakes({
      {"/tunables", "[]", {"/tunables is a list, not an object"}},
      {"/tunables/2X", "[1]", {"/tunables/2X is not a name for a tunable"}},
      {"/tunables/for", "[1]", {"/tunables/for is a word"}},
      {"/tunables/n", "[1]", {"/tunables/n is called like a shape variable"}},
      {"/tunables/matmul", "[1]", {"is called like the function"}},
      {"/tunables/TILE", "4", {"/tunables/TILE is not a list of values", "powers_of_two"}},
      {"/tunables/TILE", "[]", {"/tunables/TILE has no value"}},
      {"/tunables/TILE", "[4, 4, 8]", {"/tunables/TILE lists a value twice", "4"}},
      {"/tunables/TILE", "[8, \"x\"]", {"/tunables/TILE mixes kinds of values", "int 8 and string x"}},
      {"/tunables/TILE", "[8, {}]", {"/tunables/TILE/1 is an object, not a value"}},
      {"/tunables/TILE", "[8, null]", {"/tunables/TILE/1 is null, not a value"}},
      {"/tunables/FLAG", "[\"a\\nb\"]", {"/tunables/FLAG/0 holds a control character"}},
      {"/tunables/ORDER", "[[0, 2]]", {"/tunables/ORDER/0 is not an order"}},
      {"/tunables/ORDER",
       "{\"permutation\": 9}",
       {"/tunables/ORDER/permutation is not a number from 1 to 8"}},
      {"/tunables/UNROLL", "{\"range\": [1]}", {"/tunables/UNROLL/range is not a range"}},
      {"/tunables/UNROLL", "{\"range\": [1, 1]}", {"/tunables/UNROLL/range is empty"}},
      {"/tunables/UNROLL", "{\"range\": [9, 1]}", {"/tunables/UNROLL/range is empty"}},
      {"/tunables/UNROLL", "{\"range\": [1, 9, 0]}", {"/tunables/UNROLL/range has step 0"}},
      {"/tunables/UNROLL", "{\"range\": [0, 99999999999]}", {"/tunables/UNROLL/range has over 2^20 values"}},
      {"/tunables/UNROLL",
       "{\"rnage\": [1, 9]}",
       {"/tunables/UNROLL/rnage is an unknown key", "did you mean \"range\"?"}},
      {"/tunables/UNROLL", "{}", {"/tunables/UNROLL lists no values"}},
      {"/tunables/UNROLL",
       "{\"range\": [1, 9], \"values\": [1]}",
       {"/tunables/UNROLL lists values in two ways"}},
      {"/tunables/P",
       "{\"powers_of_two\": [16, 100]}",
       {"/tunables/P/powers_of_two are not ordered powers of two"}},
      {"/tunables/P", "{\"powers_of_two\": [16]}", {"/tunables/P/powers_of_two is not a pair"}},
      {"/tunables/X/values", "{\"values\": [1]}", {"/tunables/X/values is not a list"}},
      {"/tunables/X/role",
       "\"block\"",
       {"/tunables/X/role is not a role",
        "write one of block_size, warps, threads, tile, work, vector, unroll, stages, shared, pad, layout, "
        "algorithm"}},
      {"/tunables/X/role", "\"stage\"", {"did you mean stages?"}},
      {"/tunables/X/role", "\"none\"", {"/tunables/X/role is not a role"}},
      {"/tunables/P",
       "{\"values\": [0, 1], \"role\": \"threads\"}",
       {"/tunables/P/role is a role of counts", "integers above 0"}},
      {"/tunables/P",
       "{\"values\": [0, 1], \"role\": \"warps\"}",
       {"/tunables/P/role is a role of counts", "integers above 0"}},
      {"/tunables/P",
       "{\"values\": [\"a\"], \"role\": \"block_size\"}",
       {"/tunables/P/role is a role of counts"}},
      {"/tunables/X/default", "3", {"/tunables/X/default is not a value of X", "1, 2, 4"}},
      {"/tunables/X/if", "\"PADD\"", {"/tunables/X/if names something unknown", "did you mean PAD?"}},
      {"/tunables/X/if", "\"X > 1\"", {"/tunables/X/if names something unknown", "the other tunables"}},
      {"/tunables/GRID", "\"[2**i for i in\"", {"/tunables/GRID is not an expression"}},
      {"/tunables/GRID", "\"TILE\"", {"/tunables/GRID names something", "TILE"}},
      {"/tunables/GRID", "\"7\"", {"/tunables/GRID gives no list of values"}},
      {"/constraints", "\"TILE < 4\"", {"/constraints is a string, not a list"}},
      {"/constraints/0", "\"TILE <\"", {"/constraints/0 is not an expression"}},
      {"/constraints/0", "\"TILES < 4\"", {"/constraints/0 names something unknown", "did you mean TILE?"}},
      {"/constraints/0", "\"n < 4\"", {"/constraints/0 names something unknown", "over tunables"}},
      {"/constraints/0", "\"TILE > 100\"", {"/constraints make no space"}},
      {"/constraints/0",
       "\"TILE < 8\"",
       {"/default gives a default that breaks a constraint", "TILE < 8 with TILE=8", "TILE=4"}},
      {"/default/TILES", "4", {"/default/TILES sets an unknown tunable", "did you mean \"TILE\"?"}},
      {"/default/TILE", "5", {"/default/TILE is not a value of TILE", "4, 8, 16"}},
      {"/default/ORDER", "[0, 1, 1]", {"/default/ORDER is not an order"}},
      {"/default", "[]", {"/default is a list, not an object"}},
  });
}

TEST_CASE("mistakes: reference and build") {
  check_mistakes({
      {"/reference/source", "", {"/reference lacks the key \"source\""}},
      {"/reference/function", "", {"/reference lacks the key \"function\""}},
      {"/reference/function", "\"a b\"", {"/reference/function is not a name"}},
      {"/reference/sorce", "1", {"/reference/sorce is an unknown key", "did you mean \"source\"?"}},
      {"/reference/source", "{\"text\": \"\"}", {"/reference/source is an empty source"}},
      {"/reference/flags", "\"-O3\"", {"/reference/flags is a string, not a list"}},
      {"/reference/flags", "[\"${FLAG}\"]", {"/reference/flags/0 names an unknown tunable"}},
      {"/build/compilr", "1", {"/build/compilr is an unknown key", "did you mean \"compiler\"?"}},
      {"/build/compiler", "\"\"", {"/build/compiler names no compiler"}},
      {"/build/flags", "[3]", {"/build/flags/0 is an integer, not a string"}},
      {"/build/flags", "[\"${FLG}\"]", {"/build/flags/0 names an unknown tunable", "did you mean ${FLAG}?"}},
      {"/build/flags", "[\"${FLAG\"]", {"/build/flags/0 opens ${ without closing it"}},
      {"/reference/compiler", "\"g++ -O3\"", {"/reference/compiler is not a compiler"}},
  });
}

TEST_CASE("mistakes: build commands") {
  check_mistakes({
      {"/build/files", "[\"a\"]", {"/build/files belongs to a build command, and there is none"}},
      {"/build/readable", "[\"/opt\"]", {"/build/readable belongs to a build command"}},
      {"/build/identity", "[[\"a\"]]", {"/build/identity belongs to a build command"}},
      {"/build/command", "[]", {"/build/command names no program"}},
      {"/build/command", "\"make\"", {"/build/command is a string, not a list"}},
      {"/build/command",
       "[\"sh\", \"${SOURCE}\"]",
       {"/build/command is not told what to make", "${LIBRARY}"}},
      {"/build/command",
       "[\"sh\", \"${LIBRARY}\", \"${SORCE}\"]",
       {"/build/command/2", "did you mean ${SOURCE}?"}},
      {"/build/command", "[\"${SOURCE}\", \"${LIBRARY}\"]", {"/build/command/0 is not a program"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "files": ["../x"]})",
       {"/build/files/0 is not a file of the problem's folder"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "files": ["none"]})",
       {"/build/files/0 names a file that is not there"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "identity": [[]]})",
       {"/build/identity/0 names no program"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "readable": ["opt"]})",
       {"/build/readable/0 is not an absolute path"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "readable": ["/opt/../etc"]})",
       {"/build/readable/0 is not an absolute path"}},
      {"/build", R"({"command": ["sh", "${LIBRARY}"], "readable": ["/"]})", {"/build/readable/0"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "readable": ["/home"]})",
       {"/build/readable/0 is a folder of the system's"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "readable": ["/proc/1"]})",
       {"/build/readable/0 is a folder of the system's"}},
      {"/build",
       R"({"command": ["sh", "${LIBRARY}"], "readable": ["/opt/a", "/run/user/1"]})",
       {"/build/readable/1 is a folder of the system's"}},
      {"/kernel/device",
       R"({"name": "../x.c", "text": "f"})",
       {"/kernel/device/name is not a plain name of a file"}},
      {"/kernel/device",
       R"({"name": "a b\"c.c", "text": "f"})",
       {"/kernel/device/name is not a plain name of a file"}},
  });
}

TEST_CASE("mistakes: local parameters of a launch") {
  const auto with = [](const std::string& backend, const std::string& launch) {
    return refusal(R"({"schema": 1, "name": "x", "backend": ")" + backend +
                   R"(", "function": "f", "kernel": {"device": {"text": "f"}},
      "shapes": [{"name": "s", "n": 1000}], "tunables": {"BLOCK": [64, 128]},
      "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
      "reference": {"source": {"text": "g"}, "function": "g", "launch": {"grid": [1], "block": [1]}},
      "launch": )" +
                   launch + "}");
  };
  const auto says = [&](const std::string& launch, const std::string& text) {
    const std::string said = with("opencl", launch);
    INFO(said);
    CHECK(said.find(text) != std::string::npos);
  };
  const std::string sizes = R"("grid": ["n"], "block": ["BLOCK"], )";
  const std::string good = "{" + sizes + R"("local": [{"name": "tile", "bytes": "4 * BLOCK"}]})";
  CHECK(with("opencl", good) == "accepted");
  CHECK(with("hip", good).find("which OpenCL alone has") != std::string::npos);
  says("{" + sizes + R"("local": []})", "/launch/local lists no parameter");
  says("{" + sizes + R"("local": [{"name": "tile"}]})", "lacks the key \"bytes\"");
  says("{" + sizes + R"("local": [{"name": "y", "bytes": 4}]})", "is the name of an argument");
  says("{" + sizes + R"("local": [{"name": "a b", "bytes": 4}]})", "/launch/local/0/name");
  says("{" + sizes + R"("local": [{"name": "t", "bytes": 4}, {"name": "t", "bytes": 8}]})",
       "is declared twice");
  says("{" + sizes + R"("local": [{"name": "t", "bytes": "BLOCK - 64"}]})", "it must be a whole number >= 1");
  says("{" + sizes + R"("local": [{"name": "t", "bytes": "BLOK"}]})", "did you mean BLOCK?");
  const std::string step = R"([{"function": "f", "local": [{"name": "t", "bytes": 4}], )" + sizes;
  CHECK(with("opencl", step + R"("arguments": ["t", "y"]}])") == "accepted");
  says(step + R"("arguments": ["t", "y", "t"]}])", "passes local memory twice");
}

TEST_CASE("mistakes: launch geometry") {
  const auto with = [](const std::string& launch) {
    return refusal(
        R"({"schema": 1, "name": "x", "backend": "cuda", "function": "f", "kernel": {"device": {"text": "f"}},
      "shapes": [{"name": "s", "n": 1000}], "tunables": {"BLOCK": [64, 128]},
      "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}])" +
        launch + "}");
  };
  const auto says = [&](const std::string& launch, const std::string& text) {
    INFO(with(launch));
    CHECK(with(launch).find(text) != std::string::npos);
  };
  says("", "lacks the key \"launch\"");
  says(R"(, "launch": {"grid": [1]})", "/launch lacks the key \"block\"");
  says(R"(, "launch": {"grid": [], "block": [1]})", "/launch/grid is not an extent");
  says(R"(, "launch": {"grid": [1,1,1,1], "block": [1]})", "/launch/grid is not an extent");
  says(R"(, "launch": {"grid": ["n / 3"], "block": [1]})", "/launch/grid/0 is wrong for shape \"s\"");
  says(R"(, "launch": {"grid": ["n - 1000"], "block": [1]})", "it must be a whole number >= 1");
  says(R"(, "launch": {"grid": [1], "block": ["BLOK"]})", "did you mean BLOCK?");
  says(R"(, "launch": {"grid": [1], "block": [1], "shared_bytes": -1})", "/launch/shared_bytes is wrong");
  says(R"(, "launch": {"grid": [1], "block": [1], "blok": 1})", "/launch/blok is an unknown key");
  CHECK(with(R"(, "launch": {"grid": ["n"], "block": ["BLOCK"]})") == "accepted");
}

TEST_CASE("mistakes: lines and pointers are those of the mistake") {
  const std::string text = R"({
  "schema": 1, // one
  "name": "x",
  "function": "f",
  "kernel": {"device": {"text": "f"}},
  /* two
     lines */
  "arguments": [
    {"name": "y", "type": "f32", "size": "n",
     "role": "ouput"}
  ],
  "shapes": [{"n": 10}],
  "tunables": {"a/b~c": [1]}
})";
  CHECK(refusal(text).find("problem.json:13: /tunables/a~1b~0c is not a name") != std::string::npos);
  std::string other = text;
  other.replace(other.find("a/b~c"), 5, "A");
  CHECK(
      refusal(other).find(
          "problem.json:10: /arguments/0/role is not a known role: \"ouput\"; write one of in, out, inout") !=
      std::string::npos);
}
