// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

/// A sparse product that uses what inputs can be; `more` goes into the document, `argument` among the
/// arguments.
std::string sparse(const std::string& argument = {}, const std::string& more = {}) {
  return R"({"schema": 1, "name": "spmv", "function": "spmv", "kernel": {"device": {"text": "void spmv() {}"}},
    "shapes": [{"name": "s", "n": 4, "m": 6}, {"name": "t", "n": 4, "m": 7}],
    "generator": {"source": {"text": "void make_inputs();"}, "sizes": ["nnz"], "flags": ["-O1"]},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "nnz", "type": "i64"},
      {"name": "start", "type": "i32", "size": "n + 1", "init": "offsets", "total": "nnz", "skew": 1.5},
      {"name": "column", "type": "i32", "size": "nnz", "low": 0, "high": "m", "edge": [0]},
      {"name": "keys", "type": "u16", "size": "m", "init": "sorted"},
      {"name": "value", "type": "f32", "size": "nnz", "init": "generator"},)" +
         argument + R"(
      {"name": "y", "type": "f32", "size": "n", "role": "out"}], "bit_exact": true, "memory_gib": 3,
    "valid": "nnz > 0", "operations": "2*nnz")" +
         more + "}";
}

std::string npy(const std::string& type, std::size_t count, std::size_t bytes) {
  const std::string dictionary =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }\n";
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary +
         std::string(bytes, 'a');
}

std::string with_file(const std::string& file, const std::string& type = "f32") {
  return R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "void f() {}"}},
    "shapes": [{"name": "s", "n": 4}, {"name": "t", "n": 4}],
    "arguments": [{"name": "x", "type": ")" +
         type + R"(", "size": "n", "init": "file", "file": )" + file +
         R"(}, {"name": "y", "type": "f32", "size": "n", "role": "out"}]})";
}

}  // namespace

TEST_CASE("read_problem: offsets, sorted, expressions as bounds, edge values, generator and its sizes") {
  const Problem problem = parsed(sparse());
  REQUIRE(problem.generator);
  CHECK(problem.generator->sizes == std::vector<std::string>{"nnz"});
  CHECK(problem.generator->flags == std::vector<std::string>{"-O1"});
  CHECK(problem.arguments[2].initialisation == Initialisation::offsets);
  CHECK(problem.arguments[2].skew == 1.5);
  CHECK(problem.arguments[3].high_expression->text() == "m");
  CHECK(problem.arguments[3].edge == std::vector<double>{0});
  CHECK(problem.arguments[4].initialisation == Initialisation::sorted);
  CHECK(problem.arguments[5].initialisation == Initialisation::generator);
  CHECK(problem.bit_exact);
  CHECK(problem.memory == std::uint64_t{3} << 30);
  for (const LintFinding& finding : lint_static(problem))
    CHECK(finding.what.find("too small") == std::string::npos);
}

TEST_CASE("read_problem: sizes of a generator count in expressions once they are known") {
  Problem problem = parsed(sparse());
  CHECK_THROWS_WITH_AS((void)element_count(problem.arguments[3], problem.shapes[0]),
                       doctest::Contains("names something unknown"), ConfigError);
  problem.shapes[0].generated = {{"nnz", Value{std::int64_t{11}}}};
  CHECK(element_count(problem.arguments[3], problem.shapes[0]) == 11);
  CHECK(scalar_value(problem.arguments[1], problem.shapes[0]) == Value{std::int64_t{11}});
}

