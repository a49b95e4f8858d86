// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/read_recording.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/t1.hpp"
#include "text_file.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

Value to_value(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  return Value(json.get<std::string>());
}

/// The T1 file beside `file` whose name is what the recording's name begins with.
std::filesystem::path declared_beside(const std::filesystem::path& file, const std::string& name) {
  std::filesystem::path best;
  std::size_t length = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(file.parent_path().empty() ? "." : file.parent_path())) {
    const std::string other = entry.path().filename().string();
    const std::size_t end = other.rfind(".t1.json");
    if (end == std::string::npos || end + 8 != other.size() || end < length ||
        !name.starts_with(other.substr(0, end)))
      continue;
    best = entry.path();
    length = end;
  }
  return best;
}

Verdict verdict_of(const std::string& error) {
  if (error == "CompilationFailedConfig") return Verdict::build_failed;
  if (error == "InvalidConfig") return Verdict::rejected;
  return Verdict::crashed;
}

}  // namespace

Recording read_recording(const std::filesystem::path& file, const ReadRecordingOptions& options) {
  const Json json = Json::parse(recorded::read_text(file));
  std::string name = file.filename().string();
  for (const char* extension : {".gz", ".json"})
    if (name.ends_with(extension)) name.resize(name.size() - std::string_view(extension).size());

  std::vector<Tunable> tunables;
  const auto& keys = json.at("tune_params_keys");
  for (const auto& key : keys) {
    std::vector<Value> values;
    for (const auto& value : json.at("tune_params").at(key.get<std::string>()))
      values.push_back(to_value(value));
    tunables.push_back(Tunable::of(key.get<std::string>(), std::move(values)));
  }

  std::vector<Constraint> constraints;
  const std::filesystem::path declared = options.space.empty() ? declared_beside(file, name) : options.space;
  if (!declared.empty()) {
    const T1File t1 = read_t1(declared);
    for (const Constraint& constraint : t1.space.constraints()) constraints.push_back(constraint);
  }
  Space space = Space::build(std::move(tunables), std::move(constraints));

  Recording recording{
      name, json.value("kernel_name", ""), json.value("device_name", ""), {}, std::move(space), {}};
  for (const auto& [key, entry] : json.at("cache").items()) {
    std::vector<Value> values;
    for (const auto& tunable : keys) values.push_back(to_value(entry.at(tunable.get<std::string>())));
    const std::optional<Config> config = recording.space.config_of(values);
    if (!config || !recording.space.contains(*config)) continue;
    RecordedTrial trial{*config, {}, {}};
    const auto& time = entry.at("time");
    if (time.is_number())
      trial.evaluation = Evaluation::succeeded(time.get<double>() / 1e3);
    else
      trial.evaluation = Evaluation::failed(verdict_of(time.get<std::string>()), time.get<std::string>());
    recording.trials.push_back(std::move(trial));
  }
  return recording;
}

}  // namespace kernelsearch
