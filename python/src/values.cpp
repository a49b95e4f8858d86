// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>
#include <variant>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::python {
namespace {

std::string shown(nb::handle object) {
  std::string text = nb::cast<std::string>(nb::repr(object));
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

[[noreturn]] void no_value(nb::handle object, const std::string& place, const char* todo) {
  const std::string type = nb::cast<std::string>(nb::inst_name(object));
  throw nb::type_error(
      ("kernelsearch: " + place + " cannot be a " + type + ": " + shown(object) + "; " + todo).c_str());
}

bool is_permutation(const Permutation& order) {
  Permutation sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

std::int64_t to_integer(nb::handle object, const std::string& place) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    PyErr_SetString(PyExc_OverflowError, ("kernelsearch: " + place + " is an int beyond 64 bits: " +
                                          shown(object) + "; give it as a str, or scale it")
                                             .c_str());
    throw nb::python_error();
  }
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

}  // namespace

nb::object to_python(const Value& value) {
  struct Visitor {
    nb::object operator()(bool v) const { return nb::bool_(v); }
    nb::object operator()(std::int64_t v) const { return nb::int_(v); }
    nb::object operator()(double v) const { return nb::float_(v); }
    nb::object operator()(const std::string& v) const { return nb::str(v.c_str(), v.size()); }
    nb::object operator()(const Permutation& v) const {
      nb::list list;
      for (const std::int64_t i : v) list.append(i);
      return nb::tuple(list);
    }
  };
  return std::visit(Visitor{}, value);
}

Value to_value(nb::handle object, const std::string& place) {
  constexpr const char* todo =
      "give a bool, int, float, str, an order (a list of 0..n-1), or a NumPy scalar of these";
  PyObject* const p = object.ptr();
  if (PyBool_Check(p)) return p == Py_True;  // before int: a bool is one
  if (PyLong_Check(p)) return to_integer(object, place);
  if (PyFloat_Check(p)) return PyFloat_AsDouble(p);
  if (PyUnicode_Check(p)) return nb::cast<std::string>(object);
  // NumPy's scalars, and arrays of no dimension of any library: item() is what they hold.
  if (nb::hasattr(object, "ndim") && nb::hasattr(object, "item")) {
    const nb::object ndim = object.attr("ndim");
    if (PyLong_Check(ndim.ptr()) && PyLong_AsLong(ndim.ptr()) == 0) {
      const nb::object item = object.attr("item")();
      if (!item.is(object) && !nb::hasattr(item, "ndim")) return to_value(item, place);
    }
  }
  if (PyList_Check(p) || PyTuple_Check(p) || nb::hasattr(object, "tolist")) {
    Permutation order;
    for (nb::handle entry : nb::iter(object)) {
      const Value value = to_value(entry, place);
      if (!std::holds_alternative<std::int64_t>(value)) no_value(object, place, todo);
      order.push_back(std::get<std::int64_t>(value));
    }
    if (!is_permutation(order)) no_value(object, place, "a list can only be an order, each of 0..n-1 once");
    return order;
  }
  if (PyIndex_Check(p)) return to_integer(nb::steal(PyNumber_Index(p)), place);
  no_value(object, place, todo);
}

nb::object to_python(const BigCount& count) {
  if (count.fits_u64()) return nb::steal(PyLong_FromUnsignedLongLong(count.low()));
  return nb::steal(PyLong_FromString(count.to_string().c_str(), nullptr, 10));
}

BigCount to_count(nb::handle number) {
  const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  std::string digits = nb::cast<std::string>(nb::str(whole));
  if (digits.starts_with('-'))
    throw nb::value_error(("kernelsearch: a negative number counts nothing: " + digits).c_str());
  BigCount count;
  constexpr std::size_t at_once = 18;  // digits that surely fit 64 bits
  for (std::size_t i = 0; i < digits.size(); i += at_once) {
    const std::string part = digits.substr(i, at_once);
    std::uint64_t power = 1;
    for (std::size_t k = 0; k < part.size(); ++k) power *= 10;
    count *= BigCount(power);
    count += BigCount(std::stoull(part));
  }
  return count;
}

PythonSpace::PythonSpace(Space space) : space_(std::move(space)) {
  for (const Tunable& tunable : space_.tunables()) {
    // Interned, so that looking one up in a dict compares pointers.
    PyObject* name =
        PyUnicode_FromStringAndSize(tunable.name.data(), static_cast<Py_ssize_t>(tunable.name.size()));
    if (name == nullptr) throw nb::python_error();
    PyUnicode_InternInPlace(&name);
    names_.push_back(nb::steal(name));
    std::vector<nb::object> values;
    nb::dict positions;
    for (std::size_t i = 0; i < tunable.values.size(); ++i) {
      values.push_back(to_python(tunable.values[i]));
      positions[values.back()] = i;
    }
    values_.push_back(std::move(values));
    positions_.push_back(std::move(positions));
  }
}

nb::dict PythonSpace::to_dict(const Config& config) const {
  nb::dict dict;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (PyDict_SetItem(dict.ptr(), names_[i].ptr(), values_[i][config.indices[i]].ptr()) != 0)
      throw nb::python_error();
  return dict;
}

Py_ssize_t PythonSpace::position(std::size_t i, nb::handle value) const {
  PyObject* found = PyDict_GetItemWithError(positions_[i].ptr(), value.ptr());
  if (found == nullptr) {
    // A list, an array or another thing that has no hash: as a value of ours it may have one.
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      const nb::object again = to_python(to_value(value, "`" + space_.tunable(i).name + "`"));
      found = PyDict_GetItemWithError(positions_[i].ptr(), again.ptr());
      if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
    }
    if (found == nullptr) return -1;
  }
  return PyLong_AsSsize_t(found);
}

