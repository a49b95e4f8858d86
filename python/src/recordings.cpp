// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/ndarray.h>

#include <cmath>
#include <limits>
#include <utility>

#include "binding.hpp"
#include "kernelsearch/compare/comparison.hpp"
#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/paired_test.hpp"
#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/earlier_run.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/write_recording.hpp"

namespace kernelsearch::python {
namespace {

/// A NumPy array that owns its numbers.
template <class T>
nb::object to_array(std::vector<T> numbers, std::size_t columns = 0) {
  auto* kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (columns == 0) return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {kept->size() / columns, columns}, owner));
}

std::shared_ptr<PythonRecording> wrap(Recording recording) {
  auto space = std::make_shared<PythonSpace>(recording.space);
  return std::make_shared<PythonRecording>(PythonRecording{std::move(recording), std::move(space)});
}

std::shared_ptr<PythonRecording> make_recording(const std::string& name, const SpacePointer& space,
                                                nb::handle trials, const std::string& kernel,
                                                const std::string& device) {
  Recording recording{name, kernel.empty() ? name : kernel, device, "", space->space(), {}};
  for (nb::handle entry : nb::iter(trials)) {
    RecordedTrial trial;
    if (nb::isinstance<PythonTrial>(entry)) {
      const PythonTrial& known = *nb::inst_ptr<PythonTrial>(entry);
      if (!known.told) continue;
      trial.config =
          known.space == space ? known.config : space->valid_config(known.space->to_dict(known.config));
      trial.evaluation = known.evaluation;
    } else {
      if (!PyTuple_Check(entry.ptr()) || nb::len(entry) != 2)
        throw nb::type_error(
            "kernelsearch: a recording is made of trials, or of tuples (configuration, seconds or Failed)");
      std::optional<double> value;
      trial.config = space->valid_config(entry[0]);
      trial.evaluation = to_evaluation(entry[1], value);
    }
    if (trial.evaluation.verdict == Verdict::ok) {
      const double seconds = trial.evaluation.measurement.seconds;
      if (!(seconds > 0.0))
        detail::raise<ConfigError>("a recording holds times", std::to_string(seconds),
                                   "give seconds above 0");
      if (trial.evaluation.measurement.shapes.empty()) {
        ShapeMeasurement shape;
        shape.samples = {seconds};
        shape.median = seconds;
        shape.interval = {seconds, seconds};
        shape.ended = SamplingEnd::recorded;
        trial.evaluation.measurement.shapes.push_back(std::move(shape));
      }
    }
    recording.trials.push_back(std::move(trial));
  }
  if (recording.trials.empty())
    detail::raise<ConfigError>("a recording without trials", name, "give what was measured");
  return std::make_shared<PythonRecording>(PythonRecording{std::move(recording), space});
}

nb::object objective_of(const PythonRecording& r) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < r.recording.trials.size(); ++i) {
    const double value = r.recording.objective(i);
    seconds.push_back(std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN());
  }
  return to_array(std::move(seconds));
}

nb::object positions_of(const PythonRecording& r) {
  std::vector<std::uint32_t> positions;
  for (const RecordedTrial& trial : r.recording.trials)
    positions.insert(positions.end(), trial.config.indices.begin(), trial.config.indices.end());
  if (r.recording.space.size() == 0) return to_array(std::move(positions));
  return to_array(std::move(positions), r.recording.space.size());
}

/// What ran, and what is needed to score it.
struct PythonComparison {
  PythonComparison() = default;
  PythonComparison(PythonComparison&&) = default;
  PythonComparison(const PythonComparison&) = delete;  // nor have landscapes any
  PythonComparison& operator=(const PythonComparison&) = delete;
  PythonComparison& operator=(PythonComparison&&) = delete;
  ~PythonComparison() = default;

  std::vector<Landscape> landscapes;
  std::vector<Trace> traces;
};

nb::object or_none(const std::optional<double>& number) {
  return number ? nb::object(nb::float_(*number)) : nb::none();
}

nb::dict to_dict(const Scores& scores) {
  nb::dict dict;
  for (std::size_t i = 0; i < area_names.size(); ++i) {
    const std::string name(area_names[i]);
    dict[name.c_str()] = scores.areas[i].value;
    const auto& interval = scores.areas[i].interval;
    dict[(name + "_low").c_str()] = interval ? nb::object(nb::float_(interval->low)) : nb::none();
    dict[(name + "_high").c_str()] = interval ? nb::object(nb::float_(interval->high)) : nb::none();
  }
  for (std::size_t i = 0; i < ratio_evaluations.size(); ++i)
    dict[("ratio@" + std::to_string(ratio_evaluations[i])).c_str()] = scores.ratios[i];
  dict["n5"] = scores.n5;
  dict["n1"] = scores.n1;
  dict["n5_reached"] = scores.n5_reached;
  dict["n1_reached"] = scores.n1_reached;
  dict["policy_ms"] = or_none(scores.policy_ms_per_evaluation);
  return dict;
}

