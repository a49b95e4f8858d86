// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "kernelsearch/generator/source_edits.hpp"

namespace kernelsearch {
namespace detail {

/// A source with what is marked in it.
struct MarkedSource {
  std::string_view text;
  std::vector<MarkedLoop> loops = marked_loops(text);
  std::vector<MarkedFunction> functions = marked_functions(text);

  [[nodiscard]] std::string between(std::size_t from, std::size_t to) const {
    return std::string(text.substr(from, to - from));
  }
  [[nodiscard]] std::string with(std::size_t from, std::size_t to, const std::string& replacement) const {
    return between(0, from) + replacement + between(to, text.size());
  }
  [[nodiscard]] bool innermost(const MarkedLoop& loop) const {
    return std::none_of(loops.begin(), loops.end(),
                        [&](const MarkedLoop& other) { return loop.contains(other); });
  }
  [[nodiscard]] std::string body(const MarkedLoop& loop) const {
    return std::string(trimmed(text.substr(loop.body, loop.end - loop.body)));
  }
  /// The directives before the loop.
  [[nodiscard]] std::string directives(const MarkedLoop& loop) const {
    return between(loop.directives, loop.begin);
  }
};

inline std::string header(const MarkedLoop& loop) {
  return "for (" + loop.type + " " + loop.variable + " = " + loop.first + "; " + loop.variable + " < " +
         loop.last + "; " + loop.variable + " += " + loop.step + ")";
}
inline std::string product(int factor, const std::string& step) {
  return step == "1" ? std::to_string(factor) : std::to_string(factor) + " * (" + step + ")";
}
inline std::string advanced(const MarkedLoop& loop, int steps) {
  return "(" + loop.variable + " + " + product(steps, loop.step) + ")";
}

/// A loop over whole groups of `factor` steps with `grouped` as its body, then one over what is left.
inline std::string in_groups(const MarkedLoop& loop, int factor, const std::string& before,
                             const std::string& grouped, const std::string& body, const std::string& after) {
  const std::string& v = loop.variable;
  return "{\n" + before + loop.type + " " + v + " = " + loop.first + ";\nfor (; " + v + " + " +
         product(factor - 1, loop.step) + " < " + loop.last + "; " + v + " += " + product(factor, loop.step) +
         ") {\n" + grouped + "}\nfor (; " + v + " < " + loop.last + "; " + v + " += " + loop.step + ") " +
         body + "\n" + after + "}";
}

/// `LEFT += RIGHT;` or `LEFT = RIGHT;` where the body is no more than that.
struct Assignment {
  std::string left, op, right;
};
inline std::optional<Assignment> single_assignment(std::string_view body) {
  body = trimmed(body);
  if (!body.empty() && body.front() == '{') body = trimmed(body.substr(1, body.size() - 2));
  if (body.empty() || body.back() != ';' || body.find(';') != body.size() - 1) return std::nullopt;
  if (body.find_first_of("{}?\"'") != std::string_view::npos || body.find("//") != std::string_view::npos)
    return std::nullopt;
  const std::size_t equals = body.find('=');
  if (equals == std::string_view::npos || equals == 0 || body.find('=', equals + 1) != std::string_view::npos)
    return std::nullopt;
  const bool compound = body[equals - 1] == '+' || body[equals - 1] == '-' || body[equals - 1] == '*';
  if (!compound && (body[equals - 1] == '<' || body[equals - 1] == '>' || body[equals - 1] == '!'))
    return std::nullopt;
  const std::size_t op = compound ? equals - 1 : equals;
  return Assignment{std::string(trimmed(body.substr(0, op))), std::string(body.substr(op, equals + 1 - op)),
                    std::string(trimmed(body.substr(equals + 1, body.size() - equals - 2)))};
}

inline void unroll(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& loop : source.loops) {
    const std::string body = source.body(loop);
    if (!source.innermost(loop) || mentions(body, "break") || mentions(body, "continue") ||
        mentions(body, "return") || mentions(body, "goto"))
      continue;
    for (const int factor : {2, 4, 8}) {
      std::string grouped;
      for (int k = 0; k < factor; ++k)
        grouped += "{ " + (k == 0 ? body : replaced(body, loop.variable, advanced(loop, k))) + " }\n";
      edits.push_back({"unroll loop " + loop.name + " by " + std::to_string(factor),
                       source.with(loop.marker, loop.end, in_groups(loop, factor, "", grouped, body, ""))});
    }
  }
}

inline void accumulators(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& loop : source.loops) {
    const std::string body = source.body(loop);
    const std::optional<Assignment> sum = single_assignment(body);
    if (!source.innermost(loop) || !sum || sum->op != "+=" || mentions(sum->right, sum->left)) continue;
    if (!std::all_of(sum->left.begin(), sum->left.end(), in_word) || sum->left == loop.variable) continue;
    for (const int count : {2, 4, 8}) {
      std::string declared, grouped, added;
      for (int k = 0; k < count; ++k) {
        const std::string name = k == 0 ? sum->left : sum->left + "_" + std::to_string(k);
        if (k > 0) declared += "__typeof__(+" + sum->left + ") " + name + " = 0;\n";
        grouped += name +
                   " += " + (k == 0 ? sum->right : replaced(sum->right, loop.variable, advanced(loop, k))) +
                   ";\n";
        if (k > 0) added += (k == 1 ? "" : " + ") + name;
      }
      edits.push_back(
          {std::to_string(count) + " accumulators in loop " + loop.name,
           source.with(loop.marker, loop.end,
                       in_groups(loop, count, declared, grouped, body, sum->left + " += " + added + ";\n"))});
    }
  }
}