std::optional<Config> PythonSpace::read(nb::handle mapping, std::string* fault) const {
  if (!PyDict_Check(mapping.ptr()) && PyMapping_Check(mapping.ptr()) == 0)
    throw nb::type_error(
        ("kernelsearch: a configuration is a dict of name and value, not " + shown(mapping)).c_str());
  if (PySequence_Check(mapping.ptr()) != 0 && !nb::hasattr(mapping, "keys"))
    throw nb::type_error(
        ("kernelsearch: a configuration is a dict of name and value, not " + shown(mapping)).c_str());
  const auto size = static_cast<std::size_t>(nb::len(mapping));
  Config config;
  config.indices.reserve(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const nb::object value = nb::steal(PyObject_GetItem(mapping.ptr(), names_[i].ptr()));
    if (!value.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw nb::python_error();
      PyErr_Clear();
      if (fault != nullptr) *fault = "it has no `" + space_.tunable(i).name + "`";
      return std::nullopt;
    }
    const Py_ssize_t at = position(i, value);
    if (at < 0) {
      if (fault != nullptr) *fault = "`" + space_.tunable(i).name + "` has no value " + shown(value);
      return std::nullopt;
    }
    config.indices.push_back(static_cast<std::uint32_t>(at));
  }
  if (size != names_.size()) {
    for (nb::handle name : nb::iter(mapping)) {
      if (PyUnicode_Check(name.ptr()) && space_.find(nb::cast<std::string>(name))) continue;
      if (fault != nullptr) *fault = "there is no tunable " + shown(name);
      return std::nullopt;
    }
  }
  return config;
}

std::optional<Config> PythonSpace::find(nb::handle mapping) const {
  return read(mapping, nullptr);
}

Config PythonSpace::config_of(nb::handle mapping) const {
  std::string fault;
  std::optional<Config> config = read(mapping, &fault);
  if (!config)
    detail::raise<ConfigError>("no configuration of the space", shown(mapping),
                               fault + "; give a value of each tunable, see Space.values");
  return *std::move(config);
}

Config PythonSpace::valid_config(nb::handle mapping) const {
  Config config = config_of(mapping);
  if (!space_.contains(config))
    detail::raise<ConfigError>("a configuration that a constraint forbids", shown(mapping),
                               "give one that is in the space; Space.nearest finds the one next to it");
  return config;
}

nb::object PythonTrial::config_dict() {
  if (!dict.is_valid()) dict = space->to_dict(config);
  return dict;
}

}  // namespace kernelsearch::python