nb::list score_rows(const PythonComparison& c, std::size_t bootstrap) {
  std::vector<PolicyScores> scores;
  {
    const nb::gil_scoped_release released;
    scores = score(c.landscapes, c.traces, {.bootstrap = bootstrap});
  }
  nb::list rows;
  for (const PolicyScores& policy : scores) {
    for (const SpaceScores& space : policy.spaces) {
      nb::dict row;
      row["policy"] = policy.strategy;
      row["space"] = space.space;
      row["repeats"] = space.repeats;
      row["budget"] = space.budget;
      row.update(to_dict(space));
      row["dropped_repeats"] = space.dropped_repeats;
      row["dropped_unknown"] = space.dropped_unknown;
      row["ended_early"] = space.ended_early;
      rows.append(row);
    }
    nb::dict row;
    row["policy"] = policy.strategy;
    row["space"] = "mean";
    row.update(to_dict(policy));
    rows.append(row);
  }
  return rows;
}

nb::list difference_rows(const PythonComparison& c, const std::string& against) {
  std::vector<PairedDifference> differences;
  {
    const nb::gil_scoped_release released;
    differences = paired_differences(c.landscapes, c.traces, against);
  }
  nb::list rows;
  for (const PairedDifference& difference : differences) {
    for (std::size_t i = 0; i < area_names.size(); ++i) {
      const AreaDifference& area = difference.areas[i];
      nb::dict row;
      row["policy"] = difference.strategy;
      row["area"] = std::string(area_names[i]);
      row["pairs"] = difference.pairs;
      row["mean"] = area.mean;
      row["low"] = area.interval.low;
      row["high"] = area.interval.high;
      row["p"] = area.p;
      row["adjusted_p"] = area.adjusted_p;
      rows.append(row);
    }
  }
  return rows;
}

/// Each run with the best so far after each of its evaluations, in seconds; NaN: nothing right yet.
nb::list runs_of(const PythonComparison& c) {
  nb::list runs;
  for (const Trace& trace : c.traces) {
    const Landscape* landscape = nullptr;
    for (const Landscape& each : c.landscapes)
      if (each.name() == trace.space) landscape = &each;
    std::vector<double> values, best;
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t number : trace.evaluations) {
      const double value = landscape->objective(number);
      values.push_back(std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN());
      least = std::min(least, value);
      best.push_back(std::isfinite(least) ? least : std::numeric_limits<double>::quiet_NaN());
    }
    nb::dict run;
    run["space"] = trace.space;
    run["policy"] = trace.strategy;
    run["repeat"] = trace.repeat;
    run["evaluations"] = to_array(std::vector<std::uint32_t>(trace.evaluations));
    run["value"] = to_array(std::move(values));
    run["best"] = to_array(std::move(best));
    run["seconds"] = to_array(std::vector<double>(trace.seconds));
    run["policy_seconds"] = or_none(trace.policy_seconds);
    run["dropped_repeats"] = trace.dropped_repeats;
    run["dropped_unknown"] = trace.dropped_unknown;
    run["ended_early"] = trace.ended_early;
    runs.append(run);
  }
  return runs;
}

nb::list landscape_rows(const PythonComparison& c) {
  nb::list rows;
  for (const Landscape& landscape : c.landscapes) {
    nb::dict row;
    row["space"] = landscape.name();
    row["configurations"] = landscape.size();
    row["right"] = landscape.valid();
    row["best"] = landscape.best();
    row["median"] = landscape.median();
    row["budget"] = landscape.budget();
    rows.append(row);
  }
  return rows;
}

/// A class or function of Python on the threads of a comparison. The table of spaces is of the recordings'
/// own, so that each run's policy sees the objects that were made once.
std::function<AnyPolicy<Config>(const PolicySetup&)> maker(nb::object policy, const nb::dict& options) {
  struct Parts {
    nb::object policy;
    nb::dict options;
  };
  const std::shared_ptr<Parts> parts(new Parts{std::move(policy), options}, [](Parts* p) {
    const nb::gil_scoped_acquire gil;
    delete p;
  });
  return [parts](const PolicySetup& setup) {
    const nb::gil_scoped_acquire gil;
    // Its deleter may run where the last of the run's copies goes, on a thread without the GIL.
    const SpacePointer space(new PythonSpace(setup.space), [](PythonSpace* p) {
      const nb::gil_scoped_acquire again;
      delete p;
    });
    try {
      return make_policy(parts->policy, space, setup, parts->options, true);
    } catch (nb::python_error& error) {
      detail::raise<ConfigError>("a policy of Python could not be made", error.what(), "mend the policy");
    }
  };
}