/// Replaces consecutive elements by vectors; nothing where the variable occurs in any other way.
inline std::optional<std::string> as_vectors(std::string_view code, const std::string& variable, bool& any) {
  std::string result;
  for (std::size_t i = 0; i < code.size();) {
    if (!in_word(code[i])) {
      result += code[i++];
      continue;
    }
    std::size_t end = i;
    while (end < code.size() && in_word(code[end])) ++end;
    const std::string_view word = code.substr(i, end - i);
    if (word == variable) return std::nullopt;
    if (end >= code.size() || code[end] != '[') {
      result += word;
      i = end;
      continue;
    }
    const std::size_t close = closing(code, end);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view subscript = trimmed(code.substr(end + 1, close - end - 1));
    const std::string whole(code.substr(i, close + 1 - i));
    i = close + 1;
    if (!mentions(subscript, variable)) {
      result += whole;
      continue;
    }
    // Consecutive: VARIABLE alone, or added last.
    if (subscript != variable) {
      if (subscript.size() < variable.size() ||
          subscript.substr(subscript.size() - variable.size()) != variable)
        return std::nullopt;
      const std::string_view rest = trimmed(subscript.substr(0, subscript.size() - variable.size()));
      if (rest.empty() || rest.back() != '+' || mentions(rest, variable)) return std::nullopt;
    }
    any = true;
    result += "*reinterpret_cast<const kernelsearch_vector*>(&" + whole + ")";
  }
  return result;
}

inline void vectorize(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& loop : source.loops) {
    const std::string body = source.body(loop);
    const std::optional<Assignment> set = single_assignment(body);
    if (!source.innermost(loop) || !set || loop.step != "1") continue;
    bool vector_left = false, vector_right = false;
    const auto left = as_vectors(set->left, loop.variable, vector_left);
    const auto right = as_vectors(set->right, loop.variable, vector_right);
    if (!left || !right || !vector_left || !vector_right || left->rfind("*reinterpret_cast<const ", 0) != 0)
      continue;
    std::string stored = *left;
    stored.erase(stored.find("const "), 6);
    const std::string array = set->left.substr(0, set->left.find('['));
    for (const int width : {4, 8, 16}) {
      const std::string type = "typedef __typeof__(+" + array +
                               "[0]) kernelsearch_vector __attribute__((vector_size(" +
                               std::to_string(width) + " * sizeof(" + array + "[0])), aligned(__alignof__(" +
                               array + "[0])), may_alias));\n";
      edits.push_back({"vectors of " + std::to_string(width) + " in loop " + loop.name,
                       source.with(loop.marker, loop.end,
                                   in_groups(loop, width, type, stored + " " + set->op + " " + *right + ";\n",
                                             body, ""))});
    }
  }
}

inline void tile(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& loop : source.loops) {
    constexpr std::string_view suffix = "_tile";
    const auto named = [&](const MarkedLoop& other) { return other.name == loop.name + std::string(suffix); };
    if (loop.name.size() > suffix.size() && loop.name.substr(loop.name.size() - suffix.size()) == suffix)
      continue;
    if (std::any_of(source.loops.begin(), source.loops.end(), named)) continue;
    for (const int size : {8, 32, 128, 512}) {
      MarkedLoop outer = loop, inner = loop;
      outer.variable += suffix;
      outer.step = product(size, loop.step);
      inner.first = outer.variable;
      const std::string bound = outer.variable + " + " + outer.step;
      inner.last = "(" + bound + " < " + loop.last + " ? " + bound + " : " + loop.last + ")";
      edits.push_back({"tile loop " + loop.name + " by " + std::to_string(size),
                       source.with(loop.marker, loop.end,
                                   "// loop: " + loop.name + std::string(suffix) + "\n" + header(outer) +
                                       " {\n// loop: " + loop.name + "\n" + source.directives(loop) +
                                       header(inner) + " " + source.body(loop) + "\n}")});
    }
  }
}

