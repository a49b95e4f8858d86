// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace kernelsearch;

TEST_CASE("HostMachine: the id tells models, core counts and governors apart") {
  const HostMachine machine{"Model 1", "performance", {0, 1}};
  CHECK(machine.id() == "Model 1, 2 cores, governor performance");
  CHECK(HostMachine{"Model 1", "", {0}}.id() == "Model 1, 1 core");
  CHECK(HostMachine{"", "", {0}}.id().find("unknown") == 0);
}

TEST_CASE("host_machine: cores are there and ascend") {
  const HostMachine machine = host_machine();
  REQUIRE(!machine.cores.empty());
  CHECK(std::is_sorted(machine.cores.begin(), machine.cores.end()));
  CHECK(machine.id() == host_machine().id());
}
