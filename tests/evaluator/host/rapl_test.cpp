// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/rapl.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

void write_rapl(const std::filesystem::path& zone, const std::string& name, long long microjoules) {
  std::filesystem::create_directories(zone);
  std::ofstream(zone / "name") << name << "\n";
  std::ofstream(zone / "max_energy_range_uj") << 10'000'000 << "\n";
  std::ofstream(zone / "energy_uj") << microjoules << "\n";
}

}  // namespace

TEST_CASE("Rapl: adds up the packages, once each, over a counter that wraps") {
  const TemporaryFolder folder;
  write_rapl(folder.path() / "intel-rapl:0", "package-0", 9'000'000);
  write_rapl(folder.path() / "intel-rapl:0:0", "core", 1);
  write_rapl(folder.path() / "intel-rapl:1", "package-1", 1'000'000);
  write_rapl(folder.path() / "intel-rapl:2", "psys", 5);
  auto rapl = detail::Rapl::open(folder.path());
  REQUIRE(rapl.has_value());
  CHECK(*rapl->joules() == 0);
  write_rapl(folder.path() / "intel-rapl:0", "package-0", 500'000);  // wrapped
  write_rapl(folder.path() / "intel-rapl:1", "package-1", 3'000'000);
  CHECK(*rapl->joules() == approx(1.5 + 2));
  CHECK(*rapl->joules() == 0);
  std::filesystem::remove(folder.path() / "intel-rapl:1" / "energy_uj");
  CHECK(!rapl->joules());
}

TEST_CASE("Rapl: nothing where nothing can be read") {
  const TemporaryFolder folder;
  CHECK(!detail::Rapl::open(folder.path()));
  CHECK(!detail::Rapl::open(folder.path() / "missing"));
  write_rapl(folder.path() / "intel-rapl:0", "package-0", 1);
  std::filesystem::remove(folder.path() / "intel-rapl:0" / "energy_uj");
  CHECK(!detail::Rapl::open(folder.path()));
}
