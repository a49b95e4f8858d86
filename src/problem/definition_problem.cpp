// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/definition_problem.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "modules_program.hpp"
#include "problem_parts.hpp"
#include "safetensors.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using detail::JsonCursor;
using detail::JsonNode;
using TaskJson = nlohmann::ordered_json;

constexpr std::size_t largest_text = std::size_t{4} << 20;        // of a definition or a solution
constexpr std::size_t largest_workloads = std::size_t{64} << 20;  // of a file of workloads
constexpr std::size_t largest_tensors = std::size_t{6} << 20;     // of all files with inputs
constexpr const char* baseline_file = "kernelsearch_baseline.py";
constexpr std::size_t most_workloads = 64;
constexpr std::size_t most_definitions = 10000;

constexpr const char* definition_todo =
    "write a definition as docs/tasks.md says: name, axes, inputs, outputs and reference, a text of Python "
    "with "
    "`def run`";

std::string whole_file(const fs::path& file, std::size_t most, const char* what) {
  std::error_code error;
  if (file.has_parent_path() && fs::is_symlink(file, error) &&
      !detail::path_inside(file.parent_path(), file.filename()))
    detail::raise<ConfigError>(std::string(what) + " is a link out of its folder", file.string(),
                               "put the file there");
  if (!fs::is_regular_file(file, error))
    detail::raise<ConfigError>(std::string(what) + " is not there", file.string(), "name a file");
  if (fs::file_size(file, error) > most || error)
    detail::raise<ConfigError>(std::string(what) + " is over " + std::to_string(most >> 20) + " MiB",
                               file.string(), "name a smaller one");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in)
    detail::raise<ConfigError>(std::string(what) + " cannot be read", file.string(), "check its permissions");
  return text;
}

bool has_keys(const JsonNode& node, std::initializer_list<std::string_view> keys) {
  return node.kind == JsonNode::Kind::object &&
         std::all_of(keys.begin(), keys.end(), [&](std::string_view key) {
           return std::find(node.keys.begin(), node.keys.end(), key) != node.keys.end();
         });
}

bool is_definition(const JsonNode& node) {
  return has_keys(node, {"name", "axes", "inputs", "outputs", "reference"});
}
bool is_solution(const JsonNode& node) {
  return has_keys(node, {"definition", "spec", "sources"});
}

