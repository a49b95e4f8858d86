// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/report_figures.hpp"

#include <set>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "report_curves.hpp"

namespace kernelsearch {
namespace {

/// What every file system and LaTeX's \includegraphics take.
std::string file_name(const std::string& name, std::set<std::string>& taken) {
  std::string safe;
  for (const char c : name) {
    const bool plain = detail::in_word(c) || c == '-' || (c == '.' && !safe.empty());
    safe += plain ? c : '_';
  }
  std::string unique = safe;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = safe + "_" + std::to_string(i);
  return unique + ".svg";
}

}  // namespace

std::vector<ReportFigureFile> report_figures(const ReportContents& contents) {
  std::vector<ReportFigureFile> files;
  std::set<std::string> taken;
  const auto add = [&](const std::string& name, const comparing::ReportFigure& drawn) {
    if (!drawn.curves.empty())
      files.push_back(
          {file_name(name, taken), comparing::standalone_figure(drawn.curves, drawn.random, drawn.texts)});
  };
  if (contents.landscapes.size() > 1) add("all_spaces", comparing::figure_over_spaces(contents));
  for (const Landscape& landscape : contents.landscapes) {
    add(landscape.name(), comparing::figure_by_evaluations(contents, landscape));
    add(landscape.name() + "_time", comparing::figure_by_seconds(contents, landscape));
  }
  return files;
}

}  // namespace kernelsearch
