// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>
#include <ostream>

#include "export_formats.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {

void export_json_lines(const ExportSource& source, std::ostream& out) {
  using nlohmann::json;
  const RunRow& run = source.run;
  source.each_trial([&](const StoredTrial& trial) {
    json line = trial.outcome;
    line["run"] = {{"id", number(run.id)},
                   {"name", run.info.name},
                   {"problem", run.info.problem},
                   {"problem_digest", run.info.problem_digest},
                   {"policy", run.info.policy},
                   {"generator", run.info.generator},
                   {"evaluator", run.info.evaluator},
                   {"seed", run.info.seed},
                   {"device", run.info.device},
                   {"toolchain", run.info.toolchain},
                   {"version", run.version}};
    line["position"] = trial.position;
    line["elapsed"] = trial.elapsed;
    line["at"] = trial.at;
    line["point"] = parse_json(trial.point, "a stored point");
    if (trial.candidate)
      line["candidate"] = {{"kernel", trial.candidate->kernel},
                           {"config", parse_json(trial.candidate->config, "a stored configuration")},
                           {"key", trial.candidate->key},
                           {"values", parse_json(trial.candidate->values, "stored values")}};
    json inner = json::array();
    for (const StoredInnerTrial& one : source.inner_trials(trial.outcome.id))
      inner.push_back(
          {{"number", one.trial.number}, {"key", one.trial.key}, {"evaluation", one.trial.evaluation}});
    if (!inner.empty()) line["inner"] = std::move(inner);
    out << json_text(line) << '\n';
  });
}

}  // namespace kernelsearch::detail
