// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/t1.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/expression.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& source, const std::string& given, const std::string& todo) {
  detail::raise<ConfigError>("cannot read " + source, given, todo);
}

std::string text_of(const Json& entry) {
  return entry.is_string() ? entry.get<std::string>() : entry.is_null() ? std::string() : entry.dump();
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : text_of(*found);
}

std::vector<std::string> texts_at(const Json& object, const char* key) {
  std::vector<std::string> out;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return out;
  if (!found->is_array()) return {text_of(*found)};
  for (const Json& entry : *found) out.push_back(text_of(entry));
  return out;
}

std::optional<Value> value_of(const Json& entry) {
  if (entry.is_boolean()) return Value{entry.get<bool>()};
  if (entry.is_number_integer()) return Value{entry.get<std::int64_t>()};
  if (entry.is_number()) return Value{entry.get<double>()};
  if (entry.is_string()) return Value{entry.get<std::string>()};
  if (entry.is_array() && !entry.empty() &&
      std::all_of(entry.begin(), entry.end(), [](const Json& e) { return e.is_number_integer(); })) {
    return Value{entry.get<Permutation>()};
  }
  return std::nullopt;
}

class T1Reader {
 public:
  T1Reader(const std::string& source, SpaceOptions options) : source_(source), options_(options) {}

  T1File read(std::istream& text) {
    const Json root = Json::parse(text, nullptr, false, true);
    if (root.is_discarded()) fail(source_, "the text is not JSON", "check it with a JSON validator");
    const Json& space = member(root, "ConfigurationSpace", "the file");
    std::vector<Tunable> tunables;
    for (const Json& entry : list(space, "TuningParameters", "ConfigurationSpace")) {
      Tunable made = tunable(entry);
      for (std::size_t i = 0; i < tunables.size(); ++i)
        if (tunables[i].name == made.name)
          fail(source_,
               "ConfigurationSpace.TuningParameters[" + std::to_string(tunables.size()) + "] is named " +
                   made.name + ", as [" + std::to_string(i) + "] is",
               "keep one of them, or rename it");
      tunables.push_back(std::move(made));
    }
    std::vector<Constraint> constraints;
    if (space.contains("Conditions")) {
      for (const Json& entry : list(space, "Conditions", "ConfigurationSpace"))
        constraints.push_back(condition(entry));
    }
    T1File file{.space = Space::build(std::move(tunables), std::move(constraints), options_),
                .notes = std::move(notes_)};
    if (root.contains("General") && root["General"].is_object())
      file.name = text_at(root["General"], "BenchmarkName");
    if (root.contains("KernelSpecification") && root["KernelSpecification"].is_object()) {
      kernel(root["KernelSpecification"], file);
    }
    if (file.name.empty()) file.name = file.kernel_name;
    return file;
  }

 private:
  const Json& member(const Json& object, const char* key, const std::string& where) const {
    if (!object.is_object() || !object.contains(key)) {
      fail(source_, where + " has no \"" + key + "\"", "T1 files need it; see docs/formats");
    }
    return object[key];
  }

  const Json& list(const Json& object, const char* key, const std::string& where) const {
    const Json& found = member(object, key, where);
    if (!found.is_array()) fail(source_, where + "." + key + " is not a list", "make it a list of objects");
    return found;
  }

  Tunable tunable(const Json& entry) {
    const std::string name = text_of(member(entry, "Name", "a tuning parameter"));
    const Json& given = member(entry, "Values", "tuning parameter " + name);
    std::vector<Value> values;
    if (given.is_array()) {
      for (const Json& element : given) {
        std::optional<Value> value = value_of(element);
        if (!value)
          fail(source_, "a value of " + name + " is " + element.dump(), "use numbers, booleans or strings");
        values.push_back(std::move(*value));
      }
    } else {
      values = evaluated(name, text_of(given));
    }
    drop_repeated(name, values);
    Tunable tunable = Tunable::of(name, std::move(values));
    if (text_at(entry, "Type") == "bool" && tunable.values.size() <= 2) tunable.kind = TunableKind::boolean;
    if (entry.contains("Default")) set_default(tunable, entry["Default"]);
    if (const std::string role = text_at(entry, "Role"); !role.empty()) {
      const std::optional<TunableRole> named = role_named(role);
      if (!named) fail(source_, "the role of " + name + " is " + role, "write one of " + role_names());
      tunable.role = *named;
    }
    return tunable;
  }

  std::vector<Value> evaluated(const std::string& name, const std::string& text) const {
    std::string error;
    const std::optional<Expression> formula = Expression::try_parse(text, error);
    if (!formula) fail(source_, "the values of " + name + ": " + error, "correct the formula");
    if (!formula->names().empty()) {
      fail(source_, "the values of " + name + " read \"" + formula->names()[0] + "\"", "use constants only");
    }
    std::optional<std::vector<Value>> values = formula->try_evaluate_list({}, &error);
    if (values) return std::move(*values);
    std::optional<Value> single = formula->try_evaluate({});  // a bare value stands for a list of one
    if (!single) fail(source_, "the values of " + name + ": " + error, "make it a list");
    return {std::move(*single)};
  }

