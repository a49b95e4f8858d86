// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/ndarray.h>

#include <fstream>
#include <string_view>
#include <utility>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/t1.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch::python {
namespace {

/// A Python function as a constraint. Copies of the space share it, and the last one may go on any thread.
class PythonCondition {
 public:
  explicit PythonCondition(nb::object function)
      : function_(function.release().ptr(), [](PyObject* p) {
          const nb::gil_scoped_acquire gil;
          Py_DECREF(p);
        }) {}

  bool operator()(std::span<const Value> values) const {
    const nb::gil_scoped_acquire gil;
    nb::list arguments;
    for (const Value& value : values) arguments.append(to_python(value));
    const nb::object result = nb::steal(PyObject_CallObject(function_.get(), nb::tuple(arguments).ptr()));
    if (!result.is_valid()) throw nb::python_error();
    const int truth = PyObject_IsTrue(result.ptr());
    if (truth < 0) throw nb::python_error();
    return truth == 1;
  }

 private:
  std::shared_ptr<PyObject> function_;
};

/// The parameters of a plain Python function, which are the tunables that it reads.
std::vector<std::string> parameters_of(nb::handle function) {
  constexpr int varargs = 0x04, varkeywords = 0x08;
  if (nb::hasattr(function, "__code__")) {
    const nb::object code = function.attr("__code__");
    if ((nb::cast<int>(code.attr("co_flags")) & (varargs | varkeywords)) == 0 &&
        nb::cast<int>(code.attr("co_kwonlyargcount")) == 0) {
      const auto count = nb::cast<std::size_t>(code.attr("co_argcount"));
      auto names = nb::cast<std::vector<std::string>>(nb::list(code.attr("co_varnames")));
      names.resize(count);
      return names;
    }
  }
  throw nb::type_error(
      "kernelsearch: which tunables a constraint reads cannot be told from this callable; give a function "
      "whose parameters "
      "are the tunables, or a tuple: ((\"a\", \"b\"), callable)");
}

Constraint to_constraint(nb::handle given) {
  if (PyUnicode_Check(given.ptr())) return Constraint(nb::cast<std::string>(given));
  nb::object function = nb::borrow(given);
  std::vector<std::string> names;
  if (PyTuple_Check(given.ptr()) && nb::len(given) == 2) {
    names = nb::cast<std::vector<std::string>>(nb::list(given[0]));
    function = given[1];
  } else if (PyCallable_Check(given.ptr()) != 0) {
    names = parameters_of(given);
  }
  if (PyCallable_Check(function.ptr()) == 0)
    throw nb::type_error(
        "kernelsearch: a constraint is an expression as a str, a function whose parameters are tunables, or "
        "a tuple of the names "
        "and a callable");
  std::string label = "a function";
  if (nb::hasattr(function, "__name__")) label = nb::cast<std::string>(function.attr("__name__"));
  return Constraint(std::move(names), PythonCondition(std::move(function)), label);
}

void check_names(const nb::dict& given, const nb::dict& tunables, const char* what) {
  for (nb::handle name : given.keys())
    if (!tunables.contains(name))
      detail::raise<ConfigError>(std::string(what) + " of an unknown tunable",
                                 nb::cast<std::string>(nb::repr(name)), "name one of the tunables");
}

TunableRole role_from(const std::string& name) {
  if (const std::optional<TunableRole> role = role_named(name)) return *role;
  detail::raise<ConfigError>("no role of a tunable", name, "there are none, " + role_names());
}

/// Refuses what no list of values is, by the tunable's name, and what may be meant as an interval.
void check_values(nb::handle given, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw nb::type_error(("kernelsearch: the values of `" + name + "` are " + what).c_str());
  };
  if (PyUnicode_Check(given.ptr())) refuse("a str; give a list of them");
  if (!nb::hasattr(given, "__iter__"))
    refuse("not a list: " + nb::cast<std::string>(nb::repr(given)) + "; give a list, e.g. [1, 2, 4]");
  if (PyTuple_Check(given.ptr()) && nb::len(given) == 2 && PyFloat_Check(nb::object(given[0]).ptr()) &&
      PyFloat_Check(nb::object(given[1]).ptr()))
    refuse("a tuple of two floats, which could be an interval or two values: " +
           nb::cast<std::string>(nb::repr(given)) +
           "; give a list of the two, or list the steps of the interval, e.g. [i / 10 for i in range(11)]");
}