PythonComparison run_comparison(nb::handle recordings, const nb::dict& policies, std::uint64_t repeats,
                                std::uint64_t seed, std::optional<std::uint64_t> budget,
                                std::optional<double> recorded_seconds, std::size_t in_flight, bool strict,
                                bool declared_default, std::size_t threads, const std::string& folder,
                                nb::handle learn_from, nb::handle progress) {
  std::vector<Recording> given;
  for (nb::handle recording : nb::iter(recordings))
    given.push_back(nb::cast<const PythonRecording&>(recording).recording);
  std::vector<Contestant> contestants;
  for (auto [name, entry] : policies) {  // name: (policy, options)
    const nb::object policy = entry[0];
    const auto options = nb::cast<nb::dict>(entry[1]);
    if (is_name(policy)) {
      contestants.push_back(
          {nb::cast<std::string>(name), [choice = named_policy(policy, options)](const PolicySetup& setup) {
             return choice.make(setup);
           }});
    } else {
      contestants.push_back({nb::cast<std::string>(name), maker(policy, options)});
    }
  }
  ComparisonOptions options{
      .repeats = repeats, .seed = seed, .budget = budget, .recorded_seconds = recorded_seconds};
  options.in_flight = in_flight;
  options.strict = strict;
  options.declared_default = declared_default;
  options.threads = threads;
  options.folder = folder;
  std::vector<Recording> known;
  for (nb::handle recording : nb::iter(learn_from))
    known.push_back(nb::cast<const PythonRecording&>(recording).recording);
  if (!known.empty()) {
    for (const Recording& target : given) {
      options.earlier.emplace_back();
      for (const Recording& recording : known)
        if (auto run = earlier_run(recording, target.space))
          options.earlier.back().push_back(*std::move(run));
    }
  }
  std::exception_ptr fault;
  std::stop_source outer;
  if (!progress.is_none())
    options.progress = [&](const ComparisonProgress& now) {
      const nb::gil_scoped_acquire gil;
      if (fault) return;
      try {
        progress(now.finished, now.runs);
      } catch (...) {
        fault = std::current_exception();  // of Python: raised where the GIL is, once all threads have ended
        outer.request_stop();
      }
    };
  PythonComparison result;
  interruptible([&](const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [&] { outer.request_stop(); });
    options.stop = outer.get_token();
    result.landscapes = landscapes_of(given);
    result.traces = compare(given, result.landscapes, contestants, options);
  });
  if (fault) std::rethrow_exception(fault);
  return result;
}

}  // namespace

