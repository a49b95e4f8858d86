// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/json_salvage.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

// Deeper values are refused, so that a text of brackets costs at most this many passes over it.
constexpr int deepest = 24;

enum class End { complete, cut, wrong };

struct Read {
  End end = End::wrong;
  Json value;
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool starts_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

/// Reads one value leniently. nlohmann's own parser gives nothing of a text that is cut.
class LenientReader {
 public:
  LenientReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  [[nodiscard]] std::size_t position() const { return at_; }

  Read value(int depth = 0) {
    skip();
    if (done()) return {End::cut, {}};
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      if (depth >= deepest) return {};
      return c == '{' ? object(depth) : array(depth);
    }
    if (c == '"' || c == '\'') return string();
    if (starts_number(c)) return number();
    if (detail::in_word(c)) return word();
    return {};
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }

  void skip() {
    while (!done()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        while (!done() && text_[at_] != '\n') ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  Read object(int depth) {
    ++at_;
    Json object = Json::object();
    while (true) {
      skip();
      if (done()) return {End::cut, std::move(object)};
      if (text_[at_] == '}') {
        ++at_;
        return {End::complete, std::move(object)};
      }
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      Read key = text_[at_] == '"' || text_[at_] == '\'' ? string() : bare_key();
      if (key.end == End::cut) return {End::cut, std::move(object)};
      if (key.end == End::wrong) return {};
      skip();
      if (done()) return {End::cut, std::move(object)};
      if (text_[at_] != ':') return {};
      ++at_;
      Read member = value(depth + 1);
      if (member.end == End::wrong) return {};
      // For a member that is cut only a list or an object says anything.
      if (member.end == End::complete || member.value.is_structured())
        object[key.value.get<std::string>()] = std::move(member.value);
      if (member.end == End::cut) return {End::cut, std::move(object)};
    }
  }

  Read array(int depth) {
    ++at_;
    Json array = Json::array();
    while (true) {
      skip();
      if (done()) return {End::cut, std::move(array)};
      if (text_[at_] == ']') {
        ++at_;
        return {End::complete, std::move(array)};
      }
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      Read item = value(depth + 1);
      if (item.end == End::wrong) return {};
      if (item.end == End::cut) return {End::cut, std::move(array)};
      array.push_back(std::move(item.value));
    }
  }

  Read string() {
    const char quote = text_[at_++];
    std::string found;
    while (!done()) {
      const char c = text_[at_++];
      if (c == quote) return {End::complete, std::move(found)};
      if (c != '\\') {
        found += c;
        continue;
      }
      if (done()) break;
      const char escape = text_[at_++];
      switch (escape) {
        case 'n':
          found += '\n';
          break;
        case 't':
          found += '\t';
          break;
        case 'r':
          found += '\r';
          break;
        case 'b':
          found += '\b';
          break;
        case 'f':
          found += '\f';
          break;
        case 'u': {
          std::uint32_t code = 0;
          const std::string_view digits = text_.substr(at_, 4);
          const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
          if (error != std::errc{} || end != digits.data() + 4) return {};
          at_ += 4;
          detail::append_utf8(found, code);
          break;
        }
        default:
          found += escape;
      }
    }
    return {End::cut, {}};
  }

  Read number() {
    const std::size_t begin = at_;
    while (!done() && (detail::in_word(text_[at_]) || starts_number(text_[at_]))) ++at_;
    std::string_view digits = text_.substr(begin, at_ - begin);
    if (digits.front() == '+') digits.remove_prefix(1);
    if (done()) return {End::cut, {}};  // more digits may have been meant
    const char* const end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(digits.data(), end, integer);
        read.ec == std::errc{} && read.ptr == end)
      return {End::complete, integer};
    double real = 0.0;
    if (const auto read = std::from_chars(digits.data(), end, real);
        read.ec == std::errc{} && read.ptr == end)
      return {End::complete, real};
    return {};
  }

  Read word() {
    const std::size_t begin = at_;
    while (!done() && detail::in_word(text_[at_])) ++at_;
    if (done()) return {End::cut, {}};
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (found == "true" || found == "True") return {End::complete, true};
    if (found == "false" || found == "False") return {End::complete, false};
    if (found == "null" || found == "None") return {End::complete, nullptr};
    return {End::complete, std::string(found)};
  }

  Read bare_key() {
    const std::size_t begin = at_;
    while (!done() && detail::in_word(text_[at_])) ++at_;
    if (begin == at_) return {};
    return {End::complete, std::string(text_.substr(begin, at_ - begin))};
  }

  std::string_view text_;
  std::size_t at_;
};

struct Found {
  std::vector<Json> listed;  ///< under the key
  std::vector<Json> bare;
  bool any_list = false, cut_list = false, cut_bare = false;
};

/// Whether a list under `key` was in there.
bool take_lists(const Json& value, const std::string& key, Found& found) {
  bool any = false;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (name == key && member.is_array()) {
        found.listed.insert(found.listed.end(), member.begin(), member.end());
        any = true;
      } else if (member.is_structured()) {
        any = take_lists(member, key, found) || any;
      }
    }
  } else if (value.is_array()) {
    for (const Json& item : value)
      if (item.is_structured()) any = take_lists(item, key, found) || any;
  }
  return any;
}

}  // namespace

SalvagedItems salvage_items(std::string_view text, std::string_view key) {
  Found found;
  const std::string name(key);
  std::size_t at = 0;
  while (at < text.size()) {
    at = text.find_first_of("{[", at);
    if (at == std::string_view::npos) break;
    LenientReader reader(text, at);
    Read read = reader.value();
    if (read.end == End::wrong) {
      ++at;
      continue;
    }
    at = reader.position();
    const bool cut = read.end == End::cut;
    if (take_lists(read.value, name, found)) {
      found.any_list = true;
      found.cut_list = found.cut_list || cut;
    } else if (read.value.is_array()) {
      for (Json& item : read.value)
        if (item.is_object()) found.bare.push_back(std::move(item));
      found.cut_bare = found.cut_bare || cut;
    } else if (!cut) {
      found.bare.push_back(std::move(read.value));
    } else {
      found.cut_bare = true;
    }
  }
  SalvagedItems salvaged;
  salvaged.cut = found.any_list ? found.cut_list : found.cut_bare;
  for (const Json& item : found.any_list ? found.listed : found.bare)
    salvaged.items.push_back(item.dump(-1, ' ', false, Json::error_handler_t::replace));
  return salvaged;
}

}  // namespace kernelsearch
