// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernelsearch/agents/checkpoint_tree.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/json_cursor.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;
using detail::JsonCursor;

/// Code as a list of lines, which people can read and edit; it reads back the same.
Json lines_of(const std::string& text) {
  Json lines = Json::array();
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin < text.size()) return text;  // no newline at its end: as it is
  return lines;
}

std::string read_lines(const JsonCursor& place) {
  constexpr const char* form = "write a string or a list of lines";
  if (place.kind() == detail::JsonNode::Kind::string) return place.node().string;
  std::string text;
  for (const JsonCursor& line : place.items(form)) (text += line.string(form)) += '\n';
  return text;
}

std::string string_at(const JsonCursor& object, std::string_view key) {
  const auto place = object.find(key);
  return place ? place->string("write a string") : std::string();
}

Checkpoint read_checkpoint(const JsonCursor& place) {
  place.only(
      {"name", "parent", "trial", "transformation", "objective", "tuned_key", "note", "closed", "code"});
  Checkpoint checkpoint;
  checkpoint.name = place.at("name", "name it").string("write a string");
  checkpoint.parent = string_at(place, "parent");
  const JsonCursor trial = place.at("trial", "give the number of its trial");
  const std::int64_t id = trial.integer("give the number of its trial");
  if (id < 0) trial.refuse("is negative", "trials are counted from 0");
  checkpoint.trial = TrialId{static_cast<std::uint64_t>(id)};
  checkpoint.transformation = string_at(place, "transformation");
  if (const auto objective = place.find("objective"))
    checkpoint.objective = objective->number("write a number");
  checkpoint.tuned_key = string_at(place, "tuned_key");
  checkpoint.note = string_at(place, "note");
  if (const auto closed = place.find("closed")) checkpoint.closed = closed->boolean();
  if (const auto code = place.find("code")) {
    code->only({"device", "host", "macros"});
    for (const KernelRegion region : kernel_regions)
      if (const auto text = code->find(to_string(region)))
        text_of(checkpoint.regions, region) = read_lines(*text);
  }
  return checkpoint;
}

}  // namespace

std::string CheckpointTree::to_json() const {
  Json checkpoints = Json::array();
  for (const Checkpoint& checkpoint : checkpoints_) {
    Json entry{{"name", checkpoint.name}};
    if (!checkpoint.parent.empty()) entry["parent"] = checkpoint.parent;
    entry["trial"] = number(checkpoint.trial);
    if (!checkpoint.transformation.empty()) entry["transformation"] = checkpoint.transformation;
    if (std::isfinite(checkpoint.objective)) entry["objective"] = checkpoint.objective;
    if (!checkpoint.tuned_key.empty()) entry["tuned_key"] = checkpoint.tuned_key;
    if (!checkpoint.note.empty()) entry["note"] = checkpoint.note;
    if (checkpoint.closed) entry["closed"] = true;
    for (const KernelRegion region : kernel_regions)
      if (const std::string& code = text_of(checkpoint.regions, region); !code.empty())
        entry["code"][std::string(to_string(region))] = lines_of(code);
    checkpoints.push_back(std::move(entry));
  }
  Json branches = Json::object();
  for (const Branch& branch : branches_) branches[branch.name] = branch.tip;
  const Json document{{"schema", 1},
                      {"active", active_},
                      {"branches", std::move(branches)},
                      {"checkpoints", std::move(checkpoints)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

CheckpointTree CheckpointTree::from_json(std::string_view json, const std::string& source) {
  const detail::JsonNode root = detail::parse_json(json, source);
  const JsonCursor document(root, source);
  document.only({"schema", "active", "branches", "checkpoints"});
  const JsonCursor schema = document.at("schema", "write \"schema\": 1");
  if (schema.integer("write 1") != 1) schema.refuse("is a version that is not known", "write 1");
  CheckpointTree tree;
  for (const JsonCursor& place : document.at("checkpoints", "list them").items("list checkpoints")) {
    Checkpoint checkpoint = read_checkpoint(place);
    if (tree.find(checkpoint.name) != nullptr)
      place.refuse("has the name of another checkpoint", checkpoint.name, "name each once");
    if (!checkpoint.parent.empty() && tree.find(checkpoint.parent) == nullptr)
      place.refuse("has a parent that does not stand before it", checkpoint.parent, "list parents first");
    try {
      tree.add(std::move(checkpoint));
    } catch (const ConfigError& error) {
      place.refuse("does not fit", error.what(), "correct it");
    }
  }
  tree.branches_.clear();
  for (const auto& [name, member] :
       document.at("branches", "write {\"main\": \"NAME\"}").members("write {\"BRANCH\": \"CHECKPOINT\"}")) {
    const std::string& tip = member.string("write the name of a checkpoint");
    if (!tip.empty() && tree.find(tip) == nullptr)
      member.refuse("names no checkpoint", "write the name of one, or nothing");
    tree.branches_.push_back({name, tip});
  }
  const JsonCursor active = document.at("active", "name a branch");
  tree.active_ = active.string("name a branch");
  if (tree.find_branch(tree.active_) == nullptr) active.refuse("names no branch", "name one of the branches");
  return tree;
}

void CheckpointTree::save(const std::filesystem::path& file) const {
  if (const std::error_code error = detail::replace_file(file, to_json()))
    detail::raise<ConfigError>("checkpoints cannot be written", file.string() + ": " + error.message(),
                               "check folder and disk");
}

CheckpointTree CheckpointTree::load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    detail::raise<ConfigError>("checkpoints cannot be read", file.string(), "name a file that save() wrote");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return from_json(text, file.string());
}

}  // namespace kernelsearch