TEST_CASE("problem_json: inputs, structs, libraries and files are written and read back") {
  const std::string structs = R"({"name": "p", "size": "n", "role": "inout", "type": {"struct": "Particle",
      "fields": [{"name": "x", "type": "f32", "low": 0, "high": 2}, {"name": "id", "type": "i64"}]}},)";
  const std::string more =
      R"(, "files": {"inc/h.hpp": {"text": "#pragma once\n"}, "more.cpp": {"text": "#include <h.hpp>\n"}},
    "reference": {"source": {"text": "#include <h.hpp>\n"}, "function": "r", "libraries": ["m"]},
    "build": {"libraries": ["m", "openblas"]})";
  std::string text = sparse(structs, more);
  text.replace(text.find("\"kernel\": {"), 11,
               "\"kernel\": {\"include\": [\"inc\"], \"sources\": [\"more.cpp\"], ");
  const Problem problem = parsed(text);
  REQUIRE(problem.arguments[6].structure);
  CHECK(problem.arguments[6].element_bytes() == 16);
  CHECK(problem.files.size() == 2);
  CHECK(problem.build.libraries == std::vector<std::string>{"m", "openblas"});
  const Problem again = parsed(problem_json(problem));
  CHECK(problem_digest(again) == problem_digest(problem));
  CHECK(problem_json(again) == problem_json(problem));
  CHECK(again.files == problem.files);
  CHECK(again.memory == problem.memory);
}

TEST_CASE("problem_digest: every new part counts, and what a generator says does not") {
  const Problem problem = parsed(sparse());
  const std::function<void(Problem&)> meaningful[] = {
      [](Problem& p) { p.generator.reset(); },
      [](Problem& p) { p.generator->source += " "; },
      [](Problem& p) { p.generator->flags.clear(); },
      [](Problem& p) { p.generator->sizes.emplace_back("more"); },
      [](Problem& p) { p.arguments[2].skew = 2; },
      [](Problem& p) { p.arguments[2].total = Expression::parse("n"); },
      [](Problem& p) { p.arguments[3].high_expression = Expression::parse("n"); },
      [](Problem& p) { p.arguments[3].edge->push_back(1); },
      [](Problem& p) { p.arguments[3].edge.reset(); },
      [](Problem& p) { p.bit_exact = false; },
      [](Problem& p) {
        p.files.push_back({"a.hpp", "x"});
      },
      [](Problem& p) {
        p.files.push_back({"a.hpp", "y"});
      },
      [](Problem& p) { p.build.libraries.emplace_back("m"); },
      [](Problem& p) { p.reference.libraries.emplace_back("m"); },
      [](Problem& p) {
        p.arguments[4].structure = StructType{"S", {{"a", ElementType::f32}}};
      },
      [](Problem& p) {
        p.arguments[4].structure = StructType{"S", {{"b", ElementType::f32}}};
      },
      [](Problem& p) {
        p.arguments[4].files = {{"", "f", "/a/f", "digest", 0, 4}};
      },
      [](Problem& p) {
        p.arguments[4].files = {{"", "f", "/a/f", "other", 0, 4}};
      },
  };
  std::set<std::string> seen{problem_digest(problem)};
  std::size_t changes = 1;
  for (const auto& change : meaningful) {
    Problem other = problem;
    change(other);
    seen.insert(problem_digest(other));
    CAPTURE(changes);
    CHECK(seen.size() == ++changes);
  }
  Problem other = problem;
  other.shapes[0].generated = {{"nnz", Value{std::int64_t{11}}}};
  CHECK(problem_digest(other) == problem_digest(problem));
}

TEST_CASE("problem_digest: problems without the new parts keep the digests that stores have") {
  CHECK(problem_digest(parsed(full_problem)) ==
        "f50a2aad00e185a3162327fb57f1fb1dfca027a1c824ed9bc3b8d37877fb7421");
  CHECK(problem_digest(parsed(device_problem)) ==
        "9878bb34b117d088c0d4c1e36ed896c6aea657932fcbc3a0e7b6f08a1f6e7cc6");
}

