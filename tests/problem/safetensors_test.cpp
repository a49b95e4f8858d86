// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/safetensors.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;
using kernelsearch::detail::try_safetensors;
using kernelsearch::detail::try_safetensors_length;

namespace {

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

/// The error of reading a whole file, or how many tensors it has.
std::string read_back(const std::string& file) {
  const auto length = try_safetensors_length(std::string_view(file).substr(0, 8), file.size());
  if (!length) return length.error();
  const auto tensors =
      try_safetensors(std::string_view(file).substr(8, static_cast<std::size_t>(*length)), file.size());
  return tensors ? std::to_string(tensors->size()) + " tensors" : tensors.error();
}

std::string one_tensor(const std::string& members, const std::string& data = "abcdefgh") {
  return safetensors("{\"w\":{" + members + "}}", data);
}

const std::string two_tensors = safetensors(
    R"({"__metadata__":{"by":"us"},"b":{"dtype":"I32","shape":[2],"data_offsets":[8,16]},"a":{"shape":[2,1],"data_offsets":[0,8],"dtype":"F32"}}  )",
    std::string("\0\0\x80\x3f\0\0\0\x40", 8) + "12345678");

}  // namespace

TEST_CASE("safetensors: tensors in the order of their data, and where they begin in the file") {
  std::string file = two_tensors;
  const auto length = try_safetensors_length(std::string_view(file).substr(0, 8), file.size());
  REQUIRE(length);
  const auto tensors =
      try_safetensors(std::string_view(file).substr(8, static_cast<std::size_t>(*length)), file.size());
  REQUIRE(tensors);
  REQUIRE(tensors->size() == 2);
  CHECK((*tensors)[0].name == "a");
  CHECK((*tensors)[0].type == "F32");
  CHECK((*tensors)[0].extents == std::vector<std::uint64_t>{2, 1});
  CHECK((*tensors)[0].offset == 8 + *length);
  CHECK((*tensors)[1].offset == 8 + *length + 8);
  CHECK((*tensors)[1].bytes == 8);
  CHECK(read_back(safetensors("{}", "")) == "0 tensors");
  CHECK(read_back(one_tensor(R"("dtype":"F4","shape":[16],"data_offsets":[0,8])")) == "1 tensors");
  CHECK(read_back(one_tensor(R"("dtype":"F32","shape":[0,7],"data_offsets":[0,0])", "")) == "1 tensors");
  CHECK(read_back(one_tensor(R"("dtype":"C64","shape":[],"data_offsets":[0,8])")) == "1 tensors");
}

TEST_CASE("safetensors: what is wrong is said, and where") {
  const std::string fine = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  std::string huge = one_tensor(fine);
  huge[6] = '\x7f';
  std::string negative = one_tensor(fine);
  for (std::size_t i = 0; i < 8; ++i) negative[i] = '\xff';
  const std::pair<std::string, std::string> wrong[] = {
      {"", "shorter than 8 bytes"},
      {"1234567", "shorter than 8 bytes"},
      {huge, "is cut"},
      {negative, "is cut"},
      {one_tensor(fine).substr(0, 40), "is cut"},
      {safetensors("", "12"), "not a JSON object"},
      {safetensors("[]", ""), "not a JSON object"},
      {safetensors("{\"a\":", ""), "not JSON at byte"},
      {safetensors("{\"a\":1}", ""), "holds 1"},
      {safetensors("{\"a\":{\"b\":{}}}", ""), "has the key \"b\""},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"), "has the key \"x\""},
      {one_tensor(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "has the key \"dtype\" twice"},
      {one_tensor(R"("dtype":"F32","shape":[2])"), "lacks dtype, shape or data_offsets"},
      {one_tensor(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), "holds a list as shape"},
      {one_tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "holds -2 as shape"},
      {one_tensor(R"("dtype":"F32","shape":[2.5],"data_offsets":[0,8])"), "holds 2.5 as shape"},
      {one_tensor(R"("dtype":1,"shape":[2],"data_offsets":[0,8])"), "holds 1 as dtype"},
      {one_tensor(R"("dtype":"F32","shape":"2","data_offsets":[0,8])"), "as shape"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "not a begin and an end"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), "not a begin and an end"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), "not a begin and an end"},
      {one_tensor(R"("dtype":"F99","shape":[2],"data_offsets":[0,8])"), "a type that is not known: F99"},
      {one_tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
       "has 8 bytes, and its type and shape ask for 12"},
      {one_tensor(R"("dtype":"F4","shape":[15],"data_offsets":[0,8])"), "no whole number"},
      {one_tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
       "no whole number"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", "abcdefghi"), "1 bytes at its end"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", "abcd"), "past the end of the file"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])", "abcdefghijkl"), "leaves a gap"},
      {one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615])"),
       "gap"},
      {safetensors(
           R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
           "abcdefgh"),
       "overlaps another: bytes 4 to 8 of the data, where 6 are taken"},
      {safetensors(
           R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
           ""),
       "the name \"a\" comes twice"},
      {safetensors(R"({"__metadata__":{"a":1}})", ""), "holds 1"},
      {safetensors("{\"a\":" + std::string(100000, '['), ""), "holds a list"},
  };
  for (const auto& one : wrong) {
    const auto& words = one.second;  // no structured binding: clang 14 captures none
    const std::string error = read_back(one.first);
    CAPTURE(error);
    CHECK_MESSAGE(error.find(words) != std::string::npos, words);
  }
}

