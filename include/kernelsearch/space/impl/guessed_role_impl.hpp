// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

#include "kernelsearch/space/guessed_role.hpp"

namespace kernelsearch {
namespace detail {

/// A word of a name, or the whole name, and what a tunable with it does. The first row that fits counts.
struct RoleWord {
  std::string_view word;
  TunableRole role;
  bool whole;  ///< the whole name, without the axis or the number at its end
};

inline constexpr RoleWord role_words[] = {{"block_size", TunableRole::threads, true},
                                          {"tile_size", TunableRole::work, true},
                                          {"block_sizes", TunableRole::block_size, true},
                                          {"num_warps", TunableRole::warps, true},
                                          {"group_size", TunableRole::threads, true},
                                          {"l2_groupings", TunableRole::layout, true},
                                          {"loop_orders", TunableRole::layout, true},
                                          {"pid_type", TunableRole::algorithm, true},
                                          {"stage", TunableRole::shared, true},
                                          {"unroll", TunableRole::unroll, false},
                                          {"unrolled", TunableRole::unroll, false},
                                          {"pad", TunableRole::pad, false},
                                          {"padding", TunableRole::pad, false},
                                          {"stages", TunableRole::stages, false},
                                          {"slots", TunableRole::stages, false},
                                          {"buffers", TunableRole::stages, false},
                                          {"prefetch", TunableRole::stages, false},
                                          {"async", TunableRole::stages, false},
                                          {"pipeline", TunableRole::stages, false},
                                          {"shared", TunableRole::shared, false},
                                          {"shmem", TunableRole::shared, false},
                                          {"staged", TunableRole::shared, false},
                                          {"tiled", TunableRole::shared, false},
                                          {"kept", TunableRole::shared, false},
                                          {"warps", TunableRole::warps, false},
                                          {"consumers", TunableRole::warps, false},
                                          {"threads", TunableRole::threads, false},
                                          {"group", TunableRole::threads, true},
                                          {"lanes", TunableRole::threads, false},
                                          {"lines", TunableRole::threads, false},
                                          {"block", TunableRole::threads, false},
                                          {"vec", TunableRole::vector, false},
                                          {"vector", TunableRole::vector, false},
                                          {"width", TunableRole::vector, false},
                                          {"simd", TunableRole::vector, false},
                                          {"bm", TunableRole::tile, false},
                                          {"bn", TunableRole::tile, false},
                                          {"bk", TunableRole::tile, false},
                                          {"tile", TunableRole::tile, false},
                                          {"depth", TunableRole::tile, false},
                                          {"tm", TunableRole::work, false},
                                          {"tn", TunableRole::work, false},
                                          {"items", TunableRole::work, false},
                                          {"rows", TunableRole::work, false},
                                          {"columns", TunableRole::work, false},
                                          {"layers", TunableRole::work, false},
                                          {"work", TunableRole::work, false},
                                          {"chains", TunableRole::work, false},
                                          {"order", TunableRole::layout, false},
                                          {"layout", TunableRole::layout, false},
                                          {"swizzle", TunableRole::layout, false},
                                          {"swap", TunableRole::layout, false},
                                          {"snake", TunableRole::layout, false},
                                          {"diagonal", TunableRole::layout, false},
                                          {"method", TunableRole::algorithm, false},
                                          {"strategy", TunableRole::algorithm, false},
                                          {"algorithm", TunableRole::algorithm, false},
                                          {"split", TunableRole::algorithm, false},
                                          {"atomic", TunableRole::algorithm, false},
                                          {"persistent", TunableRole::algorithm, false}};

/// Whether `word` is in `name` between its ends and underscores.
inline bool has_word(std::string_view name, std::string_view word) noexcept {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || name[at - 1] == '_') && (end == name.size() || name[end] == '_')) return true;
  }
  return false;
}

}  // namespace detail

KERNELSEARCH_INLINE TunableRole guessed_role(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::string_view stem = lower;
  const auto is_number = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (const std::size_t at = stem.rfind('_'); at != std::string_view::npos && at > 0) {
    const std::string_view last = stem.substr(at + 1);
    if (last == "x" || last == "y" || last == "z" || is_number(last)) stem = stem.substr(0, at);
  }
  for (const detail::RoleWord& row : detail::role_words)
    if (row.whole ? stem == row.word : detail::has_word(stem, row.word)) return row.role;
  return TunableRole::none;
}

KERNELSEARCH_INLINE TunableRole role_of(const Tunable& tunable) {
  return tunable.role != TunableRole::none ? tunable.role : guessed_role(tunable.name);
}

}  // namespace kernelsearch
