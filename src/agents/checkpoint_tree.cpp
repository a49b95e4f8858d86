// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/checkpoint_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/line_diff.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {
namespace {

void check_name(std::string_view what, const std::string& name) {
  const bool fine = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > 32 && c != 127;
  });
  if (!fine)
    detail::raise<ConfigError>(what, '"' + name + '"', "give a name without blanks and control characters");
}

/// The code of all regions, each under its name.
std::string whole_text(const Regions& regions) {
  std::string text;
  for (const KernelRegion region : regions_in_code)
    if (const std::string& code = text_of(regions, region); !code.empty())
      text += fmt::format("== {}\n{}{}", to_string(region), code, code.back() == '\n' ? "" : "\n");
  return text;
}

}  // namespace

std::size_t CheckpointTree::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < checkpoints_.size(); ++i)
    if (checkpoints_[i].name == name) return i;
  std::vector<std::string> known;
  for (const Checkpoint& checkpoint : checkpoints_) known.push_back(checkpoint.name);
  const std::string nearest = nearest_name(name, known);
  detail::raise<ConfigError>(
      "there is no such checkpoint", name,
      nearest.empty() ? "list the checkpoints for their names" : "did you mean " + nearest + "?");
}

CheckpointTree::Branch* CheckpointTree::find_branch(std::string_view name) noexcept {
  const auto found = std::find_if(branches_.begin(), branches_.end(),
                                  [&](const Branch& branch) { return branch.name == name; });
  return found == branches_.end() ? nullptr : &*found;
}

std::string CheckpointTree::add(Checkpoint checkpoint) {
  check_name("a checkpoint has no usable name", checkpoint.name);
  if (!checkpoint.parent.empty()) (void)index_of(checkpoint.parent);
  const std::string wish = checkpoint.name;
  for (std::size_t number = 2; find(checkpoint.name) != nullptr; ++number)
    checkpoint.name = wish + '-' + std::to_string(number);
  checkpoints_.push_back(std::move(checkpoint));
  return checkpoints_.back().name;
}

const Checkpoint* CheckpointTree::find(std::string_view name) const noexcept {
  for (const Checkpoint& checkpoint : checkpoints_)
    if (checkpoint.name == name) return &checkpoint;
  return nullptr;
}

const Checkpoint* CheckpointTree::find(TrialId trial) const noexcept {
  for (const Checkpoint& checkpoint : checkpoints_)
    if (checkpoint.trial == trial) return &checkpoint;
  return nullptr;
}

const Checkpoint& CheckpointTree::at(std::string_view name) const {
  return checkpoints_[index_of(name)];
}

void CheckpointTree::rename(std::string_view from, const std::string& to) {
  check_name("a checkpoint cannot have this name", to);
  const std::size_t index = index_of(from);
  if (checkpoints_[index].name == to) return;
  if (find(to) != nullptr)
    detail::raise<ConfigError>("a checkpoint has this name already", to, "choose another name");
  const std::string before = checkpoints_[index].name;
  checkpoints_[index].name = to;
  for (Checkpoint& checkpoint : checkpoints_)
    if (checkpoint.parent == before) checkpoint.parent = to;
  for (Branch& branch : branches_)
    if (branch.tip == before) branch.tip = to;
}

void CheckpointTree::set_note(std::string_view name, std::string note) {
  checkpoints_[index_of(name)].note = std::move(note);
}
void CheckpointTree::set_closed(std::string_view name, bool closed) {
  checkpoints_[index_of(name)].closed = closed;
}
void CheckpointTree::set_objective(std::string_view name, double objective) {
  checkpoints_[index_of(name)].objective = objective;
}
void CheckpointTree::set_code(std::string_view name, Regions regions, std::string tuned_key) {
  Checkpoint& checkpoint = checkpoints_[index_of(name)];
  checkpoint.regions = std::move(regions);
  if (!tuned_key.empty()) checkpoint.tuned_key = std::move(tuned_key);
}

const Checkpoint* CheckpointTree::current() const noexcept {
  for (const Branch& branch : branches_)
    if (branch.name == active_) return find(branch.tip);
  return nullptr;
}

void CheckpointTree::restore(std::string_view name) {
  find_branch(active_)->tip = checkpoints_[index_of(name)].name;
}

void CheckpointTree::branch(const std::string& name, std::string_view from) {
  check_name("a branch cannot have this name", name);
  if (find_branch(name) != nullptr)
    detail::raise<ConfigError>("a branch has this name already", name,
                               "switch to it, or choose another name");
  branches_.push_back({name, checkpoints_[index_of(from)].name});
  active_ = name;
}