/// Refuses texts among numbers: neighbours of what has no order mean nothing.
void check_kinds(const std::vector<Value>& values, const std::string& name) {
  const auto is_text = [](const Value& value) { return std::holds_alternative<std::string>(value); };
  for (const Value& value : values)
    if (is_text(value) != is_text(values.front()))
      throw nb::type_error(("kernelsearch: the values of `" + name + "` are texts and numbers: " +
                            to_string(values.front()) + ", " + to_string(value) + "; give one kind")
                               .c_str());
}

SpacePointer make_space(const nb::dict& tunables, nb::handle constraints, const nb::dict& defaults,
                        const nb::dict& active_if, const nb::dict& roles, std::size_t max_states) {
  if (tunables.size() == 0)
    detail::raise<ConfigError>("a space has no tunables", "{}", "give names with lists of values");
  check_names(defaults, tunables, "a default");
  check_names(active_if, tunables, "a condition");
  check_names(roles, tunables, "a role");
  SpaceBuilder builder({.max_states = max_states});
  for (auto [name, given] : tunables) {
    const auto text = nb::cast<std::string>(name);
    check_values(given, text);
    std::vector<Value> values;
    for (nb::handle value : nb::iter(given)) values.push_back(to_value(value, "a value of `" + text + "`"));
    check_kinds(values, text);
    Tunable tunable = Tunable::of(text, std::move(values));
    if (defaults.contains(name))
      tunable = tunable.with_default(to_value(defaults[name], "the default of `" + text + "`"));
    if (active_if.contains(name)) tunable = tunable.when(nb::cast<std::string>(active_if[name]));
    if (roles.contains(name)) tunable.role = role_from(nb::cast<std::string>(roles[name]));
    builder.add(std::move(tunable));
  }
  nb::list conditions;
  if (PyUnicode_Check(constraints.ptr()) || PyCallable_Check(constraints.ptr()) != 0) {
    conditions.append(constraints);
  } else {
    for (nb::handle constraint : nb::iter(constraints)) conditions.append(constraint);
  }
  for (nb::handle constraint : conditions) builder.require(to_constraint(constraint));
  std::optional<Space> built;
  {
    const nb::gil_scoped_release released;  // functions of Python take it for the time of a call
    built = builder.build();
  }
  auto made = std::make_shared<PythonSpace>(*std::move(built));
  nb::dict values;
  for (std::size_t i = 0; i < made->space().size(); ++i) {
    nb::list its;
    for (const nb::object& value : made->values(i)) its.append(value);
    values[made->name(i)] = its;
  }
  made->recipe = nb::make_tuple(values, conditions, nb::dict(defaults), nb::dict(active_if), nb::dict(roles),
                                max_states);
  return made;
}

/// What make_space() is to be called with for a space that came from a file; ConfigError for one that is a
/// list of configurations or has a constraint without text.
nb::object recipe_of(const PythonSpace& s) {
  if (!s.recipe.is_none()) return s.recipe;
  const Space& space = s.space();
  nb::dict values, defaults, active_if, roles;
  for (std::size_t i = 0; i < space.size(); ++i) {
    nb::list its;
    for (const nb::object& value : s.values(i)) its.append(value);
    const Tunable& tunable = space.tunable(i);
    values[s.name(i)] = its;
    defaults[s.name(i)] = s.values(i)[space.default_config().indices[i]];
    if (tunable.active_if) active_if[s.name(i)] = tunable.active_if->text();
    if (tunable.role != TunableRole::none) roles[s.name(i)] = to_string(tunable.role);
  }
  nb::list conditions;
  for (const Constraint& constraint : space.constraints())
    if (constraint.expression()) conditions.append(constraint.text());
  const nb::object recipe =
      nb::make_tuple(values, conditions, defaults, active_if, roles, SpaceOptions{}.max_states);
  const SpacePointer again =
      make_space(values, conditions, defaults, active_if, roles, SpaceOptions{}.max_states);
  if (again->space().count() != space.count() || again->space().checksum() != space.checksum())
    detail::raise<ConfigError>("a space cannot be pickled", "it is a list of configurations",
                               "pickle the tunables and the list, and make it again with Space.listed");
  return recipe;
}

