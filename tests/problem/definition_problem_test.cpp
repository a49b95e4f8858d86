// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/definition_problem.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/modules_program.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

constexpr const char* unused_python = "/usr/bin/python3";  // nothing of it is run

constexpr const char* plain_definition = R"({"name": "scaled",
  "axes": {"n": {"type": "var"}, "m": {"type": "const", "value": 3}},
  "inputs": {"x": {"shape": ["n", "m"], "dtype": "float32"}, "s": {"shape": null, "dtype": "float32"}},
  "outputs": {"y": {"shape": ["n", "m"], "dtype": "float32"}},
  "reference": "def make(a, d):\n    return {}\n\n\ndef run(x, s):\n    return x * s\n"})";
constexpr const char* plain_workload =
    R"({"uuid": "a", "axes": {"n": 4}, "inputs": {"x": {"type": "random"}, "s": {"type": "scalar", "value": 2}}})";

void put_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string changed(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

std::string safetensors_file(const std::string& header, const std::string& data) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i) & 255);
  return text + header + data;
}

Problem made_definition(const fs::path& folder, const std::string& definition = plain_definition,
                        const std::string& workloads = plain_workload) {
  put_text(folder / "definition.json", definition);
  if (!workloads.empty()) put_text(folder / "workload.jsonl", workloads);
  return read_definition_problem(folder / "definition.json", unused_python);
}