TEST_CASE("safetensors: a header of more than 100 MB is not read") {
  const auto length = [](std::uint64_t bytes) {
    std::string head(8, '\0');
    std::memcpy(head.data(), &bytes, 8);
    return try_safetensors_length(head, std::uint64_t{1} << 40);
  };
  CHECK(length(100'000'000));
  REQUIRE_FALSE(length(100'000'001));
  CHECK(length(100'000'001).error().find("at most 100000000 are read") != std::string::npos);
}

TEST_CASE("safetensors: a file that is cut or changed anywhere is refused or read, and never past its end") {
  Rng rng(5);
  for (std::size_t length = 0; length < two_tensors.size(); ++length)
    CHECK(read_back(two_tensors.substr(0, length)).find("tensors") == std::string::npos);
  for (int i = 0; i < 3000; ++i) {
    std::string file = two_tensors;
    for (std::uint64_t k = 1 + rng.below(3); k > 0; --k)
      file[rng.below(file.size())] = static_cast<char>(rng());
    CHECK(!read_back(file).empty());
  }
}

namespace {

std::string tensor_problem(const std::string& type, const std::string& more) {
  return R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "void f() {}"}},
    "shapes": [{"name": "s", "n": 2}], "arguments": [{"name": "a", "size": "n", "init": "file", "file": "w.safetensors",
    "type": ")" +
         type + "\"" + more + R"(}, {"name": "y", "type": "f32", "size": "n", "role": "out"}]})";
}

}  // namespace

TEST_CASE("read_problem: a tensor of a .safetensors file as an input") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "w.safetensors", std::ios::binary) << two_tensors;
  const Problem problem = parse_problem(tensor_problem("f32", ""), folder.path());
  const Argument& a = problem.arguments[0];
  CHECK(a.files.at(0).tensor == "a");
  float values[2] = {};
  Rng rng;
  fill_input(at_shape(a, problem.shapes[0]), 2, rng, reinterpret_cast<std::byte*>(values));
  CHECK(values[0] == 1.0f);
  CHECK(values[1] == 2.0f);
  const Problem other = parse_problem(tensor_problem("i32", R"(, "tensor": "b")"), folder.path());
  std::int32_t whole[2] = {};
  fill_input(at_shape(other.arguments[0], other.shapes[0]), 2, rng, reinterpret_cast<std::byte*>(whole));
  CHECK(std::memcmp(whole, "12345678", 8) == 0);
  CHECK(parse_problem(problem_json(other), folder.path()).arguments[0].files.at(0).tensor == "b");
  CHECK(refusal(tensor_problem("f32", R"(, "tensor": "c")"), folder.path()).find("w.safetensors has a, b") !=
        std::string::npos);
  CHECK(refusal(tensor_problem("f16", ""), folder.path()).find("for f16 save F16") != std::string::npos);
  CHECK(refusal(tensor_problem("f32", R"(, "low": 1, "tensor": 3)"), folder.path()) != "accepted");
  // The whole file is its identity, and so is the tensor of it.
  std::string twice =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  std::ofstream(folder.path() / "w.safetensors", std::ios::binary) << safetensors(twice, "abcdefghijklmnop");
  CHECK(problem_digest(parse_problem(tensor_problem("f32", ""), folder.path())) !=
        problem_digest(parse_problem(tensor_problem("f32", R"(, "tensor": "b")"), folder.path())));
  // What has become longer since is not read.
  const Problem before = parse_problem(tensor_problem("f32", ""), folder.path());
  std::ofstream(folder.path() / "w.safetensors", std::ios::binary | std::ios::app) << "more";
  CHECK_THROWS_WITH(fill_input(at_shape(before.arguments[0], before.shapes[0]), 2, rng,
                               reinterpret_cast<std::byte*>(values)),
                    doctest::Contains("not as long as when the problem was read"));
  CHECK(refusal(tensor_problem("f32", ""), folder.path()).find("4 bytes at its end belong to no tensor") !=
        std::string::npos);
  CHECK(refusal(R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "void f() {}"}},
    "shapes": [{"n": 2}], "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "inout", "tensor": "a"}]})",
                folder.path())
            .find("names a tensor of no file") != std::string::npos);
}
