// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/prompt_template.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch {

struct PromptTemplate::Piece {
  enum class Kind : std::uint8_t { text, value, condition };
  Kind kind = Kind::text;
  std::string text;  ///< or the name
  std::vector<Piece> yes, no;
};

namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  });
}

}  // namespace

struct PromptTemplate::Parser {
  std::string_view text;
  const std::string& name;
  std::set<std::string> names{};
  std::size_t at = 0;

  [[noreturn]] void fail(const std::string& what, std::size_t where, std::string_view given,
                         const std::string& todo) const {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(where), '\n');
    detail::raise<ConfigError>("prompt " + name + ':' + std::to_string(line) + ": " + what, given, todo);
  }

  /// A tag alone on its line takes the line with it, so that conditions leave no blank lines.
  void take_line(std::string& before, std::size_t open) {
    const std::size_t begin = open == 0 ? std::string_view::npos : text.find_last_not_of(" \t", open - 1);
    const std::size_t end = text.find_first_not_of(" \t\r", at);
    if (begin != std::string_view::npos && text[begin] != '\n') return;
    if (end != std::string_view::npos && text[end] != '\n') return;
    while (!before.empty() && (before.back() == ' ' || before.back() == '\t')) before.pop_back();
    at = end == std::string_view::npos ? text.size() : end + 1;
  }

  /// Pieces up to `end`, or to the tag that closes the condition opened at `opened`, whose name is returned.
  std::string pieces(std::vector<Piece>& out, std::size_t end, std::size_t opened, int depth) {
    if (depth > 16) fail("nests conditions too deep", opened, "17 levels", "a prompt needs two or three");
    std::string plain;
    const auto flush = [&] {
      if (!plain.empty()) out.push_back({Piece::Kind::text, std::exchange(plain, {}), {}, {}});
    };
    while (at < end) {
      const std::size_t open = std::min(text.find("{{", at), end);
      plain += text.substr(at, open - at);
      at = open;
      if (open == end) break;
      const std::size_t close = text.find("}}", open);
      if (close == std::string_view::npos || close >= end)
        fail("opens braces that do not close", open, text.substr(open, 20), "write {{name}}");
      const std::string_view tag = detail::trimmed(text.substr(open + 2, close - open - 2));
      at = close + 2;
      if (tag.starts_with("#if ")) {
        Piece piece;
        piece.kind = Piece::Kind::condition;
        piece.text = detail::trimmed(tag.substr(4));
        if (!is_name(piece.text)) fail("has a condition without a name", open, tag, "write {{#if name}}");
        names.insert(piece.text);
        take_line(plain, open);
        flush();
        if (pieces(piece.yes, end, open, depth + 1) == "else" &&
            pieces(piece.no, end, open, depth + 1) == "else")
          fail("has two {{else}} in one condition", open, tag, "keep one of them");
        out.push_back(std::move(piece));
      } else if (tag == "else" || tag == "/if") {
        if (depth == 0)
          fail("closes a condition that was not opened", open, tag, "write {{#if name}} before it");
        take_line(plain, open);
        flush();
        return std::string(tag);
      } else {
        if (!is_name(tag))
          fail("has braces around what is not a name", open, tag,
               "names are lower-case letters, digits and underscores; conditions are {{#if name}}, {{else}}, "
               "{{/if}}");
        names.insert(std::string(tag));
        flush();
        out.push_back({Piece::Kind::value, std::string(tag), {}, {}});
      }
    }
    if (depth > 0)
      fail("opens a condition that does not close", opened, text.substr(opened, 20), "write {{/if}}");
    flush();
    return {};
  }
};

PromptTemplate PromptTemplate::parse(std::string_view text, std::string name) {
  PromptTemplate result;
  result.name_ = std::move(name);
  result.hash_ = sha256(text);
  Parser parser{text, result.name_};
  std::vector<Section> sections;
  std::vector<std::size_t> begins, ends;
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t next = std::min(text.find('\n', line), text.size() - 1) + 1;
    const std::string_view row = detail::trimmed(text.substr(line, next - line));
    if (text[line] == '@') {
      Section section;
      const std::size_t space = std::min(row.find(' '), row.size());
      const std::string speaker(row.substr(1, space - 1));
      const std::string_view rest = detail::trimmed(row.substr(space));
      const std::vector<std::string> known{"system", "user", "assistant"};
      const auto found = std::find(known.begin(), known.end(), speaker);
      if (found == known.end() || !(rest.empty() || rest == "stable"))
        parser.fail(
            "has a line that begins with @ and is not a message", line, row,
            "write @system, @user or @assistant, with `stable` after it where the message never changes");
      section.speaker = static_cast<Speaker>(found - known.begin());
      section.stable = rest == "stable";
      if (!sections.empty()) ends.push_back(line);
      begins.push_back(next);
      sections.push_back(std::move(section));
    } else if (sections.empty() && row.starts_with("requires:")) {
      std::string_view list = row.substr(9);
      while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view one = detail::trimmed(list.substr(0, comma));
        if (!is_name(one))
          parser.fail("requires what is not a name", line, one, "write `requires: one, another`");
        result.required_.emplace_back(one);
        list.remove_prefix(std::min(comma + 1, list.size()));
      }
    }
    line = next;
  }
  if (sections.empty())
    parser.fail("has no message", 0, "no line begins with @", "begin a message with @system or @user");
  ends.push_back(text.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    parser.at = begins[i];
    (void)parser.pieces(sections[i].pieces, ends[i], begins[i], 0);
  }
  result.names_.assign(parser.names.begin(), parser.names.end());
  for (const std::string& needed : result.required_)
    if (!parser.names.contains(needed))
      parser.fail("requires a name that it does not use", 0, needed, "write {{" + needed + "}} somewhere");
  result.sections_ = std::make_shared<const std::vector<Section>>(std::move(sections));
  return result;
}

void PromptTemplate::write(const std::vector<Piece>& pieces, const PromptValues& values,
                           std::string& text) const {
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::text) {
      text += piece.text;
      continue;
    }
    const auto value = values.find(piece.text);
    if (value == values.end()) {
      std::vector<std::string> known;
      for (const auto& [name, ignored] : values) known.push_back(name);
      const std::string nearest = nearest_name(piece.text, known);
      detail::raise<ConfigError>("prompt " + name_ + " uses a name that has no value here", piece.text,
                                 (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
                                     "known: " + detail::joined(known, ", "));
    }
    if (piece.kind == Piece::Kind::value)
      text += value->second;
    else
      write(value->second.empty() ? piece.no : piece.yes, values, text);
  }
}

std::vector<Message> PromptTemplate::render(const PromptValues& values) const {
  std::vector<Message> messages;
  for (const Section& section : *sections_) {
    Message message{section.speaker, {}, section.stable};
    write(section.pieces, values, message.text);
    message.text = detail::trimmed(message.text);
    if (!message.text.empty()) messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace kernelsearch