/// What a file of JSON holds; nothing where that cannot be read, or is over 4 MiB.
std::optional<JsonNode> peeked(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > largest_text || error)
    return std::nullopt;
  try {
    return detail::parse_json(whole_file(file, largest_text, "the file"), file.string());
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// Files whose names end so, below a folder or in it, by name.
std::vector<fs::path> files_of(const fs::path& folder, std::string_view extension, bool below) {
  std::vector<fs::path> files;
  std::error_code error;
  const auto take = [&](const fs::path& file) {
    if (file.extension() == extension && files.size() < most_definitions) files.push_back(file);
  };
  if (below)
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      take(at->path());
  else
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      take(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Whether it is the name of an element type in definitions.
bool is_known_type(std::string_view dtype) {
  constexpr std::string_view names[] = {"float64",     "float32",     "float16",         "bfloat16",
                                        "int64",       "int32",       "int16",           "int8",
                                        "uint8",       "bool",        "complex64",       "float8_e4m3fn",
                                        "float8_e5m2", "float4_e2m1", "float4_e2m1fn_x2"};
  return std::find(std::begin(names), std::end(names), dtype) != std::end(names);
}

struct Tensor {
  std::string name;
  bool scalar = false;
};

class DefinitionReader {
 public:
  DefinitionReader(JsonCursor document, fs::path file, fs::path root)
      : document_(std::move(document)), file_(std::move(file)), root_(std::move(root)) {}

  void read() {
    name_ = text_of("name");
    reference_ = text_of("reference");
    if (reference_.find('\0') != std::string::npos)
      document_.at("reference", "").refuse("has a NUL in it", "", definition_todo);
    if (!detail::defines(reference_, "def", "run"))
      document_.at("reference", "")
          .refuse("defines no `run`", "a text of " + std::to_string(reference_.size()) + " bytes",
                  definition_todo);
    read_axes();
    inputs_ = read_tensors("inputs", made_["inputs"]);
    read_tensors("outputs", made_["outputs"]);
    if (const auto constraints = document_.find("constraints")) {
      made_["constraints"] = TaskJson::array();
      for (const JsonCursor& one : constraints->items("list expressions of axes and inputs"))
        made_["constraints"].push_back(one.string("an expression is a string"));
    }
    if (const auto entry = document_.find("custom_inputs_entrypoint")) {
      entry_ = entry->string("name the function of \"reference\" that makes inputs");
      detail::check_name(*entry, entry_, "a function");
      if (!detail::defines(reference_, "def", entry_))
        entry->refuse("is a function that \"reference\" does not define",
                      "define it there, or remove this key");
      made_["custom_inputs_entrypoint"] = entry_;
    }
  }

  /// The workloads of a file of JSON Lines; an empty path where the definition has no such file.
  void read_workloads(const fs::path& file) {
    if (file.empty()) {
      if (!variable_.empty())
        document_.at("axes", "")
            .refuse("have no values without workloads", variable_.front(),
                    "write workload.jsonl next to the definition, a line for each: {\"uuid\": \"1\", "
                    "\"axes\": {\"" +
                        variable_.front() + "\": 128}, \"inputs\": {}}");
      add_workload(
          TaskJson{
              {"axes", TaskJson::object()}, {"inputs", TaskJson::object()}, {"tolerance", tolerance_of({})}},
          {});
      return;
    }
    const std::string text = whole_file(file, largest_workloads, "the file of workloads");
    std::vector<std::pair<int, std::string>> lines;
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++number;
      std::string line = text.substr(at, end - at);
      if (line.find_first_not_of(" \t\r") != std::string::npos) lines.emplace_back(number, std::move(line));
      at = end + 1;
    }
    found_ = lines.size();
    const std::size_t taken = std::min(found_, most_workloads);
    for (std::size_t i = 0; i < taken; ++i) {
      const auto& [line, content] = lines[i * found_ / taken];
      const std::string place = file.string() + " line " + std::to_string(line);
      const JsonNode node = detail::parse_json(content, place);
      read_workload(JsonCursor(node, place));
    }
    if (shapes_.empty())
      detail::raise<ConfigError>("no workload of this definition is there", file.string() + ": " + name_,
                                 "write one line for each workload");
    if (std::none_of(shapes_.begin(), shapes_.end(), [](const Shape& one) { return one.weight > 0; }))
      detail::raise<ConfigError>("no workload counts", file.string() + ": all weights are 0",
                                 "give one of them a \"weight\" above 0");
  }

  Problem problem(const fs::path& python) && {
    Problem problem;
    problem.name = file_word(name_);
    problem.description =
        "A definition: the function `run` says what is right; what is sought is a file with "
        "`def run` of the same inputs that gives the same outputs and is faster.";
    if (const auto text = document_.find("description"))
      problem.description += " " + text->string("describe it in a sentence");
    if (found_ > shapes_.size())
      problem.description += " Of its " + std::to_string(found_) + " workloads " +
                             std::to_string(shapes_.size()) + " are used, evenly spaced.";
    problem.function = "run";
    problem.kernel.regions.device = reference_ + (reference_.ends_with('\n') ? "" : "\n");
    problem.names.device = "run.py";
    problem.names.reference = "task.py";
    problem.reference.function = "run";
    problem.reference.source =
        problem.kernel.regions.device +
        "\n\n# Made of the definition and its workloads: each workload is a shape.\nTASK = " +
        detail::python_literal(
            TaskJson{
                {"form", "definition"}, {"name", name_}, {"definition", made_}, {"workloads", workloads_}},
            0) +
        "\n";
    problem.shapes = shapes_;
    detail::add_modules_program(problem, python);
    for (SourceFile& file : tensors_) problem.external->files.push_back(std::move(file));
    problem.folder = file_.parent_path().empty() ? fs::path(".") : file_.parent_path();
    return problem;
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  const std::string& text_of(const char* key) {
    const JsonCursor place = document_.at(key, definition_todo);
    const std::string& text = place.string(definition_todo);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) place.refuse("is empty", definition_todo);
    return text;
  }

  void read_axes() {
    constexpr const char* todo =
        "write {\"type\": \"const\", \"value\": 4096}, {\"type\": \"var\"} or {\"type\": \"expr\", "
        "\"expression\": \"M * 2\"}";
    made_["axes"] = TaskJson::object();
    for (const auto& [name, axis] : document_.at("axes", todo).members(todo)) {
      detail::check_name(axis, name, "an axis");
      const std::size_t kind = axis.at("type", todo).choice("type of axis", {"const", "var", "expr"});
      if (kind == 0) {
        const JsonCursor value = axis.at("value", todo);
        made_["axes"][name] = {{"type", "const"}, {"value", extent(value)}};
      } else if (kind == 1) {
        variable_.push_back(name);
        made_["axes"][name] = {{"type", "var"}};
      } else {
        made_["axes"][name] = {{"type", "expr"}, {"expression", axis.at("expression", todo).string(todo)}};
      }
    }
  }

  static std::int64_t extent(const JsonCursor& place) {
    constexpr const char* todo = "give a whole number from 0 to 2^40";
    const std::int64_t value = place.integer(todo);
    if (value < 0 || value > std::int64_t{1} << 40) place.refuse("is not a size of an axis", todo);
    return value;
  }

  std::vector<Tensor> read_tensors(const char* key, TaskJson& made) {
    constexpr const char* todo = "write {\"NAME\": {\"shape\": [\"AXIS\", ...], \"dtype\": \"float32\"}}";
    made = TaskJson::object();
    std::vector<Tensor> tensors;
    const JsonCursor all = document_.at(key, todo);
    for (const auto& [name, place] : all.members(todo)) {
      detail::check_name(place, name, "an input or output");
      const JsonCursor dtype = place.at("dtype", todo);
      if (!is_known_type(dtype.string(todo)))
        dtype.refuse("is a type that is not known",
                     "use float16, bfloat16, float32, float64, int8 to int64, uint8 or bool");
      Tensor tensor{name, false};
      TaskJson shape;
      if (const auto extents = place.find("shape")) {
        shape = TaskJson::array();
        for (const JsonCursor& one : extents->items(todo)) {
          if (one.kind() == JsonNode::Kind::integer) {
            shape.push_back(extent(one));
            continue;
          }
          const std::string& axis = one.string(todo);
          if (!made_["axes"].contains(axis))
            one.refuse("is an axis that the definition does not have", "add it to \"axes\"");
          shape.push_back(axis);
        }
      } else {
        tensor.scalar = true;
      }
      made[name] = {{"shape", std::move(shape)}, {"dtype", dtype.node().string}};
      tensors.push_back(std::move(tensor));
    }
    if (tensors.empty() && std::string_view(key) == "outputs") all.refuse("name no output", todo);
    return tensors;
  }

  /// Left out, as in FlashInfer-Bench's workloads: its bounds, for every element.
  static TaskJson tolerance_of(const std::optional<JsonCursor>& place) {
    TaskJson made{{"absolute", 1e-2},
                  {"relative", 1e-2},
                  {"matched_ratio", place ? 0.99 : 1.0},
                  {"error_cap", nullptr},
                  {"allow_negative_infinity", !place}};
    if (!place) return made;
    for (const auto& [theirs, ours, most] :
         {std::tuple("max_atol", "absolute", 1e30), std::tuple("max_rtol", "relative", 1e30),
          std::tuple("required_matched_ratio", "matched_ratio", 1.0),
          std::tuple("max_error_cap", "error_cap", 1e30)})
      if (const auto found = place->find(theirs)) {
        const double value = found->number("give a number of 0 or more");
        if (value < 0 || value > most)
          found->refuse("is not a bound of a tolerance",
                        most == 1.0 ? "give a number from 0 to 1" : "give a number of 0 or more");
        made[ours] = value;
      }
    if (const auto allowed = place->find("allow_negative_inf"))
      made["allow_negative_infinity"] = allowed->boolean();
    return made;
  }

  void read_workload(const JsonCursor& line) {
    if (const auto of = line.find("definition"); of && of->string("name the definition") != name_) return;
    const auto nested = line.find("workload");
    const JsonCursor& workload = nested ? *nested : line;
    constexpr const char* todo = "write {\"uuid\": \"1\", \"axes\": {\"M\": 128}, \"inputs\": {...}}";
    TaskJson made{{"axes", TaskJson::object()}, {"inputs", TaskJson::object()}};
    const JsonCursor axes = workload.at("axes", todo);
    std::vector<std::pair<std::string, std::int64_t>> values;
    for (const std::string& name : variable_) {
      const auto given = axes.find(name);
      if (!given) axes.refuse("give no value for an axis of the definition", name, todo);
      made["axes"][name] = extent(*given);
      values.emplace_back(name, given->node().integer);
    }
    if (const auto uuid = workload.find("uuid")) made["uuid"] = uuid->string("a uuid is a string");
    const JsonCursor inputs = workload.at("inputs", todo);
    for (const auto& [name, input] : inputs.members(todo))
      if (std::none_of(inputs_.begin(), inputs_.end(),
                       [&key = name](const Tensor& tensor) { return tensor.name == key; }))
        input.refuse("is an input that the definition does not have", name, "remove it, or add it there");
    for (const Tensor& tensor : inputs_) {
      const auto input = inputs.find(tensor.name);
      if (!input) {
        if (tensor.scalar)
          inputs.refuse("give no value for a number", tensor.name,
                        "write {\"type\": \"scalar\", \"value\": 1.0} for it");
        continue;
      }
      made["inputs"][tensor.name] = input_of(*input, tensor);
    }
    made["tolerance"] = tolerance_of(workload.find("tolerance"));
    add_workload(std::move(made), values, weight_of(line, workload));
  }

  /// How much a workload counts: its own number, or how often it is called.
  static double weight_of(const JsonCursor& line, const JsonCursor& workload) {
    constexpr const char* todo = "give a number of 0 or more, as \"weight\" or as \"calls\"";
    std::optional<JsonCursor> found;
    for (const JsonCursor* place : {&line, &workload}) {
      for (const char* key : {"weight", "calls"})
        if (auto one = place->find(key)) {
          if (found)
            one->refuse("is a second weight of the workload", "keep one of \"weight\" and \"calls\"");
          found = std::move(one);
        }
      if (&line == &workload) break;
    }
    if (!found) return 1.0;
    const double weight = found->number(todo);
    if (!(weight >= 0 && weight <= 1e15)) found->refuse("is not a weight", todo);
    return weight;
  }

  TaskJson input_of(const JsonCursor& input, const Tensor& tensor) {
    constexpr const char* todo =
        "write {\"type\": \"random\"}, {\"type\": \"scalar\", \"value\": 1.0}, {\"type\": \"safetensors\", "
        "\"path\": \"inputs.safetensors\", \"tensor_key\": \"x\"} or {\"type\": \"custom\"}";
    const std::size_t kind =
        input.at("type", todo).choice("type of input", {"random", "scalar", "safetensors", "custom"});
    if (kind == 0) {
      if (tensor.scalar) input.refuse("is random, and a number needs a value", todo);
      return {{"type", "random"}};
    }
    if (kind == 1) {
      const JsonCursor value = input.at("value", todo);
      if (value.kind() == JsonNode::Kind::boolean)
        return {{"type", "scalar"}, {"value", value.node().boolean}};
      if (value.kind() == JsonNode::Kind::integer)
        return {{"type", "scalar"}, {"value", value.node().integer}};
      return {{"type", "scalar"}, {"value", value.number(todo)}};
    }
    if (kind == 3) {
      if (entry_.empty())
        input.refuse("is made by a function, and the definition names none",
                     "name it in \"custom_inputs_entrypoint\" of the definition");
      return {{"type", "custom"}};
    }
    const JsonCursor path = input.at("path", todo), key = input.at("tensor_key", todo);
    const std::string& name = path.string(todo);
    const std::size_t file = tensor_file(path, name);
    const std::string& wanted = key.string(todo);
    std::string names;
    for (const detail::SafeTensor& one : headers_[file]) {
      if (one.name == wanted)
        return {
            {"type", "safetensors"},
            {"path", name},
            {"tensor_key", wanted},
            {"file", tensors_[file].path},
            {"stored",
             {{"dtype", one.type}, {"shape", one.extents}, {"offset", one.offset}, {"bytes", one.bytes}}}};
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + one.name;
    }
    key.refuse("is a tensor that the file does not have",
               names.empty() ? "the file has none" : "name " + names);
  }

  /// Which of the files with inputs it is; their bytes go along as digits, and their headers are checked here
  /// alone.
  std::size_t tensor_file(const JsonCursor& place, const std::string& name) {
    for (std::size_t i = 0; i < paths_.size(); ++i)
      if (paths_[i] == name) return i;
    fs::path found;
    if (name.find('\0') != std::string::npos || fs::path(name).is_absolute() || name.empty())
      place.refuse("leads out of the task's folder", "write a path relative to it");
    std::error_code error;
    for (const fs::path& base : {file_.parent_path(), root_}) {
      if (!found.empty()) break;
      const auto there = detail::path_inside(base, name);
      if (!there)
        place.refuse("leads out of the task's folder", "write a path relative to it, without `..` and links");
      if (fs::is_regular_file(*there, error)) found = *there;
    }
    if (found.empty())
      place.refuse("is not there",
                   "put the file below " + (root_.empty() ? "the definition's folder" : root_.string()));
    const auto size = fs::file_size(found, error);
    tensor_bytes_ += error ? largest_tensors + 1 : static_cast<std::size_t>(size);
    if (tensor_bytes_ > largest_tensors)
      place.refuse("brings the files with inputs over 6 MiB", std::to_string(size) + " bytes",
                   "let a function make large inputs: \"custom_inputs_entrypoint\"");
    const std::string bytes = whole_file(found, largest_tensors, "the file with inputs");
    const auto length = detail::try_safetensors_length(std::string_view(bytes).substr(0, 8), bytes.size());
    if (!length) refuse_header(place, length.error());
    auto header = detail::try_safetensors(std::string_view(bytes).substr(8, *length), bytes.size());
    if (!header) refuse_header(place, header.error());
    headers_.push_back(*std::move(header));
    std::string text = detail::hex_digits(bytes);
    paths_.push_back(name);
    tensors_.push_back({"inputs_" + std::to_string(tensors_.size()) + ".safetensors.hex", std::move(text)});
    return tensors_.size() - 1;
  }

  [[noreturn]] static void refuse_header(const JsonCursor& place, const std::string& fault) {
    place.refuse("is not a safetensors file that can be read: " + fault,
                 "write it with the format's own library");
  }

  void add_workload(TaskJson made, const std::vector<std::pair<std::string, std::int64_t>>& values,
                    double weight = 1.0) {
    Shape shape;
    shape.weight = weight;
    for (const auto& [name, value] : values) {
      shape.name += (shape.name.empty() ? "" : ",") + name + "=" + std::to_string(value);
      shape.variables.emplace_back(name, value);
    }
    if (shape.name.empty()) shape.name = "workload";
    shape.name = detail::new_key(workloads_, shape.name);
    workloads_[shape.name] = std::move(made);
    shapes_.push_back(std::move(shape));
  }

  JsonCursor document_;
  fs::path file_, root_;
  std::string name_, reference_, entry_;
  std::vector<std::string> variable_;
  std::vector<Tensor> inputs_;
  TaskJson made_ = TaskJson::object(), workloads_ = TaskJson::object();
  std::vector<Shape> shapes_;
  std::size_t found_ = 0, tensor_bytes_ = 0;
  std::vector<std::string> paths_;
  std::vector<SourceFile> tensors_;
  std::vector<std::vector<detail::SafeTensor>> headers_;  ///< of these files
};

/// The folder of the data set that a file is in: the one that has `definitions` above it; empty: none.
fs::path root_of(const fs::path& file, const char* part) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  for (fs::path at = whole.parent_path(); at.has_relative_path(); at = at.parent_path())
    if (at.filename() == part && fs::is_directory(at.parent_path() / "definitions", error))
      return at.parent_path();
  return {};
}

fs::path workloads_of(const fs::path& file, const fs::path& root) {
  std::error_code error;
  const fs::path folder = file.parent_path();
  std::vector<fs::path> places{folder / "workload.jsonl", folder / "workloads.jsonl",
                               fs::path(file).replace_extension(".jsonl")};
  if (!root.empty()) {
    const fs::path below = fs::weakly_canonical(file, error).lexically_relative(root / "definitions");
    places.push_back((root / "workloads" / below).replace_extension(".jsonl"));
  }
  for (const fs::path& place : places) {
    if (!fs::is_regular_file(place, error)) continue;
    // A folder on the way may be a link, too.
    if (!detail::path_inside(root.empty() ? folder : root, fs::absolute(place, error)))
      detail::raise<ConfigError>("the file of workloads is a link out of its folder", place.string(),
                                 "put the file there");
    return place;
  }
  return {};
}

/// The definition that a solution is of: next to it, or in its data set.
fs::path definition_of(const JsonCursor& solution, const fs::path& file) {
  const JsonCursor place = solution.at("definition", "name the definition");
  const std::string& name = place.string("name the definition");
  const auto is_it = [&](const fs::path& one) {
    const auto node = peeked(one);
    if (!node || !is_definition(*node)) return false;
    const std::string where = one.string();
    return JsonCursor(*node, where).at("name", "").node().string == name;
  };
  const fs::path folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  for (const fs::path& one : files_of(folder, ".json", false))
    if (is_it(one)) return one;
  if (const fs::path root = root_of(file, "solutions"); !root.empty())
    for (const fs::path& one : files_of(root / "definitions", ".json", true))
      if (one.stem() == name && is_it(one)) return one;
  place.refuse("is a definition that is not there", "put its definition.json next to the solution");
}

/// Options of compilers, which go along as words.
TaskJson options_of(const JsonCursor& spec) {
  constexpr const char* todo = "list options, e.g. [\"-O3\"]";
  TaskJson options = TaskJson::object();
  if (const auto given = spec.find("compile_options"))
    for (const char* key : {"cflags", "cuda_cflags", "ld_flags"})
      if (const auto words = given->find(key))
        for (const JsonCursor& word : words->items(todo)) options[key].push_back(word.string(todo));
  return options;
}

bool is_in(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// What builds and calls a solution that is not one file of Python: native.py, which goes along.
std::string built_answer(const JsonCursor& spec, const std::string& language, const std::string& point,
                         const std::vector<std::pair<std::string, std::string>>& sources, bool passing,
                         bool torch_by_default) {
  std::string binding = torch_by_default ? "torch" : "tvm-ffi";
  if (const auto given = spec.find("binding"))
    binding = given->choice("binding", {"tvm-ffi", "torch"}) == 0 ? "tvm-ffi" : "torch";
  if (language != "python" && binding == "tvm-ffi" && !passing)
    spec.refuse("is of a library for tvm-ffi that does not take its outputs", "destination_passing_style",
                "let it write to outputs that are passed behind its inputs");
  TaskJson files = TaskJson::object();
  for (const auto& [path, content] : sources) files[path] = content;
  std::string text = "import kernelsearch_native\n\nSOURCES = " + detail::python_literal(files, 0) +
                     "\n\nrun = kernelsearch_native.function(\n    SOURCES, " +
                     detail::python_literal(point, 0) + ", " + detail::python_literal(language, 0) + ", ";
  if (language != "python") text += "binding=" + detail::python_literal(binding, 0) + ", ";
  text += std::string("destination_passing_style=") + (passing ? "True" : "False");
  const TaskJson options = options_of(spec);
  if (!options.empty()) text += ",\n    options=" + detail::python_literal(options, 4);
  return text + ")\n";
}

/// The text of an answer that a solution is: one file of Python, whose entry is called `run`.
std::string answer_of(const JsonCursor& solution) {
  constexpr const char* todo = "write {\"language\": \"python\", \"entry_point\": \"main.py::run\", ...}";
  constexpr const char* sources_todo = "list {\"path\": \"main.py\", \"content\": \"...\"}";
  const JsonCursor spec = solution.at("spec", todo);
  std::vector<std::string> languages;
  if (const auto one = spec.find("language")) languages.push_back(one->string(todo));
  const auto several = spec.find("languages");
  if (several)
    for (const JsonCursor& one : several->items(todo)) languages.push_back(one.string(todo));
  const bool native = std::any_of(languages.begin(), languages.end(), [](const std::string& one) {
    return is_in(one, {"cpp", "cuda", "cuda_cpp", "c++", "cutlass", "cudnn", "cudnn_frontend", "cublas"});
  });
  const JsonCursor entry = spec.at("entry_point", todo);
  const std::string& point = entry.string(todo);
  const std::size_t colons = point.find("::");
  if (colons == std::string::npos) entry.refuse("names no function of a file", todo);
  const std::string file = point.substr(0, colons), function = point.substr(colons + 2);
  detail::check_name(entry, function, "a function");
  std::vector<std::pair<std::string, std::string>> sources;
  const JsonCursor all = solution.at("sources", sources_todo);
  for (const JsonCursor& one : all.items(sources_todo)) {
    const JsonCursor path = one.at("path", todo);
    const fs::path name = path.string(todo);
    if (name.empty() || name.is_absolute() || *name.lexically_normal().begin() == "..")
      path.refuse("leads out of the solution's folder", "write a path relative to it");
    sources.emplace_back(name.generic_string(), one.at("content", todo).string(todo));
  }
  const auto main =
      std::find_if(sources.begin(), sources.end(), [&](const auto& one) { return one.first == file; });
  if (main == sources.end())
    entry.refuse("is in a file that the solution does not have",
                 sources.empty() ? "list its sources" : "name " + sources.front().first);
  bool passing = true;
  if (const auto given = spec.find("destination_passing_style")) passing = given->boolean();
  if (native) {
    const bool cuda = std::any_of(sources.begin(), sources.end(),
                                  [](const auto& one) { return one.first.ends_with(".cu"); });
    return built_answer(spec, cuda ? "cuda" : "cpp", point, sources, passing, several.has_value());
  }
  if (!file.ends_with(".py"))
    entry.refuse("is in a file that is not Python", "name a solution in Python or Triton, or its language");
  if (sources.size() > 1) return built_answer(spec, "python", point, sources, passing, false);
  std::string text = main->second;
  if (!text.ends_with('\n')) text += '\n';
  if (function != "run") text += "\n\nrun = " + function + "\n";
  return text + "run.destination_passing_style = " + (passing ? "True" : "False") + "\n";
}

/// Has what an answer imports of us go along.
void add_imports(Problem& problem, const std::string& answer) {
  constexpr const char* file = "kernelsearch_native.py";
  std::vector<SourceFile>& files = problem.external->files;
  if (answer.starts_with("import kernelsearch_native\n") &&
      std::none_of(files.begin(), files.end(), [&](const SourceFile& one) { return one.path == file; }))
    files.push_back({file, std::string(detail::native_program())});
}

}  // namespace

fs::path find_definition(const fs::path& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) {
    const auto node = given.extension() == ".json" ? peeked(given) : std::nullopt;
    return node && (is_definition(*node) || is_solution(*node)) ? given : fs::path();
  }
  if (fs::is_regular_file(given / "definition.json", error)) return given / "definition.json";
  std::vector<fs::path> found;
  const bool data_set = fs::is_directory(given / "definitions", error);
  for (const fs::path& file : files_of(data_set ? given / "definitions" : given, ".json", data_set))
    if (const auto node = peeked(file); node && is_definition(*node)) found.push_back(file);
  if (found.size() > 1) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 5); ++i)
      names += (i == 0 ? "" : ", ") + found[i].lexically_relative(given).string();
    detail::raise<ConfigError>("a folder with " + std::to_string(found.size()) + " definitions",
                               given.string(),
                               "name one of them: " + names + (found.size() > 5 ? ", ..." : ""));
  }
  return found.empty() ? fs::path() : found.front();
}

