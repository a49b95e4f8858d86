// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/mlir_problem.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/mlir_payload.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"
#include "kernelsearch/store/json.hpp"
#include "problem/replace_file.hpp"
#include "process/run_command.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr double tool_seconds = 60.0;
constexpr std::size_t most_tool_output = std::size_t{64} << 20;

/// The first line of problem files that are ours to replace.
constexpr std::string_view made_mark =
    "// Made by kernelsearch from a schedule of MLIR, and made anew by each conversion.\n";

/// The lowering of docs/mlir.md. Its order matters: vectors become loops before their buffers' layouts are
/// expanded; full unrolling keeps vector.transfer's temporaries out of loops, where they overflow the stack.
constexpr std::string_view build_script =
    R"(# bash build.sh SCHEDULE OBJECT: payload.mlir, transformed by the schedule, as an object file.
set -euo pipefail
mlir-opt-22 payload.mlir "--transform-preload-library=transform-library-paths=$1" --transform-interpreter \
  --one-shot-bufferize --convert-linalg-to-loops --convert-vector-to-scf=full-unroll=true --lower-affine \
  --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm \
  --convert-math-to-libm --convert-arith-to-llvm --convert-index-to-llvm --finalize-memref-to-llvm \
  --convert-func-to-llvm=use-bare-ptr-memref-call-conv=1 --convert-ub-to-llvm --convert-cf-to-llvm \
  --reconcile-unrealized-casts |
  mlir-translate-22 --mlir-to-llvmir |
  opt-22 -O3 -mcpu=native |
  llc-22 -O3 -mcpu=native -relocation-model=pic -filetype=obj -o "$2"
)";

std::string text_of(const fs::path& file) {
  std::optional<std::string> text = try_whole_file(file);
  if (!text) detail::raise<ConfigError>("a file cannot be read", file.string(), "name a file that is there");
  return *std::move(text);
}

/// What `script` prints, with `arguments` as $1, $2, ...; `what` is how messages call it.
std::string tool_output(const std::string& script, std::vector<std::string> arguments,
                        const std::string& what, const std::string& todo) {
  for (const char* tool : {"mlir-opt-22", "mlir-translate-22"})
    if (access((fs::path("/usr/bin") / tool).c_str(), X_OK) != 0 &&
        access((fs::path("/usr/local/bin") / tool).c_str(), X_OK) != 0)
      detail::raise<DeviceError>("a tool of MLIR is not installed", tool,
                                 "install it: Debian's mlir-22-tools and llvm-22");
  detail::Launch launch;
  launch.argv = {"/bin/bash", "-o", "pipefail", "-c", script, "bash"};
  launch.argv.insert(launch.argv.end(), std::make_move_iterator(arguments.begin()),
                     std::make_move_iterator(arguments.end()));
  const detail::Finished finished = detail::run_command(std::move(launch), tool_seconds, most_tool_output);
  if (finished.timed_out || finished.too_much_output)
    detail::raise<ConfigError>(what + " does not end within a minute and 64 MiB", script, todo);
  if (!WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0)
    detail::raise<ConfigError>("MLIR refuses " + what, clean_text(finished.errors.substr(0, 4000)), todo);
  return finished.output;
}

/// The text with floating types as `real`, in which the reference computes.
std::string in_reals(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && detail::in_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word(text.data() + at, end - at);
    result += word == "float" || word == "double" ? "real" : word;
    at = end;
  }
  return result;
}

std::string_view cpp_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::f64:
      return "real";
    case ElementType::i8:
      return "std::int8_t";
    case ElementType::i16:
      return "std::int16_t";
    case ElementType::i32:
      return "std::int32_t";
    default:
      return "std::int64_t";
  }
}

/// The payload as C++ by EmitC, and a function that calls it with pointers.
std::string reference_text(const std::string& emitted, const MlirPayload& payload) {
  std::string parameters, arguments;
  for (std::size_t i = 0; i < payload.arguments.size(); ++i) {
    const MlirBuffer& buffer = payload.arguments[i];
    const std::string type(cpp_type(buffer.type)), name = "a" + std::to_string(i);
    std::string inner;
    for (std::size_t k = 1; k < buffer.extents.size(); ++k)
      inner += "[" + std::to_string(buffer.extents[k]) + "]";
    parameters += (i == 0 ? "" : ", ") + std::string(buffer.written ? "" : "const ") + type + "* " + name;
    arguments += std::string(i == 0 ? "" : ",") + "\n      reinterpret_cast<" + type + "(*)" + inner + ">(" +
                 (buffer.written ? name : "const_cast<" + type + "*>(" + name + ")") + ")";
  }
  return "// The payload lowered to loops without the schedule, written by MLIR's EmitC with floating types "
         "as `real`.\n"
         "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n\nnamespace payload {\n\n" +
         in_reals(emitted) + "\n}  // namespace payload\n\nvoid " + payload.function + "_reference(" +
         parameters + ") {\n  payload::" + payload.function + "(" + arguments + ");\n}\n";
}

nlohmann::ordered_json tunable_json(const Tunable& tunable, const Value& chosen) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const Value& value : tunable.values) values.push_back(nlohmann::ordered_json(value_to_json(value)));
  nlohmann::ordered_json result = {{"values", values},
                                   {"default", nlohmann::ordered_json(value_to_json(chosen))}};
  if (tunable.active_if) result["if"] = tunable.active_if->text();
  return result;
}