TEST_CASE("read_problem: mistakes in inputs name the place and say what to write") {
  const std::pair<std::string, std::string> wrong[] = {
      {R"({"name": "a", "type": "i32", "size": "n", "init": "offsets"},)", "lacks the key \"total\""},
      {R"({"name": "a", "type": "f32", "size": "n", "init": "offsets", "total": 1},)",
       "offsets that are not integers"},
      {R"({"name": "a", "type": "i32", "size": "n", "total": 1},)", "/arguments/6/total belongs to offsets"},
      {R"({"name": "a", "type": "i32", "size": "n", "init": "offsets", "total": 1, "skew": -1},)",
       "is not a skew"},
      {R"({"name": "a", "type": "i32", "size": "n", "high": "q"},)",
       "/arguments/6/high names something unknown"},
      {R"({"name": "a", "type": "i32", "size": "n", "low": "m", "high": "n"},)", "empty range for shape s"},
      {R"({"name": "a", "type": "u8", "size": "n", "edge": [256]},)",
       "/arguments/6/edge/0 is not a value of u8"},
      {R"({"name": "a", "type": "i32", "size": "n", "low": 0, "high": 5, "edge": [9]},)",
       "outside of the range"},
      {R"({"name": "a", "type": "i32", "size": "n", "init": "zeros", "edge": [0]},)",
       "an array that is not drawn"},
      {R"({"name": "a", "type": "i32", "size": "n", "file": "x"},)", "names a file that is not used"},
      {R"({"name": "a", "type": "i32", "size": "n", "init": "file"},)", "lacks the key \"file\""},
      {R"({"name": "a", "type": {"struct": "P", "fields": []}, "size": "n"},)", "a struct without fields"},
      {R"({"name": "a", "type": {"struct": "P", "fields": [{"name": "x", "type": "f31"}]}, "size": "n"},)",
       "/arguments/6/type/fields/0/type is not a known element type"},
      {R"({"name": "a", "type": {"struct": "P", "fields": [{"name": "x", "type": "f32"}]}},)",
       "a struct by value"},
      {R"({"name": "a", "type": {"struct": "P", "fields": [{"name": "x", "type": "f32"}]}, "size": "n", "init": "sorted"},)",
       "not an initialisation of structs"},
      {R"({"name": "a", "type": {"struct": "P", "fields": [{"name": "x", "type": "f32"}]}, "size": "n", "role": "out", "tolerance": {}},)",
       "one tolerance for the fields"},
  };
  for (const auto& one : wrong) {
    const auto &argument = one.first, &words = one.second;
    CAPTURE(argument);
    CHECK(refusal(sparse(argument)).find(words) != std::string::npos);
  }
  const std::pair<std::string, std::string> documents[] = {
      {R"(, "build": {"libraries": ["-lm"]})", "is not a name of a library"},
      {R"(, "build": {"libraries": ["m; rm"]})", "is not a name of a library"},
      {R"(, "files": {"../x.hpp": {"text": ""}})", "not a path of the problem's folder"},
      {R"(, "reference": {"source": {"text": "x"}, "function": "r", "sources": ["no.cpp"]})",
       "a file that is not there"},
      {R"(, "reference": {"source": {"text": "x"}, "function": "r", "sources": ["../no.cpp"]})",
       "leads out of the problem's folder"},
      {R"(, "reference": {"source": {"text": "x"}, "function": "r", "sources": ["no.hpp"]})",
       "is not a C++ file"},
  };
  for (const auto& one : documents) {
    const auto &more = one.first, &words = one.second;
    CAPTURE(more);
    CHECK(refusal(sparse({}, more)).find(words) != std::string::npos);
  }
  CHECK(
      refusal(
          R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 4}],
    "arguments": [{"name": "a", "type": "f32", "size": "n", "init": "generator"}, {"name": "y", "type": "f32", "size": 1, "role": "out"}]})")
          .find("a generator that the problem has not") != std::string::npos);
}

