// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/anchors.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "code_tokens.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

struct Marker {
  std::size_t begin = 0, end = 0;
  bool opens = false;
};

std::optional<Marker> next_marker(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("<<<", from); at != std::string_view::npos; at = text.find("<<<", at + 1)) {
    const std::size_t close = text.find(">>>", at);
    if (close == std::string_view::npos) return std::nullopt;
    std::string words;
    for (const char c : text.substr(at + 3, std::min<std::size_t>(close - at - 3, 64)))
      words += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const std::string_view name = detail::trimmed(words);
    if (name == "IMPROVE BEGINS" || name == "IMPROVE ENDS")
      return Marker{at, close + 3, name.ends_with("BEGINS")};
  }
  return std::nullopt;
}

/// A marker's line, when nothing but the marker and the signs of a comment stand on it.
void take_line(std::string_view text, Marker& marker) {
  const std::size_t newline_before =
      marker.begin == 0 ? std::string_view::npos : text.rfind('\n', marker.begin - 1);
  const std::size_t begin = newline_before == std::string_view::npos ? 0 : newline_before + 1;
  const std::size_t newline = text.find('\n', marker.end);
  const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
  const std::string_view before = detail::trimmed(text.substr(begin, marker.begin - begin));
  const std::string_view after = detail::trimmed(text.substr(marker.end, end - marker.end));
  constexpr std::array<std::string_view, 6> openings{"", "//", "/*", "#", "*", "///"};
  constexpr std::array<std::string_view, 2> closings{"", "*/"};
  if (std::find(openings.begin(), openings.end(), before) == openings.end() ||
      std::find(closings.begin(), closings.end(), after) == closings.end())
    return;
  marker.begin = begin;
  marker.end = end;
}

/// A text without its markers, and where they stood.
struct Stripped {
  ReplyJudgement judgement;
  std::string text;
  std::vector<AnchorSpan> spans;  ///< the outermost, in `text`
};

Stripped strip_markers(std::string_view text) {
  Stripped result;
  std::size_t at = 0, depth = 0;
  const auto fault = [&](std::string detail) {
    result.judgement = {ReplyFault::bad_anchors, std::move(detail)};
    return result;
  };
  for (auto marker = next_marker(text, 0); marker; marker = next_marker(text, marker->end)) {
    if (marker->begin < at) continue;  // on a line that was taken with another marker
    const Marker found = *marker;
    take_line(text, *marker);
    marker->begin = std::max(marker->begin, at);
    result.text += text.substr(at, marker->begin - at);
    at = marker->end;
    if (found.opens) {
      if (depth++ == 0) result.spans.push_back({result.text.size(), 0});
    } else {
      if (depth == 0) return fault("An <<<IMPROVE ENDS>>> stands before its <<<IMPROVE BEGINS>>>.");
      if (--depth == 0) result.spans.back().end = result.text.size();
    }
  }
  result.text += text.substr(at);
  if (depth > 0)
    return fault(std::to_string(depth) + " of the <<<IMPROVE BEGINS>>> have no <<<IMPROVE ENDS>>>.");
  return result;
}

/// Where the lines of a text are, for carrying a place over to a text that differs in trailing blanks only.
class Rows {
 public:
  explicit Rows(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      begins_.push_back(at);
      if (text.find('\n', at) == std::string_view::npos) break;
    }
    while (first_ < begins_.size() && detail::trimmed(row(first_)).empty()) ++first_;
  }
  [[nodiscard]] std::string_view row(std::size_t i) const {
    const std::size_t end = text_.find('\n', begins_[i]);
    return text_.substr(begins_[i], end == std::string_view::npos ? end : end - begins_[i]);
  }
  /// The line, counted from the first that is not empty, and the column.
  [[nodiscard]] std::pair<std::ptrdiff_t, std::size_t> place(std::size_t at) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), at);
    if (after == begins_.begin()) return {0, 0};
    // Past the last newline is the line after the last.
    if (at == text_.size() && !text_.empty() && text_.back() == '\n')
      return {static_cast<std::ptrdiff_t>(begins_.size()) - static_cast<std::ptrdiff_t>(first_), 0};
    const auto line = static_cast<std::size_t>(after - begins_.begin()) - 1;
    return {static_cast<std::ptrdiff_t>(line) - static_cast<std::ptrdiff_t>(first_), at - begins_[line]};
  }
  [[nodiscard]] std::size_t offset(std::pair<std::ptrdiff_t, std::size_t> place) const {
    const std::ptrdiff_t line = place.first + static_cast<std::ptrdiff_t>(first_);
    if (line < 0) return 0;
    if (line >= static_cast<std::ptrdiff_t>(begins_.size())) return text_.size();
    const auto i = static_cast<std::size_t>(line);
    return begins_[i] + std::min(place.second, row(i).size());
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;
  std::size_t first_ = 0;
};