Problem read_definition_problem(const fs::path& file, const fs::path& python) {
  const std::string where = file.string();
  const JsonNode given = detail::parse_json(whole_file(file, largest_text, "the definition"), where);
  const JsonCursor cursor(given, where);
  fs::path definition = file;
  std::optional<std::string> answer;
  if (is_solution(given)) {
    answer = answer_of(cursor);
    definition = definition_of(cursor, file);
  }
  const std::string place = definition.string();
  const JsonNode node = detail::parse_json(whole_file(definition, largest_text, "the definition"), place);
  const fs::path root = root_of(definition, "definitions");
  DefinitionReader reader(JsonCursor(node, place), definition, root);
  reader.read();
  reader.read_workloads(workloads_of(definition, root));
  Problem problem = std::move(reader).problem(python.empty() ? find_torch_python() : python);
  if (answer) {
    problem.kernel.regions.device = *answer;
    add_imports(problem, *answer);
  }
  return problem;
}

void add_baseline(Problem& problem, const fs::path& file) {
  const std::string where = file.string();
  if (!has_module_reference(problem))
    detail::raise<ConfigError>("only tasks in Python have a baseline to name", problem.name,
                               "leave out --baseline; other kernels are compared with their reference");
  if (baseline_of(problem) != nullptr)
    detail::raise<ConfigError>("the problem has a baseline already", where, "name one");
  const std::string text = whole_file(file, largest_text, "the baseline");
  if (file.extension() == ".py") {
    const std::string& name = problem.function;
    if (!detail::defines(text, "def", name) && !detail::defines(text, "class", name) &&
        ("\n" + text).find("\n" + name + " = ") == std::string::npos)
      detail::raise<ConfigError>("a baseline that defines no `" + name + "`", where,
                                 "name an answer to this task: docs/tasks.md");
    problem.external->files.push_back({baseline_file, text});
    return;
  }
  const JsonNode node = detail::parse_json(text, where);
  const JsonCursor solution(node, where);
  if (!is_solution(node))
    detail::raise<ConfigError>("a baseline that is not a solution", where,
                               "name a solution of the definition (JSON), or a file of Python");
  const JsonCursor of = solution.at("definition", "name the definition");
  if (file_word(of.string("name the definition")) != problem.name)
    of.refuse("is not the definition that is tuned", "name a solution of " + problem.name);
  const std::string answer = answer_of(solution);
  add_imports(problem, answer);
  problem.external->files.push_back({baseline_file, answer});
}

const std::string* baseline_of(const Problem& problem) noexcept {
  if (problem.external)
    for (const SourceFile& file : problem.external->files)
      if (file.path == baseline_file) return &file.text;
  return nullptr;
}

}  // namespace kernelsearch
