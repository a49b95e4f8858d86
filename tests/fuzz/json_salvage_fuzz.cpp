// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/agents/config_item.hpp"
#include "kernelsearch/agents/json_salvage.hpp"
#include "kernelsearch/agents/region_answer.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// Any reply is read; what is read of it as a configuration is valid.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  static const Space space = SpaceBuilder()
                                 .add(Tunable::power_of_two("block", 16, 256))
                                 .add(Tunable::integer("unroll", 1, 6))
                                 .add(Tunable::boolean("pad"))
                                 .add(Tunable::permutation("order", 3))
                                 .require("block * unroll <= 512")
                                 .build();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& item : salvage_items(text, "configs").items)
    if (const auto read = read_config_item(space, item); read && !space.contains(read->config)) std::abort();
  ChatReply reply;
  reply.text = text;
  (void)read_region_answer(reply);
  return 0;
}
