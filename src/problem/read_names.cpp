// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <iterator>
#include <system_error>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

/// Words of expressions, then of C++ (those that someone might take for a name).
constexpr std::string_view reserved[] = {
    "and",     "or",       "not",       "in",       "if",        "else",    "for",      "is",
    "True",    "False",    "None",      "lambda",   "min",       "max",     "abs",      "len",
    "sum",     "range",    "list",      "tuple",    "int",       "float",   "round",    "auto",
    "bool",    "break",    "case",      "char",     "class",     "const",   "continue", "default",
    "delete",  "do",       "double",    "enum",     "explicit",  "extern",  "false",    "friend",
    "goto",    "inline",   "long",      "main",     "namespace", "new",     "operator", "private",
    "public",  "real",     "register",  "restrict", "return",    "short",   "signed",   "sizeof",
    "static",  "struct",   "switch",    "template", "this",      "throw",   "true",     "try",
    "typedef", "typename", "union",     "unsigned", "using",     "virtual", "void",     "volatile",
    "while",   "export",   "protected", "mutable",  "noexcept",  "nullptr", "concept",  "requires",
    "catch"};

bool is_reserved(const std::string& name) noexcept {
  return std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
}

/// What a text in the problem file is called, as if it were a file of the folder.
std::string checked_file_name(const JsonCursor& place) {
  constexpr const char* todo = "name it like a file of the folder, e.g. \"kernel.f90\"";
  const std::string& name = place.string(todo);
  const bool fine = !name.empty() && name.front() != '/' && name.back() != '/' && name.size() <= 200 &&
                    std::all_of(name.begin(), name.end(),
                                [](char c) { return in_word(c) || c == '.' || c == '-' || c == '/'; }) &&
                    std::filesystem::path(name).lexically_normal().generic_string() == name &&
                    name.rfind("..", 0) != 0;
  if (!fine) place.refuse("is not a plain name of a file", todo);
  return name;
}

}  // namespace

bool is_name(const std::string& name) noexcept {
  return is_identifier(name) && !is_reserved(name) && name.rfind("kernelsearch", 0) != 0;
}

void check_name(const JsonCursor& place, const std::string& name, std::string_view what) {
  if (!is_identifier(name))
    place.refuse("is not a name for " + std::string(what), '"' + name + '"',
                 "use letters, digits and underscores, not a digit first");
  if (is_reserved(name))
    place.refuse("is a word that " + std::string(what) + " cannot be called by", '"' + name + '"',
                 "it means something in C++ or in expressions: choose another name");
  if (name.rfind("kernelsearch", 0) == 0 || name.rfind("__", 0) == 0)
    place.refuse("is a reserved name", '"' + name + '"',
                 "names do not begin with kernelsearch or two underscores");
}

Expression read_expression(const JsonCursor& place, std::span<const std::string> known,
                           std::string_view over) {
  const std::string todo = "write an expression over " + std::string(over) + ", e.g. \"n*m\"";
  std::string text;
  if (place.kind() == JsonNode::Kind::integer)
    text = std::to_string(place.node().integer);
  else if (place.kind() == JsonNode::Kind::real)
    text = to_string(Value{place.number(todo)});
  else
    text = place.string(todo);
  std::string error;
  std::optional<Expression> expression = Expression::try_parse(text, error);
  if (!expression) place.refuse("is not an expression", error, "");
  for (const std::string& name : expression->names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) (all += all.empty() ? "" : ", ") += one;
    const std::string nearest = nearest_name(name, known);
    place.refuse("names something unknown", name + " in \"" + text + '"',
                 (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
                     std::string("an expression here is over ") + std::string(over) +
                     (all.empty() ? ", but there are none" : ": " + all));
  }
  return *std::move(expression);
}

void check_substitutions(const JsonCursor& place, const std::string& text,
                         std::span<const std::string> tunables) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) place.refuse("opens ${ without closing it", "write ${NAME}");
    const std::string name = text.substr(at + 2, end - at - 2);
    if (std::find(tunables.begin(), tunables.end(), name) != tunables.end()) continue;
    const std::string nearest = nearest_name(name, tunables);
    place.refuse("names an unknown tunable",
                 nearest.empty() ? "declare it under \"tunables\"" : "did you mean ${" + nearest + "}?");
  }
}

std::optional<std::filesystem::path> path_inside(const std::filesystem::path& folder,
                                                 const std::filesystem::path& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path home = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) return std::nullopt;
  const fs::path found = fs::weakly_canonical(home / name, error);
  const fs::path inside = found.lexically_relative(home);
  return error || inside.empty() || *inside.begin() == ".." ? std::nullopt : std::optional(found);
}

std::filesystem::path find_file(const JsonCursor& place, const std::string& name,
                                const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos)
    place.refuse("names no file", "name a file of the problem's folder");
  if (relative.is_absolute()) place.refuse("is an absolute path", "name it relative to the problem's folder");
  const auto path = path_inside(folder, relative);
  if (!path) place.refuse("leads out of the problem's folder", "copy the file into the folder");
  std::error_code error;
  if (!fs::is_regular_file(*path, error)) {
    std::vector<std::string> there;
    for (fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, error), end; !error && at != end;
         at.increment(error))
      there.push_back(at->path().filename().string());
    const std::string nearest = nearest_name(name, there);
    place.refuse("names a file that is not there",
                 nearest.empty() ? "put it into the problem's folder" : "did you mean \"" + nearest + "\"?");
  }
  return *path;
}

std::string read_source(const JsonCursor& place, const std::filesystem::path& folder,
                        std::string* file_name) {
  namespace fs = std::filesystem;
  constexpr const char* todo = "name a file of the problem's folder, or write {\"text\": \"...\"}";
  if (file_name != nullptr) file_name->clear();
  if (place.kind() == JsonNode::Kind::object) {
    if (file_name != nullptr)
      place.only({"text", "name"});
    else
      place.only({"text"});
    if (const auto named = place.find("name"); named && file_name != nullptr)
      *file_name = checked_file_name(*named);
    const JsonCursor text = place.at("text", todo);
    if (text.kind() != JsonNode::Kind::array) return text.string("write the source, or a list of its lines");
    std::string joined;
    for (const JsonCursor& line : text.items(todo))
      (joined += line.string("write one line of the source")) += '\n';
    return joined;
  }
  const std::string& name = place.string(todo);
  const fs::path path = find_file(place, name, folder);
  constexpr std::uintmax_t most = 16 << 20;
  std::error_code error;
  if (fs::file_size(path, error) > most || error)
    place.refuse("names a file of over 16 MiB", "a source is smaller");
  std::optional<std::string> text = try_whole_file(path, most);
  if (!text) place.refuse("names a file that cannot be read", "check its permissions");
  if (file_name != nullptr) *file_name = fs::path(name).lexically_normal().generic_string();
  return *std::move(text);
}

}  // namespace kernelsearch::detail
