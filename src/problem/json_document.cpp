// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_document.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

/// Counts lines while the parser reads: its events carry no positions.
class LineIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineIterator& operator++() {
    *line_ += *at_ == '\n' ? 1 : 0;
    ++at_;
    return *this;
  }
  LineIterator operator++(int) {
    LineIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const LineIterator& a, const LineIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  int* line_;
};

class TreeBuilder {
 public:
  TreeBuilder(const std::string& file, const int& line) : file_(file), line_(line) {}

  bool null() { return add({}); }
  bool boolean(bool value) {
    JsonNode node;
    node.kind = JsonNode::Kind::boolean;
    node.boolean = value;
    return add(std::move(node));
  }
  bool number_integer(std::int64_t value) {
    JsonNode node;
    node.kind = JsonNode::Kind::integer;
    node.integer = value;
    return add(std::move(node));
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail("holds a number that is too large", std::to_string(value), "integers go up to 2^63 - 1");
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) {
    JsonNode node;
    node.kind = JsonNode::Kind::real;
    node.real = value;
    return add(std::move(node));
  }
  bool string(std::string& value) {
    JsonNode node;
    node.kind = JsonNode::Kind::string;
    node.string = std::move(value);
    return add(std::move(node));
  }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t) { return open(JsonNode::Kind::array); }
  bool key(std::string& name) {
    auto& keys = open_.back().keys;
    if (std::find(keys.begin(), keys.end(), name) != keys.end())
      fail("has a key twice in one object", '"' + name + '"', "keep one of them");
    keys.push_back(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) {
    std::string reason = error.what();
    // The library's prefix counts lines its own way; ours leads the message.
    if (const auto at = reason.find(": ", reason.find("] ")); at != std::string::npos)
      reason.erase(0, at + 2);
    fail("is not JSON", reason, token.empty() ? "check what stands before" : "check what stands near it");
  }

  JsonNode take() { return std::move(root_); }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& given, const std::string& todo) {
    raise<ConfigError>(file_ + ':' + std::to_string(line_) + ": the text " + what, given, todo);
  }
  bool open(JsonNode::Kind kind) {
    constexpr std::size_t deepest = 64;
    if (open_.size() == deepest) fail("nests too deep", "65 levels", "a problem needs fewer than ten");
    JsonNode node;
    node.kind = kind;
    node.line = line_;
    open_.push_back(std::move(node));
    return true;
  }
  bool close() {
    JsonNode node = std::move(open_.back());
    open_.pop_back();
    return place(std::move(node));
  }
  bool add(JsonNode node) {
    node.line = line_;
    return place(std::move(node));
  }
  bool place(JsonNode node) {
    if (open_.empty())
      root_ = std::move(node);
    else
      open_.back().items.push_back(std::move(node));
    return true;
  }

  const std::string& file_;
  const int& line_;
  std::vector<JsonNode> open_;
  JsonNode root_;
};

}  // namespace

JsonNode parse_json(std::string_view text, const std::string& file) {
  int line = 1;
  TreeBuilder builder(file, line);
  const char* const begin = text.data();
  (void)nlohmann::json::sax_parse(LineIterator(begin, &line), LineIterator(begin + text.size(), &line),
                                  &builder, nlohmann::json::input_format_t::json, /*strict=*/true,
                                  /*ignore_comments=*/true);
  return builder.take();
}

}  // namespace kernelsearch::detail
