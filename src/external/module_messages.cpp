// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "module_messages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::external {
namespace {

constexpr std::size_t most_tensors = 100000, most_dimensions = 64, longest_module_text = 2000;
constexpr std::int64_t largest_extent = std::int64_t{1} << 40;

std::string shown_module(std::string_view text) {
  constexpr std::size_t most = 200;
  return clean_text(text.size() > most ? std::string(text.substr(0, most)) + "..." : std::string(text));
}

Fault unreadable(const std::string& what, const ModuleJson& json) {
  return {what, shown_module(json.dump(-1, ' ', false, ModuleJson::error_handler_t::replace)),
          "see docs/torch.md"};
}

std::optional<std::string> module_text(const ModuleJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  std::string text = clean_text(found->get_ref<const std::string&>());
  if (text.size() > longest_module_text) text.resize(longest_module_text);
  return clean_text(text);
}

std::vector<std::string> module_texts(const ModuleJson& json, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const ModuleJson& one : *found)
      if (one.is_string() && texts.size() < 200)
        texts.push_back(shown_module(one.get_ref<const std::string&>()));
  return texts;
}

bool read_extents(const ModuleJson& json, const char* key, std::vector<std::int64_t>& into) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() > most_dimensions) return false;
  for (const ModuleJson& one : *found) {
    if (!one.is_number_integer()) return false;
    if (one.is_number_unsigned() && one.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_extent))
      return false;
    const auto value = one.get<std::int64_t>();
    if (value < 0 || value > largest_extent) return false;
    into.push_back(value);
  }
  return true;
}

/// The type, shape and strides; nothing where they do not read, or of absurd size.
std::optional<TensorSpec> tensor_of(const ModuleJson& json, bool strides) {
  TensorSpec spec;
  const auto type = json.is_object() ? module_text(json, "type") : std::nullopt;
  if (!type) return std::nullopt;
  spec.type = *type;
  spec.name = module_text(json, "name").value_or("");
  const auto known = element_type_from(spec.type);
  spec.element_bytes = known ? size_in_bytes(*known) : 0;
  if (!read_extents(json, "shape", spec.shape)) return std::nullopt;
  if (strides && (!read_extents(json, "strides", spec.strides) || spec.strides.size() != spec.shape.size()))
    return std::nullopt;
  double elements = 1, span = 1;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    elements *= static_cast<double>(spec.shape[i]);
    if (strides) span += static_cast<double>(spec.shape[i] - 1) * static_cast<double>(spec.strides[i]);
  }
  if (elements == 0) span = 0;
  if (!strides) span = elements;
  if (elements > 1e13 || span > 1e13) return std::nullopt;
  spec.bytes = static_cast<std::size_t>(span) * spec.element_bytes;
  if (const auto written = json.find("written"); written != json.end() && written->is_boolean())
    spec.written = written->get<bool>();
  spec.json = json;
  return spec;
}

std::optional<std::vector<TensorSpec>> tensors_of(const ModuleJson& json, const char* key, bool strides) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() > most_tensors) return std::nullopt;
  std::vector<TensorSpec> specs;
  for (const ModuleJson& one : *found) {
    auto spec = tensor_of(one, strides);
    if (!spec) return std::nullopt;
    specs.push_back(*std::move(spec));
  }
  return specs;
}

std::string shape_text(const TensorSpec& spec) {
  std::string text = clean_text(spec.type) + "[";
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(spec.shape[i]);
  return text + "]";
}

bool all_known(const std::vector<TensorSpec>& specs) {
  return std::all_of(specs.begin(), specs.end(),
                     [](const TensorSpec& spec) { return spec.element_bytes != 0; });
}