/// The first line in which the texts differ, for telling the model.
std::string difference(std::string_view wanted, std::string_view given) {
  const std::string a = detail::without_trailing_blanks(wanted), b = detail::without_trailing_blanks(given);
  const auto left = detail::lines_of(a), right = detail::lines_of(b);
  std::size_t i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i]) ++i;
  const auto show = [](const std::vector<std::string_view>& lines, std::size_t at) {
    return at < lines.size() ? '"' + std::string(lines[at].substr(0, 160)) + '"' : std::string("nothing");
  };
  return "the first difference is in its line " + std::to_string(i + 1) + ": it was " + show(left, i) +
         ", you have " + show(right, i) + '.';
}

/// What stands outside of the spans: one piece more than there are spans.
std::vector<std::string_view> outside(std::string_view text, const std::vector<AnchorSpan>& spans) {
  std::vector<std::string_view> pieces;
  std::size_t at = 0;
  for (const AnchorSpan& span : spans) {
    pieces.push_back(text.substr(at, span.begin - at));
    at = span.end;
  }
  pieces.push_back(text.substr(at));
  return pieces;
}

bool ends_line(std::string_view before) {
  return before.empty() || before.back() == '\n';
}

/// Whether one text is the other apart from comments and layout, which a model drops at times without meaning
/// anything by it. What counts is taken from the original in any case.
bool same_code(std::string_view a, std::string_view b) {
  return detail::without_trailing_blanks(a) == detail::without_trailing_blanks(b) ||
         detail::same_tokens(detail::code_tokens(a), detail::code_tokens(b));
}

/// A span of `annotated` in `original`, whose tokens are the same.
AnchorSpan carried_over(const AnchorSpan& span, std::string_view annotated,
                        const std::vector<detail::CodeToken>& theirs, std::string_view original,
                        const std::vector<detail::CodeToken>& ours) {
  const auto before = [&theirs](std::size_t at) {
    return static_cast<std::size_t>(std::lower_bound(theirs.begin(), theirs.end(), at,
                                                     [](const detail::CodeToken& token, std::size_t place) {
                                                       return token.begin < place;
                                                     }) -
                                    theirs.begin());
  };
  const std::size_t first = before(span.begin), last = before(span.end);
  AnchorSpan place{original.size(), original.size()};
  if (first < ours.size()) {
    place.begin = ours[first].begin;
    const std::size_t newline =
        place.begin == 0 ? std::string_view::npos : original.rfind('\n', place.begin - 1);
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    if (ends_line(annotated.substr(0, span.begin)) &&
        detail::trimmed(original.substr(line, place.begin - line)).empty())
      place.begin = line;
  }
  if (last <= first) return {place.begin, place.begin};
  place.end = ours[last - 1].begin + ours[last - 1].text.size();
  const std::size_t newline = original.find('\n', place.end);
  const bool alone = last == ours.size() || (newline != std::string_view::npos && ours[last].begin > newline);
  if (alone && ends_line(annotated.substr(0, span.end)))
    place.end = newline == std::string_view::npos ? original.size() : newline + 1;
  return place;
}

/// A reply without markers: do the pieces stand in it, in order, the first at its begin and the last at its
/// end? What is a whole line of the original must be one of the reply: nothing may be added to it.
bool holds_pieces(std::string_view reply, std::string_view original,
                  const std::vector<std::string_view>& pieces) {
  const std::string text = detail::without_trailing_blanks(reply);
  const auto clean = [](std::string_view piece) {
    std::string one;
    for (const std::string_view line : detail::lines_of(piece)) (one += detail::trimmed_right(line)) += '\n';
    if (!piece.empty() && piece.back() != '\n') one.pop_back();  // the span begins within the line
    return one;
  };
  const auto begins_line = [&](std::string_view piece, std::size_t at) {
    return (piece.data() != original.data() && piece.data()[-1] != '\n') || at == 0 || text[at - 1] == '\n';
  };
  const auto ends_as_line = [&](std::string_view piece, std::size_t end) {
    return piece.empty() || piece.back() != '\n' || end >= text.size() || text[end] == '\n';
  };
  const std::string all = clean(pieces.front());
  const std::string first = all.substr(std::min(all.find_first_not_of('\n'), all.size()));
  std::size_t at = detail::trimmed_right(first).size();
  if (!std::string_view(text).starts_with(detail::trimmed_right(first)) ||
      (at > 0 && !ends_as_line(pieces.front(), at)))
    return false;
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
    const std::string one = clean(pieces[i]);
    const std::string_view piece = detail::trimmed(one);
    if (piece.empty()) continue;
    // Blanks that were trimmed belong to the line, too.
    const auto stands_at = [&](std::size_t found) {
      const std::size_t line = text.find_last_not_of(" \t", found - 1);
      return begins_line(pieces[i], found == 0 || line == std::string::npos ? 0 : line + 1) &&
             ends_as_line(pieces[i], found + piece.size());
    };
    std::size_t found = text.find(piece, at);
    while (found != std::string::npos && !stands_at(found)) found = text.find(piece, found + 1);
    if (found == std::string::npos) return false;
    at = found + piece.size();
  }
  const std::string rest = clean(pieces.back());
  const std::string_view last = detail::trimmed_right(rest);
  return text.size() >= at + last.size() && std::string_view(text).ends_with(last) &&
         (last.empty() || begins_line(pieces.back(), text.size() - last.size()));
}

}  // namespace

