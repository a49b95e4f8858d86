// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/argument.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace kernelsearch;

TEST_CASE("Argument: by default an input scalar, uniform in [-1, 1) once it is an array") {
  const Argument argument;
  CHECK_FALSE(argument.is_array);
  CHECK(argument.role == Role::in);
  CHECK(argument.initialisation == Initialisation::uniform);
  CHECK(argument.low == -1.0);
  CHECK(argument.high == 1.0);
  CHECK_FALSE(argument.tolerance);
  CHECK(argument.is_scalar());
  CHECK_FALSE(argument.is_input());
  CHECK_FALSE(argument.is_output());
}

TEST_CASE("Argument: workspaces and tensor maps are neither inputs nor outputs nor scalars") {
  Argument array;
  array.is_array = true;
  const auto is = [&](Role role) {
    array.role = role;
    return std::array{array.is_scalar(), array.is_input(), array.is_output()};
  };
  CHECK(is(Role::in) == std::array{false, true, false});
  CHECK(is(Role::out) == std::array{false, false, true});
  CHECK(is(Role::inout) == std::array{false, true, true});
  CHECK(is(Role::workspace) == std::array{false, false, false});
  Argument map;
  map.tensor_map.emplace();
  CHECK_FALSE(map.is_scalar());
  CHECK_FALSE(map.is_input());
  CHECK_FALSE(map.is_output());
}
