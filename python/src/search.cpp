// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/recorded/earlier_run.hpp"

namespace kernelsearch::python {
namespace {

Verdict verdict_named(const std::string& name) {
  const std::optional<Verdict> verdict = verdict_from(name);
  if (verdict && *verdict != Verdict::ok && *verdict != Verdict::not_applicable) return *verdict;
  std::string there;
  for (int i = 1; i + 1 < verdict_count; ++i)
    (there += i == 1 ? "" : ", ") += to_string(static_cast<Verdict>(i));
  detail::raise<ConfigError>("no failure of that name", name, "there are " + there);
}

/// Whether it is a plain number of Python, read into `value`.
bool is_number(nb::handle object, double& value) {
  PyObject* const p = object.ptr();
  if (PyFloat_Check(p)) {
    value = PyFloat_AsDouble(p);
    return true;
  }
  if (PyBool_Check(p)) return false;
  if (PyLong_Check(p)) {
    value = PyLong_AsDouble(p);
    if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
    return true;
  }
  return false;
}

/// Ask and tell, in any order and from any thread: the lock is taken without the GIL, so that a thread that
/// waits for one never holds the other.
class Search {
 public:
  Search(SpacePointer space, nb::handle policy, std::uint64_t seed, std::optional<std::uint64_t> budget,
         const std::vector<EarlierRun>& earlier, bool try_default, const nb::dict& options,
         const std::string& objectives)
      : space_(std::move(space)),
        objectives_(Objectives::parse(objectives)),
        policy_(make_policy(policy, space_,
                            {space_->space(), seed, budget, earlier, try_default, objectives_}, options,
                            false)) {}

  std::vector<nb::object> ask(std::size_t n) {
    std::vector<nb::object> trials;
    if (n == 0) return trials;
    std::vector<Config> configs;
    std::uint64_t first = 0;
    TrialId first_id{};
    {
      const nb::gil_scoped_release released;
      const std::scoped_lock lock(mutex_);
      configs = policy_.ask(n);
      first = next_proposal_;
      first_id = TrialId{next_trial_};
      next_proposal_ += configs.size();
      next_trial_ += configs.size();
    }
    for (std::size_t i = 0; i < configs.size(); ++i) {
      PythonTrial trial{space_, std::move(configs[i]), first + i};
      trial.id = TrialId{static_cast<std::uint64_t>(first_id) + i};
      trial.owner = this;
      trials.push_back(nb::cast(std::move(trial)));
      open_.emplace(first + i, trials.back());
    }
    ended_ = trials.empty() && open_.empty();
    return trials;
  }

  nb::object ask_one() {
    std::vector<nb::object> trials = ask(1);
    return trials.empty() ? nb::none() : std::move(trials.front());
  }

  nb::object tell(nb::handle which, nb::handle result, const nb::dict& features) {
    nb::object object = resolve(which);
    PythonTrial& trial = *nb::inst_ptr<PythonTrial>(object);
    if (trial.told)
      detail::raise<ConfigError>("a trial was told twice", describe(trial),
                                 "tell each trial once; Optimizer.revise replaces what is known of one");
    std::optional<double> value;
    Evaluation evaluation = read(result, features, value);
    trial.told = true;  // before the lock: no other thread tells it meanwhile
    open_.erase(*trial.number);
    return report(object, trial, std::move(evaluation), value, false);
  }

  nb::object add(nb::handle config, nb::handle result, const nb::dict& features) {
    PythonTrial trial{space_, space_->valid_config(config)};
    std::optional<double> value;
    Evaluation evaluation = read(result, features, value);
    trial.owner = this;
    trial.told = true;
    {
      const nb::gil_scoped_release released;
      const std::scoped_lock lock(mutex_);
      trial.id = TrialId{next_trial_++};
    }
    nb::object object = nb::cast(std::move(trial));
    return report(object, *nb::inst_ptr<PythonTrial>(object), std::move(evaluation), value, false);
  }