Result<ModuleShape> shape_of(const ModuleJson& json) {
  ModuleShape shape;
  if (!json.is_object()) return unreadable("describes a shape that is not an object", json);
  for (const auto& [key, into] :
       {std::pair("arguments", &shape.arguments), std::pair("result", &shape.result)}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_object())
      return unreadable(std::string("describes no \"") + key + '"', json);
    *into = *found;
  }
  auto inputs = tensors_of(json, "inputs", true), outputs = tensors_of(json, "outputs", false);
  if (!inputs || !outputs) return unreadable("describes no tensors", json);
  if (!all_known(*inputs) || !all_known(*outputs))
    return unreadable("describes a tensor of a type that is not known", json);
  shape.inputs = *std::move(inputs);
  shape.outputs = *std::move(outputs);
  if (const auto work = json.find("work"); work != json.end() && work->is_object()) {
    for (const auto& [key, into] :
         {std::pair("bytes", &shape.work.bytes), std::pair("operations", &shape.work.operations)}) {
      const auto found = work->find(key);
      if (found == work->end() || !found->is_number() || !(found->get<double>() >= 0) ||
          !std::isfinite(found->get<double>()))
        return unreadable(std::string("describes work without a number for \"") + key + '"', json);
      *into = found->get<double>();
    }
    shape.work.type = module_text(*work, "type").value_or("");
  }
  return shape;
}

}  // namespace

std::size_t aligned_module_bytes(std::size_t bytes) noexcept {
  return (bytes + module_alignment - 1) / module_alignment * module_alignment;
}

std::string module_line(const ModuleJson& message) {
  return message.dump(-1, ' ', false, ModuleJson::error_handler_t::replace);
}

Result<ModuleJson> try_module_reply(std::string_view line, std::string_view type, std::string_view id) {
  ModuleJson json = ModuleJson::parse(line, nullptr, false);
  if (!json.is_object())
    return Fault{"answered with what is not a JSON object", shown_module(line), "see docs/torch.md"};
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (text("type") != type || text("id") != id)
    return Fault{"gave a reply that does not belong to its request", shown_module(line), "see docs/torch.md"};
  return json;
}

std::string refusal_of(const ModuleJson& reply) {
  const auto ok = reply.find("ok");
  if (ok == reply.end() || (ok->is_boolean() && ok->get<bool>())) return {};
  return module_text(reply, "reason").value_or("it gave no reason");
}

Result<ModuleDescription> try_description(const ModuleJson& reply, std::size_t shapes) {
  ModuleDescription said;
  const auto protocol = reply.find("protocol");
  if (protocol == reply.end() || !protocol->is_number_unsigned() ||
      protocol->get<std::uint64_t>() != module_protocol_version)
    return unreadable("speaks another protocol", reply);
  for (const auto& [key, into] :
       {std::pair("name", &said.name), std::pair("version", &said.version), std::pair("device", &said.device),
        std::pair("precision", &said.precision)}) {
    const auto text = module_text(reply, key);
    if (!text || text->empty() || text->find('\n') != std::string::npos)
      return unreadable(std::string("describes itself without \"") + key + '"', reply);
    *into = shown_module(*text);
  }
  const auto init = reply.find("init");
  if (init == reply.end() || !init->is_object()) return unreadable("describes no \"init\"", reply);
  said.init = *init;
  auto state = tensors_of(reply, "state", true);
  if (!state) return unreadable("describes no tensors", reply);
  if (!all_known(*state)) return unreadable("describes a tensor of a type that is not known", reply);
  said.state = *std::move(state);
  const auto described = reply.find("shapes");
  if (described == reply.end() || !described->is_array() || described->size() != shapes)
    return unreadable("does not describe the problem's " + std::to_string(shapes) + " shapes", reply);
  for (const ModuleJson& one : *described) {
    Result<ModuleShape> shape = shape_of(one);
    if (!shape) return shape.error();
    said.shapes.push_back(*std::move(shape));
  }
  said.device_memory = module_text(reply, "memory").value_or("shared") == "device";
  said.facts = module_texts(reply, "facts");
  said.notes = module_texts(reply, "notes");
  said.trivial = module_texts(reply, "trivial");
  said.features = module_texts(reply, "features");
  for (const auto& [key, into] :
       {std::pair("compiles", &said.compiles), std::pair("explains", &said.explains)})
    if (const auto found = reply.find(key); found != reply.end() && found->is_boolean())
      *into = found->get<bool>();
  return said;
}

std::vector<std::string> explained_facts(const ModuleJson& reply) {
  return module_texts(reply, "facts");
}

