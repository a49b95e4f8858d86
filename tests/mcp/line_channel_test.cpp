// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/line_channel.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <thread>
#include <vector>

using namespace kernelsearch;

namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(pipe(ends) == 0); }
  ~Pipe() {
    close_writer();
    close(ends[0]);
  }
  void close_writer() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  void put(const std::string& text) const {
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
};

}  // namespace

TEST_CASE("LineChannel: reads lines however they arrive, and the last without a newline") {
  Pipe in;
  LineChannel channel(in.ends[0], -1, 10);
  in.put("one\ntw");
  CHECK(channel.read()->text == "one");
  in.put("o\r\n\nthree");
  CHECK(channel.read()->text == "two");
  CHECK(channel.read()->text == "");
  in.close_writer();
  CHECK(channel.read()->text == "three");
  CHECK(!channel.read());
  CHECK(!channel.read());
}

TEST_CASE("LineChannel: a line that is too long is dropped and said to be") {
  Pipe in;
  LineChannel channel(in.ends[0], -1, 10);
  in.put("0123456789\n01234567890\nshort\n");
  CHECK(channel.read()->text == "0123456789");
  std::optional<Line> line = channel.read();
  CHECK(line->cut);
  CHECK(line->text.empty());
  CHECK(channel.read()->text == "short");
  std::thread writer([&in] {
    in.put(std::string(200'000, 'x'));
    in.put("\nafter\n");
    in.put(std::string(50, 'y'));
    in.close_writer();
  });
  line = channel.read();
  CHECK(line->cut);
  line = channel.read();
  CHECK(!line->cut);
  CHECK(line->text == "after");
  line = channel.read();
  CHECK(line->cut);
  CHECK(!channel.read());
  writer.join();
}

TEST_CASE("LineChannel: lines of several threads stay whole") {
  Pipe out;
  LineChannel channel(-1, out.ends[1]);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&channel, t] {
      for (int i = 0; i < 200; ++i) CHECK(channel.write(std::string(1000, static_cast<char>('a' + t))));
    });
  LineChannel reader(out.ends[0], -1);
  std::map<std::string, int> lines;
  for (int i = 0; i < 800; ++i) ++lines[reader.read()->text];
  for (std::thread& thread : threads) thread.join();
  CHECK(lines.size() == 4);
  for (const auto& [line, count] : lines) CHECK(count == 200);
}

TEST_CASE("LineChannel: a reader that has gone is noticed") {
  signal(SIGPIPE, SIG_IGN);
  Pipe out;
  LineChannel channel(-1, out.ends[1]);
  CHECK(channel.write("x"));
  close(out.ends[0]);
  CHECK(!channel.write("y"));
  CHECK(!channel.write("z"));
  out.ends[0] = dup(out.ends[1]);
}