  nb::object revise(nb::handle which, nb::handle result, const nb::dict& features) {
    if (!nb::isinstance<PythonTrial>(which) || nb::inst_ptr<PythonTrial>(which)->owner != this ||
        !nb::inst_ptr<PythonTrial>(which)->told)
      detail::raise<ConfigError>("only what was told can be revised", nb::cast<std::string>(nb::repr(which)),
                                 "give a trial of this optimizer that was told");
    std::optional<double> value;
    Evaluation evaluation = read(result, features, value);
    nb::object object = nb::borrow(which);
    return report(object, *nb::inst_ptr<PythonTrial>(which), std::move(evaluation), value, true);
  }

  [[nodiscard]] nb::list trials() const {
    nb::list list;
    for (const nb::object& trial : told_) list.append(trial);
    return list;
  }
  [[nodiscard]] nb::list pending() const {
    nb::list list;
    for (const auto& [number, trial] : open_) list.append(trial);
    return list;
  }
  [[nodiscard]] nb::object best() const {
    const PythonTrial* best = nullptr;
    nb::object found = nb::none();
    if (!best_known_) {
      for (const nb::object& object : told_) {
        const PythonTrial* trial = nb::inst_ptr<PythonTrial>(object);
        if (trial->value && (best == nullptr || *trial->value < *best->value)) {
          best = trial;
          found = object;
        }
      }
      best_ = found;
      best_known_ = true;
    }
    return best_;
  }
  [[nodiscard]] nb::list front() const {
    std::vector<std::vector<double>> losses;
    for (const nb::object& object : told_) {
      const PythonTrial& trial = *nb::inst_ptr<PythonTrial>(object);
      losses.emplace_back();
      if (!trial.value) continue;
      if (objectives_.only_time())
        losses.back().push_back(*trial.value);
      else if (auto its = objectives_.try_losses(trial.evaluation))
        losses.back() = *std::move(its);
    }
    nb::list list;
    for (const std::size_t i : pareto_front(losses)) list.append(told_[i]);
    return list;
  }
  [[nodiscard]] std::string objectives() const { return objectives_.text(); }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] std::size_t count() const noexcept { return told_.size(); }
  [[nodiscard]] const SpacePointer& space() const noexcept { return space_; }

 private:
  static std::string describe(const PythonTrial& trial) {
    return (trial.number ? "trial " + std::to_string(*trial.number) + ", " : std::string()) +
           trial.space->space().key(trial.config);
  }

  nb::object resolve(nb::handle which) const {
    if (nb::isinstance<PythonTrial>(which)) {
      const PythonTrial& trial = *nb::inst_ptr<PythonTrial>(which);
      if (trial.owner == this) return nb::borrow(which);
      detail::raise<ConfigError>("a trial of another optimizer", describe(trial),
                                 "tell it there, or add(trial.config, ...) here");
    }
    if (PyLong_Check(which.ptr()) && !PyBool_Check(which.ptr())) {
      const std::uint64_t number = nb::cast<std::uint64_t>(which);
      const auto found = open_.find(number);
      if (found != open_.end()) return found->second;
      detail::raise<ConfigError>("no trial of that number is outstanding", std::to_string(number),
                                 "tell what ask() returned, once");
    }
    throw nb::type_error(
        "kernelsearch: tell needs the trial that ask() returned, or its number; what was not asked for is "
        "for add(config, result)");
  }

  Evaluation read(nb::handle result, const nb::dict& features, std::optional<double>& value) const {
    Evaluation evaluation;
    const auto observe = [&](const nb::dict& observed) {
      for (auto [name, number] : observed)
        evaluation.features.set(nb::cast<std::string>(name), nb::cast<double>(number));
    };
    if (PyDict_Check(result.ptr()) && !objectives_.only_time()) {
      // Without a time its place is empty, and what reads it is told so by its name.
      const auto named = nb::cast<nb::dict>(result);
      evaluation = Evaluation::succeeded(named.contains("time") ? nb::cast<double>(named["time"]) : 1.0);
      if (evaluation.verdict == Verdict::ok) value = evaluation.measurement.seconds;
      if (!named.contains("time") && objectives_.reads({"time"}))
        detail::raise<ConfigError>("an objective reads the time, which the result lacks",
                                   nb::cast<std::string>(nb::repr(result)), "return it as \"time\"");
      observe(named);
    } else {
      evaluation = to_evaluation(result, value);
    }
    observe(features);
    if (value && !objectives_.only_time()) value = detail::value_or_raise(objectives_.try_judge(evaluation));
    return evaluation;
  }

