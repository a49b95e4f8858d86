// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/rapl.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace kernelsearch::detail {
namespace {

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (!(in >> number)) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Rapl> Rapl::open(const std::filesystem::path& folder) {
  Rapl rapl;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    // Parts of a package, such as intel-rapl:0:0 for its cores, are in its counter.
    const std::string name = entry.path().filename().string();
    if (name.rfind("intel-rapl:", 0) != 0 || std::count(name.begin(), name.end(), ':') != 1) continue;
    std::string kind;
    std::ifstream(entry.path() / "name") >> kind;
    if (kind.rfind("package", 0) != 0) continue;
    Package package{entry.path() / "energy_uj", 0, 0};
    const auto range = number_in(entry.path() / "max_energy_range_uj");
    const auto now = number_in(package.counter);
    if (!range || !now) return std::nullopt;
    package.range = *range;
    package.last = *now;
    rapl.packages_.push_back(std::move(package));
  }
  if (rapl.packages_.empty()) return std::nullopt;
  return rapl;
}

std::optional<double> Rapl::joules() {
  std::uint64_t microjoules = 0;
  for (Package& package : packages_) {
    const auto now = number_in(package.counter);
    if (!now) return std::nullopt;
    microjoules += *now >= package.last ? *now - package.last : *now + package.range - package.last;
    package.last = *now;
  }
  return 1e-6 * static_cast<double>(microjoules);
}

}  // namespace kernelsearch::detail