Neighbourhood neighbourhood_from(const std::string& name) {
  if (name == "hamming") return Neighbourhood::hamming;
  if (name == "adjacent") return Neighbourhood::adjacent;
  detail::raise<ConfigError>("no neighbourhood of that name", name, "there are hamming, adjacent");
}

nb::list to_dicts(const PythonSpace& space, const std::vector<Config>& configs) {
  nb::list list;
  for (const Config& config : configs) list.append(space.to_dict(config));
  return list;
}

using Positions = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>;
using GivenPositions = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Positions encode(const PythonSpace& space, nb::handle configs) {
  auto* numbers = new std::vector<std::uint32_t>;
  nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
  std::size_t rows = 0;
  for (nb::handle config : nb::iter(configs)) {
    const Config read = space.config_of(config);
    numbers->insert(numbers->end(), read.indices.begin(), read.indices.end());
    ++rows;
  }
  return Positions(numbers->data(), {rows, space.space().size()}, owner);
}

nb::list decode(const PythonSpace& space, const GivenPositions& positions) {
  const std::size_t size = space.space().size();
  if (positions.shape(1) != size)
    detail::raise<ConfigError>("positions of another space", std::to_string(positions.shape(1)) + " columns",
                               "give one for each tunable: " + std::to_string(size));
  nb::list list;
  for (std::size_t row = 0; row < positions.shape(0); ++row) {
    Config config;
    for (std::size_t i = 0; i < size; ++i) {
      config.indices.push_back(positions(row, i));
      if (config.indices.back() >= space.space().tunable(i).values.size())
        detail::raise<ConfigError>(
            "no value at that position",
            std::to_string(config.indices.back()) + " of `" + space.space().tunable(i).name + "`",
            "positions count from 0 in the order of the values");
    }
    list.append(space.to_dict(config));
  }
  return list;
}

}  // namespace