  nb::object report(nb::object object, PythonTrial& trial, Evaluation evaluation, std::optional<double> value,
                    bool again) {
    Observation<Config> seen{trial.config, {}};
    seen.outcome.id = trial.id;
    if (trial.number) seen.outcome.origin = Origin{ProposalId{*trial.number}, 0, 1};
    if (value) seen.outcome.objective = *value;
    seen.outcome.evaluation = evaluation;
    {
      const nb::gil_scoped_release released;
      const std::scoped_lock lock(mutex_);
      policy_.tell(std::span(&seen, 1));
    }
    const bool was_best = again && object.is(best_);
    trial.value = value;
    trial.evaluation = std::move(evaluation);
    if (!again) told_.push_back(object);
    if (was_best) {
      best_known_ = false;  // another may be the best now
    } else if (best_known_ && value) {
      if (best_.is_none() || *value < *nb::inst_ptr<PythonTrial>(best_)->value) best_ = object;
    }
    return object;
  }

  SpacePointer space_;
  Objectives objectives_;
  AnyPolicy<Config> policy_;  // guarded by mutex_, with the two counts
  std::mutex mutex_;
  std::uint64_t next_proposal_ = 0, next_trial_ = 0;
  std::map<std::uint64_t, nb::object> open_;  // what follows is guarded by the GIL
  std::vector<nb::object> told_;
  mutable nb::object best_ = nb::none();
  mutable bool best_known_ = true;
  bool ended_ = false;
};

}  // namespace

Evaluation to_evaluation(nb::handle result, std::optional<double>& value) {
  double number = 0.0;
  if (!is_number(result, number)) {
    if (nb::hasattr(result, "verdict")) {
      const auto verdict = nb::cast<std::string>(result.attr("verdict"));
      const auto reason = nb::hasattr(result, "reason")
                              ? nb::cast<std::string>(nb::str(result.attr("reason")))
                              : std::string();
      const double correct =
          nb::hasattr(result, "correct_fraction") ? nb::cast<double>(result.attr("correct_fraction")) : 0.0;
      return Evaluation::failed(verdict_named(verdict), reason, correct);
    }
    // NumPy's scalars; all else is said by what it is.
    if (result.is_none() || PyUnicode_Check(result.ptr()) || PyTuple_Check(result.ptr()) ||
        PyList_Check(result.ptr()) || PyDict_Check(result.ptr()))
      throw nb::type_error(("kernelsearch: what a trial came to is a number, lower is better, a tuple of it "
                            "and a dict of features, or kernelsearch.Failed(...), not " +
                            nb::cast<std::string>(nb::repr(result)) +
                            (PyTuple_Check(result.ptr()) || PyDict_Check(result.ptr())
                                 ? "; several values need objectives=\"NAME; NAME\" and a dict of them"
                                 : ""))
                               .c_str());
    const Value other = to_value(result, "what a trial came to");
    if (std::holds_alternative<double>(other))
      number = std::get<double>(other);
    else if (std::holds_alternative<std::int64_t>(other))
      number = static_cast<double>(std::get<std::int64_t>(other));
    else
      throw nb::type_error(("kernelsearch: what a trial came to is a number, lower is better, or "
                            "kernelsearch.Failed(...), not " +
                            nb::cast<std::string>(nb::repr(result)))
                               .c_str());
  }
  if (std::isnan(number)) return Evaluation::failed(Verdict::wrong_result, "the value is NaN");
  if (std::isinf(number)) {
    if (number < 0)
      detail::raise<ConfigError>("no value of a trial", "-inf",
                                 "give a finite number, or kernelsearch.Failed(...)");
    return Evaluation::failed(Verdict::wrong_result, "the value is infinite");
  }
  value = number;
  return Evaluation::succeeded(number);
}

