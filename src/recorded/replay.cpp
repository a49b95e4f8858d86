// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/replay.hpp"

namespace kernelsearch {

RecordedReplay::RecordedReplay(const Recording& recording, RecordedReplayOptions options) {
  auto table = std::make_shared<Table>();
  table->answers.reserve(recording.trials.size());
  table->positions.reserve(recording.trials.size());
  for (const RecordedTrial& trial : recording.trials) {
    table->positions.emplace(trial.config, table->answers.size());
    Evaluation& answer = table->answers.emplace_back(trial.evaluation);
    answer.phases.measure += trial.framework_seconds;
    if (!options.samples)
      for (ShapeMeasurement& shape : answer.measurement.shapes) std::vector<double>().swap(shape.samples);
  }
  table_ = std::move(table);
}

std::optional<std::size_t> RecordedReplay::find(const Config& config) const {
  const auto found = table_->positions.find(config);
  if (found == table_->positions.end()) return std::nullopt;
  return found->second;
}

Evaluation RecordedReplay::answer(const Config& config) {
  const std::optional<std::size_t> trial = find(config);
  if (!trial) return Evaluation::failed(Verdict::rejected, "the configuration was not recorded");
  const Evaluation& answer = at(*trial);
  seconds_ += answer.phases.total();
  return answer;
}

RecordedReplay replay(const Recording& recording, RecordedReplayOptions options) {
  return RecordedReplay(recording, options);
}

}  // namespace kernelsearch
