// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/run/report_extras.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_option.hpp"

namespace kernelsearch::python {
namespace {

nb::object interval_of(const Interval& interval) {
  return nb::make_tuple(interval.low, interval.high);
}

/// What is known of a trial, for Python to make an object of.
nb::dict describe(const Outcome& outcome) {
  nb::dict dict;
  dict["number"] = static_cast<std::uint64_t>(outcome.id);
  dict["verdict"] = std::string(to_string(outcome.evaluation.verdict));
  dict["reason"] = outcome.evaluation.reason;
  const Measurement& measured = outcome.evaluation.measurement;
  dict["seconds"] = outcome.ok() ? nb::object(nb::float_(measured.seconds)) : nb::none();
  dict["interval"] = outcome.ok() ? interval_of(measured.interval) : nb::none();
  dict["speedup"] = measured.speedup ? nb::object(nb::float_(measured.speedup->ratio)) : nb::none();
  dict["speedup_interval"] = measured.speedup ? interval_of(measured.speedup->interval) : nb::none();
  nb::dict features;
  for (const auto& [name, value] : outcome.evaluation.features) features[name.c_str()] = value;
  dict["features"] = features;
  return dict;
}

nb::dict describe(const StoredTrial& trial) {
  nb::dict dict = describe(trial.outcome);
  dict["values"] = trial.candidate ? trial.candidate->values : std::string("{}");  // JSON
  dict["key"] = trial.candidate ? trial.candidate->key : std::string();
  dict["elapsed"] = trial.elapsed;
  return dict;
}

/// Tells Python of a run. What Python raises stops the run, and is raised once it has ended.
class PythonObserver final : public RunObserver {
 public:
  PythonObserver(nb::handle on_trial, nb::handle on_message, std::stop_source stop)
      : on_trial_(on_trial), on_message_(on_message), stop_(std::move(stop)) {}

  void on_trial(const Trial<Candidate>& trial) override {
    if (on_trial_.is_none()) return;
    call([&] {
      nb::dict dict = describe(trial.outcome);
      if (trial.candidate) {
        const Space& space = trial.candidate->kernel->space;
        nb::dict config;
        for (std::size_t i = 0; i < space.size(); ++i)
          config[space.tunable(i).name.c_str()] = to_python(space.value(trial.candidate->config, i));
        dict["config"] = config;
        dict["key"] = space.key(trial.candidate->config);
      } else {
        dict["config"] = nb::dict();
        dict["key"] = "";
      }
      const nb::object answer = on_trial_(dict);
      if (answer.is(nb::handle(Py_True))) stop_.request_stop();
    });
  }
  void on_message(std::string_view text) override {
    if (!on_message_.is_none()) call([&] { on_message_(nb::str(text.data(), text.size())); });
  }

  void raise_what_happened() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  template <class Call>
  void call(Call tell) {
    const nb::gil_scoped_acquire gil;  // messages come from any thread: this orders them too
    if (fault_) return;
    try {
      tell();
    } catch (...) {
      fault_ = std::current_exception();
      stop_.request_stop();
    }
  }

  nb::handle on_trial_, on_message_;
  std::stop_source stop_;
  std::exception_ptr fault_;
};

RunOptions options_of(const nb::dict& options) {
  RunOptions run;
  for (auto [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const Result<const RunOption*> option = try_find_run_option(name);
    if (!option)
      throw nb::type_error(
          ("kernelsearch: no option of a run: " + name + "; " + option.error().todo).c_str());
    if (value.is_none()) continue;
    const FieldValue given = to_option_value(value, "the option " + name);
    const Result<void> set = try_set_run_option(run, name, given);
    if (set) continue;
    const FieldType type = (*option)->type;
    const bool widened = std::holds_alternative<std::int64_t>(given) &&
                         (type == FieldType::number || type == FieldType::natural);
    if (!widened && given.index() != static_cast<std::size_t>(type))
      throw nb::type_error(set.error().text().c_str());
    detail::raise_config_error(set.error());
  }
  return run;
}

nb::dict tune(const std::filesystem::path& problem, nb::handle policy, const nb::dict& policy_options,
              const nb::dict& options, const std::string& resume, nb::handle on_trial,
              nb::handle on_message) {
  RunOptions given = options_of(options);
  RunParts parts;
  std::stop_source stop;
  PythonObserver observer(on_trial, on_message, stop);
  parts.observer = &observer;
  parts.stop = stop.get_token();
  if (is_name(policy)) {
    given.policy = nb::len(policy_options) == 0 ? nb::cast<std::string>(policy)
                                                : named_policy(policy, policy_options).text();
  } else if (!policy.is_none()) {
    if (!given.where.empty() || !given.configs.empty())
      throw nb::type_error(
          "kernelsearch: where and configs narrow the space for policies that are named; put "
          "the conditions into "
          "the problem's constraints for others");
    const auto space = std::make_shared<PythonSpace>(read_problem(problem).kernel.space);
    PolicySetup setup{space->space(), given.seed,
                      given.budget.empty() ? std::uint64_t{200} : parse_budget(given.budget).trials};
    parts.policy = make_policy(policy, space, setup, policy_options, true);
    // How the store calls it.
    given.policy = nb::hasattr(policy, "__name__") ? nb::cast<std::string>(policy.attr("__name__"))
                                                   : nb::cast<std::string>(nb::inst_name(policy));
  }
  RunResult result;
  std::vector<StoredTrial> trials;
  std::string store;
  interruptible([&](const std::stop_token& asked) {
    const std::stop_callback pass_on(asked, [&] { stop.request_stop(); });
    Run run = resume.empty() ? Run::start(problem, given, std::move(parts))
                             : Run::resume(resume, given, std::move(parts));
    run.to_end(observer);
    result = run.finish();
    trials = run.store().trials(run.id());
    store = run.store().file().string();
  });
  observer.raise_what_happened();

  nb::dict dict;
  dict["run"] = number(result.run);
  dict["store"] = store;
  dict["problem"] = result.row.info.problem;
  dict["device"] = result.row.info.device;
  dict["reason"] = result.reason;
  dict["stopped"] = result.stopped;
  dict["wall_seconds"] = result.row.seconds;
  dict["no_improvement"] = result.no_improvement;
  dict["best"] = result.best ? nb::object(describe(*result.best)) : nb::none();
  nb::list list;
  for (const StoredTrial& trial : trials) list.append(describe(trial));
  dict["trials"] = list;
  nb::dict files;
  for (const auto& [what, file] : result.files) files[what.c_str()] = file.string();
  dict["files"] = files;
  dict["unwritten"] = result.unwritten;
  return dict;
}

std::string run_page(const std::filesystem::path& file, std::int64_t run) {
  const nb::gil_scoped_release released;
  const RunStore store(file, {.only_read = true});
  const RunId id{run};
  const ReportModel report = report_of(store, id, report_extras(store, id));
  return report_html({&report, 1});
}

}  // namespace

void bind_runs(nb::module_& m) {
  m.def("run_options", [] { return run_options_schema(); });
  m.def("report_html", &run_page, nb::arg("store"), nb::arg("run"));
  m.def("tune", &tune, nb::arg("problem"), nb::arg("policy").none(), nb::arg("policy_options"),
        nb::arg("options"), nb::arg("resume"), nb::arg("on_trial").none(), nb::arg("on_message").none());
}

}  // namespace kernelsearch::python