inline void interchange(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& outer : source.loops)
    for (const MarkedLoop& inner : source.loops) {
      if (!outer.contains(inner)) continue;
      // Directly inside: nothing but a brace before it and after it.
      const std::string_view before = trimmed(source.text.substr(outer.body, inner.marker - outer.body));
      const std::string_view after = trimmed(source.text.substr(inner.end, outer.end - inner.end));
      if (!((before.empty() && after.empty()) || (before == "{" && after == "}"))) continue;
      if (mentions(inner.first + " " + inner.last + " " + inner.step, outer.variable)) continue;
      edits.push_back(
          {"interchange loops " + outer.name + " and " + inner.name,
           source.with(outer.marker, outer.end,
                       "// loop: " + inner.name + "\n" + source.directives(inner) + header(inner) +
                           " {\n// loop: " + outer.name + "\n" + source.directives(outer) + header(outer) +
                           " " + source.body(inner) + "\n}")});
    }
}

inline void ivdep(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedLoop& loop : source.loops)
    if (source.innermost(loop) && source.directives(loop).find("ivdep") == std::string::npos)
      edits.push_back({"ivdep before loop " + loop.name,
                       source.with(loop.directives, loop.directives, "#pragma GCC ivdep\n")});
}

/// Where the names of pointer parameters begin and what they are.
inline std::vector<std::pair<std::size_t, std::string>> pointers(const MarkedSource& source,
                                                                 const MarkedFunction& f) {
  std::vector<std::pair<std::size_t, std::string>> result;
  for (std::size_t i = f.parameters; i < f.parameters_end; ++i) {
    if (source.text[i] != '*') continue;
    std::size_t begin = i + 1;
    constexpr std::string_view keyword = "__restrict";
    while (begin < f.parameters_end && is_blank(source.text[begin])) ++begin;
    if (source.text.substr(begin, keyword.size()) == keyword) {
      begin += keyword.size();
      while (begin < f.parameters_end && is_blank(source.text[begin])) ++begin;
    }
    std::size_t end = begin;
    while (end < f.parameters_end && in_word(source.text[end])) ++end;
    if (end > begin) result.emplace_back(begin, source.between(begin, end));
  }
  return result;
}

inline void restrict_pointers(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedFunction& f : source.functions) {
    std::string parameters = source.between(f.parameters, f.parameters_end);
    if (mentions(parameters, "__restrict")) continue;
    const auto found = pointers(source, f);
    for (auto at = found.rbegin(); at != found.rend(); ++at)
      parameters.insert(at->first - f.parameters, "__restrict ");
    if (!found.empty())
      edits.push_back({"restrict in " + f.name, source.with(f.parameters, f.parameters_end, parameters)});
  }
}

inline void align(const MarkedSource& source, std::vector<SourceEdit>& edits) {
  for (const MarkedFunction& f : source.functions) {
    const auto found = pointers(source, f);
    if (found.empty() ||
        trimmed(source.text.substr(f.body)).find("__builtin_assume_aligned") != std::string_view::npos)
      continue;
    for (const int bytes : {16, 32, 64}) {
      std::string assumed = "\n";
      for (const auto& [at, name] : found)
        assumed += name + " = static_cast<decltype(" + name + ")>(__builtin_assume_aligned(" + name + ", " +
                   std::to_string(bytes) + "));\n";
      edits.push_back(
          {"align to " + std::to_string(bytes) + " in " + f.name, source.with(f.body, f.body, assumed)});
    }
  }
}

struct SourceStrategy {
  std::string_view name;
  void (*edit)(const MarkedSource&, std::vector<SourceEdit>&);
};
inline constexpr SourceStrategy all_source_strategies[] = {
    {"accumulators", accumulators},  {"align", align}, {"interchange", interchange}, {"ivdep", ivdep},
    {"restrict", restrict_pointers}, {"tile", tile},   {"unroll", unroll},           {"vectorize", vectorize},
};

}  // namespace detail

KERNELSEARCH_INLINE std::vector<std::string> source_strategies() {
  std::vector<std::string> names;
  for (const detail::SourceStrategy& strategy : detail::all_source_strategies)
    names.emplace_back(strategy.name);
  return names;
}

KERNELSEARCH_INLINE std::vector<SourceEdit> source_edits(std::string_view source, std::string_view strategy) {
  std::vector<SourceEdit> edits;
  const detail::MarkedSource marked{source};
  for (const detail::SourceStrategy& known : detail::all_source_strategies)
    if (known.name == strategy) known.edit(marked, edits);
  return edits;
}

}  // namespace kernelsearch
