// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/child.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "process/run_command.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;

namespace {

constexpr double plenty = 30.0;

Launch spoken(const std::string& command) {
  return shell_launch(command, "");
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("Child: lines go both ways, whole ones only, and the rest stays") {
  Child child(spoken("while read -r line; do printf '<%s>\\nmo' \"$line\"; done"));
  CHECK(child.write("one\n", plenty) == Sent::all);
  CHECK(child.line(plenty).value() == "<one>");
  CHECK(child.write("two\n", plenty) == Sent::all);
  CHECK(child.line(plenty).value() == "mo<two>");
  CHECK_FALSE(child.line(0.05));
  CHECK(child.output().text() == "mo");
  CHECK(child.output().open());
  CHECK(child.end(plenty));
}

TEST_CASE("Child: lines that came together are taken one by one") {
  Child child(spoken("printf 'a long line\\nb\\n\\nc\\n'"));
  while (child.output().open()) child.listen(plenty);
  for (const char* line : {"a long line", "b", "", "c"}) CHECK(child.line(plenty).value() == line);
  CHECK_FALSE(child.line(plenty));
}

TEST_CASE("Child: bytes that are no lines are taken as they come, however many") {
  Child child(spoken("head -c 3000000 /dev/zero"));
  std::string all;
  while (child.output().open()) {
    child.listen(plenty);
    all += child.output().take();
  }
  CHECK(all == std::string(3000000, '\0'));
  CHECK(child.end(plenty));
}

TEST_CASE("Child: what is written arrives though the child speaks first, more than a pipe holds") {
  Child child(spoken("head -c 300000 /dev/zero | tr '\\0' x; echo; wc -c"));
  CHECK(child.write(std::string(400000, 'y'), plenty) == Sent::all);
  CHECK(child.line(plenty).value() == std::string(300000, 'x'));
  (void)child.take_input();
  CHECK(child.line(plenty).value().find("400000") != std::string::npos);
}

TEST_CASE("Child: a line that is too long is none, and the room for it is bounded") {
  Child child(spoken("head -c 100000 /dev/zero | tr '\\0' x; sleep 20; echo"), {.output = 3000});
  CHECK_FALSE(child.line(plenty, 1000));
  CHECK(child.output().text().size() > 1000);
  CHECK(child.output().text().size() <= 3000);
  CHECK(child.output().open());
}

TEST_CASE("Child: one that says nothing, or does not read, is late") {
  Child child(spoken("exec sleep 1000"));
  CHECK_FALSE(child.line(0.05));
  CHECK(child.output().open());
  CHECK_FALSE(child.listen(0.05));
  CHECK(child.write(std::string(1 << 20, 'x'), 0.05) == Sent::late);
  const pid_t pid = child.process().pid();
  CHECK_FALSE(child.end(0.05));
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("Child: one that closes its output lives on; what it said before is there") {
  Child child(spoken("printf 'last\\nrest'; exec 1>&-; read -r line"));
  CHECK(child.line(plenty).value() == "last");
  CHECK_FALSE(child.line(plenty));
  CHECK_FALSE(child.output().open());
  CHECK(child.output().text() == "rest");
  int status = 0;
  CHECK_FALSE(child.process().wait(0.0, status));
  CHECK(child.end(plenty));
}

TEST_CASE("Child: one that dies is told by how it ended, and nothing can be written to it") {
  Child child(spoken("kill -9 $$"));
  CHECK_FALSE(child.line(plenty));
  int status = 0;
  REQUIRE(child.process().wait(plenty, status));
  CHECK(end_text(status) == "was ended by SIGKILL (killed)");
  CHECK(child.write("x", plenty) == Sent::gone);
  Child other(spoken("exit 7"));
  REQUIRE(other.process().wait(plenty, status));
  CHECK(end_text(status) == "ended with exit code 7");
  CHECK_THROWS_AS(Child(Launch{.argv = {"/no/such/program"}}), ConfigError);
}

TEST_CASE("Child: the last of standard error is kept to its bound, and waited for where it says why") {
  Child child(spoken("yes oh | head -n 100000 >&2; echo there; sleep 0.1; printf 'the end\\r\\n\\n' >&2"));
  CHECK(child.line(plenty).value() == "there");
  const std::string last = child.last_errors(plenty);
  CHECK(last.size() > 1900);
  CHECK(last.size() <= 2000);
  CHECK(last.ends_with("oh\nthe end"));
  Child silent(spoken("exec sleep 1000"));
  CHECK(silent.last_errors() == "");
}

TEST_CASE("Child: it speaks through descriptors of others as through its own") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Descriptor theirs(ends[1]);
  Child child{Descriptor(ends[0]), Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, 3))};
  REQUIRE(write_quietly(theirs.number(), "hello\n", 6) == 6);
  CHECK(child.line(plenty).value() == "hello");
  CHECK(child.write("back", plenty) == Sent::all);
  Inflow heard(theirs.number());
  CHECK(heard.read_within(plenty));
  CHECK(heard.take() == "back");
  theirs.reset();
  CHECK_FALSE(child.line(plenty));
  CHECK_FALSE(child.output().open());
  CHECK(child.end(plenty));
}

TEST_CASE("Child: no descriptor stays open, and none of one child is in another") {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    Child first(spoken("exec sleep 1000")), second(spoken("ls /proc/self/fd | wc -l"));
    CHECK(second.line(plenty).value() == "4");  // its own three, and the one that it looks with
  }
  CHECK_THROWS_AS(Child(Launch{.argv = {"/no/such/program"}}), ConfigError);
  (void)run_command(spoken("true"), plenty, 1 << 16);
  CHECK(open_descriptors() == before);
}

TEST_CASE("run_command: output and errors, each to its bound; it ends at its limit") {
  const Finished well = run_command(spoken("cat; echo out; echo err >&2; exit 3"), plenty, 1 << 16);
  CHECK(well.output == "out\n");
  CHECK(well.errors == "err\n");
  CHECK(WEXITSTATUS(well.status) == 3);
  CHECK_FALSE((well.timed_out || well.too_much_output));
  const Finished long_winded = run_command(spoken("yes"), plenty, 1000);
  CHECK(long_winded.too_much_output);
  CHECK(long_winded.output.size() == 1000);
  const Finished errors = run_command(spoken("echo first >&2; yes | head -c 3000000 >&2"), plenty, 1000);
  CHECK(errors.errors.size() == 1 << 20);
  CHECK(errors.errors.starts_with("first\n"));
  CHECK(run_command(spoken("exec sleep 1000"), 0.05, 1000).timed_out);
  std::stop_source stop;
  stop.request_stop();
  CHECK(run_command(spoken("exec sleep 10"), plenty, 1000, stop.get_token()).timed_out);
}
