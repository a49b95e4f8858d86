// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernelsearch/core/device_identity.hpp"

using namespace kernelsearch;

TEST_CASE("HostMachine: the id is the model, whatever the cores and their governor; 0.1 had them in it") {
  const HostMachine machine{"Model 1", "performance", {0, 1}};
  CHECK(machine.id() == "Model 1");
  CHECK(HostMachine{"Model 1", "", {0}}.id() == machine.id());
  CHECK(HostMachine{"Model 2", "", {0}}.id() != machine.id());
  CHECK(machine.former_id() == "Model 1, 2 cores, governor performance");
  CHECK(HostMachine{"Model 1", "", {0}}.former_id() == "Model 1, 1 core");
  CHECK(HostMachine{"", "", {0}}.id().find("unknown") == 0);
}

TEST_CASE("host_machine: cores are there and ascend") {
  const HostMachine machine = host_machine();
  REQUIRE(!machine.cores.empty());
  CHECK(std::is_sorted(machine.cores.begin(), machine.cores.end()));
  CHECK(machine.id() == host_machine().id());
  CHECK(machine.id() == processor_identity());
}
