// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane_frame.hpp"

#include <algorithm>
#include <array>

namespace kernelsearch::remote {
namespace {

constexpr std::string_view letters = "ksl";

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint64_t taken(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The first bytes for people, with a dot for what is not printable.
std::string shown(std::string_view bytes) {
  std::string text(bytes.substr(0, 80));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '.';
  return "\"" + text + "\"";
}

}  // namespace

std::string frame_bytes(std::string_view header, std::string_view payload) {
  std::string out;
  out.reserve(frame_prefix + header.size() + payload.size() + 1);
  out += letters;
  out += static_cast<char>(lane_protocol);
  put(out, header.size(), 4);
  put(out, payload.size(), 8);
  out += header;
  out += payload;
  out += '\n';
  return out;
}

void FrameReader::feed(std::string_view bytes) {
  if (broken_) return;
  if (at_ > 0 && at_ >= bytes_.size() / 2) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  bytes_ += bytes;
}

Result<std::optional<LaneFrame>> FrameReader::next() {
  if (broken_) return *broken_;
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const std::size_t known = std::min(rest.size(), letters.size());
  if (rest.substr(0, known) != letters.substr(0, known)) {
    broken_ = Fault{"it wrote what is not a message of a worker", shown(rest),
                    "let nothing else write to the worker's standard output, such as a shell's greeting"};
    return *broken_;
  }
  if (rest.size() > letters.size()) {
    const auto version = static_cast<unsigned char>(rest[letters.size()]);
    if (version != lane_protocol) {
      broken_ = Fault{"it speaks another version of the protocol",
                      "version " + std::to_string(version) + ", wanted " + std::to_string(lane_protocol),
                      "use the same version of kernelsearch at both ends"};
      return *broken_;
    }
  }
  if (rest.size() < frame_prefix) return std::optional<LaneFrame>();
  const std::uint64_t header = taken(rest.substr(4, 4)), payload = taken(rest.substr(8, 8));
  if (header > longest_header || payload > longest_payload) {
    broken_ = Fault{"it announced a message that is too long",
                    std::to_string(header) + " and " + std::to_string(payload) + " bytes",
                    "look for what else writes to the worker's standard output"};
    return *broken_;
  }
  if (rest.size() - frame_prefix <= header + payload) return std::optional<LaneFrame>();
  if (rest[frame_prefix + static_cast<std::size_t>(header + payload)] != '\n') {
    broken_ = Fault{"its message does not end where it said",
                    shown(rest.substr(frame_prefix + static_cast<std::size_t>(header + payload))),
                    "look for what else writes to the worker's standard output"};
    return *broken_;
  }
  LaneFrame frame{std::string(rest.substr(frame_prefix, static_cast<std::size_t>(header))),
                  std::string(rest.substr(frame_prefix + static_cast<std::size_t>(header),
                                          static_cast<std::size_t>(payload)))};
  at_ += frame_prefix + static_cast<std::size_t>(header + payload) + 1;
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  }
  return std::optional<LaneFrame>(std::move(frame));
}

}  // namespace kernelsearch::remote