void bind_recordings(nb::module_& m) {
  nb::class_<PythonRecording>(
      m, "Recording", "What each configuration of a kernel did on one device, as files of tuners have it.")
      .def_prop_ro(
          "name", [](const PythonRecording& r) { return r.recording.name; },
          "The file's, without folder and extensions.")
      .def_prop_ro(
          "kernel", [](const PythonRecording& r) { return r.recording.kernel; }, "Of what it is.")
      .def_prop_ro(
          "device", [](const PythonRecording& r) { return r.recording.device; }, "On what it was measured.")
      .def_prop_ro(
          "problem_size", [](const PythonRecording& r) { return r.recording.problem_size; },
          "As the file has it.")
      .def_prop_ro(
          "notes", [](const PythonRecording& r) { return r.recording.notes; },
          "What was put right or left out in reading.")
      .def_prop_ro(
          "space", [](const PythonRecording& r) { return r.space; },
          "The space of the configurations that were recorded.")
      .def("__len__", [](const PythonRecording& r) { return r.recording.trials.size(); })
      .def(
          "config",
          [](const PythonRecording& r, std::size_t i) {
            if (i >= r.recording.trials.size())
              throw nb::index_error("kernelsearch: no such trial of the recording");
            return r.space->to_dict(r.recording.trials[i].config);
          },
          nb::arg("i"), nb::sig("def config(self, i: int) -> dict[str, object]"),
          "The configuration of the i-th trial.")
      .def(
          "samples",
          [](const PythonRecording& r, std::size_t i) {
            if (i >= r.recording.trials.size())
              throw nb::index_error("kernelsearch: no such trial of the recording");
            std::vector<double> samples;
            for (const ShapeMeasurement& shape : r.recording.trials[i].evaluation.measurement.shapes)
              samples.insert(samples.end(), shape.samples.begin(), shape.samples.end());
            return to_array(std::move(samples));
          },
          nb::arg("i"), nb::sig("def samples(self, i: int) -> numpy.ndarray"),
          "The single times of the i-th trial, float64, seconds; those of several shapes one after another.")
      .def_prop_ro("seconds", &objective_of, nb::sig("def seconds(self) -> numpy.ndarray"),
                   "The time of each trial, float64 of shape (trials,), seconds; NaN: it failed.")
      .def_prop_ro(
          "positions", &positions_of, nb::sig("def positions(self) -> numpy.ndarray"),
          "Each trial's configuration as positions among the values, uint32 of shape (trials, tunables).")
      .def_prop_ro(
          "verdicts",
          [](const PythonRecording& r) {
            std::vector<std::string> names;
            for (const RecordedTrial& trial : r.recording.trials)
              names.emplace_back(to_string(trial.evaluation.verdict));
            return names;
          },
          "ok, or the kind of failure, of each trial.")
      .def_prop_ro(
          "reasons",
          [](const PythonRecording& r) {
            std::vector<std::string> texts;
            for (const RecordedTrial& trial : r.recording.trials) texts.push_back(trial.evaluation.reason);
            return texts;
          },
          "Why each trial failed; empty where it did not, or the file does not say.")
      .def_prop_ro(
          "recorded_seconds",
          [](const PythonRecording& r) {
            std::vector<double> seconds;
            for (const RecordedTrial& trial : r.recording.trials) seconds.push_back(trial.total_seconds());
            return to_array(std::move(seconds));
          },
          nb::sig("def recorded_seconds(self) -> numpy.ndarray"),
          "What building, checking and measuring each trial took when it was recorded, float64 of shape "
          "(trials,).")
      .def(
          "write",
          [](const PythonRecording& r, const std::filesystem::path& file) {
            write_recording(r.recording, file);
          },
          nb::arg("file"),
          "Writes a cachefile (.json), T4 results (.t4.json), JSON Lines (.jsonl) or CSV, also packed (.gz).")
      .def(
          "to_pandas",
          [](nb::handle self) {
            return nb::module_::import_("kernelsearch._frames").attr("recording_frame")(self);
          },
          nb::sig("def to_pandas(self) -> pandas.DataFrame"),
          "A row for each trial: the tunables, seconds (NaN: failed), verdict, reason, recorded_seconds.")
      .def_static(
          "of", &make_recording, nb::arg("name"), nb::arg("space"), nb::arg("trials"), nb::arg("kernel") = "",
          nb::arg("device") = "",
          nb::sig("def of(name: str, space: Space, trials: typing.Iterable[object], kernel: str = '', "
                  "device: str = '') -> "
                  "Recording"),
          "A recording of what was measured here: trials, or tuples (configuration, seconds or Failed).")
      .def("__repr__", [](const PythonRecording& r) {
        return "<Recording " + r.recording.name + ", " + std::to_string(r.recording.trials.size()) +
               " trials of " + std::to_string(r.recording.space.size()) + " tunables>";
      });

  m.def(
      "read_recording",
      [](const std::filesystem::path& file, const std::filesystem::path& space) {
        std::optional<Recording> recording;
        {
          const nb::gil_scoped_release released;
          recording = read_recording(file, {.space = space});
        }
        return wrap(*std::move(recording));
      },
      nb::arg("file"), nb::arg("space") = "",
      "Reads a cachefile of Kernel Tuner, T4 results, an export of a run (JSON Lines, CSV), plain or gzip, "
      "or STORE:RUN. space: "
      "a T1 file or problem folder that declares it. ConfigError names the file, the line and what is "
      "wrong.");

  nb::class_<PythonComparison>(m, "ComparisonData")
      .def("score_rows", &score_rows, nb::arg("bootstrap"),
           nb::sig("def score_rows(self, bootstrap: int) -> list[dict]"))
      .def("difference_rows", &difference_rows, nb::arg("against"),
           nb::sig("def difference_rows(self, against: str) -> list[dict]"))
      .def("runs", &runs_of, nb::sig("def runs(self) -> list[dict]"))
      .def("landscape_rows", &landscape_rows, nb::sig("def landscape_rows(self) -> list[dict]"));
  m.def("run_comparison", &run_comparison, nb::arg("recordings"), nb::arg("policies"), nb::arg("repeats"),
        nb::arg("seed"), nb::arg("budget").none(), nb::arg("recorded_seconds").none(), nb::arg("in_flight"),
        nb::arg("strict"), nb::arg("declared_default"), nb::arg("threads"), nb::arg("folder"),
        nb::arg("learn_from"), nb::arg("progress").none());
}

}  // namespace kernelsearch::python
