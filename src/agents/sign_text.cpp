// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/sign_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "agents/read_signs.hpp"
#include "kernelsearch/agents/quoted_text.hpp"

namespace kernelsearch {

std::string sign_text(std::span<const MoveSign> signs, const Features& features, const Features& problem) {
  const SeenSigns seen = seen_signs(signs, features, problem);
  if (seen.main == nullptr) return {};
  const std::string& words = seen.main->because;
  std::string text;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t begin = words.find('{', at), end = words.find('}', begin);
    if (begin == std::string::npos || end == std::string::npos) {
      text += words.substr(at);
      break;
    }
    text += words.substr(at, begin - at);
    const std::string name = words.substr(begin + 1, end - begin - 1);
    std::optional<double> value = features.find(name);
    if (!value) value = problem.find(name);
    text += value ? fmt::format("{:.4g}", *value) : "an unknown number of";
    at = end + 1;
  }
  return clean_text(text);
}

}  // namespace kernelsearch

namespace kernelsearch::detail {

std::vector<MoveSign> read_signs(const std::optional<JsonCursor>& place) {
  constexpr const char* todo =
      "write {\"when\": \"code.loop.call > 0\", \"worth\": 1, \"because\": \"the hot loop has calls\"}";
  constexpr std::size_t longest = 200;
  std::vector<MoveSign> signs;
  if (!place) return signs;
  for (const JsonCursor& item : place->items("list {\"when\": ..., \"worth\": ..., \"because\": ...}")) {
    (void)item.members(todo);
    item.only({"when", "worth", "because"});
    const JsonCursor when = item.at("when", todo);
    std::string error;
    auto expression = Expression::try_parse(when.string("write an expression over features"), error);
    if (!expression) when.refuse("is not an expression", error, "write e.g. \"code.loop.call > 0\"");
    MoveSign sign{std::move(*expression), 1.0, {}};
    if (const auto worth = item.find("worth")) {
      sign.worth = worth->number("a number from -1 to 1");
      if (!(std::abs(sign.worth) <= 1) || sign.worth == 0)
        worth->refuse("is out of bounds", fmt::format("{}", sign.worth),
                      "write a number from -1 to 1 that is not 0");
    }
    const JsonCursor because = item.at("because", todo);
    sign.because = because.string("say in words what is seen");
    if (sign.because.empty() || sign.because.size() > longest)
      because.refuse("is empty or too long", fmt::format("{} characters", sign.because.size()),
                     "say what is seen in at most 200 characters");
    signs.push_back(std::move(sign));
  }
  return signs;
}

}  // namespace kernelsearch::detail
