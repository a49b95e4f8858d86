// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "fuzz/text_file.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/t1.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace {

using namespace kernelsearch;

const Space& small_space() {
  static const Space space = SpaceBuilder()
                                 .add(Tunable::power_of_two("block", 16, 256))
                                 .add(Tunable::boolean("pad"))
                                 .add(Tunable::permutation("order", 3))
                                 .require("block <= 128 or pad")
                                 .build();
  return space;
}

}  // namespace

/// Tables of settings, lists of configurations and files of the T1 format: any text is read or refused with a
/// ConfigError. The first byte says as what.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 3 == 0) {
      const SettingsTable table = SettingsTable::load(kernelsearch_fuzz::TextFile(text).path());
      const std::pair<std::string, Value> shape[] = {{"n", std::int64_t{1024}}};
      (void)table.best_for("p", "d", shape);
    } else if (data[0] % 3 == 1) {
      const Space space = listed_in(small_space(), kernelsearch_fuzz::TextFile(text).path());
      if (!space.contains(space.default_config())) std::abort();
    } else {
      std::istringstream in{std::string(text)};
      (void)read_t1(in, "t1", SpaceOptions{.max_states = 20000});
    }
  } catch (const ConfigError&) {
  }
  return 0;
}
