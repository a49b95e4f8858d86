// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/frame.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "evaluator/gpu/protocol.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

namespace {

struct Connection {
  Connection() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }
  ~Connection() {
    hang_up(0);
    hang_up(1);
  }
  void hang_up(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  void write(const void* data, std::size_t size) const {
    REQUIRE(send(ends[0], data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }
  int ends[2] = {-1, -1};
};

std::vector<std::byte> random_bytes(Rng& rng, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng() >> 56);
  return bytes;
}

}  // namespace

TEST_CASE("frame: frames of any length arrive as they were sent, in order") {
  Connection c;
  Rng rng(3);
  std::vector<std::vector<std::byte>> frames;
  for (const std::size_t size : {0, 1, 7, 8, 4096, 3000000}) frames.push_back(random_bytes(rng, size));
  bool sent = true;
  std::thread sender([&] {
    for (const auto& frame : frames) sent = send_frame(c.ends[0], frame) && sent;
  });
  std::vector<std::byte> got;
  for (const auto& frame : frames) {
    CHECK(receive_frame(c.ends[1], got, 10));
    CHECK(got == frame);
  }
  sender.join();
  CHECK(sent);
}

TEST_CASE("frame: silence is told from the end of the connection") {
  Connection c;
  std::vector<std::byte> got;
  bool late = false;
  CHECK(!receive_frame(c.ends[1], got, 0.01, &late));
  CHECK(late);
  c.write("\x08\0\0\0\0\0\0\0half", 12);
  late = false;
  CHECK(!receive_frame(c.ends[1], got, 0.01, &late));
  CHECK(late);
  Connection d;
  d.write("\x08\0\0\0\0\0\0\0half", 12);
  d.hang_up(0);
  late = false;
  CHECK(!receive_frame(d.ends[1], got, 10, &late));
  CHECK(!late);
  CHECK(!receive_frame(d.ends[1], got));
}

TEST_CASE("frame: one that is too long is refused before memory is taken for it") {
  Connection c;
  for (const std::uint64_t size : {longest_frame + 1, ~std::uint64_t{0}}) {
    c.write(&size, sizeof size);
    std::vector<std::byte> got;
    CHECK(!receive_frame(c.ends[1], got, 1));
    CHECK(got.size() == 0);
  }
}

TEST_CASE("frame: nobody dies of a connection whose other end is gone") {
  Connection c;
  c.hang_up(1);
  bool sent = true;
  for (int i = 0; i < 3; ++i) sent = send_frame(c.ends[0], std::vector<std::byte>(100000)) && sent;
  CHECK(!sent);
}
