// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane_frame.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using namespace kernelsearch::remote;

namespace {

std::string random_bytes(Rng& rng, std::size_t most) {
  std::string bytes(rng.below(most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(rng.below(256));
  return bytes;
}

}  // namespace

TEST_CASE("FrameReader: reads what frame_bytes wrote, however it is cut") {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<LaneFrame> sent;
    std::string bytes;
    for (std::uint64_t i = 0, n = 1 + rng.below(5); i < n; ++i) {
      sent.push_back({random_bytes(rng, 60), random_bytes(rng, 2000)});
      bytes += frame_bytes(sent.back().header, sent.back().payload);
    }
    FrameReader reader;
    std::vector<LaneFrame> got;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + rng.below(700), bytes.size() - at);
      reader.feed(std::string_view(bytes).substr(at, piece));
      at += piece;
      while (true) {
        auto frame = reader.next();
        REQUIRE(frame.ok());
        if (!*frame) break;
        got.push_back(std::move(**frame));
      }
    }
    REQUIRE(got.size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(got[i].header == sent[i].header);
      CHECK(got[i].payload == sent[i].payload);
    }
    CHECK(reader.pending() == 0);
  }
}

TEST_CASE("FrameReader: shows what is no frame, and stays refused") {
  FrameReader reader;
  reader.feed("Welcome to gpu3\n");
  auto frame = reader.next();
  REQUIRE(!frame.ok());
  CHECK(frame.error().given.find("Welcome to gpu3.") != std::string::npos);
  reader.feed(frame_bytes("{}", ""));
  CHECK(!reader.next().ok());
}

TEST_CASE("FrameReader: refuses another version and lengths that cannot be before it waits for them") {
  std::string bytes = frame_bytes("{}", "");
  bytes[3] = static_cast<char>(lane_protocol + 1);
  FrameReader later;
  later.feed(bytes.substr(0, 4));
  auto version = later.next();
  REQUIRE(!version.ok());
  CHECK(version.error().given == "version 2, wanted 1");

  bytes = frame_bytes("{}", "");
  bytes.back() = 'x';
  FrameReader longer;
  longer.feed(bytes);
  CHECK(!longer.next().ok());

  bytes = frame_bytes("{}", "").substr(0, frame_prefix);
  for (std::size_t i = 8; i < 16; ++i) bytes[i] = '\xff';
  FrameReader greedy;
  greedy.feed(bytes);
  auto length = greedy.next();
  REQUIRE(!length.ok());
  CHECK(length.error().what.find("too long") != std::string::npos);
}
