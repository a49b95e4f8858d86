// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_registry.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "feature_names.hpp"
#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {
namespace {

using detail::JsonCursor;

constexpr std::size_t longest_description = 4000;
constexpr std::int64_t largest_priority = 1000;

/// A method with where it stands.
struct ReadMethod {
  Method method;
  std::string place;  ///< `FILE:LINE`
  bool of_user = false;
};

struct ReadFile {
  std::vector<std::string> backends;
  std::vector<ReadMethod> methods;
};

std::string text_of(const JsonCursor& place, std::string_view todo) {
  const std::string& text = place.string(todo);
  if (text.empty()) place.refuse("is empty", todo);
  if (text.size() > longest_description)
    place.refuse("is too long", std::to_string(text.size()) + " characters", "use at most 4000 characters");
  return text;
}

Axis read_id(const JsonCursor& place, Method& method) {
  constexpr const char* todo =
      "write AXIS.NAME with an axis of compute, memory, latency and a name of "
      "lower-case letters, digits and underscores";
  method.id = place.string(todo);
  const std::string_view id = method.id;
  for (const Axis axis : all_axes) {
    const std::string prefix = std::string(to_string(axis)) + ".";
    if (id.substr(0, prefix.size()) != prefix) continue;
    method.name = id.substr(prefix.size());
    if (!detail::is_lower_name(method.name)) break;
    return axis;
  }
  place.refuse("is not an id of a method", todo);
}

void check_feature(const JsonCursor& place, const std::string& name, std::span<const std::string> own) {
  if (detail::is_feature_name(name, own)) return;
  const std::string near = detail::nearest_feature_name(name, own);
  place.refuse("reads an unknown feature", name,
               near.empty() ? "list it under \"features\" if a step of yours gives it"
                            : "did you mean \"" + near + "\"?");
}

Expression read_condition(const JsonCursor& place, std::span<const std::string> own) {
  std::string error;
  auto expression = Expression::try_parse(place.string("an expression over features"), error);
  if (!expression) place.refuse("is not an expression", error, "write e.g. \"stall_barrier > 30\"");
  for (const std::string& name : expression->names()) check_feature(place, name, own);
  return std::move(*expression);
}

std::vector<std::string> read_words(const JsonCursor& place, std::string_view todo) {
  std::vector<std::string> words;
  for (const JsonCursor& item : place.items(todo)) {
    const std::string& word = item.string(todo);
    if (word.empty()) item.refuse("is empty", todo);
    if (std::find(words.begin(), words.end(), word) != words.end())
      item.refuse("stands before already", "list each once");
    words.push_back(word);
  }
  return words;
}

std::vector<CodeChange> read_changes(const JsonCursor& place, std::span<const std::string> own) {
  constexpr const char* todo =
      "write {\"more\": FEATURE} or {\"fewer\": FEATURE}, of what varies by itself with \"by\": NUMBER";
  std::vector<CodeChange> changes;
  for (const JsonCursor& item : place.items(todo)) {
    (void)item.members(todo);
    item.only({"more", "fewer", "by"});
    const auto more = item.find("more"), fewer = item.find("fewer");
    if (more.has_value() == fewer.has_value()) item.refuse("is not a change of machine code", todo);
    const JsonCursor& feature = more ? *more : *fewer;
    changes.push_back({feature.string(todo), fewer.has_value()});
    if (const auto by = item.find("by")) {
      changes.back().by = by->number("the least change that counts, e.g. 5");
      if (!(changes.back().by > 0)) by->refuse("is not a change", "give a number over 0, or leave it out");
    }
    check_feature(feature, changes.back().feature, own);
  }
  return changes;
}

Method read_method(const JsonCursor& place, std::span<const std::string> own) {
  constexpr const char* todo = "write {\"id\": ..., \"priority\": ..., \"description\": ...}";
  (void)place.members(todo);
  place.only({"id", "name", "priority", "description", "architecture", "needs", "trigger", "trigger_words",
              "skip", "skip_words", "strength", "coupled", "excludes", "signature", "no_trace"});
  Method method;
  method.axis = read_id(place.at("id", todo), method);
  if (const auto name = place.find("name")) method.name = text_of(*name, "a name for people");
  const JsonCursor priority = place.at("priority", todo);
  const std::int64_t rank = priority.integer("the place on its axis, 1 first");
  if (rank < 1 || rank > largest_priority)
    priority.refuse("is not a number from 1 to 1000", "give the place on its axis, 1 first");
  method.priority = static_cast<std::size_t>(rank);
  method.description = text_of(place.at("description", todo), "say what to do, in words");
  if (const auto architecture = place.find("architecture")) {
    const std::int64_t least = architecture->integer("the least compute capability, e.g. 90");
    if (least < 0 || least > 10000)
      architecture->refuse("is not a compute capability", "write e.g. 90 for sm_90, or 0 for any");
    method.architecture = static_cast<unsigned>(least);
  }
  if (const auto needs = place.find("needs"))
    method.needs = read_words(*needs, "list features of the device, e.g. [\"tma\"]");
  if (const auto words = place.find("trigger_words"))
    method.trigger_words = text_of(*words, "say what asks for it");
  if (const auto trigger = place.find("trigger")) {
    method.trigger = read_condition(*trigger, own);
    if (method.trigger_words.empty())
      trigger->refuse("is a condition without words", "say under \"trigger_words\" what it means");
  }
  if (const auto words = place.find("skip_words"))
    method.skip_words = text_of(*words, "say why it is not worth trying then");
  if (const auto skip = place.find("skip")) {
    method.skip = read_condition(*skip, own);
    if (method.skip_words.empty())
      skip->refuse("is a condition without words", "say under \"skip_words\" what it means");
  }
  if (const auto strength = place.find("strength")) method.strength = read_condition(*strength, own);
  if (const auto coupled = place.find("coupled"))
    method.coupled = read_words(*coupled, "list ids of methods that are one with it");
  if (const auto excludes = place.find("excludes"))
    method.excludes = read_words(*excludes, "list ids of methods that it cannot be combined with");
  if (const auto signature = place.find("signature")) {
    (void)signature->members("write {\"any\": [...], \"all\": [...]}");
    signature->only({"any", "all"});
    if (const auto any = signature->find("any")) method.signature.any = read_changes(*any, own);
    if (const auto all = signature->find("all")) method.signature.all = read_changes(*all, own);
    if (method.signature.empty())
      signature->refuse("is empty", "leave it out where machine code shows nothing");
  }
  if (const auto no_trace = place.find("no_trace")) {
    method.no_trace = text_of(*no_trace, "say why nothing shows that the method was applied");
    if (!method.signature.empty())
      no_trace->refuse("is given along with a signature", "keep the one that is true");
  }
  return method;
}

ReadFile read_file(std::string_view text, const std::string& file) {
  const detail::JsonNode document = detail::parse_json(text, file);
  const JsonCursor root(document, file);
  constexpr const char* todo =
      "write {\"schema\": 1, \"name\": ..., \"backends\": [...], \"methods\": [...]}";
  (void)root.members(todo);
  root.only({"schema", "name", "description", "backends", "features", "methods"});
  if (const auto schema = root.at("schema", todo); schema.integer("the schema is 1") != 1)
    schema.refuse("is a schema that this version does not know", "it knows schema 1");
  (void)root.at("name", todo).string("name the set");
  if (const auto description = root.find("description")) (void)description->string("say what the set is");
  ReadFile read;
  for (const auto& item : root.at("backends", todo).items("list backends, e.g. [\"cuda\"]")) {
    (void)item.choice<Backend>("backend");
    read.backends.push_back(item.node().string);
  }
  std::vector<std::string> own;
  if (const auto features = root.find("features"))
    own = read_words(*features, "list features that a step of yours gives");
  for (const auto& item : root.at("methods", todo).items("list methods")) {
    ReadMethod one{read_method(item, own), file + ":" + std::to_string(item.node().line), false};
    for (const ReadMethod& other : read.methods) {
      if (other.method.id == one.method.id)
        item.refuse("has an id that stands above already", one.method.id, "give each its own");
      if (other.method.axis == one.method.axis && other.method.priority == one.method.priority)
        item.refuse("has the priority of " + other.method.id, std::to_string(one.method.priority),
                    "give each method of an axis its own");
    }
    read.methods.push_back(std::move(one));
  }
  if (read.methods.empty()) root.at("methods", todo).refuse("is an empty list", "list at least one method");
  return read;
}

[[noreturn]] void refuse(const ReadMethod& one, const std::string& what, const std::string& todo) {
  detail::raise<ConfigError>(one.place + ": method " + one.method.id, what, todo);
}

/// Ids that others are coupled with or exclude exist and say the same of them.
void check_mutual(const std::vector<ReadMethod>& all, const ReadMethod& one,
                  std::vector<std::string> Method::*list, const std::string& what) {
  for (const std::string& id : one.method.*list) {
    if (id == one.method.id) refuse(one, "is " + what + " itself", "name other methods");
    const auto other =
        std::find_if(all.begin(), all.end(), [&](const ReadMethod& m) { return m.method.id == id; });
    if (other == all.end()) refuse(one, "is " + what + " " + id + ", which does not exist", "correct the id");
    const auto& back = other->method.*list;
    if (std::find(back.begin(), back.end(), one.method.id) == back.end())
      refuse(one, "is " + what + " " + id + ", which does not say so of it", "name it there as well");
  }
}

void check_together(const std::vector<ReadMethod>& all) {
  for (const ReadMethod& one : all) {
    for (const ReadMethod& other : all)
      if (&other != &one && other.method.axis == one.method.axis &&
          other.method.priority == one.method.priority && (one.of_user || !other.of_user))
        refuse(one, "has the priority " + std::to_string(one.method.priority) + " of " + other.method.id,
               "give each method of an axis its own");
    check_mutual(all, one, &Method::coupled, "coupled with");
    check_mutual(all, one, &Method::excludes, "exclusive with");
  }
}

std::vector<Method> methods_of(std::vector<ReadMethod> all) {
  std::stable_sort(all.begin(), all.end(), [](const ReadMethod& a, const ReadMethod& b) {
    return a.method.axis != b.method.axis ? a.method.axis < b.method.axis
                                          : a.method.priority < b.method.priority;
  });
  std::vector<Method> methods;
  for (ReadMethod& one : all) methods.push_back(std::move(one.method));
  return methods;
}

}  // namespace

