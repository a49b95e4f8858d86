// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xml_reader.hpp"

#include <algorithm>
#include <array>

#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::recorded {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> xml_entities = {
    {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};

bool ends_a_name(char c) noexcept {
  return std::string_view(" \t\r\n=/>\"'<").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view XmlTag::attribute(std::string_view wanted) const noexcept {
  for (const auto& [key, value] : attributes)
    if (key == wanted) return value;
  return {};
}

void XmlReader::fail(std::string_view what) const {
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                     '\n');
  detail::raise<ConfigError>(source_ + ":" + std::to_string(line) + ": " + std::string(what),
                             text_.substr(std::min(at_, text_.size()), 40),
                             "correct it; see docs/formats/recordings.md");
}

void XmlReader::skip_space() noexcept {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

void XmlReader::skip_past(std::string_view end) {
  const std::size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) throw TextEnds{};
  at_ = found + end.size();
}

std::string XmlReader::name() {
  const std::size_t first = at_;
  while (at_ < text_.size() && !ends_a_name(text_[at_])) ++at_;
  if (at_ == text_.size()) throw TextEnds{};
  if (at_ == first) fail("expected a name");
  return std::string(text_.substr(first, at_ - first));
}

std::string XmlReader::attribute_value() {
  const char quote = text_[at_];
  if (quote != '"' && quote != '\'') fail("the value of an attribute is not in quotes");
  std::string value;
  for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
    const auto* const entity = std::find_if(xml_entities.begin(), xml_entities.end(), [&](const auto& one) {
      return text_.substr(at_).starts_with(one.first);
    });
    if (entity == xml_entities.end()) {
      value += text_[at_];
    } else {
      value += entity->second;
      at_ += entity->first.size() - 1;
    }
  }
  if (at_ == text_.size()) throw TextEnds{};
  ++at_;
  return value;
}

bool XmlReader::next(XmlTag& tag) {
  while (true) {
    at_ = std::min(text_.find('<', at_), text_.size());
    if (at_ == text_.size()) return false;
    if (text_.substr(at_).starts_with("<!--"))
      skip_past("-->");
    else if (text_.substr(at_).starts_with("<?"))
      skip_past("?>");
    else if (text_.substr(at_).starts_with("<!"))
      skip_past(">");
    else
      break;
  }
  ++at_;
  tag.attributes.clear();
  tag.closes = at_ < text_.size() && text_[at_] == '/';
  tag.opens = !tag.closes;
  if (tag.closes) ++at_;
  tag.name = name();
  while (true) {
    skip_space();
    if (at_ == text_.size()) throw TextEnds{};
    if (text_[at_] == '>') break;
    if (text_[at_] == '/') {
      tag.closes = true;
      ++at_;
      continue;
    }
    std::string key = name();
    skip_space();
    if (at_ == text_.size()) throw TextEnds{};
    if (text_[at_] != '=') fail("an attribute has no value");
    ++at_;
    skip_space();
    if (at_ == text_.size()) throw TextEnds{};
    tag.attributes.emplace_back(std::move(key), attribute_value());
  }
  ++at_;
  return true;
}

}  // namespace kernelsearch::recorded