void bind_space(nb::module_& m) {
  nb::class_<PythonSpace>(
      m, "Space",
      "The valid configurations of a set of tunables: never listed, but counted, ranked, drawn and tested "
      "exactly. It does not change; several threads may use it.")
      .def(
          "__init__",
          // Made in place: nanobind's holder is a shared pointer only where one is asked for.
          [](PythonSpace* self, const nb::dict& tunables, nb::handle constraints, const nb::dict& defaults,
             const nb::dict& active_if, const nb::dict& roles, std::size_t max_states) {
            new (self)
                PythonSpace(*make_space(tunables, constraints, defaults, active_if, roles, max_states));
          },
          nb::arg("tunables"), nb::arg("constraints") = nb::tuple(), nb::kw_only(),
          nb::arg("defaults") = nb::dict(), nb::arg("active_if") = nb::dict(), nb::arg("roles") = nb::dict(),
          nb::arg("max_states") = SpaceOptions{}.max_states,
          nb::sig("def __init__(self, tunables: dict[str, typing.Iterable[object]], constraints: "
                  "typing.Iterable[object] | str = "
                  "(), *, defaults: dict[str, object] = {}, active_if: dict[str, str] = {}, roles: dict[str, "
                  "str] = {}, "
                  "max_states: int = 10000000) -> None"),
          "tunables: names with their values in order (bool, int, float, str, orders as tuples of 0..n-1).\n"
          "constraints: expressions as text, functions whose parameters are tunables, or ((names...), "
          "callable); callables "
          "must depend on nothing else and are called while the space is built.\n"
          "defaults: a value of some tunables, else the first. active_if: expressions; where one is false "
          "its tunable is pinned "
          "to the default. roles: threads, tile, work, ...: docs/formats/problem.md has them.\n"
          "ConfigError (a ValueError) where nothing is valid or names do not fit, TypeError for values of "
          "another type.")
      .def_static(
          "from_problem",
          [](const std::filesystem::path& path) {
            return std::make_shared<PythonSpace>(read_problem(path).kernel.space);
          },
          nb::arg("path"), "The space of a problem: a folder with a problem.json, or such a file.")
      .def_static(
          "from_t1",
          [](const std::filesystem::path& path) {
            return std::make_shared<PythonSpace>(read_t1(path).space);
          },
          nb::arg("path"), "The space of a T1 file (schema 1.0.0, and the tuning hub's).")
      .def_static(
          "listed",
          [](const nb::dict& tunables, nb::handle configs) {
            const SpacePointer all = make_space(tunables, nb::tuple(), nb::dict(), nb::dict(), nb::dict(),
                                                SpaceOptions{}.max_states);
            std::vector<Config> list;
            for (nb::handle config : nb::iter(configs)) list.push_back(all->config_of(config));
            const auto given = all->space().tunables();
            return std::make_shared<PythonSpace>(
                Space::listed({given.begin(), given.end()}, std::move(list)));
          },
          nb::arg("tunables"), nb::arg("configs"), "The space of exactly these configurations.")
      .def_prop_ro(
          "count", [](const PythonSpace& s) { return to_python(s.space().count()); },
          nb::sig("def count(self) -> int"), "Number of valid configurations, of any size.")
      .def_prop_ro(
          "raw_count", [](const PythonSpace& s) { return to_python(s.space().raw_count()); },
          nb::sig("def raw_count(self) -> int"), "Number of configurations without constraints.")
      .def("__len__",
           [](const PythonSpace& s) -> std::size_t {
             const BigCount& count = s.space().count();
             if (!count.fits_u64() || count.low() > static_cast<std::uint64_t>(PY_SSIZE_T_MAX)) {
               PyErr_SetString(PyExc_OverflowError,
                               "kernelsearch: more configurations than len() can say; use Space.count");
               throw nb::python_error();
             }
             return count.low();
           })
      .def(
          "__bool__", [](const PythonSpace&) { return true; }, "A space is never empty.")
      .def(
          "__contains__",
          [](const PythonSpace& s, nb::handle config) {
            const auto found = s.find(config);
            return found && s.space().contains(*found);
          },
          nb::arg("config"), "Whether the dict is a valid configuration. TypeError for what is no mapping.")
      .def(
          "__getitem__",
          [](const PythonSpace& s, nb::handle rank) {
            const BigCount& count = s.space().count();
            nb::object wanted = nb::borrow(rank);
            if (wanted < nb::int_(0)) wanted = wanted + to_python(count);
            const bool inside = wanted >= nb::int_(0) && to_count(wanted) < count;
            if (!inside) throw nb::index_error("kernelsearch: ranks are below Space.count");
            return s.to_dict(s.space().unrank(to_count(wanted)));
          },
          nb::arg("rank"), nb::sig("def __getitem__(self, rank: int) -> dict[str, object]"),
          "The configuration of that rank; negative ranks count from the end.")
      .def(
          "rank",
          [](const PythonSpace& s, nb::handle config) {
            return to_python(s.space().rank(s.valid_config(config)));
          },
          nb::arg("config"), nb::sig("def rank(self, config: typing.Mapping[str, object]) -> int"),
          "The rank of a valid configuration: where it stands in the order of iteration.")
      .def_prop_ro(
          "names",
          [](const PythonSpace& s) {
            nb::list list;
            for (std::size_t i = 0; i < s.space().size(); ++i) list.append(s.name(i));
            return nb::tuple(list);
          },
          nb::sig("def names(self) -> tuple[str, ...]"), "The tunables, in order.")
      .def_prop_ro(
          "values",
          [](const PythonSpace& s) {
            nb::dict dict;
            for (std::size_t i = 0; i < s.space().size(); ++i) {
              nb::list list;
              for (const nb::object& value : s.values(i)) list.append(value);
              dict[s.name(i)] = nb::tuple(list);
            }
            return dict;
          },
          nb::sig("def values(self) -> dict[str, tuple[object, ...]]"),
          "The values of each tunable, in order.")
      .def_prop_ro(
          "kinds",
          [](const PythonSpace& s) {
            nb::dict dict;
            for (std::size_t i = 0; i < s.space().size(); ++i)
              dict[s.name(i)] = to_string(s.space().tunable(i).kind);
            return dict;
          },
          nb::sig("def kinds(self) -> dict[str, str]"),
          "How the values of each tunable relate: integer, power_of_two, floating, boolean, categorical, "
          "permutation.")
      .def_prop_ro(
          "constraints",
          [](const PythonSpace& s) {
            std::vector<std::string> texts;
            for (const Constraint& constraint : s.space().constraints()) texts.push_back(constraint.text());
            return texts;
          },
          "Expressions as text, functions by their names.")
      .def_prop_ro(
          "default", [](const PythonSpace& s) { return s.to_dict(s.space().default_config()); },
          nb::sig("def default(self) -> dict[str, object]"),
          "The declared default where it is valid, else the configuration nearest to it.")
      .def(
          "sample",
          [](const PythonSpace& s, std::size_t n, std::uint64_t seed) {
            Rng rng(seed);
            nb::list list;
            Config config;
            for (std::size_t i = 0; i < n; ++i) {
              s.space().sample(rng, config);
              list.append(s.to_dict(config));
            }
            return list;
          },
          nb::arg("n"), nb::arg("seed") = 0,
          nb::sig("def sample(self, n: int, seed: int = 0) -> list[dict[str, object]]"),
          "n valid configurations, each drawn uniformly (so that one may come twice); the same for the same "
          "seed everywhere.")
      .def(
          "neighbours",
          [](const PythonSpace& s, nb::handle config, const std::string& neighbourhood) {
            return to_dicts(s,
                            s.space().neighbours(s.valid_config(config), neighbourhood_from(neighbourhood)));
          },
          nb::arg("config"), nb::arg("neighbourhood") = "hamming",
          nb::sig(
              "def neighbours(self, config: typing.Mapping[str, object], neighbourhood: str = 'hamming') -> "
              "list[dict[str, object]]"),
          "The valid configurations next to a valid one. hamming: one tunable differs in any way; adjacent: "
          "by one position, "
          "or an order by one swap.")
      .def(
          "nearest",
          [](const PythonSpace& s, nb::handle config) {
            return s.to_dict(s.space().nearest(s.config_of(config)));
          },
          nb::arg("config"),
          nb::sig("def nearest(self, config: typing.Mapping[str, object]) -> dict[str, object]"),
          "The valid configuration that differs in the fewest tunables, and among those by the fewest "
          "positions.")
      .def(
          "key", [](const PythonSpace& s, nb::handle config) { return s.space().key(s.config_of(config)); },
          nb::arg("config"), nb::sig("def key(self, config: typing.Mapping[str, object]) -> str"),
          "The values joined by commas: the key of cache files.")
      .def(
          "checksum", [](const PythonSpace& s) { return s.space().checksum(); },
          "The sum mod 2**64 of the crc32 of all keys: equal sums mean equal spaces.")
      .def(
          "encode", &encode, nb::arg("configs"),
          nb::sig("def encode(self, configs: typing.Iterable[typing.Mapping[str, object]]) -> numpy.ndarray"),
          "Positions among the values, uint32, of shape (configurations, tunables).")
      .def("decode", &decode, nb::arg("positions"),
           nb::sig("def decode(self, positions: numpy.ndarray) -> list[dict[str, object]]"),
           "What encode made of configurations.")
      .def_prop_ro(
          "memory_bytes", [](const PythonSpace& s) { return s.space().memory_bytes(); },
          "Bytes that the space holds.")
      // Spaces do not change: a copy is the space itself.
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"))
      .def("__getstate__", [](const PythonSpace& s) { return recipe_of(s); })
      .def("__setstate__",
           [](PythonSpace* self, const nb::tuple& state) {
             new (self)
                 PythonSpace(*make_space(nb::cast<nb::dict>(state[0]), state[1], nb::cast<nb::dict>(state[2]),
                                         nb::cast<nb::dict>(state[3]), nb::cast<nb::dict>(state[4]),
                                         nb::cast<std::size_t>(state[5])));
           })
      .def("__repr__", [](const PythonSpace& s) {
        return "<Space of " + std::to_string(s.space().size()) + " tunables, " +
               s.space().count().to_string() + " configurations>";
      });
}

}  // namespace kernelsearch::python