std::vector<Method> parse_methods(std::string_view text, const std::string& file) {
  std::vector<Method> methods;
  for (ReadMethod& one : read_file(text, file).methods) methods.push_back(std::move(one.method));
  return methods;
}

std::vector<Method> read_methods(std::string_view backend, const std::filesystem::path& user) {
  std::vector<ReadFile> files;
  for (const DataFile& file : data_files("methods", user)) {
    if (!file.name.ends_with(".json")) continue;
    files.push_back(read_file(file.text, file.path.empty() ? "methods/" + file.name : file.path.string()));
    for (ReadMethod& one : files.back().methods) one.of_user = !file.path.empty();
  }
  const auto of_backend = [&](std::string_view wanted) {
    std::vector<ReadMethod> all;
    for (const ReadFile& file : files) {
      if (std::find(file.backends.begin(), file.backends.end(), wanted) == file.backends.end()) continue;
      for (const ReadMethod& one : file.methods) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const ReadMethod& other) {
          return other.method.id == one.method.id;
        });
        if (same == all.end())
          all.push_back(one);
        else if (same->of_user == one.of_user)
          refuse(one, "is already in " + same->place, "give each its own id");
        else if (one.of_user)
          *same = one;
      }
    }
    check_together(all);
    return all;
  };
  if (!backend.empty()) return methods_of(of_backend(backend));
  std::vector<Method> every;
  for (const BackendTraits& one : backend_traits) (void)of_backend(one.name);
  for (const ReadFile& file : files) {
    std::vector<Method> methods = methods_of(file.methods);
    std::move(methods.begin(), methods.end(), std::back_inserter(every));
  }
  return every;
}

}  // namespace kernelsearch
