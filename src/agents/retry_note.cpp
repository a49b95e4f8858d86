// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/retry_note.hpp"

#include <algorithm>
#include <sstream>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_blocks.hpp"
#include "lines.hpp"

namespace kernelsearch {

std::optional<std::string> read_retry_note(std::string_view reply) {
  constexpr std::size_t most_of_note = 400;  // characters: a sentence or two
  constexpr std::string_view marks = " \t\r*_`>#-";
  const std::string prose = prose_of(reply, code_blocks(reply));
  for (std::string_view line : detail::lines_of(prose)) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(marks)));
    if (!line.starts_with(retry_form)) continue;
    line.remove_prefix(retry_form.size());
    line.remove_prefix(std::min(line.size(), line.find_first_not_of("*_` ")));
    if (line.empty() || line.front() != ':') continue;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(marks)));
    const std::string note = clean_text(line.substr(0, line.find_last_not_of(" \t\r*_`") + 1));
    std::istringstream words(note);
    std::size_t count = 0;
    for (std::string word; words >> word;) ++count;
    if (count >= 3) return shortened(note, most_of_note);
  }
  return std::nullopt;
}

}  // namespace kernelsearch