std::string refused_definition(const std::string& definition, const std::string& workloads = plain_workload) {
  const TemporaryFolder folder;
  try {
    (void)made_definition(folder.path(), definition, workloads);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string refused_solution(const std::string& spec, const std::string& sources) {
  const TemporaryFolder folder;
  put_text(folder.path() / "definition.json", plain_definition);
  put_text(folder.path() / "workload.jsonl", plain_workload);
  put_text(folder.path() / "solution.json",
           R"({"name": "one", "definition": "scaled", "spec": )" + spec + R"(, "sources": )" + sources + "}");
  try {
    (void)read_definition_problem(folder.path() / "solution.json", unused_python);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("definition: each workload is a shape, and the task is a literal behind the reference") {
  const TemporaryFolder folder;
  const std::string two =
      std::string(plain_workload) + "\n\n" +
      changed(changed(plain_workload, R"("n": 4)", R"("n": 5)"), R"("uuid": "a",)",
              R"("tolerance": {"max_atol": 0.5, "max_error_cap": 2, "allow_negative_inf": true},)") +
      "\n" + plain_workload;
  const Problem problem = made_definition(folder.path(), plain_definition, two);
  CHECK(problem.name == "scaled");
  CHECK(problem.function == "run");
  CHECK(has_module_reference(problem));
  CHECK(is_function_reference(problem));
  REQUIRE(problem.shapes.size() == 3);
  CHECK(problem.shapes[0].name == "n=4");
  CHECK(problem.shapes[1].name == "n=5");
  CHECK(problem.shapes[2].name == "n=4#2");
  REQUIRE(problem.shapes[1].variables.size() == 1);
  CHECK(problem.shapes[1].variables[0] == NamedValue("n", std::int64_t{5}));
  check_has(problem.kernel.regions.device, "def run(x, s):\n    return x * s\n");
  const std::string& source = problem.reference.source;
  CHECK(source.starts_with(problem.kernel.regions.device));
  check_has(source, "\nTASK = {\n    \"form\": \"definition\",\n    \"name\": \"scaled\",\n");
  check_has(source, R"("s": {"shape": None, "dtype": "float32"})");
  check_has(source, R"("s": {"type": "scalar", "value": 2})");
  check_has(source,
            R"("matched_ratio": 1.0,
                "error_cap": None,
                "allow_negative_infinity": True,)");
  check_has(source, R"({"absolute": 0.5, "relative": 0.01, "matched_ratio": 0.99, "error_cap": 2.0, )"
                    R"("allow_negative_infinity": True})");
  const Problem again = parse_problem(problem_json(problem), ".");
  CHECK(problem_digest(again) == problem_digest(problem));
}

TEST_CASE("definition: a folder, a file, a data set and a solution lead to it") {
  const TemporaryFolder folder;
  const fs::path set = folder.path() / "set";
  put_text(set / "definitions" / "ops" / "scaled.json", plain_definition);
  put_text(set / "workloads" / "ops" / "scaled.jsonl",
           R"({"definition": "other", "workload": {"axes": {}, "inputs": {}}})"
           "\n"
           R"({"definition": "scaled", "solution": null, "workload": )" +
               std::string(plain_workload) + "}\n");
  put_text(set / "solutions" / "me" / "ops" / "scaled" / "fast.json",
           R"json({"name": "fast", "definition": "scaled", "author": "me",
          "spec": {"language": "triton", "target_hardware": ["LOCAL"], "entry_point": "k.py::go"},
          "sources": [{"path": "k.py", "content": "def go(x, s, y):\n    y.copy_(x * s)"}]})json");
  CHECK(find_definition(set) == set / "definitions" / "ops" / "scaled.json");
  const Problem problem = read_definition_problem(find_definition(set), unused_python);
  REQUIRE(problem.shapes.size() == 1);
  CHECK(problem.shapes[0].name == "n=4");

  const fs::path solution = set / "solutions" / "me" / "ops" / "scaled" / "fast.json";
  CHECK(find_definition(solution) == solution);
  const Problem begun = read_definition_problem(solution, unused_python);
  CHECK(begun.kernel.regions.device ==
        "def go(x, s, y):\n    y.copy_(x * s)\n\n\nrun = go\nrun.destination_passing_style = True\n");
  CHECK(begun.reference.source == problem.reference.source);

  put_text(set / "definitions" / "ops" / "twice.json", changed(plain_definition, "scaled", "twice"));
  CHECK_THROWS_WITH_AS((void)find_definition(set), doctest::Contains("a folder with 2 definitions"),
                       ConfigError);
  const TemporaryFolder other;
  put_text(other.path() / "problem.json", "{}");
  put_text(other.path() / "notes.json", "[1, 2");
  CHECK(find_definition(other.path()).empty());
  put_text(other.path() / "mine.json", plain_definition);
  CHECK(find_definition(other.path()) == other.path() / "mine.json");
}

TEST_CASE("definition: without workloads there is one shape if no axis varies, and of many some are used") {
  const TemporaryFolder folder;
  const std::string fixed =
      changed(changed(plain_definition, R"({"type": "var"})", R"({"type": "const", "value": 7})"),
              R"(, "s": {"shape": null, "dtype": "float32"}})", "}");
  const Problem problem = made_definition(folder.path(), fixed, "");
  REQUIRE(problem.shapes.size() == 1);
  CHECK(problem.shapes[0].name == "workload");
  check_has(refused_definition(plain_definition, ""), "have no values without workloads: n;");

  std::string many;
  for (int i = 0; i < 100; ++i)
    many += changed(plain_workload, R"("n": 4)", R"("n": )" + std::to_string(i)) + "\n";
  const TemporaryFolder second;
  const Problem some = made_definition(second.path(), plain_definition, many);
  CHECK(some.shapes.size() == 64);
  CHECK(some.shapes.front().name == "n=0");
  CHECK(some.shapes.back().name == "n=98");
  check_has(some.description, "Of its 100 workloads 64 are used, evenly spaced.");
}

TEST_CASE("definition: what cannot be judged is refused with the place and the reason") {
  const auto definition = [](const std::string& what, const std::string& instead) {
    return refused_definition(changed(plain_definition, what, instead));
  };
  const auto workload = [](const std::string& what, const std::string& instead) {
    return refused_definition(plain_definition, changed(plain_workload, what, instead));
  };
  check_has(definition("def run", "def walk"), "/reference defines no `run`");
  check_has(definition(R"(["n", "m"], "dtype": "float32"}, "s")", R"(["n", "k"], "dtype": "float32"}, "s")"),
            "/inputs/x/shape/1 is an axis that the definition does not have: \"k\"");
  check_has(definition(R"("m"], "dtype": "float32"}, "s")", R"("m"], "dtype": "float7"}, "s")"),
            "/inputs/x/dtype is a type that is not known: \"float7\"");
  check_has(definition(R"("value": 3)", R"("value": -3)"), "/axes/m/value is not a size of an axis: -3");
  check_has(definition(R"("type": "var")", R"("type": "vary")"), "/axes/n/type");
  check_has(definition(R"("reference")", R"("custom_inputs_entrypoint": "gen", "reference")"),
            "is a function that \"reference\" does not define: \"gen\"");
  check_has(definition(R"("reference")", R"("constraints": [3], "reference")"), "/constraints/0 is a");
  check_has(definition(R"("y": {"shape": ["n", "m"], "dtype": "float32"})", ""), "/outputs name no output");

  check_has(workload(R"("n": 4)", R"("k": 4)"), "/axes give no value for an axis of the definition: n");
  check_has(workload(R"(, "s": {"type": "scalar", "value": 2})", ""),
            "/inputs give no value for a number: s");
  check_has(workload(R"("scalar", "value": 2)", R"("random")"),
            "/inputs/s is random, and a number needs a value");
  check_has(workload(R"("x": {"type": "random"})", R"("z": {"type": "random"})"),
            "/inputs/z is an input that the definition does not have: z");
  check_has(workload(R"("type": "random")", R"("type": "custom")"), "the definition names none");
  check_has(workload(R"("uuid": "a")", R"("tolerance": {"required_matched_ratio": 1.5})"),
            "/tolerance/required_matched_ratio is not a bound of a tolerance: 1.5");
  check_has(refused_definition(plain_definition, "{\"axes\": "), "workload.jsonl line 1");
  check_has(refused_definition(plain_definition, R"({"definition": "other", "workload": {}})"),
            "no workload of this");
}

TEST_CASE("definition: files with inputs stay inside the folder, and go along as digits") {
  const auto workload = [](const std::string& path) {
    return changed(plain_workload, R"({"type": "random"})",
                   R"({"type": "safetensors", "path": ")" + path + R"(", "tensor_key": "x"})");
  };
  for (const char* path : {"/etc/passwd", "../secret.safetensors", "a/../../secret.safetensors", ""}) {
    CAPTURE(path);
    check_has(refused_definition(plain_definition, workload(path)), "leads out of the task's folder");
  }
  check_has(refused_definition(plain_definition, workload("none.safetensors")),
            "/inputs/x/path is not there");
  const TemporaryFolder outside, folder;
  put_text(outside.path() / "secret.safetensors", "secret");
  fs::create_symlink(outside.path() / "secret.safetensors", folder.path() / "link.safetensors");
  CHECK_THROWS_WITH_AS((void)made_definition(folder.path(), plain_definition, workload("link.safetensors")),
                       doctest::Contains("leads out of the task's folder"), ConfigError);
  put_text(outside.path() / "work.jsonl", plain_workload);
  const TemporaryFolder linked;
  fs::create_symlink(outside.path() / "work.jsonl", linked.path() / "workload.jsonl");
  CHECK_THROWS_WITH_AS((void)made_definition(linked.path(), plain_definition, ""),
                       doctest::Contains("is a link out of its folder"), ConfigError);
  const TemporaryFolder data;
  put_text(data.path() / "definitions" / "scaled.json", plain_definition);
  put_text(outside.path() / "scaled.jsonl", plain_workload);
  fs::create_directory_symlink(outside.path(), data.path() / "workloads");
  CHECK_THROWS_WITH_AS(
      (void)read_definition_problem(data.path() / "definitions" / "scaled.json", unused_python),
      doctest::Contains("is a link out of its folder"), ConfigError);
  put_text(folder.path() / "in" / "x.safetensors",
           safetensors_file(R"({"x": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}})",
                            std::string("\x00\xff\x1a", 3)));
  const Problem problem = made_definition(folder.path(), plain_definition,
                                          workload("in/x.safetensors") + "\n" + workload("in/x.safetensors"));
  REQUIRE(problem.external->files.size() == 2);
  CHECK(problem.external->files[1].path == "inputs_0.safetensors.hex");
  CHECK(problem.external->files[1].text.starts_with("3c000000000000007b"));
  CHECK(problem.external->files[1].text.ends_with("7d00ff1a"));
  put_text(folder.path() / "in" / "x.safetensors", std::string(7u << 20, 'x'));
  CHECK_THROWS_WITH_AS((void)made_definition(folder.path(), plain_definition, workload("in/x.safetensors")),
                       doctest::Contains("over 6 MiB"), ConfigError);
}

TEST_CASE("definition: a solution that cannot be an answer is refused with the reason") {
  const std::string one = R"([{"path": "m.py", "content": "def go(x, s):\n    return x * s\n"}])";
  CHECK(refused_solution(R"({"language": "python", "entry_point": "m.py::go"})", one).empty());
  check_has(refused_solution(R"({"language": "python", "entry_point": "m.py"})", one), "names no function");
  check_has(refused_solution(R"({"language": "python", "entry_point": "n.py::go"})", one),
            "is in a file that the solution does not have: \"n.py::go\"; name m.py");
  check_has(refused_solution(R"({"language": "triton", "entry_point": "m.txt::go"})",
                             R"([{"path": "m.txt", "content": "a"}])"),
            "is in a file that is not Python");
  check_has(refused_solution(R"({"language": "python", "entry_point": "m.py::a b"})", one), "a b");
  check_has(refused_solution(R"({"language": "cpp", "entry_point": "m.cpp::go"})",
                             R"([{"path": "../m.cpp", "content": "a"}])"),
            "/sources/0/path leads out of the solution's folder");
  check_has(refused_solution(
                R"({"language": "cpp", "destination_passing_style": false, "entry_point": "m.cpp::go"})",
                R"([{"path": "m.cpp", "content": "a"}])"),
            "is of a library for tvm-ffi that does not take its outputs");
  check_has(refused_solution(R"({"language": "cpp", "binding": "cython", "entry_point": "m.cpp::go"})",
                             R"([{"path": "m.cpp", "content": "a"}])"),
            "/spec/binding");
}

TEST_CASE("definition: a solution of several files, or in C++, is an answer that builds it") {
  const TemporaryFolder folder;
  put_text(folder.path() / "definition.json", plain_definition);
  put_text(folder.path() / "workload.jsonl", plain_workload);
  const auto answer = [&](const std::string& spec, const std::string& sources) {
    put_text(folder.path() / "solution.json", R"({"name": "one", "definition": "scaled", "spec": )" + spec +
                                                  R"(, "sources": )" + sources + "}");
    const Problem problem = read_definition_problem(folder.path() / "solution.json", unused_python);
    CHECK(problem.external->files.back().path == "kernelsearch_native.py");
    Problem with = made_definition(folder.path());
    const std::size_t files = with.external->files.size();
    add_baseline(with, folder.path() / "solution.json");
    CHECK(with.external->files.size() == files + 2);
    CHECK(*baseline_of(with) == problem.kernel.regions.device);
    return problem.kernel.regions.device;
  };
  CHECK(answer(R"({"language": "cpp", "binding": "tvm-ffi", "entry_point": "m.cpp::go"})",
               R"([{"path": "m.cpp", "content": "int \"x\";\n"}])") ==
        "import kernelsearch_native\n\nSOURCES = {\"m.cpp\": \"int \\\"x\\\";\\n\"}\n\n"
        "run = kernelsearch_native.function(\n    SOURCES, \"m.cpp::go\", \"cpp\", binding=\"tvm-ffi\", "
        "destination_passing_style=True)\n");
  const std::string cuda = answer(
      R"({"languages": ["cuda_cpp"], "entry_point": "main.cpp::run", "destination_passing_style": false,
          "compile_options": {"cuda_cflags": ["-O2"], "ld_flags": ["-lcudnn"]}})",
      R"([{"path": "k.cu", "content": "a"}, {"path": "main.cpp", "content": "b"}])");
  check_has(cuda,
            "\"cuda\", binding=\"torch\", destination_passing_style=False,\n    options={\"cuda_cflags\": "
            "[\"-O2\"], \"ld_flags\": [\"-lcudnn\"]})\n");
  check_has(answer(R"({"language": "python", "entry_point": "a.py::go"})",
                   R"([{"path": "a.py", "content": "a"}, {"path": "b/c.py", "content": "b"}])"),
            "SOURCES, \"a.py::go\", \"python\", destination_passing_style=True)\n");
}

