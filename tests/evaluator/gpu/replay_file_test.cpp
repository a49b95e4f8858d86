// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/replay_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "kernelsearch/core/rng.hpp"
#include "support/device_problem.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

namespace {

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

ReplayModule module() {
  return {std::make_shared<const std::vector<std::byte>>(100, std::byte{1}), {"scale"}};
}

}  // namespace

TEST_CASE("what is written is read back; what is cut short is refused") {
  const TemporaryFolder folder;
  const Problem problem = support::DeviceProblem{}.parsed();
  const ReplayFile replay(problem, support::default_candidate(problem), module(), module(),
                          {.shape = 1, .seed = 3});
  CHECK(replay.problem().empty());
  CHECK(replay.launches() == 1);
  CHECK(replay.frames().size() == 7);  // hello, two modules, program, buffers, warm-up, call
  const auto file = folder.path() / "frames";
  replay.write(file);
  const auto read = read_frames(file);
  REQUIRE(read);
  CHECK(*read == replay.frames());
  const std::string bytes = tool_test::read_file(file);
  std::size_t whole = 0;  // lengths at which a frame ends
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    write_bytes(file, bytes.substr(0, size));
    const auto cut = read_frames(file);
    if (cut) {
      ++whole;
      CHECK(cut->size() < replay.frames().size());
    }
  }
  CHECK(whole >= 1);  // of length 0
  CHECK(!read_frames(folder.path() / "nothing"));
  const ReplayFile cold(problem, support::default_candidate(problem), module(), module(),
                        {.shape = 1, .seed = 3, .warm_up = 0});
  CHECK(cold.frames().size() == 6);
}

TEST_CASE("inputs that are not drawn on the device travel with the commands") {
  const Problem problem = support::DeviceProblem{}.parsed();
  auto made = std::make_shared<Contents>(3);
  for (int i = 0; i < 4000; ++i) (*made)[1].push_back(static_cast<std::byte>(i * 7 + i / 256));
  const ReplayFile replay(problem, support::default_candidate(problem), module(), module(),
                          {.shape = 1, .seed = 3, .warm_up = 0, .made = made});
  REQUIRE(replay.frames().size() == 7);  // the bytes, then the call
  const auto holds = [&](std::size_t frame) {
    const auto& bytes = replay.frames()[frame];
    return std::search(bytes.begin(), bytes.end(), (*made)[1].begin(), (*made)[1].end()) != bytes.end();
  };
  CHECK(holds(5));
  CHECK(!holds(6));
}

TEST_CASE("any file is read or refused") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "frames";
  Rng rng(11);
  for (int i = 0; i < 300; ++i) {
    std::string bytes;
    for (int frame = 0; frame < 3; ++frame) {
      std::uint64_t size = rng.below(30);
      if (rng.below(4) == 0) size = rng();
      bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
      bytes.append(static_cast<std::size_t>(rng.below(40)), 'x');
    }
    write_bytes(file, bytes);
    std::size_t total = 0;
    if (const auto frames = read_frames(file))
      for (const auto& frame : *frames) total += 8 + frame.size();
    CHECK((total == 0 || total == bytes.size()));
  }
}
