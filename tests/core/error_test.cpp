// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/error.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <type_traits>

using namespace kernelsearch;

TEST_CASE("error: the text says what, what was given and what to do, and leaves out what is not said") {
  CHECK(detail::error_text("no such policy", "`ranom`", "did you mean `random`") ==
        "kernelsearch: no such policy: `ranom`; did you mean `random`");
  CHECK(detail::error_text("no such policy", "", "name one") == "kernelsearch: no such policy; name one");
  CHECK(detail::error_text("out of luck", "x", "") == "kernelsearch: out of luck: x");
}

TEST_CASE("error: raise throws the error it was asked for, with that text") {
  CHECK_THROWS_WITH_AS(detail::raise<ConfigError>("a", "b", "c"), "kernelsearch: a: b; c", ConfigError);
  CHECK_THROWS_AS(detail::raise<DeviceError>("a", "b", "c"), DeviceError);
  static_assert(std::is_base_of_v<Error, ConfigError> && std::is_base_of_v<Error, DeviceError>);
  static_assert(!std::is_base_of_v<ConfigError, DeviceError>);
}

TEST_CASE("error: a replaced failure handler gets the message; one that returns does not go on") {
  const auto exit_status = [](FailureHandler handler) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGABRT, SIG_DFL);  // doctest would report the abort that is meant
      if (freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(2);
      if (handler != nullptr) set_failure_handler(handler);
      detail::fail("the message");
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  };
  const int exits = exit_status([](std::string_view m) { std::_Exit(m == "the message" ? 42 : 1); });
  CHECK(WIFEXITED(exits));
  CHECK(WEXITSTATUS(exits) == 42);
  const int returns = exit_status([](std::string_view) {});
  CHECK(WIFSIGNALED(returns));
  CHECK(WTERMSIG(returns) == SIGABRT);
  const int untouched = exit_status(nullptr);
  CHECK(WIFSIGNALED(untouched));
}

TEST_CASE("error: setting a handler gives back the earlier one") {
  const FailureHandler mine = [](std::string_view) { std::_Exit(1); };
  const FailureHandler first = set_failure_handler(mine);
  CHECK((first != nullptr));
  CHECK((set_failure_handler(first) == mine));
}
