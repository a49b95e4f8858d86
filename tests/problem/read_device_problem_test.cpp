// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;
using Json = nlohmann::ordered_json;

namespace {

struct Mistake {
  const char* pointer;
  const char* value;  ///< JSON; empty removes what stands there
  std::initializer_list<const char*> said;
};

/// The device problem with one place changed.
Json changed(const char* pointer, const char* value, Json json = Json::parse(device_problem)) {
  const Json::json_pointer at(pointer);
  if (*value == 0)
    json[at.parent_pointer()].erase(at.back());
  else
    json[at] = Json::parse(value);
  return json;
}

void check(std::initializer_list<Mistake> mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string message = refusal(changed(mistake.pointer, mistake.value).dump(1));
    INFO(mistake.pointer << " = " << mistake.value << "\n" << message);
    for (const char* part : mistake.said) {
      INFO(part);
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

/// The device problem with one launch of the function and nothing that needs CUDA.
Json plain(const char* backend) {
  Json json = Json::parse(device_problem);
  json["backend"] = backend;
  json["launch"] = Json::parse(R"({"grid": ["n"], "block": [64]})");
  json["build"] = Json::object();
  json["arguments"].erase(7);
  json["arguments"].erase(4);
  json["arguments"].erase(3);
  return json;
}

void check_said(const Json& json, std::initializer_list<const char*> said) {
  const std::string message = refusal(json.dump(1));
  INFO(message);
  for (const char* part : said) {
    INFO(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("read_problem: steps, workspaces, tensor maps, symbols and the reference's launch") {
  const Problem problem = parsed(device_problem);
  REQUIRE(problem.arguments.size() == 8);
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  const Argument& map = problem.arguments[3];
  REQUIRE(map.tensor_map);
  CHECK_FALSE(map.is_array);
  CHECK(map.tensor_map->array == "a");
  CHECK(map.tensor_map->sizes.size() == 2);
  CHECK(map.tensor_map->sizes[0].text() == "k");
  CHECK(map.tensor_map->strides.at(0).text() == "2*k");
  CHECK(map.tensor_map->box.at(1).text() == "BM");
  CHECK(map.tensor_map->swizzle->text() == "2*BK");
  CHECK(map.tensor_map->promotion->text() == "256");
  CHECK(problem.arguments[4].symbol == "c_filter");
  CHECK(problem.arguments[4].is_input());
  CHECK(problem.arguments[4].initialisation == Initialisation::normal);
  CHECK(problem.arguments[5].role == Role::workspace);
  CHECK(element_count(problem.arguments[5], problem.shapes[0], tunables) == 2 * 4096 * 4096);
  CHECK(problem.arguments[7].tensor_map->strides.empty());
  CHECK_FALSE(problem.arguments[7].tensor_map->swizzle);

  REQUIRE(problem.launch.size() == 3);
  CHECK(problem.launch[0].zero == "partial");
  CHECK(problem.launch[0].function.empty());
  CHECK(problem.launch[0].condition->text() == "SPLIT > 1");
  CHECK(problem.launch[1].zero.empty());
  CHECK(problem.launch[1].function == "matmul");
  CHECK(problem.launch[1].arguments == std::vector<std::string>{"n", "k", "map_a", "partial"});
  CHECK(problem.launch[1].geometry.grid.size() == 2);
  CHECK(problem.launch[1].geometry.cluster.size() == 1);
  CHECK(problem.launch[1].geometry.shared_bytes->text() == "4*BM");
  CHECK_FALSE(problem.launch[1].condition);
  CHECK(problem.launch[2].function == "kernels::${NAME}<float, (${VEC} > 1)>");
  CHECK(problem.launch[2].arguments.empty());
  CHECK(problem.launch[2].condition);

  REQUIRE(problem.reference.launch);
  CHECK(problem.reference.launch->grid.size() == 2);
  CHECK(problem.reference.launch->shared_bytes->text() == "2048");
  CHECK(problem.reference.flags == std::vector<std::string>{"-DX"});
  CHECK(problem.build.compiler == "nvcc");
}

TEST_CASE("read_problem: compilers of device kernels") {
  const auto compiler = [](const char* backend, const char* build) {
    Json json = plain(backend);
    json["build"] = Json::parse(build);
    return parsed(json.dump()).build.compiler;
  };
  CHECK(compiler("cuda", "null") == "nvrtc");
  CHECK(compiler("cuda", R"({"compiler": "nvrtc"})") == "nvrtc");
  CHECK(compiler("cuda", R"({"compiler": "nvcc"})") == "nvcc");
  CHECK(compiler("hip", "null") == "hiprtc");
  CHECK(compiler("hip", R"({"flags": ["-O3"]})") == "hiprtc");
  CHECK(compiler("hip", R"({"compiler": "hiprtc"})") == "hiprtc");
  CHECK(compiler("hip", R"({"compiler": "hipcc"})") == "hipcc");
  CHECK(compiler("opencl", "null") == "");
  Json json = plain("cuda");
  json["reference"].erase("flags");
  CHECK(parsed(json.dump()).reference.flags.empty());
  json["backend"] = "hip";
  json["build"] = {{"compiler", "nvcc"}};
  check_said(json, {"/build/compiler is not a known compiler of hip kernels", "hiprtc, hipcc"});
  json["backend"] = "opencl";
  check_said(json, {"/build/compiler is a compiler for an opencl kernel", "remove it"});
  check({{"/build/compiler",
          "\"g++\"",
          {"/build/compiler is not a known compiler of cuda kernels", "nvrtc, nvcc"}},
         {"/build/compiler", "\"${NAME}\"", {"/build/compiler is not a known compiler of cuda kernels"}},
         {"/build/flags",
          "[\"${VECS}\"]",
          {"/build/flags/0 names an unknown tunable", "did you mean ${VEC}?"}}});
}

TEST_CASE("read_problem: a launch function of the host region may stand in for launch") {
  Json json = plain("cuda");
  json["launch"] = nullptr;
  check_said(json, {"the document lacks the key \"launch\"", "\"grid\"", "\"host\" region"});
  json["kernel"]["host"] = {{"text", "void launch() {}"}};
  CHECK(parsed(json.dump()).launch.empty());
}

TEST_CASE("read_problem: only device problems have what devices need") {
  for (const char* backend : {"cuda", "hip", "opencl"}) {
    CAPTURE(backend);
    CHECK(refusal(plain(backend).dump()) == "accepted");
  }
  const auto with = [](const char* backend, const char* argument) {
    Json json = plain(backend);
    json["arguments"].push_back(Json::parse(argument));
    if (json["backend"] == "host") {
      json.erase("launch");
      json["arguments"].erase(3);
      json["reference"].erase("launch");
    }
    return json;
  };
  const char* const map = R"({"name": "m", "tensor_map": {"array": "a", "sizes": ["n"], "box": [64]}})";
  const char* const symbol = R"({"name": "s", "type": "f32", "size": 4, "symbol": "c_s"})";
  const char* const scalar = R"({"name": "s", "type": "f32", "value": 1})";
  CHECK(refusal(with("cuda", map).dump()) == "accepted");
  CHECK(refusal(with("cuda", symbol).dump()) == "accepted");
  CHECK(refusal(with("hip", symbol).dump()) == "accepted");
  CHECK(refusal(with("host", scalar).dump()) == "accepted");
  for (const char* backend : {"host", "hip", "opencl"})
    check_said(with(backend, map), {"/tensor_map is a tensor map, which only cuda kernels have"});
  for (const char* backend : {"host", "opencl"})
    check_said(with(backend, symbol), {"/symbol is a __constant__ variable, which only cuda and hip"});
  check_said(with("host", R"({"name": "w", "type": "f32", "size": "n", "role": "workspace"})"),
             {"/arguments/4/role is scratch memory of device kernels", "\"init\": \"zeros\""});
  Json json = with("host", scalar);
  json["launch"] = Json::parse(R"([{"zero": "c"}])");
  check_said(json, {"/launch sizes the launch of a device kernel"});
  json.erase("launch");
  json["reference"]["launch"] = Json::parse(R"({"grid": [1], "block": [1]})");
  check_said(json, {"/reference/launch sizes the launch of a device's reference", "remove it"});
  json = plain("opencl");
  json["launch"] = Json::parse(R"([{"function": "f<1>", "grid": [1], "block": [1]}])");
  check_said(json, {"/launch/0/function is not a name for a kernel of OpenCL"});
}

TEST_CASE("mistakes: arguments of device problems") {
  check({
      {"/arguments/5/init", "\"zeros\"", {"/arguments/5/init fills a workspace", "{\"zero\": NAME}"}},
      {"/arguments/5/low", "0", {"/arguments/5/low fills a workspace"}},
      {"/arguments/5/tolerance", "{}", {"/arguments/5/tolerance is a tolerance for a workspace"}},
      {"/arguments/5/symbol", "\"w\"", {"/arguments/5/symbol makes an array constant that is not an input"}},
      {"/arguments/5/size", "", {"/arguments/5 is a workspace without a size", "partial"}},
      {"/arguments/5/size",
       "\"n*SPLITS\"",
       {"/arguments/5/size names something unknown", "did you mean SPLIT?"}},
      {"/arguments/5/size", "\"n - 4097\"", {"/arguments/5 is wrong", "n - 4097 is -1", "negative"}},
      {"/arguments/6/size", "\"n*SPLIT\"", {"depend on a tunable", "only inputs and workspaces"}},
      {"/arguments/6/role", "\"workspace\"", {"/arguments has no output"}},
      {"/arguments/6/symbol",
       "\"c_out\"",
       {"/arguments/6/symbol makes an array constant that is not an input"}},
      {"/arguments/0/role", "\"workspace\"", {"/arguments/0 is a workspace without a size", "n;"}},
      {"/arguments/0/symbol", "\"c_n\"", {"/arguments/0/symbol means nothing for a scalar"}},
      {"/arguments/4/symbol", "\"2c\"", {"/arguments/4/symbol is not a name for a __constant__ variable"}},
      {"/arguments/4/symbol", "3", {"/arguments/4/symbol is an integer, not a string"}},
      {"/arguments/4/symbol", "\"VEC\"", {"/arguments/4/symbol is the name of a symbol and of a tunable"}},
      {"/arguments/4/size", "16385", {"/arguments/4 is wrong", "65540 bytes", "64 KiB"}},
      {"/arguments/2/symbol", "\"c_a\"", {"names no array in device memory"}},
  });
  CHECK(refusal(changed("/arguments/4/size", "16384").dump()) == "accepted");
  Json json = Json::parse(device_problem);
  json["arguments"].push_back({{"name", "s"}, {"type", "f32"}, {"size", 1}, {"symbol", "c_filter"}});
  check_said(json, {"/arguments/8/symbol is the symbol of two arguments"});
  // Only where the predicate holds does the workspace's size need to be one.
  json = changed("/valid", "\"n == 61\"");
  CHECK(refusal(changed("/arguments/5/size", "\"n*(n < 100) - n*(n > 100)\"", json).dump()) == "accepted");
}

TEST_CASE("mistakes: tensor maps") {
  check({
      {"/arguments/3/type", "\"f16\"", {"/arguments/3/type means nothing for a tensor map"}},
      {"/arguments/3/size", "\"n\"", {"/arguments/3/size means nothing for a tensor map"}},
      {"/arguments/3/role", "\"in\"", {"/arguments/3/role means nothing for a tensor map"}},
      {"/arguments/3/value", "1", {"/arguments/3/value means nothing for a tensor map"}},
      {"/arguments/3/tensor_map", "[]", {"/arguments/3/tensor_map is a list, not an object"}},
      {"/arguments/3/tensor_map/boxx", "[1]", {"boxx is an unknown key", "did you mean \"box\"?"}},
      {"/arguments/3/tensor_map/array", "", {"/arguments/3/tensor_map lacks the key \"array\""}},
      {"/arguments/3/tensor_map/array", "\"n\"", {"/array names no array in device memory"}},
      {"/arguments/3/tensor_map/array",
       "\"filter\"",
       {"/array names no array in device memory", "\"symbol\""}},
      {"/arguments/3/tensor_map/array", "\"map_c\"", {"/array names no array in device memory"}},
      {"/arguments/3/tensor_map/array", "\"partal\"", {"names no array", "did you mean \"partial\"?"}},
      {"/arguments/3/tensor_map/sizes", "", {"/arguments/3/tensor_map lacks the key \"sizes\""}},
      {"/arguments/3/tensor_map/sizes", "[]", {"/sizes has no rank from 1 to 5", "0 sizes"}},
      {"/arguments/3/tensor_map/sizes", "[1, 1, 1, 1, 1, 1]", {"/sizes has no rank from 1 to 5", "6 sizes"}},
      {"/arguments/3/tensor_map/sizes", "[\"kk\", \"n\"]", {"/sizes/0 names something unknown"}},
      {"/arguments/3/tensor_map/sizes", "[\"k\", 0]", {"/sizes/1 is wrong for shape \"large\"", ">= 1"}},
      {"/arguments/3/tensor_map/sizes", "[\"k\", \"2**32 + 1\"]", {"/sizes/1 is wrong", "2^32 elements"}},
      {"/arguments/3/tensor_map/sizes", "[\"k\", \"n + 1\"]", {"leads past the end of its array", "8390656"}},
      {"/arguments/3/tensor_map/strides", "", {"lacks the key \"strides\"", "2 sizes"}},
      {"/arguments/3/tensor_map/strides", "[16, 16]", {"/strides has the wrong length", "2 for 2 sizes"}},
      {"/arguments/3/tensor_map/strides", "[\"2*k + 8\"]", {"/strides/0 is wrong", "multiple of 16"}},
      {"/arguments/3/tensor_map/strides", "[\"2**40\"]", {"/strides/0 is wrong", "below 2^40"}},
      {"/arguments/3/tensor_map/box", "", {"/arguments/3/tensor_map lacks the key \"box\""}},
      {"/arguments/3/tensor_map/box", "[64]", {"/box has the wrong length", "1 for 2 sizes"}},
      {"/arguments/3/tensor_map/box", "[64, 257]", {"/box/1 is wrong", "256 elements"}},
      {"/arguments/3/tensor_map/box",
       "[4, 64]",
       {"/box/0 is wrong", "4 elements of f16 are 8", "multiple of 16"}},
      {"/arguments/3/tensor_map/swizzle", "64", {"/box/0 is wrong", "BK elements of f16 are 128"}},
      {"/arguments/3/tensor_map/swizzle", "48", {"/swizzle is wrong", "one of 0 32 64 128"}},
      {"/arguments/3/tensor_map/swizzle", "\"n //\"", {"/swizzle is not an expression"}},
      {"/arguments/3/tensor_map/promotion", "32", {"/promotion is wrong", "one of 0 64 128 256"}},
      {"/arguments/7/tensor_map/sizes", "[\"n*n/3\"]", {"/arguments/7/tensor_map/sizes/0 is wrong", "whole"}},
  });
  CHECK(refusal(changed("/arguments/3/tensor_map/swizzle", "0").dump()) == "accepted");
  CHECK(refusal(changed("/arguments/3/tensor_map/strides", "[]",
                        changed("/arguments/3/tensor_map/sizes", "[\"k\"]",
                                changed("/arguments/3/tensor_map/box", "[64]")))
                    .dump()) == "accepted");
}

TEST_CASE("mistakes: steps") {
  check({
      {"/launch", "3", {"/launch is an integer, not a list", "list of steps"}},
      {"/launch", "[]", {"/launch passes an output to no kernel", "c;"}},
      {"/launch",
       R"({"function": "f", "grid": [1], "block": [1]})",
       {"/launch/function belongs to one of several"}},
      {"/launch", R"({"if": "VEC", "grid": [1], "block": [1]})", {"/launch/if belongs to one of several"}},
      {"/launch", R"({"zero": "c"})", {"/launch/zero belongs to one of several steps"}},
      {"/launch",
       R"({"gird": [1], "block": [1]})",
       {"/launch/gird is an unknown key", "did you mean \"grid\"?"}},
      {"/launch/0", "\"matmul\"", {"/launch/0 is a string, not an object"}},
      {"/launch/0/zero", "\"partail\"", {"/launch/0/zero names no argument", "did you mean \"partial\"?"}},
      {"/launch/0/zero", "\"a\"", {"/launch/0/zero sets an input to 0"}},
      {"/launch/0/zero", "\"filter\"", {"/launch/0/zero sets an input to 0"}},
      {"/launch/0/zero", "\"n\"", {"/launch/0/zero sets something to 0 that is not an array"}},
      {"/launch/0/zero", "\"map_a\"", {"/launch/0/zero sets something to 0 that is not an array"}},
      {"/launch/0/zero", "5", {"/launch/0/zero is an integer, not a string"}},
      {"/launch/0/grid", "[1]", {"/launch/0/grid belongs to a launch", "two steps"}},
      {"/launch/0/fi", "1", {"/launch/0/fi is an unknown key"}},
      {"/launch/0/if", "\"SPLITS > 1\"", {"/launch/0/if names something unknown", "did you mean SPLIT?"}},
      {"/launch/0/if", "\"1 // (n - 4096)\"", {"/launch/0/if cannot be evaluated for shape \"large\""}},
      {"/launch/1/function", "", {"/launch/1 lacks the key \"function\""}},
      {"/launch/1/function", "\"\"", {"/launch/1/function is not a name for a kernel"}},
      {"/launch/1/function", "\"2f\"", {"/launch/1/function is not a name for a kernel"}},
      {"/launch/1/function", "\"while\"", {"/launch/1/function is a word"}},
      {"/launch/1/function", "\"f<${VECS}>\"", {"/launch/1/function names an unknown tunable", "${VEC}?"}},
      {"/launch/1/function", "\"f<${VEC\"", {"/launch/1/function opens ${ without closing it"}},
      {"/launch/1/function", "\"f<1\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"f<1>(2)\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"f<(1>\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"f<1)>\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"f<1>; int x<1>\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"f<1,\\n2>\"", {"/launch/1/function is not an instance of a template"}},
      {"/launch/1/function", "\"a::\"", {"/launch/1/function is not a name for a kernel"}},
      {"/launch/1/function", "\"${VEC}f\"", {"/launch/1/function is not a name for a kernel", "1f"}},
      {"/launch/1/function",
       "\"f::VEC<1>\"",
       {"/launch/1/function is the name of a kernel and of a tunable"}},
      {"/launch/1/functoin", "\"f\"", {"/launch/1/functoin is an unknown key"}},
      {"/launch/1/arguments", "\"n\"", {"/launch/1/arguments is a string, not a list"}},
      {"/launch/1/arguments", "[]", {"/launch/1/arguments lists no argument"}},
      {"/launch/1/arguments", "[\"nn\"]", {"/launch/1/arguments/0 names no argument"}},
      {"/launch/1/arguments", "[\"filter\"]", {"/launch/1/arguments/0 passes a constant symbol", "c_filter"}},
      {"/launch/1/arguments", "[3]", {"/launch/1/arguments/0 is an integer, not a string"}},
      {"/launch/1/grid", "", {"/launch/1 lacks the key \"grid\""}},
      {"/launch/1/block", "[0]", {"/launch/1/block/0 is wrong for shape \"large\"", ">= 1"}},
      {"/launch/1/cluster", "[1, 1, 1, 1]", {"/launch/1/cluster is not an extent"}},
      {"/launch/1/shared_bytes", "\"BM / 3\"", {"/launch/1/shared_bytes is wrong", "whole number >= 0"}},
      {"/launch/2/arguments", "[\"n\"]", {"/launch passes an output to no kernel", "c;"}},
      {"/launch/2/grid", "[\"n - 61\"]", {"/launch/2/grid/0 is wrong for shape \"odd\""}},
  });
  // A tensor map of the output passes it; a step that the default leaves out is not sized.
  CHECK(refusal(changed("/launch/2/arguments", "[\"map_c\"]").dump()) == "accepted");
  CHECK(refusal(changed("/launch/2/grid", "[\"n // (SPLIT - 1)\"]", changed("/default/SPLIT", "1")).dump()) ==
        "accepted");
  for (const char* name : {"f", "f<1>", "a::b::f<(1 > 0)>", "sum_${VEC}", "${NAME}<${BM}>"})
    CHECK(refusal(changed("/launch/1/function", ('"' + std::string(name) + '"').c_str()).dump()) ==
          "accepted");
  check_said(changed("/launch/1/if", "\"n > 100\"", changed("/launch/2/if", "\"n > 100\"")),
             {"/launch launches no kernel for shape \"odd\""});
}

TEST_CASE("mistakes: references of device problems") {
  check({
      {"/reference/launch", "", {"/reference lacks the key \"launch\"", "__global__"}},
      {"/reference/launch", "[]", {"/reference/launch is a list, not an object"}},
      {"/reference/launch/grids", "[1]", {"/reference/launch/grids is an unknown key"}},
      {"/reference/launch/block", "", {"/reference/launch lacks the key \"block\""}},
      {"/reference/launch/grid",
       "[\"n // BM\"]",
       {"/reference/launch/grid/0 names something unknown", "BM", "over shape variables: n, k"}},
      {"/reference/launch/grid", "[\"n - 61\"]", {"/reference/launch/grid/0 is wrong for shape \"odd\""}},
      {"/reference/launch/shared_bytes", "-1", {"/reference/launch/shared_bytes is wrong"}},
  });
  // The reference answers for shapes that the default is not valid for, too.
  check_said(changed("/valid", "\"n > 100\"", changed("/reference/launch/grid", "[\"n - 61\"]")),
             {"/reference/launch/grid/0 is wrong for shape \"odd\""});
}
