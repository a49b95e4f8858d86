// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "yaml_text.hpp"

#include <algorithm>
#include <cstddef>

namespace kernelsearch::detail {
namespace {

struct YamlLine {
  std::size_t number = 0, indent = 0;
  std::string_view text;  ///< without indentation and blanks at its end
};

std::string at_line(std::size_t number, const std::string& what) {
  return "line " + std::to_string(number) + " " + what;
}

bool is_key_character(char one) {
  return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') ||
         one == '_' || one == '-' || one == '.';
}

/// Where the colon of `key:` is at the beginning of a text; npos: it begins with no key.
std::size_t colon_of_key(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_key_character(text[at])) ++at;
  return at > 0 && at < text.size() && text[at] == ':' && (at + 1 == text.size() || text[at + 1] == ' ')
             ? at
             : std::string_view::npos;
}

/// Whether a plain scalar would hold `key: value`, which it cannot.
bool has_colon(std::string_view text) {
  return text.find(": ") != std::string_view::npos || text.ends_with(':');
}

/// A scalar over one or several lines, as they are folded; `first` is the text behind `key:` or `- `.
class ScalarReader {
 public:
  ScalarReader(std::string_view first, std::size_t number, const std::vector<YamlLine>& more)
      : number_(number) {
    lines_.push_back(first);
    for (const YamlLine& line : more) lines_.push_back(line.text);
  }

  /// No text for an empty scalar and for `null`; `other` where it is not a scalar.
  Result<YamlEntry, std::string> read() const {
    YamlEntry entry;
    const std::string_view first = lines_.front();
    if (first.starts_with('!') || first.starts_with('&') || first.starts_with('*'))
      return at_line(number_, "has a tag, an anchor or an alias");
    if (first.starts_with('{')) {
      entry.kind = YamlEntry::Kind::other;
      return entry;
    }
    if (first.starts_with('[')) return flow();
    if (first.starts_with('"') || first.starts_with('\'')) {
      std::string text, fault = quoted(text);
      if (!fault.empty()) return fault;
      entry.texts.push_back(std::move(text));
      return entry;
    }
    std::string text;
    for (std::string_view line : lines_) {
      const std::size_t comment = line.starts_with('#') ? 0 : line.find(" #");
      line = line.substr(0, comment);
      while (line.ends_with(' ')) line.remove_suffix(1);
      if (has_colon(line)) {
        entry.kind = YamlEntry::Kind::other;
        return entry;
      }
      if (!line.empty()) text += (text.empty() ? "" : " ") + std::string(line);
    }
    if (!text.empty() && text != "null" && text != "~") entry.texts.push_back(std::move(text));
    return entry;
  }

 private:
  /// What is wrong with it; empty where `text` is what it says.
  std::string quoted(std::string& text) const {
    const char quote = lines_.front().front();
    bool escaped_end = false;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      const std::string_view line = lines_[l];
      if (l > 0 && !escaped_end) {
        const bool was_empty = lines_[l - 1].empty() && l > 1;
        text += line.empty() ? "\n" : was_empty ? "" : " ";
      }
      escaped_end = false;
      for (std::size_t at = l == 0 ? 1 : 0; at < line.size(); ++at) {
        if (line[at] == quote) {
          if (quote == '\'' && at + 1 < line.size() && line[at + 1] == '\'') {
            text += line[at++];
            continue;
          }
          const std::string_view rest = line.substr(at + 1);
          const std::size_t next = rest.find_first_not_of(' ');
          if (next != std::string_view::npos && rest[next] != '#')
            return at_line(number_, "goes on behind a closing quote");
          for (std::size_t later = l + 1; later < lines_.size(); ++later)
            if (!lines_[later].empty() && !lines_[later].starts_with('#'))
              return at_line(number_, "goes on behind a closing quote");
          return {};
        }
        if (quote != '"' || line[at] != '\\') {
          text += line[at];
        } else if (++at == line.size()) {
          escaped_end = true;
        } else {
          constexpr std::string_view names = "ntr0e\"\\/ ", meanings("\n\t\r\0\x1b\"\\/ ", 9);
          static_assert(names.size() == meanings.size());
          const std::size_t which = names.find(line[at]);
          if (which == std::string_view::npos)
            text += std::string("\\") + line[at];  // \x41 and \u1234, which no command here needs
          else
            text += meanings[which];
        }
      }
    }
    return at_line(number_, "has a quote that is not closed");
  }

  /// `[a, "b, c"]`
  Result<YamlEntry, std::string> flow() const {
    std::string all;
    for (const std::string_view line : lines_) all += (all.empty() ? "" : " ") + std::string(line);
    YamlEntry entry;
    entry.kind = YamlEntry::Kind::list;
    std::string item;
    char quote = 0;
    bool was_quoted = false;
    for (std::size_t at = 1; at < all.size(); ++at) {
      const char one = all[at];
      if (quote != 0) {
        if (one == quote)
          quote = 0;
        else
          item += one;
        continue;
      }
      if (one == '[' || one == '{') {
        entry.kind = YamlEntry::Kind::other;
        entry.texts.clear();
        return entry;
      }
      if (one == ',' || one == ']') {
        while (!was_quoted && item.ends_with(' ')) item.pop_back();
        if (!item.empty() || was_quoted) entry.texts.push_back(item);
        item.clear();
        was_quoted = false;
        if (one == ']') return entry;
      } else if ((one == '"' || one == '\'') && item.empty()) {
        quote = one;
        was_quoted = true;
      } else if (!(one == ' ' && (item.empty() || was_quoted))) {
        item += one;
      }
    }
    return at_line(number_, "has a list that is not closed");
  }

