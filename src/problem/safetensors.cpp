// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "safetensors.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace kernelsearch::detail {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000;  // as the format's own reader

std::optional<std::uint64_t> bits_of_type(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 20> types{
      {{"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
       {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
       {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
       {"F32", 32}, {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.first == type; });
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// Takes the header's JSON as it is read: any other shape than that of tensors, and a name that comes
/// twice, end it.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<SafeTensor> tensors;
  std::string error;

  bool null() override { return fail("null"); }
  bool boolean(bool) override { return fail("a bool"); }
  bool number_integer(number_integer_t value) override { return fail(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return fail(text); }
  bool binary(binary_t&) override { return fail("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) return fail(std::to_string(value));
    if (member_ == "shape")
      tensors.back().extents.push_back(value);
    else
      offsets_.push_back(value);
    return true;
  }
  bool string(string_t& value) override {
    if (in_metadata_ && depth_ == 2) return true;
    if (depth_ != 2 || in_list_ || member_ != "dtype") return fail("\"" + value + "\"");
    tensors.back().type = value;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_list_) return fail("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (--depth_ == 0) return true;
    if (std::exchange(in_metadata_, false)) return true;
    SafeTensor& tensor = tensors.back();
    if (seen_.size() != 3) return stop("tensor \"" + tensor.name + "\" lacks dtype, shape or data_offsets");
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
      return stop("the data_offsets of tensor \"" + tensor.name + "\" are not a begin and an end");
    tensor.offset = offsets_[0];
    tensor.bytes = offsets_[1] - offsets_[0];
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      if (!names_.insert(name).second) return stop("the name \"" + name + "\" comes twice");
      if (name == "__metadata__") return in_metadata_ = true;
      tensors.emplace_back().name = name;
      seen_.clear();
      offsets_.clear();
      return true;
    }
    if (in_metadata_) return true;
    member_ = name;
    const bool known = name == "dtype" || name == "shape" || name == "data_offsets";
    if (!known || !seen_.insert(name).second)
      return stop("tensor \"" + tensors.back().name + "\" has the key \"" + name +
                  (known ? "\" twice" : "\""));
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_list_ || member_ == "dtype") return fail("a list");
    return in_list_ = true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return stop("its header is not JSON at byte " + std::to_string(length_bytes + at));
  }

 private:
  bool stop(std::string what) {
    error = std::move(what);
    return false;
  }
  bool fail(const std::string& value) {
    std::string where = "the header";
    if (depth_ > 0)
      where = in_metadata_ || tensors.empty() ? "its metadata" : "tensor \"" + tensors.back().name + "\"";
    return stop(where + " holds " + value +
                (depth_ == 2 && !in_metadata_ ? " as " + member_ : std::string()));
  }

  int depth_ = 0;
  bool in_list_ = false, in_metadata_ = false;
  std::string member_;
  std::set<std::string> names_, seen_;
  std::vector<std::uint64_t> offsets_;
};

/// The bytes that the type and the extents give; nothing where that is not a number of bytes.
std::optional<std::uint64_t> needed_bytes(std::uint64_t bits, const std::vector<std::uint64_t>& extents) {
  std::uint64_t all = bits;
  for (const std::uint64_t extent : extents) {
    if (extent != 0 && all > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    all *= extent;
  }
  return all % 8 == 0 ? std::optional(all / 8) : std::nullopt;
}

std::string range_text(std::uint64_t begin, std::uint64_t end) {
  return std::to_string(begin) + " to " + std::to_string(end);
}

}  // namespace

Result<std::uint64_t, std::string> try_safetensors_length(std::string_view head, std::uint64_t file_bytes) {
  if (head.size() < length_bytes || file_bytes < length_bytes)
    return std::string("it is shorter than 8 bytes");
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(head[i]);
  if (length > file_bytes - length_bytes)
    return "its header of " + std::to_string(length) + " bytes is cut: the file has " +
           std::to_string(file_bytes);
  if (length > most_header_bytes)
    return "its header has " + std::to_string(length) + " bytes, and at most " +
           std::to_string(most_header_bytes) + " are read";
  return length;
}

Result<std::vector<SafeTensor>, std::string> try_safetensors(std::string_view text,
                                                             std::uint64_t file_bytes) {
  if (text.empty() || text.front() != '{') return std::string("its header is not a JSON object");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) return std::move(reader.error);
  std::vector<SafeTensor>& tensors = reader.tensors;
  std::stable_sort(tensors.begin(), tensors.end(), [](const SafeTensor& a, const SafeTensor& b) {
    return std::make_pair(a.offset, a.bytes) < std::make_pair(b.offset, b.bytes);
  });
  const std::uint64_t begin = length_bytes + text.size();
  if (begin > file_bytes) return std::string("its header is cut");
  const std::uint64_t data = file_bytes - begin;
  std::uint64_t end = 0;
  for (SafeTensor& tensor : tensors) {
    const std::string called = "tensor \"" + tensor.name + "\" ";
    if (tensor.offset < end)
      return called + "overlaps another: bytes " + range_text(tensor.offset, tensor.offset + tensor.bytes) +
             " of the data, where " + std::to_string(end) + " are taken";
    if (tensor.offset > end)
      return called + "leaves a gap: it begins at byte " + std::to_string(tensor.offset) +
             " of the data, and the one before ends at " + std::to_string(end);
    if (tensor.bytes > data - end)
      return called + "leads past the end of the file: bytes " +
             range_text(tensor.offset, tensor.offset + tensor.bytes) + " of " + std::to_string(data);
    const auto bits = bits_of_type(tensor.type);
    if (!bits) return called + "has a type that is not known: " + tensor.type;
    const auto needed = needed_bytes(*bits, tensor.extents);
    if (needed != tensor.bytes)
      return called + "has " + std::to_string(tensor.bytes) + " bytes, and its type and shape ask for " +
             (needed ? std::to_string(*needed) : "no whole number of them");
    end += tensor.bytes;
    tensor.offset += begin;
  }
  if (end != data) return std::to_string(data - end) + " bytes at its end belong to no tensor";
  return std::move(tensors);
}

}  // namespace kernelsearch::detail
