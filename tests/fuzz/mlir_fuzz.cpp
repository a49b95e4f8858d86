// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: no text may crash the reader of MLIR's generic form, hang it or exhaust memory; a schedule that
// is read has a default that is written, and what is written is read again with the same choices and without
// constraints.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/problem/mlir_payload.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto payload = try_read_mlir_payload(text); payload && payload->arguments.empty()) std::abort();
  const auto schedule = MlirSchedule::try_read(text);
  if (!schedule) {
    if (schedule.error().text().empty()) std::abort();
    return 0;
  }
  const auto value_of = [&](std::string_view name) -> const Value* {
    for (const Tunable& tunable : schedule->tunables())
      if (tunable.name == name) return &tunable.values[tunable.default_index];
    return nullptr;
  };
  const auto written = schedule->try_written(value_of);
  if (!written) return 0;  // a constraint need not hold for the default
  const auto again = MlirSchedule::try_read(*written);
  if (!again || again->tunables().size() != schedule->tunables().size()) std::abort();
  for (std::size_t i = 0; i < again->tunables().size(); ++i) {
    const Tunable &now = again->tunables()[i], &before = schedule->tunables()[i];
    if (now.values != before.values || now.default_index != before.default_index) std::abort();
  }
  return 0;
}
