// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/recorded/recording.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::python {

namespace nb = nanobind;

/// The Python object of a value: bool, int, float, str, or a tuple of int for an order.
[[nodiscard]] nb::object to_python(const Value& value);

/// The value that a Python object is; NumPy's scalars and 0-dimensional arrays too. TypeError for what a
/// value cannot be, OverflowError for an int beyond 64 bits; `place` is what the message calls it.
[[nodiscard]] Value to_value(nb::handle object, const std::string& place);

/// A number as a Python int, of any size.
[[nodiscard]] nb::object to_python(const BigCount& count);
/// ValueError for a negative number.
[[nodiscard]] BigCount to_count(nb::handle number);

/// A space with the Python objects of its names and values, made once: a configuration is then a dict of
/// them.
class PythonSpace {
 public:
  explicit PythonSpace(Space space);

  [[nodiscard]] const Space& space() const noexcept { return space_; }
  [[nodiscard]] const nb::object& name(std::size_t i) const { return names_[i]; }
  [[nodiscard]] const std::vector<nb::object>& values(std::size_t i) const { return values_[i]; }

  /// `{name: value}` in the order of the tunables.
  [[nodiscard]] nb::dict to_dict(const Config& config) const;
  /// Nothing where a name is missing or unknown, or a value none of its tunable's. TypeError for what is no
  /// mapping.
  [[nodiscard]] std::optional<Config> find(nb::handle mapping) const;
  /// The same; ConfigError says what does not fit.
  [[nodiscard]] Config config_of(nb::handle mapping) const;
  /// The same, and ConfigError where a constraint forbids it.
  [[nodiscard]] Config valid_config(nb::handle mapping) const;

  /// What Space(...) was called with, its iterables as lists; what makes a space again that is pickled. None:
  /// it was made otherwise.
  nb::object recipe = nb::none();

 private:
  /// Position of a value; -1: none.
  [[nodiscard]] Py_ssize_t position(std::size_t i, nb::handle value) const;
  [[nodiscard]] std::optional<Config> read(nb::handle mapping, std::string* fault) const;

  Space space_;
  std::vector<nb::object> names_;
  std::vector<std::vector<nb::object>> values_;
  std::vector<nb::dict>
      positions_;  ///< of each tunable: value to position; Python has 1 == 1.0 == True, as we do
};

using SpacePointer = std::shared_ptr<PythonSpace>;

/// A configuration on its way: asked, then told. Python's `Trial`.
struct PythonTrial {
  SpacePointer space;
  Config config;
  std::optional<std::uint64_t> number = {};  ///< of the proposal; nothing: from elsewhere
  TrialId id{};
  const void* owner = nullptr;  ///< the search that asked for it; compared only
  bool told = false;
  std::optional<double> value = {};  ///< nothing: not told yet, or failed
  Evaluation evaluation = {};
  nb::object dict = {};  ///< of the configuration, made when first asked for

  [[nodiscard]] nb::object config_dict();
};

/// What Python says a trial came to: a number, or an object with `verdict` and `reason` (Failed).
[[nodiscard]] Evaluation to_evaluation(nb::handle result, std::optional<double>& value);

/// A value of Python as an option can have it: as a value, or a list or tuple of str or of int. TypeError,
/// with `place` in its text, for what no option can be.
[[nodiscard]] FieldValue to_option_value(nb::handle value, const std::string& place);

/// The policy of the registry that a text names, `genetic(population=40)`, with these options over those of
/// the text; one that is None is left out. ConfigError for what does not fit, TypeError for what no option
/// can be.
[[nodiscard]] PolicyChoice named_policy(nb::handle text, const nb::dict& options);

/// The policy that Python names or brings: a text for named_policy() with options, or a callable
/// `policy(space, seed)` whose result has `ask(n)` and `tell(trials)`, or such an object itself. `guarded`:
/// exceptions of Python become ConfigError, for searches on other threads.
[[nodiscard]] AnyPolicy<Config> make_policy(nb::handle policy, const SpacePointer& space,
                                            const PolicySetup& setup, const nb::dict& options, bool guarded);
/// Whether it is a name.
[[nodiscard]] inline bool is_name(nb::handle policy) {
  return PyUnicode_Check(policy.ptr()) != 0;
}

/// A recording with its space for Python.
struct PythonRecording {
  Recording recording;
  SpacePointer space;
};

/// Runs `work(stop)` on a thread of its own, without the GIL, while this thread waits for it and for signals.
/// Ctrl-C, or whatever a signal handler raises, asks it to stop, and is raised once it has ended.
void interruptible(const std::function<void(std::stop_token)>& work);

void bind_space(nb::module_& m);
void bind_search(nb::module_& m);
void bind_policies(nb::module_& m);
void bind_recordings(nb::module_& m);
void bind_runs(nb::module_& m);

}  // namespace kernelsearch::python