std::string problem_text(const MlirSchedule& schedule, const MlirPayload& payload,
                         const std::string& description) {
  using nlohmann::ordered_json;
  const Space space = detail::value_or_raise(schedule.try_space());
  ordered_json json = {{"schema", 1},
                       {"name", payload.function},
                       {"description", description},
                       {"function", payload.function},
                       {"kernel", {{"device", "schedule.mlir"}}}};
  std::string prefix = "arg";  // no tunable may be called the same
  while (std::any_of(space.tunables().begin(), space.tunables().end(),
                     [&](const Tunable& tunable) { return tunable.name.starts_with(prefix); }))
    prefix += "_";
  json["arguments"] = ordered_json::array();
  for (std::size_t i = 0; i < payload.arguments.size(); ++i) {
    const MlirBuffer& buffer = payload.arguments[i];
    std::string size;
    for (const std::int64_t extent : buffer.extents)
      size += (size.empty() ? "" : "*") + std::to_string(extent);
    // What is stored to may also be read, or not be stored to everywhere: filled before and compared after.
    json["arguments"].push_back({{"name", prefix + std::to_string(i)},
                                 {"type", std::string(to_string(buffer.type))},
                                 {"size", size.empty() ? "1" : size},
                                 {"role", buffer.written ? "inout" : "in"}});
  }
  json["shapes"] = ordered_json::array({{{"name", "static"}}});
  for (std::size_t i = 0; i < space.size(); ++i)
    json["tunables"][space.tunable(i).name] =
        tunable_json(space.tunable(i), space.value(space.default_config(), i));
  if (!schedule.constraints().empty()) json["constraints"] = schedule.constraints();
  json["reference"] = {{"source", "reference.cpp"},
                       {"function", payload.function + "_reference"},
                       {"compiler", "g++"},
                       {"flags", {"-O3", "-march=native"}}};
  json["build"]["command"] = {"bash", "build.sh", "${SOURCE}", "${LIBRARY}"};
  json["build"]["files"] = {"build.sh", "payload.mlir"};
  json["build"]["identity"] = ordered_json::array();
  for (const char* tool : {"mlir-opt-22", "mlir-translate-22", "opt-22", "llc-22"})
    json["build"]["identity"].push_back(ordered_json::array({tool, "--version"}));
  return std::string(made_mark) + json.dump(2) + "\n";
}

fs::path payload_of(const fs::path& schedule, const MlirProblemOptions& options) {
  const fs::path payload =
      options.payload.empty() ? schedule.parent_path() / "payload.mlir" : options.payload;
  if (!fs::is_regular_file(payload))
    detail::raise<ConfigError>("the schedule's payload is not there", payload.string(),
                               "name the module that the schedule transforms with --payload");
  return payload;
}

MlirPayload read_payload(const fs::path& payload, const std::string& function) {
  const std::string loops = tool_output(
      "mlir-opt-22 \"$1\" --one-shot-bufferize --convert-linalg-to-loops --fold-memref-alias-ops "
      "--lower-affine --canonicalize "
      "--mlir-print-op-generic --mlir-print-local-scope --mlir-print-debuginfo",
      {payload.string()}, "the payload", "fix it; it must lower to loops over memrefs without the schedule");
  return detail::value_or_raise(try_read_mlir_payload(loops, function, payload.filename().string()));
}

bool is_ours(const fs::path& folder) {
  if (!fs::exists(folder / "problem.json")) return !fs::exists(folder) || fs::is_empty(folder);
  return text_of(folder / "problem.json").starts_with(made_mark);
}

}  // namespace

fs::path mlir_problem_folder(const fs::path& schedule, const MlirProblemOptions& options) {
  return file_word(read_payload(payload_of(schedule, options), options.function).function) + "_problem";
}

void write_mlir_problem(const fs::path& schedule, const fs::path& folder, const MlirProblemOptions& options) {
  const std::string generic = tool_output(
      "mlir-opt-22 \"$1\" --mlir-print-op-generic --mlir-print-local-scope --mlir-print-debuginfo",
      {schedule.string()}, "the schedule", "fix it: `mlir-opt-22 FILE` must print it");
  const MlirSchedule read = MlirSchedule::read(generic, schedule.filename().string());
  const fs::path payload_file = payload_of(schedule, options);
  const MlirPayload payload = read_payload(payload_file, options.function);
  fs::path given = options.reference;
  if (const fs::path beside = schedule.parent_path() / "reference.cpp";
      given.empty() && fs::is_regular_file(beside))
    given = beside;
  std::string reference;
  if (given.empty())
    reference = reference_text(
        tool_output(
            "mlir-opt-22 \"$1\" --one-shot-bufferize --convert-linalg-to-loops --fold-memref-alias-ops "
            "--lower-affine --canonicalize "
            "--arith-expand --convert-math-to-emitc --convert-to-emitc | mlir-translate-22 --mlir-to-cpp",
            {payload_file.string()}, "to write the payload as C++ for a reference",
            "give a reference of your own with --reference FILE.cpp"),
        payload);
  else
    reference = text_of(given);
  const std::string problem =
      problem_text(read, payload, schedule.filename().string() + " on " + payload_file.filename().string());
  if (!is_ours(folder))
    detail::raise<ConfigError>("the folder holds something else than a problem made of a schedule",
                               folder.string(), "name another one, or remove it");
  std::error_code error;
  fs::create_directories(folder, error);
  const std::pair<const char*, const std::string> files[] = {{"schedule.mlir", read.text()},
                                                             {"payload.mlir", text_of(payload_file)},
                                                             {"reference.cpp", reference},
                                                             {"build.sh", std::string(build_script)},
                                                             {"problem.json", problem}};
  for (const auto& [name, text] : files)
    if (const std::error_code failed = detail::replace_file(folder / name, text))
      detail::raise<ConfigError>("the problem's folder cannot be written",
                                 (folder / name).string() + ": " + failed.message(), "name another one");
}

}  // namespace kernelsearch
