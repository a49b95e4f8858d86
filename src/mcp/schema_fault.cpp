// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/schema_fault.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

/// The value as a message shows it: not all of a long text.
std::string shown(const json& value) {
  std::string text = value.is_structured() ? (value.is_array() ? "a list" : "an object")
                                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

bool is_of(const std::string& type, const json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type == "integer")  // JSON Schema counts 3.0 as one
    return value.is_number_integer() ||
           (value.is_number_float() &&
            value.get<double>() == static_cast<double>(static_cast<std::int64_t>(value.get<double>())));
  return true;
}

std::string listed(const json& names) {
  return detail::joined(
      names, ", ", [](const json& name) { return name.is_string() ? name.get<std::string>() : name.dump(); });
}

std::string type_fault(const json& schema, const json& value, const std::string& where) {
  const auto type = schema.find("type");
  if (type == schema.end()) return {};
  const auto fits = [&value](const json& one) { return is_of(one.get<std::string>(), value); };
  if (type->is_array() ? std::any_of(type->begin(), type->end(), fits) : fits(*type)) return {};
  const std::string wanted = type->is_array() ? listed(*type) : type->get<std::string>();
  return where + " is " + shown(value) + "; give " +
         (wanted == "array" || wanted == "integer" || wanted == "object" ? "an " : "a ") + wanted;
}

std::string value_fault(const json& schema, const json& value, const std::string& where) {
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    if (std::find(choices->begin(), choices->end(), value) == choices->end()) {
      std::vector<std::string> names;
      for (const json& choice : *choices)
        if (choice.is_string()) names.push_back(choice.get<std::string>());
      const std::string nearest = value.is_string() ? nearest_name(value.get<std::string>(), names) : "";
      return where + " is " + shown(value) + (nearest.empty() ? "" : "; did you mean " + nearest + "?") +
             "; give one of: " + listed(*choices);
    }
  }
  if (const auto only = schema.find("const"); only != schema.end() && *only != value)
    return where + " is " + shown(value) + "; give " + only->dump();
  if (value.is_number()) {
    const double number = value.get<double>();
    if (const auto least = schema.find("minimum"); least != schema.end() && number < least->get<double>())
      return where + " is " + shown(value) + "; give at least " + least->dump();
    if (const auto over = schema.find("exclusiveMinimum");
        over != schema.end() && !(number > over->get<double>()))
      return where + " is " + shown(value) + "; give more than " + over->dump();
    if (const auto most = schema.find("maximum"); most != schema.end() && number > most->get<double>())
      return where + " is " + shown(value) + "; give at most " + most->dump();
  }
  if (value.is_string()) {
    const std::size_t size = value.get_ref<const std::string&>().size();
    if (const auto least = schema.find("minLength");
        least != schema.end() && size < least->get<std::size_t>())
      return where + " is too short; give at least " + least->dump() + " characters";
    if (const auto most = schema.find("maxLength"); most != schema.end() && size > most->get<std::size_t>())
      return where + " has " + std::to_string(size) + " characters; give at most " + most->dump();
  }
  return {};
}

std::string object_fault(const json& schema, const json& value, const std::string& where) {
  static const json none = json::object();
  const auto found = schema.find("properties");
  const json& properties = found == schema.end() ? none : *found;
  std::vector<std::string> names;
  for (const auto& [name, unused] : properties.items()) names.push_back(name);
  const auto more = schema.find("additionalProperties");
  for (const auto& [name, member] : value.items()) {
    const auto property = properties.find(name);
    if (property == properties.end()) {
      if (more == schema.end()) continue;
      if (more->is_object()) {
        if (std::string fault = schema_fault(*more, member, where + "." + name); !fault.empty()) return fault;
      } else if (*more == false) {
        const std::string nearest = nearest_name(name, names);
        return where + " has no \"" + name.substr(0, 60) + "\"" +
               (nearest.empty() ? (names.empty() ? "; leave it out" : "; there are: " + listed(json(names)))
                                : "; did you mean " + nearest + "?");
      }
      continue;
    }
    if (std::string fault = schema_fault(*property, member, where + "." + name); !fault.empty()) return fault;
  }
  if (const auto required = schema.find("required"); required != schema.end())
    for (const json& name : *required)
      if (!value.contains(name.get<std::string>())) {
        std::string text = where + "." + name.get<std::string>() + " is missing";
        if (const auto property = properties.find(name.get<std::string>());
            property != properties.end() && property->contains("description"))
          text += "; give " + name.get<std::string>() + ": " + (*property)["description"].get<std::string>();
        return text;
      }
  return {};
}

std::string array_fault(const json& schema, const json& value, const std::string& where) {
  if (const auto least = schema.find("minItems");
      least != schema.end() && value.size() < least->get<std::size_t>())
    return where + " has " + std::to_string(value.size()) + " items; give at least " + least->dump();
  if (const auto most = schema.find("maxItems");
      most != schema.end() && value.size() > most->get<std::size_t>())
    return where + " has " + std::to_string(value.size()) + " items; give at most " + most->dump();
  const auto items = schema.find("items");
  if (items == schema.end() || !items->is_object()) return {};
  for (std::size_t i = 0; i < value.size(); ++i)
    if (std::string fault = schema_fault(*items, value[i], where + "[" + std::to_string(i) + "]");
        !fault.empty())
      return fault;
  return {};
}

}  // namespace

std::string schema_fault(const json& schema, const json& value, const std::string& where) {
  if (!schema.is_object()) return {};
  if (std::string fault = type_fault(schema, value, where); !fault.empty()) return fault;
  if (std::string fault = value_fault(schema, value, where); !fault.empty()) return fault;
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    std::string last;
    for (const json& one : *any) {
      last = schema_fault(one, value, where);
      if (last.empty()) break;
    }
    if (!last.empty()) return last;
  }
  if (value.is_object()) return object_fault(schema, value, where);
  if (value.is_array()) return array_fault(schema, value, where);
  return {};
}

}  // namespace kernelsearch
