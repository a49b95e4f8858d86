// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/unified_diff.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "agents/line_diff.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

struct Hunk {
  std::optional<std::size_t>
      line;  ///< of the old text, from 1, as the head says; without old lines that before
  std::vector<std::string_view> before, after;
  std::string_view head;
};

std::optional<std::size_t> stated_line(std::string_view head) {
  const std::size_t minus = head.find('-');
  if (minus == std::string_view::npos) return std::nullopt;
  std::size_t line = 0, digits = 0;
  for (std::size_t i = minus + 1; i < head.size() && std::isdigit(static_cast<unsigned char>(head[i])) != 0;
       ++i)
    if (++digits < 9) line = 10 * line + static_cast<std::size_t>(head[i] - '0');
  if (digits == 0) return std::nullopt;
  return line;
}

std::vector<Hunk> hunks_of(std::string_view diff) {
  std::vector<Hunk> hunks;
  const auto lines = detail::lines_of(diff);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with("@@")) {
      hunks.push_back({stated_line(line.substr(2)), {}, {}, line});
      continue;
    }
    const bool file_head =
        (line.starts_with("--- ") && i + 1 < lines.size() && lines[i + 1].starts_with("+++ ")) ||
        (line.starts_with("+++ ") && i > 0 && lines[i - 1].starts_with("--- "));
    if (file_head || line.starts_with("diff --git") || line.starts_with("index ") || line.starts_with("\\"))
      continue;
    if (hunks.empty()) {
      if (line.empty() || (line[0] != '+' && line[0] != '-' && line[0] != ' ')) continue;
      hunks.push_back({std::nullopt, {}, {}, "the lines before any @@"});
    }
    Hunk& hunk = hunks.back();
    if (line.empty()) {  // an empty line of context whose blank was lost
      hunk.before.push_back(line);
      hunk.after.push_back(line);
    } else if (line[0] == '-') {
      hunk.before.push_back(line.substr(1));
    } else if (line[0] == '+') {
      hunk.after.push_back(line.substr(1));
    } else {
      const std::string_view context = line[0] == ' ' ? line.substr(1) : line;
      hunk.before.push_back(context);
      hunk.after.push_back(context);
    }
  }
  for (Hunk& hunk : hunks)  // empty lines between hunks belong to none
    while (!hunk.before.empty() && !hunk.after.empty() && hunk.before.back().empty() &&
           hunk.after.back().empty()) {
      hunk.before.pop_back();
      hunk.after.pop_back();
    }
  return hunks;
}

enum class Likeness : std::uint8_t { exact, right_blanks, indentation };

bool same(std::string_view a, std::string_view b, Likeness likeness) {
  switch (likeness) {
    case Likeness::exact:
      return a == b;
    case Likeness::right_blanks:
      return detail::trimmed_right(a) == detail::trimmed_right(b);
    default:
      return detail::trimmed(a) == detail::trimmed(b);
  }
}

/// Where the hunk's old lines stand at or after `from`; every place that is equally like.
std::vector<std::size_t> places(const std::vector<std::string_view>& lines, const Hunk& hunk,
                                std::size_t from) {
  for (const Likeness likeness : {Likeness::exact, Likeness::right_blanks, Likeness::indentation}) {
    std::vector<std::size_t> found;
    for (std::size_t at = from; at + hunk.before.size() <= lines.size(); ++at) {
      bool all = true;
      for (std::size_t i = 0; all && i < hunk.before.size(); ++i)
        all = same(lines[at + i], hunk.before[i], likeness);
      if (all) found.push_back(at);
    }
    if (!found.empty()) return found;
  }
  return {};
}

std::string shown(std::string_view head) {
  return '"' + std::string(head.substr(0, 80)) + '"';
}

}  // namespace

