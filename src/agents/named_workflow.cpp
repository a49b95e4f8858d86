// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/named_workflow.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "problem/json_cursor.hpp"
#include "problem/problem_parts.hpp"

namespace kernelsearch {
namespace {

using detail::JsonCursor;

constexpr const char* list_form = "write a list of names";

std::vector<std::string> name_list(const std::optional<JsonCursor>& place) {
  std::vector<std::string> names;
  if (!place) return names;
  for (const JsonCursor& item : place->items(list_form)) {
    const std::string& name = item.string(list_form);
    if (!detail::is_name(name)) item.refuse("is not a name", "use letters, digits and _");
    if (std::find(names.begin(), names.end(), name) != names.end())
      item.refuse("is there twice", "name each once");
    names.push_back(name);
  }
  return names;
}

bool listed_in(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the problem has the trait; nothing where that is not known.
std::optional<bool> has_trait(const WorkflowSubject& subject, const std::string& trait) {
  const auto value = subject.traits.find("trait." + trait);
  return value ? std::optional(*value != 0) : std::nullopt;
}

/// A trait that is asked for and that the problem is not known to have, or with `only_absent` is known not to
/// have; empty: there is none.
std::string lacking(const WorkflowSubject& subject, const std::vector<std::string>& traits,
                    bool only_absent) {
  for (const std::string& trait : traits) {
    const std::optional<bool> has = has_trait(subject, trait);
    if (!has.value_or(only_absent)) return trait;
  }
  return {};
}

/// Those that it builds on and that there are for the backend: what a HIP kernel has instead of a CUDA one's
/// step may stand next to it.
std::vector<std::string> builds_on(const Transformation& transformation, const TransformationLibrary& library,
                                   const WorkflowSubject& subject) {
  std::vector<std::string> names;
  for (const std::string& name : transformation.after)
    if (const Transformation* before = library.find(name);
        before != nullptr && before->applies_to(subject.backend))
      names.push_back(name);
  return names;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

[[noreturn]] void refuse_trait(const std::string& what, const std::string& who, const std::string& trait) {
  detail::raise<ConfigError>(what + " is for problems with the trait " + trait, who,
                             "leave it out, or list the trait in problem.json where the problem has it");
}

/// ConfigError where the list cannot be followed on the subject.
void check_list(const std::vector<std::string>& names, const TransformationLibrary& library,
                const WorkflowSubject& subject) {
  std::vector<std::string> done = subject.present;
  for (const std::string& name : names) {
    const Transformation& transformation = library.at(name);
    if (!transformation.applies_to(subject.backend))
      detail::raise<ConfigError>(
          "the transformation " + name + " is for other backends than " + subject.backend,
          joined_names(transformation.backends),
          "take one for " + subject.backend + "; `kernelsearch list transformations --backend " +
              subject.backend + "` names them");
    if (const std::string trait = lacking(subject, traits_of(transformation), true); !trait.empty())
      refuse_trait("the transformation " + name, name, trait);
    for (const std::string& before : builds_on(transformation, library, subject))
      if (!listed_in(done, before))
        detail::raise<ConfigError>("the workflow has " + name + " before " + before + ", which it builds on",
                                   joined_names(names),
                                   "put " + before +
                                       " before it, or say in the option present that the kernel "
                                       "has it already");
    done.push_back(name);
  }
}

/// `name` behind all that it builds on, each once, those that `order` has already left out.
void append_with_base(const std::string& name, const std::map<std::string, std::vector<std::string>>& after,
                      std::vector<std::string>& order, std::set<std::string>& seen) {
  if (!seen.insert(name).second) return;
  if (const auto found = after.find(name); found != after.end())
    for (const std::string& before : found->second) append_with_base(before, after, order, seen);
  order.push_back(name);
}

/// The transformations of `offered` as the workflow ranks them.
std::vector<std::string> ranked(const std::vector<std::string>& offered,
                                const std::vector<std::string>& first,
                                const std::map<std::string, std::vector<std::string>>& after) {
  std::vector<std::string> order;
  std::set<std::string> seen;
  for (const std::string& name : offered)  // nobody ranked it: a user's own, made for this
    if (!listed_in(first, name)) append_with_base(name, after, order, seen);
  for (const std::string& name : first)
    if (listed_in(offered, name)) append_with_base(name, after, order, seen);
  std::erase_if(order, [&](const std::string& name) { return !listed_in(offered, name); });
  return order;
}

/// The open workflow for kernels that are short of this; null where none fits.
const NamedWorkflow* order_for(Axis axis, std::span<const NamedWorkflow> workflows,
                               const WorkflowSubject& subject) {
  const NamedWorkflow* found = nullptr;
  for (const NamedWorkflow& one : workflows) {
    if (one.short_of != axis || !lacking(subject, one.traits, false).empty()) continue;
    if (!one.backends.empty() && !listed_in(one.backends, subject.backend)) continue;
    if (found == nullptr || one.traits.size() > found->traits.size()) found = &one;
  }
  return found;
}

std::string read_whole(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    detail::raise<ConfigError>("the workflow cannot be read", file,
                               "name a file, or a workflow of `kernelsearch list workflows`");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

NamedWorkflow parse_workflow(std::string_view json, const std::string& file) {
  const detail::JsonNode root = detail::parse_json(json, file);
  const JsonCursor document(root, file);
  (void)document.members("write an object");
  document.only({"schema", "name", "description", "source", "order", "backends", "traits", "short_of",
                 "transformations"});
  const JsonCursor schema = document.at("schema", "write \"schema\": 1");
  if (schema.integer("write 1") != 1) schema.refuse("is a version that is not known", "write 1");
  NamedWorkflow workflow;
  const JsonCursor name = document.at("name", "name it, e.g. \"a6000_fp32\"");
  workflow.name = name.string("write a string");
  if (!detail::is_name(workflow.name)) name.refuse("is not a name", "use letters, digits and _");
  if (const auto text = document.find("description")) workflow.description = text->string("write a string");
  if (const auto source = document.find("source")) workflow.source = source->string("write a string");
  if (const auto order = document.find("order")) workflow.order = order->choice<WorkflowOrder>("order");
  workflow.backends = name_list(document.find("backends"));
  workflow.traits = name_list(document.find("traits"));
  if (const auto short_of = document.find("short_of")) {
    if (workflow.order != WorkflowOrder::open)
      short_of->refuse("belongs to an open workflow", "write \"order\": \"open\", or leave it out");
    workflow.short_of = short_of->choice<Axis>("axis");
  }
  const JsonCursor transformations = document.at("transformations", "list them in their order");
  workflow.transformations = name_list(transformations);
  if (workflow.transformations.empty()) transformations.refuse("has no transformation", "list at least one");
  return workflow;
}

std::vector<NamedWorkflow> read_workflows(const std::filesystem::path& user) {
  std::vector<NamedWorkflow> workflows;
  for (const DataFile& file : data_files("workflows", user)) {
    const std::string shown = file.path.empty() ? file.folder + '/' + file.name : file.path.string();
    workflows.push_back(parse_workflow(file.text, shown));
  }
  std::sort(workflows.begin(), workflows.end(),
            [](const NamedWorkflow& a, const NamedWorkflow& b) { return a.name < b.name; });
  return workflows;
}

NamedWorkflow find_workflow(const std::string& name_or_file, const std::filesystem::path& user) {
  if (name_or_file.ends_with(".json") || name_or_file.find('/') != std::string::npos)
    return parse_workflow(read_whole(name_or_file), name_or_file);
  std::vector<std::string> known;
  for (NamedWorkflow& one : read_workflows(user)) {
    if (one.name == name_or_file) return std::move(one);
    known.push_back(one.name);
  }
  const std::string nearest = nearest_name(name_or_file, known);
  detail::raise<ConfigError>("there is no such workflow", name_or_file,
                             nearest.empty()
                                 ? "list them with: kernelsearch list workflows; a file's name ends "
                                   "in .json"
                                 : "did you mean " + nearest + "?");
}

WorkflowOptions planned_workflow(WorkflowOptions options, const TransformationLibrary& library,
                                 const WorkflowSubject& subject, std::span<const NamedWorkflow> workflows,
                                 const NamedWorkflow* named) {
  for (const std::string& name : subject.present) (void)library.at(name);
  options.present = subject.present;
  bool given = !options.transformations.empty();
  if (named != nullptr) {
    if (!named->backends.empty() && !listed_in(named->backends, subject.backend))
      detail::raise<ConfigError>(
          "the workflow " + named->name + " is for other backends than " + subject.backend,
          joined_names(named->backends), "name another one: `kernelsearch list workflows`");
    if (const std::string trait = lacking(subject, named->traits, true); !trait.empty())
      refuse_trait("the workflow " + named->name, named->name, trait);
    options.transformations = named->transformations;
    options.order = named->order;
    given = true;
    if (named->order == WorkflowOrder::open)
      std::erase_if(options.transformations, [&](const std::string& name) {
        const Transformation& transformation = library.at(name);
        return !transformation.applies_to(subject.backend) ||
               !lacking(subject, traits_of(transformation), true).empty();
      });
  }
  if (given && options.order == WorkflowOrder::listed) check_list(options.transformations, library, subject);
  if (!given) {
    options.order = WorkflowOrder::open;
    for (const Transformation& one : library.transformations())
      if (one.applies_to(subject.backend) && lacking(subject, traits_of(one), false).empty())
        options.transformations.push_back(one.name);
  }
  options.after.clear();
  for (const std::string& name : options.transformations)
    if (std::vector<std::string> before = builds_on(library.at(name), library, subject); !before.empty())
      options.after.emplace(name, std::move(before));
  if (options.order == WorkflowOrder::listed) return options;
  for (const Axis axis : all_axes) {
    const NamedWorkflow* order = given ? named : order_for(axis, workflows, subject);
    options.orders[static_cast<std::size_t>(axis)] =
        ranked(options.transformations, order != nullptr ? order->transformations : options.transformations,
               options.after);
  }
  // Where no axis decides (retries go by thirds of the list), it is not the alphabet that does.
  options.transformations = options.orders[static_cast<std::size_t>(Axis::memory)];
  return options;
}

std::string workflow_plan_text(const WorkflowOptions& options) {
  nlohmann::ordered_json orders = nlohmann::ordered_json::object();
  for (const Axis axis : all_axes)
    if (const auto& order = options.orders[static_cast<std::size_t>(axis)]; !order.empty())
      orders[std::string(to_string(axis))] = order;
  nlohmann::ordered_json plan{{"order", to_string(options.order)},
                              {"transformations", options.transformations},
                              {"after", options.after},
                              {"present", options.present},
                              {"orders", std::move(orders)}};
  return plan.dump();
}

WorkflowOptions with_workflow_plan(WorkflowOptions options, std::string_view text) {
  try {
    const auto plan = nlohmann::json::parse(text);
    options.order = plan.at("order") == "listed" ? WorkflowOrder::listed : WorkflowOrder::open;
    options.transformations = plan.at("transformations").get<std::vector<std::string>>();
    options.after = plan.at("after").get<std::map<std::string, std::vector<std::string>>>();
    options.present = plan.at("present").get<std::vector<std::string>>();
    for (const Axis axis : all_axes) {
      const auto found = plan.at("orders").find(to_string(axis));
      options.orders[static_cast<std::size_t>(axis)] = found == plan.at("orders").end()
                                                           ? std::vector<std::string>()
                                                           : found->get<std::vector<std::string>>();
    }
  } catch (const nlohmann::json::exception& error) {
    detail::raise<ConfigError>("a workflow's plan cannot be read", error.what(),
                               "the store is damaged: start a new run");
  }
  return options;
}

}  // namespace kernelsearch