void bind_search(nb::module_& m) {
  nb::class_<PythonTrial>(m, "Trial",
                          "A configuration that an optimizer proposed or was told of, and what became of it.")
      .def_prop_ro(
          "config", [](PythonTrial& t) { return t.config_dict(); },
          nb::sig("def config(self) -> dict[str, object]"), "The value of each tunable, by name.")
      .def_prop_ro(
          "number", [](const PythonTrial& t) { return t.number; },
          "Its place among the proposals, from 0; None: it came from elsewhere (add).")
      .def_prop_ro(
          "told", [](const PythonTrial& t) { return t.told; }, "Whether its result is known.")
      .def_prop_ro(
          "ok", [](const PythonTrial& t) { return t.value.has_value(); },
          "Whether it was told and did not fail.")
      .def_prop_ro(
          "value", [](const PythonTrial& t) { return t.value; },
          "The number that it came to, lower is better; None: pending or failed.")
      .def_prop_ro(
          "verdict",
          [](const PythonTrial& t) -> std::string {
            return t.told ? std::string(to_string(t.evaluation.verdict)) : "pending";
          },
          "ok, pending, or the kind of failure.")
      .def_prop_ro(
          "reason", [](const PythonTrial& t) { return t.evaluation.reason; },
          "Why it failed, in words; else empty.")
      .def_prop_ro(
          "features",
          [](const PythonTrial& t) {
            nb::dict dict;
            for (const auto& [name, value] : t.evaluation.features) dict[name.c_str()] = value;
            return dict;
          },
          nb::sig("def features(self) -> dict[str, float]"), "Numbers that were observed beside the value.")
      .def_prop_ro(
          "values",
          [](const PythonTrial& t) {
            constexpr std::string_view prefix = "objective.";
            nb::dict dict;
            for (const auto& [name, value] : t.evaluation.features)
              if (name.compare(0, prefix.size(), prefix) == 0) dict[name.c_str() + prefix.size()] = value;
            return dict;
          },
          nb::sig("def values(self) -> dict[str, float]"),
          "The value of each objective, by name, of a search with objectives; else empty.")
      .def("__getstate__",
           [](PythonTrial& t) {
             nb::dict features;
             for (const auto& [name, value] : t.evaluation.features) features[name.c_str()] = value;
             return nb::make_tuple(t.space, t.config_dict(), t.number, static_cast<std::uint64_t>(t.id),
                                   t.told, t.value, std::string(to_string(t.evaluation.verdict)),
                                   t.evaluation.reason, t.evaluation.progress,
                                   t.evaluation.measurement.seconds, features);
           })
      // It belongs to no search, so it can be read but not told.
      .def("__setstate__",
           [](PythonTrial* self, const nb::tuple& state) {
             auto space = nb::cast<SpacePointer>(state[0]);
             const Config config = space->config_of(state[1]);
             new (self) PythonTrial{std::move(space), config};
             self->number = nb::cast<std::optional<std::uint64_t>>(state[2]);
             self->id = TrialId{nb::cast<std::uint64_t>(state[3])};
             self->told = nb::cast<bool>(state[4]);
             self->value = nb::cast<std::optional<double>>(state[5]);
             Evaluation& evaluation = self->evaluation;
             evaluation.verdict = verdict_from(nb::cast<std::string>(state[6])).value_or(Verdict::crashed);
             evaluation.reason = nb::cast<std::string>(state[7]);
             evaluation.progress = nb::cast<double>(state[8]);
             evaluation.measurement.seconds = nb::cast<double>(state[9]);
             for (auto [name, value] : nb::cast<nb::dict>(state[10]))
               evaluation.features.set(nb::cast<std::string>(name), nb::cast<double>(value));
           })
      .def_prop_ro(
          "key", [](const PythonTrial& t) { return t.space->space().key(t.config); },
          "The values joined by commas.")
      .def(
          "__getitem__", [](PythonTrial& t, nb::handle name) { return nb::object(t.config_dict()[name]); },
          nb::arg("name"), "The value of a tunable.")
      .def("__repr__", [](const PythonTrial& t) {
        std::string text = "<Trial " +
                           (t.number ? std::to_string(*t.number) : std::string("from elsewhere")) + ": " +
                           t.space->space().key(t.config);
        if (t.value)
          text += " = " + to_string(Value(*t.value));
        else
          text += t.told ? ", " + std::string(to_string(t.evaluation.verdict)) : std::string(", pending");
        return text + ">";
      });

  nb::class_<Search>(m, "Search", "Ask and tell over a space; Optimizer is made on it.")
      .def(
          "__init__",
          [](Search* self, SpacePointer space, nb::handle policy, std::uint64_t seed,
             std::optional<std::uint64_t> budget, nb::handle earlier, bool try_default,
             const nb::dict& options, const std::string& objectives) {
            std::vector<EarlierRun> runs;
            for (nb::handle recording : nb::iter(earlier)) {
              const auto& known = nb::cast<const PythonRecording&>(recording);
              std::optional<EarlierRun> run = earlier_run(known.recording, space->space());
              if (!run)
                detail::raise<ConfigError>("nothing to learn from a recording", known.recording.name,
                                           "its tunables must have the names and values of the space");
              runs.push_back(*std::move(run));
            }
            new (self) Search(std::move(space), policy, seed, budget, runs, try_default, options, objectives);
          },
          nb::arg("space"), nb::arg("policy"), nb::arg("seed"), nb::arg("budget").none(), nb::arg("earlier"),
          nb::arg("try_default"), nb::arg("options"), nb::arg("objectives") = "")
      .def("ask_one", &Search::ask_one, nb::sig("def ask_one(self) -> Trial | None"))
      .def("ask_many", &Search::ask, nb::arg("n"), nb::sig("def ask_many(self, n: int) -> list[Trial]"))
      .def(
          "tell", &Search::tell, nb::arg("trial"), nb::arg("result").none(), nb::arg("features") = nb::dict(),
          nb::sig(
              "def tell(self, trial: Trial | int, result: object, features: dict[str, float] = {}) -> Trial"),
          "What a trial came to: a number, lower is better, or a Failed. In any order, each trial once. NaN "
          "and infinity are "
          "failures. ConfigError for a trial that is not outstanding.")
      .def("add", &Search::add, nb::arg("config"), nb::arg("result").none(), nb::arg("features") = nb::dict(),
           nb::sig("def add(self, config: typing.Mapping[str, object], result: object, features: dict[str, "
                   "float] = {}) -> Trial"),
           "What was measured elsewhere, which the policy learns from as from its own.")
      .def(
          "revise", &Search::revise, nb::arg("trial"), nb::arg("result").none(),
          nb::arg("features") = nb::dict(),
          nb::sig("def revise(self, trial: Trial, result: object, features: dict[str, float] = {}) -> Trial"),
          "Replaces what is known of a trial that was told.")
      .def_prop_ro("trials", &Search::trials, nb::sig("def trials(self) -> list[Trial]"),
                   "What was told, in order.")
      .def_prop_ro("pending", &Search::pending, nb::sig("def pending(self) -> list[Trial]"),
                   "Asked and not told yet.")
      .def_prop_ro("best", &Search::best, nb::sig("def best(self) -> Trial | None"),
                   "The lowest value, the first of equals; None as long as none is right.")
      .def_prop_ro("front", &Search::front, nb::sig("def front(self) -> list[Trial]"),
                   "The right trials that no other one beats in all objectives, in the order told; of one "
                   "objective the best.")
      .def_prop_ro("objectives", &Search::objectives, "What is minimized or maximized, as text.")
      .def_prop_ro(
          "ended", &Search::ended,
          "Whether the policy had no more to propose while nothing was outstanding: the space is exhausted.")
      .def("__len__", &Search::count)
      .def_prop_ro(
          "space", [](const Search& s) { return s.space(); }, "The space that is searched.");
}

}  // namespace kernelsearch::python
