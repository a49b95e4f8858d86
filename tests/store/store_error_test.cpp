// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/store_error.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("StoreError: it is an Error and no ConfigError") {
  CHECK_THROWS_AS(detail::raise<StoreError>("a", "b", "c"), Error);
  CHECK_FALSE(std::is_base_of_v<ConfigError, StoreError>);
}