Result<ModuleCheck> try_check(const ModuleJson& reply) {
  ModuleCheck check;
  const auto ok = reply.find("ok");
  if (ok == reply.end() || !ok->is_boolean()) return unreadable("checks without \"ok\"", reply);
  check.ok = ok->get<bool>();
  check.reason = module_text(reply, "reason").value_or("");
  for (const auto& [key, into] :
       {std::pair("right_share", &check.right_share), std::pair("error", &check.error),
        std::pair("strict_error", &check.strict_error)}) {
    const auto found = reply.find(key);
    if (found == reply.end()) {
      if (check.ok) return unreadable(std::string("checks without \"") + key + '"', reply);
      continue;
    }
    if (!found->is_number() || !std::isfinite(found->get<double>()))
      return unreadable(std::string("checks without a number for \"") + key + '"', reply);
    *into = found->get<double>();
  }
  for (const auto& [key, into] : {std::pair("absolute_error", &check.absolute_error),
                                  std::pair("relative_error", &check.relative_error)}) {
    const auto found = reply.find(key);
    if (found != reply.end() && found->is_number() && std::isfinite(found->get<double>()))
      *into = found->get<double>();
  }
  return check;
}

Result<ModuleRan> try_ran(const ModuleJson& reply, std::size_t calls, bool layout) {
  ModuleRan ran;
  const auto places = reply.find("places");
  if (places == reply.end() || !places->is_array() || places->size() != calls)
    return unreadable("says of " + std::to_string(calls) + " calls not where their outputs are", reply);
  for (const ModuleJson& one : *places) {
    if (!one.is_array() || one.size() > most_tensors) return unreadable("says not where outputs are", reply);
    for (const ModuleJson& place : one)
      if (!place.is_number_unsigned() && !place.is_object())
        return unreadable("says not where outputs are", reply);
    ran.places.push_back(one);
  }
  if (!layout) return ran;
  auto specs = tensors_of(reply, "layout", true);
  const auto result = reply.find("result");
  if (!specs || result == reply.end() || !result->is_object())
    return unreadable("does not say what its outputs are", reply);
  ran.layout = *std::move(specs);
  ran.result = *result;
  return ran;
}

std::string other_structure(const ModuleShape& description, const ModuleRan& ran) {
  if (ran.layout.size() != description.outputs.size())
    return "it gives " + std::to_string(ran.layout.size()) + " tensors, the reference " +
           std::to_string(description.outputs.size());
  if (ran.result != description.result)
    return "what it gives is put together in another way: " + shown_module(module_line(ran.result)) +
           " instead of " + shown_module(module_line(description.result));
  for (std::size_t i = 0; i < ran.layout.size(); ++i) {
    const TensorSpec &given = ran.layout[i], &wanted = description.outputs[i];
    if (given.type != wanted.type || given.shape != wanted.shape)
      return "output " + std::to_string(i) + " is " + shape_text(given) + ", expected " + shape_text(wanted);
  }
  return {};
}

ModuleJson describe_module(const Problem& problem, std::uint64_t seed) {
  ModuleJson tolerances = ModuleJson::object();
  for (int i = 0; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    const Tolerance tolerance = problem.tolerance_of(type);
    tolerances[std::string(to_string(type))] = {tolerance.absolute, tolerance.relative};
  }
  ModuleJson shapes = ModuleJson::array();
  for (const Shape& shape : problem.shapes) {
    ModuleJson variables = ModuleJson::object();
    for (const NamedValue& variable : shape.variables)
      std::visit([&](const auto& value) { variables[variable.first] = value; }, variable.second);
    shapes.push_back({{"name", shape.name}, {"variables", std::move(variables)}});
  }
  return {{"type", "describe"},
          {"protocol", module_protocol_version},
          {"kernelsearch", KERNELSEARCH_VERSION},
          {"module", problem.reference.source},
          {"class", problem.reference.function},
          {"flags", problem.reference.flags},
          {"shapes", std::move(shapes)},
          {"tolerances", std::move(tolerances)},
          {"threads", problem.threads},
          {"seed", seed}};
}

}  // namespace kernelsearch::external