  void drop_repeated(const std::string& name, std::vector<Value>& values) {
    if (std::is_sorted(values.begin(), values.end()) &&
        std::adjacent_find(values.begin(), values.end()) == values.end())
      return;
    std::vector<Value> sorted, kept;
    for (Value& value : values) {
      const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
      if (at != sorted.end() && *at == value) {
        notes_.push_back(name + " lists " + to_string(value) + " twice");
        continue;
      }
      sorted.insert(at, value);
      kept.push_back(std::move(value));
    }
    values = std::move(kept);
  }

  void set_default(Tunable& tunable, const Json& given) {
    std::optional<Value> value = value_of(given);
    if (value && std::holds_alternative<Permutation>(*value) && !tunable.position(*value)) {
      const std::int64_t single = std::get<Permutation>(*value)[0];
      value = Value{single};  // the hub writes some defaults as lists of one
    }
    const std::optional<std::size_t> at = value ? tunable.position(*value) : std::nullopt;
    if (at) {
      tunable.default_index = *at;
    } else if (!given.is_null()) {
      notes_.push_back("the default " + given.dump() + " of " + tunable.name + " is not one of its values");
    }
  }

  Constraint condition(const Json& entry) const {
    const std::string text = text_of(entry.is_string() ? entry : member(entry, "Expression", "a condition"));
    std::string error;
    std::optional<Expression> parsed = Expression::try_parse(text, error);
    if (!parsed) fail(source_, "a condition: " + error, "correct the formula");
    return Constraint(std::move(*parsed));
  }

  static void dimensions(const Json& spec, const char* key, std::array<std::string, 3>& sizes) {
    const auto found = spec.find(key);
    if (found == spec.end() || !found->is_object()) return;
    constexpr const char* axes[] = {"X", "Y", "Z"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (found->contains(axes[i])) sizes[i] = text_at(*found, axes[i]);
    }
  }

  static void kernel(const Json& spec, T1File& file) {
    file.language = text_at(spec, "Language");
    file.kernel_name = text_at(spec, "KernelName");
    file.kernel_file = text_at(spec, "KernelFile");
    file.compiler_options = texts_at(spec, "CompilerOptions");
    file.global_size_type = text_at(spec, "GlobalSizeType");
    if (const auto bytes = spec.find("SharedMemory"); bytes != spec.end() && bytes->is_number_integer())
      file.shared_memory = bytes->get<std::int64_t>();
    dimensions(spec, "GlobalSize", file.global_size);
    dimensions(spec, "LocalSize", file.local_size);
    file.grid_div_x = texts_at(spec, "GridDivX");
    file.grid_div_y = texts_at(spec, "GridDivY");
    file.grid_div_z = texts_at(spec, "GridDivZ");
    if (const auto sizes = spec.find("ProblemSize"); sizes != spec.end()) {
      for (const Json& size : sizes->is_array() ? *sizes : Json::array({*sizes})) {
        if (size.is_number_integer()) file.problem_size.push_back(size.get<std::int64_t>());
      }
    }
    const auto arguments = spec.find("Arguments");
    if (arguments == spec.end() || !arguments->is_array()) return;
    for (const Json& entry : *arguments) {
      if (!entry.is_object()) continue;
      T1Argument argument;
      argument.name = text_at(entry, "Name");
      argument.type = text_at(entry, "Type");
      argument.memory_type = text_at(entry, "MemoryType");
      argument.access_type = text_at(entry, "AccessType");
      argument.fill_type = text_at(entry, "FillType");
      argument.size = text_at(entry, "Size");
      argument.data_source = text_at(entry, "DataSource");
      if (const auto fill = entry.find("FillValue"); fill != entry.end() && fill->is_number())
        argument.fill_value = fill->get<double>();
      argument.constant_memory = text_at(entry, "MemType") == "Constant";
      argument.output = text_at(entry, "Output") == "1" || argument.access_type == "WriteOnly" ||
                        argument.access_type == "ReadWrite";
      file.arguments.push_back(std::move(argument));
    }
  }

  const std::string& source_;
  SpaceOptions options_;
  std::vector<std::string> notes_;
};

}  // namespace

T1File read_t1(std::istream& text, const std::string& source, SpaceOptions options) {
  return T1Reader(source, options).read(text);
}

T1File read_t1(const std::filesystem::path& path, SpaceOptions options) {
  std::ifstream text(path);
  if (!text) fail(path.string(), "the file cannot be opened", "check its name and permissions");
  return read_t1(text, path.string(), options);
}

}  // namespace kernelsearch
