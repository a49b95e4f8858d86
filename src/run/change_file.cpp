// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/change_file.hpp"

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include "kernelsearch/agents/quoted_text.hpp"

namespace kernelsearch {
namespace {

/// A text cut at a line, with a note where something is missing.
std::string cut_at_line(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::string note = "... (cut)\n";
  const std::size_t end = text.rfind('\n', limit - note.size() - 1);
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text + note;
}

Redactor environment_keys() {
  Redactor redactor;
  redactor.add_environment();
  return redactor;
}

}  // namespace

RememberedChange without_secrets(RememberedChange change, const Redactor& redactor) {
  const auto clean = [&redactor](std::string& text, std::size_t limit) {
    text = redactor(clean_text(text));
    if (text.size() <= limit) return;
    if (text.find('\n') != std::string::npos)
      text = cut_at_line(std::move(text), limit);
    else
      text = clean_text(text.substr(0, limit - 9));  // each byte of half a character may become three
  };
  for (std::string* text : {&change.at, &change.problem, &change.problem_digest, &change.backend,
                            &change.device, &change.system, &change.prompt, &change.prompt_version,
                            &change.model, &change.limiter, &change.parent_kernel, &change.kernel})
    clean(*text, ChangeLimits::name);
  for (std::vector<std::string>* names : {&change.traits, &change.strategies}) {
    if (names->size() > ChangeLimits::names) names->resize(ChangeLimits::names);
    for (std::string& name : *names) clean(name, ChangeLimits::name);
  }
  clean(change.toolchain, ChangeLimits::reason);
  clean(change.settings, ChangeLimits::reason);
  clean(change.reason, ChangeLimits::reason);
  clean(change.diff, ChangeLimits::diff);
  return change;
}

std::size_t export_changes(const RunStore& store, const ChangeFilter& filter, std::ostream& out) {
  const Redactor redactor = environment_keys();
  std::vector<StoredChange> changes = store.changes(filter);
  std::reverse(changes.begin(), changes.end());
  for (StoredChange& one : changes)
    out << change_text(without_secrets(std::move(one.change), redactor)) << '\n';
  return changes.size();
}

ImportedChanges import_changes(RunStore& store, std::istream& in, const std::string& name) {
  const Redactor redactor = environment_keys();
  std::vector<RememberedChange> changes = read_changes(in, name);
  for (RememberedChange& change : changes) change = without_secrets(std::move(change), redactor);
  return {changes.size(), store.import_changes(changes)};
}

}  // namespace kernelsearch