bool has_anchors(std::string_view text) {
  return next_marker(text, 0).has_value();
}

AnchoredText read_anchors(std::string_view original, std::string_view annotated) {
  AnchoredText result;
  const auto fault = [&](ReplyFault which, std::string detail) {
    result.judgement = {which, std::move(detail)};
    return result;
  };
  if (has_anchors(original)) return fault(ReplyFault::bad_anchors, "The kernel itself holds anchors.");
  const Stripped stripped = strip_markers(annotated);
  if (!stripped.judgement.ok()) return fault(stripped.judgement.fault, stripped.judgement.detail);
  if (stripped.spans.empty())
    return fault(ReplyFault::no_anchors,
                 "The region holds no <<<IMPROVE BEGINS>>> and <<<IMPROVE ENDS>>>: mark at least one place.");
  if (detail::without_trailing_blanks(original) != detail::without_trailing_blanks(stripped.text)) {
    const auto ours = detail::code_tokens(original), theirs = detail::code_tokens(stripped.text);
    if (!detail::same_tokens(ours, theirs))
      return fault(ReplyFault::outside_anchors,
                   "Without the anchors the region is not the one that was given; " +
                       difference(original, stripped.text));
    for (const AnchorSpan& span : stripped.spans)
      result.spans.push_back(carried_over(span, stripped.text, theirs, original, ours));
    return result;
  }
  const Rows from(stripped.text), to(original);
  for (const AnchorSpan& span : stripped.spans) {
    AnchorSpan place{to.offset(from.place(span.begin)), to.offset(from.place(span.end))};
    if (!result.spans.empty()) place.begin = std::max(place.begin, result.spans.back().end);
    place.end = std::max(place.end, place.begin);
    result.spans.push_back(place);
  }
  return result;
}

std::string with_anchors(std::string_view original, const std::vector<AnchorSpan>& spans) {
  std::string text;
  std::size_t at = 0;
  for (const AnchorSpan& span : spans) {
    text += original.substr(at, span.begin - at);
    const std::string_view inside = original.substr(span.begin, span.end - span.begin);
    const bool whole_lines = ends_line(text) && (inside.empty() ? ends_line(text) : inside.back() == '\n');
    text += "<<<IMPROVE BEGINS>>>";
    if (whole_lines) text += '\n';
    text += inside;
    text += "<<<IMPROVE ENDS>>>";
    if (whole_lines) text += '\n';
    at = span.end;
  }
  text += original.substr(at);
  return text;
}

FilledText fill_anchors(std::string_view original, const std::vector<AnchorSpan>& spans,
                        std::string_view reply) {
  FilledText result;
  const auto fault = [&](ReplyFault which, std::string detail) {
    result.judgement = {which, std::move(detail)};
    return result;
  };
  const std::vector<std::string_view> pieces = outside(original, spans);
  const Stripped stripped = strip_markers(reply);
  if (!stripped.judgement.ok()) return fault(stripped.judgement.fault, stripped.judgement.detail);
  if (stripped.spans.empty()) {
    if (!holds_pieces(reply, original, pieces))
      return fault(
          ReplyFault::outside_anchors,
          "The reply has no anchors, and what stood outside of them is not there unchanged. Keep every "
          "anchor line and every line outside of the anchors.");
    result.text = detail::without_trailing_blanks(reply) + '\n';
    return result;
  }
  if (stripped.spans.size() != spans.size())
    return fault(ReplyFault::outside_anchors, "The reply has " + std::to_string(stripped.spans.size()) +
                                                  " pairs of anchors, the plan " +
                                                  std::to_string(spans.size()) + '.');
  const std::vector<std::string_view> theirs = outside(stripped.text, stripped.spans);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!same_code(pieces[i], theirs[i]))
      return fault(ReplyFault::outside_anchors,
                   (i == 0 ? std::string("What stands before the first anchor was changed; ")
                    : i + 1 == pieces.size() ? std::string("What stands after the last anchor was changed; ")
                                             : "What stands between places " + std::to_string(i) + " and " +
                                                   std::to_string(i + 1) + " was changed; ") +
                       difference(pieces[i], theirs[i]));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    result.text += pieces[i];
    if (i == spans.size()) break;
    const AnchorSpan& span = stripped.spans[i];
    std::string inside = stripped.text.substr(span.begin, span.end - span.begin);
    // Whole lines stay whole lines.
    const bool line_follows =
        spans[i].end > spans[i].begin ? original[spans[i].end - 1] == '\n' : ends_line(pieces[i]);
    if (line_follows && ends_line(pieces[i]) && !inside.empty() && inside.back() != '\n') inside += '\n';
    result.text += inside;
  }
  return result;
}

}  // namespace kernelsearch