TEST_CASE("read_problem: files of inputs are looked up, measured and checked") {
  const TemporaryFolder folder;
  folder.write("raw.bin", std::string(16, 'a'));
  folder.write("short.bin", std::string(12, 'a'));
  folder.write("right.npy", npy("<f4", 4, 16));
  folder.write("doubles.npy", npy("<f8", 4, 32));
  folder.write("cut.npy", npy("<f4", 4, 12));
  const auto read = [&](const std::string& file) { return refusal(with_file(file), folder.path()); };
  CHECK(read("\"raw.bin\"") == "accepted");
  CHECK(read("\"right.npy\"") == "accepted");
  CHECK(read(R"({"s": "raw.bin", "t": "right.npy"})") == "accepted");
  CHECK(read("\"short.bin\"").find("not as long as the array: 12 bytes, 16 are needed in shape s") !=
        std::string::npos);
  CHECK(read("\"doubles.npy\"").find("elements of another type: <f8; for f32 save <f4") != std::string::npos);
  CHECK(read("\"cut.npy\"").find("not as long as its header says") != std::string::npos);
  CHECK(read("\"../raw.bin\"").find("leads out of the problem's folder") != std::string::npos);
  CHECK(read("\"rav.bin\"").find("did you mean \"raw.bin\"?") != std::string::npos);
  CHECK(read(R"({"s": "raw.bin"})").find("names no file for a shape: \"t\"") != std::string::npos);
  CHECK(read(R"({"s": "raw.bin", "u": "raw.bin"})").find("a shape that is not there") != std::string::npos);

  const Problem problem = parse_problem(with_file("\"right.npy\""), folder.path());
  std::byte bytes[16];
  Rng rng(1);
  fill_input(at_shape(problem.arguments[0], problem.shapes[0]), 4, rng, bytes);
  CHECK(bytes[0] == std::byte{'a'});
  const std::string before = problem_digest(problem);
  folder.write("right.npy", npy("<f4", 4, 16).replace(80, 1, "b"));
  CHECK(problem_digest(parse_problem(with_file("\"right.npy\""), folder.path())) != before);
  folder.write("right.npy", npy("<f4", 4, 15));
  CHECK_THROWS_WITH_AS(fill_input(at_shape(problem.arguments[0], problem.shapes[0]), 4, rng, bytes),
                       doctest::Contains("not as long as when the problem was read"), ConfigError);
}

TEST_CASE("read_problem: headers of the folder are taken with all that they include") {
  const TemporaryFolder folder;
  folder.write("kernel.cpp",
               "#include \"own.hpp\"\n#include <deep.hpp>\n#include <vector>\n#include \"gone.hpp\"\n");
  folder.write("own.hpp", " #  include \"sub/other.hpp\"\n");
  folder.write("sub/other.hpp", "#include \"beside.hpp\"\n");
  folder.write("sub/beside.hpp", "");
  folder.write("inc/deep.hpp", "");
  folder.write("unused.hpp", "");
  folder.write("helper.cpp", "#include \"own.hpp\"\n");
  const std::string text = R"({"schema": 1, "name": "x", "function": "f", "shapes": [{"n": 4}],
    "kernel": {"device": "kernel.cpp", "include": ["inc"], "sources": ["helper.cpp"]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}]})";
  const Problem problem = parse_problem(text, folder.path());
  std::vector<std::string> paths;
  for (const SourceFile& file : problem.files) paths.push_back(file.path);
  CHECK(paths ==
        std::vector<std::string>{"helper.cpp", "inc/deep.hpp", "own.hpp", "sub/beside.hpp", "sub/other.hpp"});
  CHECK(problem.names.device == "kernel.cpp");
  CHECK(problem.sources == std::vector<std::string>{"helper.cpp"});
  // what the problem file holds needs no folder
  const Problem again = parse_problem(problem_json(problem), "/nonexistent");
  CHECK(again.files == problem.files);
  CHECK(problem_digest(again) == problem_digest(problem));
  const std::string before = problem_digest(problem);
  folder.write("sub/beside.hpp", "// edited\n");
  CHECK(problem_digest(parse_problem(text, folder.path())) != before);
  const TemporaryFolder elsewhere;
  write_problem(problem, elsewhere.path() / "made");
  CHECK(problem_digest(read_problem(elsewhere.path() / "made")) == problem_digest(problem));
}