  std::vector<std::string_view> lines_;
  std::size_t number_;
};

/// `|` and `>` with what may stand behind them.
bool is_block_mark(std::string_view text) {
  const std::size_t comment = text.find(" #");
  text = text.substr(0, comment);
  return !text.empty() && (text.front() == '|' || text.front() == '>') &&
         text.find_first_not_of("|>+-123456789 ") == std::string_view::npos;
}

std::string block_text(char style, const std::vector<YamlLine>& lines) {
  std::size_t indent = std::string_view::npos;
  for (const YamlLine& line : lines)
    if (!line.text.empty()) indent = std::min(indent, line.indent);
  std::string text;
  for (const YamlLine& line : lines) {
    if (!text.empty()) text += style == '|' ? '\n' : ' ';
    if (!line.text.empty()) text += std::string(line.indent - indent, ' ') + std::string(line.text);
  }
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

Result<YamlEntry, std::string> scalar_of(std::string_view first, std::size_t number,
                                         const std::vector<YamlLine>& more) {
  if (!is_block_mark(first)) return ScalarReader(first, number, more).read();
  YamlEntry entry;
  entry.texts.push_back(block_text(first.front(), more));
  return entry;
}

bool is_item(const YamlLine& line) {
  return line.text == "-" || line.text.starts_with("- ");
}

/// What is behind a key: the rest of its line, and the lines up to the next key.
Result<YamlEntry, std::string> entry_of(std::string_view rest, std::size_t number,
                                        const std::vector<YamlLine>& more) {
  const auto content = std::find_if(more.begin(), more.end(), [](const YamlLine& line) {
    return !line.text.empty() && !line.text.starts_with('#');
  });
  const bool nothing = rest.empty() || rest.starts_with('#');
  if (!nothing || content == more.end())
    return scalar_of(nothing ? std::string_view() : rest, number, nothing ? std::vector<YamlLine>() : more);
  YamlEntry entry;
  if (!is_item(*content)) {
    if (colon_of_key(content->text) == std::string_view::npos)
      return scalar_of(content->text, content->number, {content + 1, more.end()});
    entry.kind = YamlEntry::Kind::other;
    return entry;
  }
  entry.kind = YamlEntry::Kind::list;
  for (auto line = content; line != more.end();) {
    if (line->text.empty() || line->text.starts_with('#')) {
      ++line;
      continue;
    }
    if (!is_item(*line) || line->indent != content->indent)
      return at_line(line->number, "is not indented as the list that it is in");
    const auto end = std::find_if(line + 1, more.end(), [&](const YamlLine& one) {
      return !one.text.empty() && one.indent <= content->indent;
    });
    std::string_view first = line->text.substr(1);
    while (first.starts_with(' ')) first.remove_prefix(1);
    auto item = scalar_of(first, line->number, {line + 1, end});
    if (!item) return item.error();
    if (item->kind != YamlEntry::Kind::scalar) {
      entry.kind = YamlEntry::Kind::other;
      entry.texts.clear();
      return entry;
    }
    entry.texts.push_back(item->texts.empty() ? std::string() : std::move(item->texts.front()));
    line = end;
  }
  return entry;
}

}  // namespace

Result<std::vector<YamlEntry>, std::string> try_yaml(std::string_view text) {
  std::vector<YamlLine> lines;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (line.ends_with('\r') || line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    lines.push_back({number, indent, line.substr(indent)});
    begin = end + 1;
  }
  std::vector<YamlEntry> entries;
  const auto is_outer = [](const YamlLine& line) {
    return line.indent == 0 && !line.text.empty() && !is_item(line) && !line.text.starts_with('#') &&
           colon_of_key(line.text) != std::string_view::npos;
  };
  for (auto line = lines.begin(); line != lines.end();) {
    if (line->text.empty() || line->text.starts_with('#') || (line->indent == 0 && line->text == "---")) {
      ++line;
      continue;
    }
    if (!is_outer(*line)) return at_line(line->number, "is not `key: value` at the beginning of a line");
    // The text of a block or of a quoted scalar may look like a key only where it is indented.
    const auto end = std::find_if(line + 1, lines.end(), is_outer);
    const std::size_t colon = colon_of_key(line->text);
    std::string_view rest = line->text.substr(colon + 1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    auto entry = entry_of(rest, line->number, {line + 1, end});
    if (!entry) return entry.error();
    entry->key = line->text.substr(0, colon);
    if (std::any_of(entries.begin(), entries.end(),
                    [&](const YamlEntry& one) { return one.key == entry->key; }))
      return at_line(line->number, "has the key `" + entry->key + "` a second time");
    entries.push_back(*std::move(entry));
    line = end;
  }
  return entries;
}

}  // namespace kernelsearch::detail
