// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace_folder.hpp"

#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "kernelsearch/compare/trace_file.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "parse_trace.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch::comparing {
namespace {

using Json = nlohmann::ordered_json;

/// Members of `mine` that `theirs` has otherwise, in words.
std::string differences(const Json& theirs, const Json& mine, const std::string& where) {
  std::string text;
  for (const auto& [name, value] : mine.items()) {
    const Json other = theirs.contains(name) ? theirs[name] : Json();
    if (other == value) continue;
    text += (text.empty() ? "" : ", ") + where + name + " is " + other.dump() + " there and " + value.dump() +
            " here";
  }
  return text;
}

RunKey key_of(const Trace& trace) {
  return {trace.space, trace.strategy, trace.repeat};
}

void must_write(bool written, const std::filesystem::path& file) {
  if (!written)
    detail::raise<ConfigError>("cannot write", file.string(), "give a folder that can be written to");
}

void write_whole(const std::filesystem::path& file, const std::string& text) {
  must_write(!detail::replace_file(file, text), file);
}

}  // namespace

TraceFolder::TraceFolder(std::filesystem::path folder, Json options, std::span<const Landscape> landscapes)
    : folder_(std::move(folder)), file_(folder_ / "traces.jsonl") {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  must_write(!failed, folder_);
  // Traces are added to, and a line that was not written whole is cut off: of a file of a stranger's choice.
  if (std::filesystem::is_symlink(file_, failed))
    detail::raise<ConfigError>("what traces would be added to is a link", file_.string(),
                               "remove it, or give another folder");
  read_options(std::move(options));
  read_traces(landscapes);
}

void TraceFolder::read_options(Json options) {
  const std::filesystem::path file = folder_ / "options.json";
  if (std::ifstream in(file); in) {
    const Json there = Json::parse(in, nullptr, false);
    if (!there.is_object() || !there.contains("runs") || !there.contains("spaces"))
      detail::raise<ConfigError>("the options of an earlier comparison are damaged", file.string(),
                                 "give another folder, or remove this one");
    std::string text = differences(there["runs"], options["runs"], "");
    for (const auto& [name, space] : options["spaces"].items()) {
      if (!there["spaces"].contains(name)) continue;
      const std::string more = differences(there["spaces"][name], space, name + ": ");
      if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
    }
    if (!text.empty())
      detail::raise<ConfigError>("the folder holds a comparison that was made otherwise",
                                 folder_.string() + ": " + text,
                                 "give the same options to go on with it, or another folder");
    for (const auto& [name, space] : there["spaces"].items())
      if (!options["spaces"].contains(name)) options["spaces"][name] = space;
  }
  write_whole(file, options.dump(2) + "\n");
}

void TraceFolder::read_traces(std::span<const Landscape> landscapes) {
  std::ifstream in(file_, std::ios::binary);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    ++number;
    std::optional<ParsedTrace> parsed = parse_trace(line, landscapes);
    if (!parsed)
      detail::raise<ConfigError>("not a trace", file_.string() + ":" + std::to_string(number),
                                 "remove the line to have the run made again");
    const RunKey key = key_of(parsed->trace);
    lines_.emplace(key, Place{end_, line.size() + 1});
    end_ += line.size() + 1;
    if (parsed->space != nullptr) finished_.emplace(key, std::move(parsed->trace));
  }
  in.close();
  if (std::filesystem::exists(file_)) std::filesystem::resize_file(file_, end_);
}

void TraceFolder::append(const Trace& trace, const Landscape& landscape) {
  const std::string line = trace_to_line(trace, landscape) + "\n";
  const std::lock_guard lock(mutex_);
  std::ofstream out(file_, std::ios::binary | std::ios::app);
  out << line;
  out.close();
  must_write(static_cast<bool>(out), file_);
  lines_.emplace(key_of(trace), Place{end_, line.size()});
  end_ += line.size();
}

void TraceFolder::sort() {
  const std::string text = try_whole_file(file_).value_or("");
  std::string sorted;
  sorted.reserve(text.size());
  for (auto& [key, place] : lines_) {
    const std::uintmax_t begin = sorted.size();
    sorted.append(text, place.begin, place.size);
    place.begin = begin;
  }
  end_ = sorted.size();
  if (sorted != text) write_whole(file_, sorted);
}

}  // namespace kernelsearch::comparing