void CheckpointTree::switch_to(std::string_view branch) {
  if (const Branch* found = find_branch(branch)) {
    active_ = found->name;
    return;
  }
  std::vector<std::string> known;
  for (const Branch& other : branches_) known.push_back(other.name);
  const std::string nearest = nearest_name(branch, known);
  detail::raise<ConfigError>("there is no such branch", branch,
                             nearest.empty() ? "make one with branch" : "did you mean " + nearest + "?");
}

std::vector<std::string> CheckpointTree::path(std::string_view name) const {
  std::vector<std::string> names;
  for (const Checkpoint* at = &this->at(name); at != nullptr; at = find(at->parent))
    names.push_back(at->name);
  std::reverse(names.begin(), names.end());
  return names;
}

std::vector<std::string> CheckpointTree::transformations_on(std::string_view name) const {
  std::vector<std::string> names;
  for (const std::string& step : path(name))
    if (const Checkpoint* checkpoint = find(step); !checkpoint->transformation.empty())
      names.push_back(checkpoint->transformation);
  return names;
}

const Checkpoint* CheckpointTree::best() const noexcept {
  const Checkpoint* best = nullptr;
  for (const Checkpoint& checkpoint : checkpoints_)
    if (!checkpoint.closed && std::isfinite(checkpoint.objective) &&
        (best == nullptr || checkpoint.objective < best->objective))
      best = &checkpoint;
  return best;
}

CheckpointComparison CheckpointTree::compare(std::string_view first, std::string_view second) const {
  const Checkpoint &a = at(first), &b = at(second);
  const std::vector<std::string> to_a = path(first), to_b = path(second);
  CheckpointComparison comparison;
  std::size_t shared = 0;
  while (shared < std::min(to_a.size(), to_b.size()) && to_a[shared] == to_b[shared]) ++shared;
  if (shared > 0) comparison.common = to_a[shared - 1];
  const auto since = [&](const std::vector<std::string>& names) {
    std::vector<std::string> steps;
    for (std::size_t i = shared; i < names.size(); ++i)
      if (const std::string& step = find(names[i])->transformation; !step.empty()) steps.push_back(step);
    return steps;
  };
  comparison.only_first = since(to_a);
  comparison.only_second = since(to_b);
  if (std::isfinite(a.objective) && std::isfinite(b.objective) && b.objective > 0)
    comparison.speedup = a.objective / b.objective;
  if (a.regions != Regions{} && b.regions != Regions{})
    comparison.diff = detail::line_diff(whole_text(a.regions), whole_text(b.regions));
  return comparison;
}

std::string CheckpointTree::describe(const std::function<std::string(double)>& shown) const {
  std::string text;
  const double first = checkpoints_.empty() ? 0.0 : checkpoints_.front().objective;
  // Depth first, children in the order in which they were added.
  std::vector<std::pair<std::string, std::size_t>> open;
  const auto push_children = [&](const std::string& parent, std::size_t depth) {
    for (std::size_t i = checkpoints_.size(); i-- > 0;)
      if (checkpoints_[i].parent == parent) open.emplace_back(checkpoints_[i].name, depth);
  };
  push_children({}, 0);
  while (!open.empty()) {
    const auto [name, depth] = open.back();
    open.pop_back();
    const Checkpoint& checkpoint = *find(name);
    text += fmt::format("{:{}}{} (trial {})", "", 2 * depth, name, number(checkpoint.trial));
    if (!checkpoint.transformation.empty() && checkpoint.transformation != name)
      text += " by " + checkpoint.transformation;
    if (std::isfinite(checkpoint.objective)) {
      text += ": " + (shown ? shown(checkpoint.objective) : fmt::format("{:.4g}", checkpoint.objective));
      if (depth > 0 && std::isfinite(first) && checkpoint.objective > 0)
        text += fmt::format(", {:.2f}x", first / checkpoint.objective);
    }
    if (!checkpoint.tuned_key.empty()) text += " at " + checkpoint.tuned_key;
    if (checkpoint.closed) text += " [closed]";
    for (const Branch& branch : branches_)
      if (branch.tip == name) text += " <- " + branch.name + (branch.name == active_ ? " (active)" : "");
    text += '\n';
    if (!checkpoint.note.empty()) text += fmt::format("{:{}}# {}\n", "", 2 * depth + 2, checkpoint.note);
    push_children(name, depth + 1);
  }
  return text;
}

}  // namespace kernelsearch