TEST_CASE("read_problem: a header by a link that leads out of the folder is not read") {
  const TemporaryFolder folder, outside;
  outside.write("secret.hpp", "secret");
  folder.write("kernel.cpp", "#include \"link.hpp\"\n");
  std::filesystem::create_symlink(outside / "secret.hpp", folder / "link.hpp");
  const Problem problem = parse_problem(R"({"schema": 1, "name": "x", "function": "f", "shapes": [{"n": 4}],
    "kernel": {"device": "kernel.cpp"}, "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}]})",
                                        folder.path());
  CHECK(problem.files.empty());
}

TEST_CASE("read_problem: the parts of a matrix go to arrays that are left to it") {
  const TemporaryFolder folder;
  folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
  const auto read = [&](const std::string& generator, const std::string& init = "generator") {
    return refusal(
        R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}}, "shapes": [{"name": "s"}],
      "generator": )" +
            generator + R"(, "arguments": [{"name": "start", "type": "i32", "size": "rows + 1", "init": ")" +
            init + R"("}, {"name": "y", "type": "f32", "size": "rows", "role": "out"}]})",
        folder.path());
  };
  CHECK(read(R"({"matrix_market": "m.mtx", "row_pointers": "start"})") == "accepted");
  CHECK(read(R"({"matrix_market": "m.mtx"})").find("leaves an array unfilled: start") != std::string::npos);
  CHECK(read(R"({"matrix_market": "m.mtx", "row_pointers": "y"})")
            .find("not an array that the generator fills") != std::string::npos);
  CHECK(read(R"({"matrix_market": "m.mtx", "row_pointers": "start"})", "zeros")
            .find("not an array that the generator fills") != std::string::npos);
  CHECK(read(R"({"matrix_market": "no.mtx", "row_pointers": "start"})").find("a file that is not there") !=
        std::string::npos);
  CHECK(read(R"({})").find("generates nothing") != std::string::npos);
  CHECK(read(R"({"source": {"text": "x"}, "columns": "start"})").find("belongs to a matrix") !=
        std::string::npos);
  CHECK(
      read(R"({"matrix_market": "m.mtx", "row_pointers": "start", "sizes": ["rows"]})").find("three sizes") !=
      std::string::npos);
}

TEST_CASE("read_problem: why a distribution is exact, and why trivial answers are not tried") {
  const auto read = [](const std::string& input, const std::string& more = {}) {
    return parse_problem(
        R"({"schema": 1, "name": "p", "function": "f", "arguments": [{"name": "x", "type": "f32", "size": "n")" +
            input +
            R"(}, {"name": "y", "type": "f32", "size": "n", "role": "out"}], "kernel": {"device": {"text": "void f() {}"}},
          "shapes": [{"name": "s", "n": 9}])" +
            more + "}",
        ".");
  };
  const Problem plain = read(""), exact = read(R"(, "exact": "bins are made for uniform keys")"),
                trivial = read("", R"(, "trivial_answers": "most inputs have no match")");
  CHECK(plain.arguments[0].exact.empty());
  CHECK(exact.arguments[0].exact == "bins are made for uniform keys");
  CHECK(trivial.trivial_answers == "most inputs have no match");
  CHECK(problem_digest(exact) != problem_digest(plain));
  CHECK(problem_digest(trivial) != problem_digest(plain));
  CHECK(parse_problem(problem_json(exact), ".").arguments[0].exact == exact.arguments[0].exact);
  CHECK(parse_problem(problem_json(trivial), ".").trivial_answers == trivial.trivial_answers);
  CHECK_THROWS_WITH_AS(read(R"(, "exact": " ")"), doctest::Contains("gives no reason"), ConfigError);
  CHECK_THROWS_WITH_AS(read(R"(, "init": "zeros", "exact": "x")"), doctest::Contains("not varied"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(read("", R"(, "trivial_answers": "")"), doctest::Contains("gives no reason"),
                       ConfigError);
}
