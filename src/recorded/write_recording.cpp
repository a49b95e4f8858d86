// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/write_recording.hpp"

#include <array>
#include <sstream>

#include "evaluations.hpp"
#include "json_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/report/export.hpp"
#include "kernelsearch/store/codec.hpp"
#include "kernelsearch/version.hpp"
#include "text_file.hpp"

namespace kernelsearch {
namespace {

constexpr std::array<std::string_view, detail::enum_count<RecordingFormat>> names{"cachefile", "t4", "jsonl",
                                                                                  "csv"};
static_assert(!names.back().empty(), "a format has no name: add it to the list");

/// The trial as a store would keep it; `position` counts from 0.
StoredTrial stored(const Recording& recording, std::size_t position, double& elapsed) {
  const RecordedTrial& recorded = recording.trials[position];
  StoredTrial trial;
  trial.position = position;
  trial.point = PointCodec<Config>::encode(recorded.config);
  std::string values = "{";
  for (std::size_t i = 0; i < recording.space.size(); ++i) {
    const Value& value = recording.space.value(recorded.config, i);
    values += (i == 0 ? "" : ",") + recorded::json_string(recording.space.tunable(i).name) + ":" +
              (std::holds_alternative<Permutation>(value) ? to_string(value) : recorded::value_text(value));
  }
  trial.candidate = StoredCandidate{{}, trial.point, recording.space.key(recorded.config), values + "}"};
  trial.outcome.id = TrialId{position + 1};
  trial.outcome.objective = recording.objective(position);
  trial.outcome.evaluation = recorded.evaluation;
  trial.outcome.evaluation.phases.measure += recorded.framework_seconds;
  trial.elapsed = elapsed += recorded.total_seconds();
  trial.at = recorded.time_stamp;
  return trial;
}

}  // namespace

std::string_view to_string(RecordingFormat format) noexcept {
  return names[static_cast<std::size_t>(format)];
}

std::optional<RecordingFormat> recording_format_from(std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<RecordingFormat>(i);
  return std::nullopt;
}

std::optional<RecordingFormat> recording_format_of(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".jsonl")) return RecordingFormat::json_lines;
  if (name.ends_with(".csv")) return RecordingFormat::csv;
  if (name.ends_with(".t4.json") || name.ends_with("_T4.json")) return RecordingFormat::t4;
  if (name.ends_with(".json")) return RecordingFormat::cachefile;
  return std::nullopt;
}

std::string cachefile_key(const Space& space, const Config& config) {
  std::string key;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (i > 0) key += ',';
    key += recorded::python_text(space.value(config, i));
  }
  return key;
}

std::pair<RunRow, std::vector<StoredTrial>> stored_run_of(const Recording& recording) {
  RunRow run;
  run.info.name = recording.name;
  run.info.problem = recording.kernel;
  run.info.policy = "recording";
  run.info.device = recording.device;
  run.version = KERNELSEARCH_VERSION;
  std::vector<StoredTrial> trials;
  trials.reserve(recording.trials.size());
  double elapsed = 0;
  for (std::size_t i = 0; i < recording.trials.size(); ++i) trials.push_back(stored(recording, i, elapsed));
  return {std::move(run), std::move(trials)};
}

std::string export_text(const Recording& recording, RecordingFormat format) {
  if (format == RecordingFormat::cachefile || format == RecordingFormat::t4)
    detail::raise<ConfigError>("no export of ours", std::string(to_string(format)),
                               "use cachefile_text or t4_text");
  const auto [run, trials] = stored_run_of(recording);
  std::ostringstream out;
  export_trials(run, trials, format == RecordingFormat::csv ? ExportFormat::csv : ExportFormat::json_lines,
                out);
  return std::move(out).str();
}

void write_recording(const Recording& recording, const std::filesystem::path& file,
                     std::optional<RecordingFormat> format) {
  if (!format) format = recording_format_of(file);
  if (!format)
    detail::raise<ConfigError>("no format is known by this name of a file", file.filename().string(),
                               "end it in .json, .t4.json, .jsonl or .csv, or say the format");
  recorded::write_text(file, *format == RecordingFormat::cachefile ? cachefile_text(recording)
                             : *format == RecordingFormat::t4      ? t4_text(recording)
                                                                   : export_text(recording, *format));
}

}  // namespace kernelsearch
