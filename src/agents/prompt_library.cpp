// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/prompt_library.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch {
namespace {

void check_replacement(const PromptTemplate& mine, const PromptTemplate& theirs) {
  for (const std::string& name : theirs.names())
    if (std::find(mine.names().begin(), mine.names().end(), name) == mine.names().end()) {
      const std::string nearest = nearest_name(name, mine.names());
      std::string all;
      for (const std::string& one : mine.names()) (all += all.empty() ? "" : ", ") += one;
      detail::raise<ConfigError>("the replacement of prompt " + mine.name() + " uses an unknown name", name,
                                 (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "known: " + all);
    }
  for (const std::string& name : mine.required())
    if (std::find(theirs.names().begin(), theirs.names().end(), name) == theirs.names().end())
      detail::raise<ConfigError>("the replacement of prompt " + mine.name() + " lacks a name", name,
                                 "write {{" + name + "}} where it belongs");
}

}  // namespace

PromptLibrary::PromptLibrary(const std::filesystem::path& user) {
  const auto parse = [](const DataFile& file) {
    return PromptTemplate::parse(file.text, std::filesystem::path(file.name).stem().string());
  };
  std::vector<PromptTemplate> templates;
  std::vector<PromptTemplate> compiled_in;
  for (const DataFile& file : data_files("prompts"))
    if (file.name.ends_with(".md")) compiled_in.push_back(parse(file));
  for (const DataFile& file : data_files("prompts", user)) {
    if (!file.name.ends_with(".md")) continue;
    PromptTemplate one = parse(file);
    if (!file.path.empty())
      for (const PromptTemplate& mine : compiled_in)
        if (mine.name() == one.name()) check_replacement(mine, one);
    templates.push_back(std::move(one));
  }
  templates_ = std::make_shared<const std::vector<PromptTemplate>>(std::move(templates));
}

bool PromptLibrary::contains(std::string_view name) const {
  return std::any_of(templates_->begin(), templates_->end(),
                     [&](const PromptTemplate& one) { return one.name() == name; });
}

const PromptTemplate& PromptLibrary::find(std::string_view name) const {
  for (const PromptTemplate& one : *templates_)
    if (one.name() == name) return one;
  const std::vector<std::string> known = names();
  const std::string nearest = nearest_name(name, known);
  std::string all;
  for (const std::string& one : known) (all += all.empty() ? "" : ", ") += one;
  detail::raise<ConfigError>("there is no such prompt", name,
                             (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "known: " + all);
}

std::vector<std::string> PromptLibrary::names() const {
  std::vector<std::string> result;
  for (const PromptTemplate& one : *templates_) result.push_back(one.name());
  return result;
}

std::string PromptLibrary::hash() const {
  std::string all;
  for (const PromptTemplate& one : *templates_) all += one.name() + ' ' + one.hash() + '\n';
  return sha256(all);
}

}  // namespace kernelsearch
