// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/stored_run.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "raw_recording.hpp"

namespace kernelsearch {

Recording recording_of(const RunStore& store, RunId run, const ReadRecordingOptions& options) {
  const RunRow row = store.run(run);
  recorded::RawRecording raw;
  raw.kernel = row.info.problem;
  raw.device = row.info.device;
  raw.alone = raw.unordered = true;
  bool ordered = false;
  std::size_t foreign = 0;
  store.each_trial(run, [&](const StoredTrial& stored) {
    if (!stored.candidate) return;
    const nlohmann::json values = parse_json(stored.candidate->values, "stored values");
    if (!ordered) {
      ordered = true;
      for (const auto& [name, value] : values.items()) raw.names.push_back(name);
      raw.values.resize(raw.names.size());
    }
    recorded::RawTrial trial;
    for (const std::string& name : raw.names)
      if (const auto found = values.find(name); found != values.end())
        trial.values.push_back(value_from_json(*found));
    if (trial.values.size() != raw.names.size() || values.size() != raw.names.size()) {
      ++foreign;  // a generator may have given another kernel a space of its own
      return;
    }
    trial.evaluation = stored.outcome.evaluation;
    trial.time_stamp = stored.at;
    raw.trials.push_back(std::move(trial));
  });
  if (foreign > 0)
    raw.notes.push_back(recorded::counted(foreign, "trial") + " of kernels with other tunables: left out");
  const std::string place = store.file().string() + ":" + std::to_string(number(run));
  return recorded::assemble(std::move(raw), place, row.info.name.empty() ? row.info.problem : row.info.name,
                            options);
}

}  // namespace kernelsearch