TEST_CASE("definition: the example is read") {
  const fs::path folder = fs::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "torch" / "definition";
  const Problem problem = read_definition_problem(find_definition(folder), unused_python);
  CHECK(problem.shapes.size() == 2);
  const Problem begun = read_definition_problem(folder / "solution.json", unused_python);
  check_has(begun.kernel.regions.device, "run = gated\n");
}

TEST_CASE("definition: a file with inputs has its header checked, and its place is told") {
  const auto stored = [](const std::string& header, std::size_t bytes, Problem* made = nullptr) {
    const TemporaryFolder folder;
    put_text(folder.path() / "x.safetensors",
             header.empty() ? "short" : safetensors_file(header, std::string(bytes, '\1')));
    const std::string input = R"({"type": "safetensors", "path": "x.safetensors", "tensor_key": "a"})";
    try {
      const Problem problem = made_definition(folder.path(), plain_definition,
                                              changed(plain_workload, R"({"type": "random"})", input));
      if (made != nullptr) *made = problem;
      return std::string();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  const std::string header = R"({"a": {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]})";
  Problem problem;
  CHECK(stored(header + "}", 24, &problem) == "");
  const auto task = detail::task_literal(problem.reference.source);
  const auto& input = task["workloads"]["n=4"]["inputs"]["x"];
  CHECK(input["file"] == "inputs_0.safetensors.hex");
  CHECK(input["stored"] ==
        nlohmann::ordered_json::parse(R"({"dtype": "F32", "shape": [6], "offset": )" +
                                      std::to_string(9 + header.size()) + R"(, "bytes": 24})"));
  check_has(stored(header + "}", 20), "is not a safetensors file that can be read: ");
  check_has(stored(header + R"(, "b": {"dtype": "F32", "shape": [1], "data_offsets": [20, 24]}})", 24),
            "\"b\" overlaps another");
  check_has(stored(R"({"a": {"dtype": "F32", "shape": [6], "data_offsets": [0, 20]}})", 20), "ask for 24");
  check_has(stored(R"({"b": {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]}})", 24),
            "/tensor_key is a tensor that the file does not have: \"a\"; name b");
  check_has(stored("{}", 0), "the file has none");
  check_has(stored("", 0), "it is shorter than 8 bytes");
  check_has(stored("[1]", 0), "its header is not a JSON object");
}

TEST_CASE("definition: weights and call counts of workloads") {
  const TemporaryFolder folder;
  const std::string nested = changed(plain_workload, R"("n": 4)", R"("n": 5)");
  const Problem problem =
      made_definition(folder.path(), plain_definition,
                      changed(plain_workload, R"("axes")", R"("calls": 12, "axes")") + "\n" +
                          changed(nested, R"("axes")", R"("weight": 0, "axes")") + "\n" +
                          R"({"definition": "scaled", "weight": 0.5, "workload": )" + nested + "}\n");
  REQUIRE(problem.shapes.size() == 3);
  CHECK(problem.shapes[0].weight == 12);
  CHECK(problem.shapes[1].weight == 0);
  CHECK(problem.shapes[2].weight == 0.5);
  const auto workload = [](const std::string& instead) {
    return refused_definition(plain_definition,
                              changed(plain_workload, R"("axes")", instead + R"(, "axes")"));
  };
  check_has(workload(R"("weight": -1)"), "/weight is not a weight: -1");
  check_has(workload(R"("weight": 1, "calls": 2)"), "/calls is a second weight of the workload");
  check_has(workload(R"("weight": 0)"), "no workload counts");
}

TEST_CASE("definition: a baseline is a solution of it, or an answer in Python") {
  const TemporaryFolder folder;
  const Problem problem = made_definition(folder.path());
  CHECK(baseline_of(problem) == nullptr);
  const auto solution = [&](const std::string& of) {
    put_text(folder.path() / "solution.json",
             R"json({"name": "one", "definition": ")json" + of +
                 R"json(", "spec": {"language": "python", "entry_point": "main.py::go"},
                 "sources": [{"path": "main.py", "content": "def go(x, s, y):\n    pass"}]})json");
    Problem with = problem;
    add_baseline(with, folder.path() / "solution.json");
    return with;
  };
  const Problem with = solution("scaled");
  REQUIRE(baseline_of(with) != nullptr);
  CHECK(*baseline_of(with) ==
        "def go(x, s, y):\n    pass\n\n\nrun = go\nrun.destination_passing_style = True\n");
  CHECK(with.kernel.regions.device == problem.kernel.regions.device);
  CHECK(problem_digest(with) != problem_digest(problem));
  CHECK_THROWS_WITH_AS((void)solution("other"), doctest::Contains("is not the definition that is tuned"),
                       ConfigError);
  const auto added = [&](Problem one, const char* name, const std::string& text) {
    put_text(folder.path() / name, text);
    add_baseline(one, folder.path() / name);
    return one;
  };
  CHECK(*baseline_of(added(problem, "mine.py", "def run(x, s):\n    return x\n")) ==
        "def run(x, s):\n    return x\n");
  CHECK_THROWS_WITH_AS((void)added(problem, "mine.py", "def walk(x):\n    return x\n"),
                       doctest::Contains("a baseline that defines no `run`"), ConfigError);
  CHECK_THROWS_WITH_AS((void)added(problem, "other.json", plain_definition),
                       doctest::Contains("a baseline that is not a solution"), ConfigError);
  CHECK_THROWS_WITH_AS((void)added(with, "mine.py", "def run(x):\n    return x\n"),
                       doctest::Contains("has a baseline already"), ConfigError);
  CHECK_THROWS_WITH_AS((void)added(Problem(), "mine.py", "def run(x):\n    return x\n"),
                       doctest::Contains("only tasks in Python"), ConfigError);
}

TEST_CASE("definition: the literal behind a reference reads back as the JSON that it was") {
  const nlohmann::ordered_json task{
      {"form", "a \"quoted\", None\n, text"},
      {"none", nullptr},
      {"on", true},
      {"long", {std::string(60, 'a'), std::string(60, ']'), false}},
      {"nested", {{"one", 1.5}, {"two", {1, 2, 3}}, {"three", std::string(90, '}')}}}};
  const std::string source = "def run(x):\n    TASK = {}\n\n\nTASK = {}\n# ...\nTASK = ";
  CHECK(detail::task_literal(source + detail::python_literal(task, 0) + "\n") == task);
  CHECK(detail::task_literal("TASK = 3\n").is_null());
  CHECK(detail::task_literal("\nTASK = {oops\n").is_null());
}