PatchResult apply_unified_diff(std::string_view source, std::string_view diff) {
  const auto fault = [](std::string detail) {
    return PatchResult{{ReplyFault::bad_patch, std::move(detail)}, {}};
  };
  const std::vector<Hunk> hunks = hunks_of(diff);
  if (hunks.empty()) return fault("The diff has no hunks: lines that begin with @@, then blanks, - and +.");
  const std::vector<std::string_view> lines = detail::lines_of(source);
  std::string result;
  std::size_t done = 0;
  const auto copy = [&](std::size_t end) {
    for (; done < end; ++done) (result += lines[done]) += '\n';
  };
  for (const Hunk& hunk : hunks) {
    if (hunk.before.empty() && hunk.after.empty()) continue;
    std::size_t at = 0;
    if (hunk.before.empty()) {
      if (!hunk.line)
        return fault("The hunk " + shown(hunk.head) +
                     " only adds lines and does not say where: give it context.");
      at = std::clamp(*hunk.line, done, lines.size());
    } else {
      const std::vector<std::size_t> found = places(lines, hunk, done);
      if (found.empty())
        return fault("The hunk " + shown(hunk.head) + " does not fit: these lines do not stand together" +
                     (done > 0 ? " after the hunk before it" : "") + ", the first being: " +
                     std::string(detail::trimmed(hunk.before.front()).substr(0, 120)));
      if (found.size() > 1 && !hunk.line)
        return fault("The hunk " + shown(hunk.head) + " fits " + std::to_string(found.size()) +
                     " places: give more lines of context.");
      at = *std::min_element(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
        const auto away = [&](std::size_t place) {
          const std::size_t stated = std::max<std::size_t>(hunk.line.value_or(1), 1) - 1;
          return place > stated ? place - stated : stated - place;
        };
        return away(a) < away(b);
      });
    }
    copy(at);
    for (const std::string_view line : hunk.after) (result += line) += '\n';
    done = at + hunk.before.size();
  }
  copy(lines.size());
  return {{}, std::move(result)};
}

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name,
                         std::size_t context) {
  const std::vector<detail::LineEdit> edits = detail::line_edits(before, after);
  std::string diff;
  std::size_t old_line = 0, new_line = 0;  // lines of both texts before the edit at `i`
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++i, ++old_line, ++new_line;
      continue;
    }
    const std::size_t lead = std::min({context, i, std::min(old_line, new_line)});
    // Changes with no more than twice the context between them are one hunk.
    std::size_t end = i + 1;
    for (std::size_t next = end; next < edits.size() && next - end <= 2 * context; ++next)
      if (edits[next].sign != ' ') end = next + 1;
    const std::size_t tail = std::min(end + context, edits.size());
    std::size_t removed = 0, added = 0;
    std::string lines;
    for (std::size_t at = i - lead; at < tail; ++at) {
      removed += edits[at].sign != '+' ? 1 : 0;
      added += edits[at].sign != '-' ? 1 : 0;
      ((lines += edits[at].sign) += edits[at].text) += '\n';
    }
    // As diff(1) counts: from 1, and where a side has no lines the line before.
    const auto side = [&](std::size_t line, std::size_t count) {
      return std::to_string(line - lead + (count > 0 ? 1 : 0)) + ',' + std::to_string(count);
    };
    if (diff.empty()) diff = "--- " + std::string(name) + "\n+++ " + std::string(name) + '\n';
    diff += "@@ -" + side(old_line, removed) + " +" + side(new_line, added) + " @@\n" + lines;
    old_line += removed - lead;
    new_line += added - lead;
    i = tail;
  }
  return diff;
}

std::string patched_file(std::string_view diff) {
  std::string file;
  for (const std::string_view line : detail::lines_of(diff)) {
    if (line.starts_with("@@")) break;
    if (!line.starts_with("+++ ") && !line.starts_with("--- ")) continue;
    std::string_view name = detail::trimmed(line.substr(4));
    name = name.substr(0, name.find('\t'));
    if (name == "/dev/null") continue;
    if (name.starts_with("a/") || name.starts_with("b/")) name.remove_prefix(2);
    file = name;
  }
  return file;
}

}  // namespace kernelsearch
