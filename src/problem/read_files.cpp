// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>
#include <system_error>

#include "kernelsearch/core/whole_file.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 1024;
constexpr std::size_t most_bytes = 16 << 20;  // of all of them

/// A path of the folder in its one spelling; empty where it leads out of the folder.
std::string normal(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string::npos) return {};
  std::string result = fs::path(path).lexically_normal().generic_string();
  while (!result.empty() && result.back() == '/') result.pop_back();
  return result == ".." || result.rfind("../", 0) == 0 ? std::string() : result;
}

std::string folder_of(const std::string& file) {
  const std::string parent = fs::path(file).parent_path().generic_string();
  return parent.empty() ? "." : parent;
}

struct Include {
  std::string name;
  bool quoted;
};

/// The names after #include in a text, also those that the preprocessor would skip.
std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    const auto skip = [&](std::string_view what) {
      const std::size_t begin = line.find_first_not_of(" \t");
      if (begin == std::string_view::npos || line.substr(begin, what.size()) != what) return false;
      line.remove_prefix(begin + what.size());
      return true;
    };
    if (!skip("#") || !skip("include")) continue;
    const bool quoted = skip("\"");
    if (!quoted && !skip("<")) continue;
    const std::size_t close = line.find(quoted ? '"' : '>');
    if (close != std::string_view::npos) result.push_back({std::string(line.substr(0, close)), quoted});
  }
  return result;
}

/// Gathers files: those given in the document, and those of the folder that are asked for.
class Gathering {
 public:
  Gathering(const JsonCursor& document, fs::path folder, Problem& problem)
      : document_(document), folder_(std::move(folder)), problem_(problem) {
    if (const auto given = document.find("files"))
      for (const auto& [name, member] : given->members("write {\"PATH\": {\"text\": \"...\"}}")) {
        const std::string path = normal(name);
        if (path.empty() || path != name)
          member.refuse("is not a path of the problem's folder", name, "write it relative, without ..");
        if (member.kind() != JsonNode::Kind::object)
          member.refuse("is a file without its text", "write {\"text\": \"...\"}, or leave it out");
        given_.push_back({path, read_source(member, folder_)});
      }
  }

  /// True where the file is there; it is taken with all that it includes.
  bool take(const std::string& path) {
    if (path.empty()) return false;
    const auto same = [&](const SourceFile& file) { return file.path == path; };
    if (std::any_of(problem_.files.begin(), problem_.files.end(), same)) return true;
    std::optional<std::string> text;
    const auto given = std::find_if(given_.begin(), given_.end(), same);
    if (given != given_.end())
      text = given->text;
    else
      text = read(path);
    if (!text) return false;
    bytes_ += text->size();
    if (problem_.files.size() >= most_files || bytes_ > most_bytes)
      document_.refuse(
          "includes too many files of its folder",
          std::to_string(problem_.files.size() + 1) + " files, " + std::to_string(bytes_) + " bytes",
          "1024 files and 16 MiB may be included");
    problem_.files.push_back({path, *text});
    follow(*text, folder_of(path));
    return true;
  }

  /// A file that is given in the document or lies in the folder; any bytes.
  std::optional<std::string> bytes_of(const std::string& path) const {
    const auto given =
        std::find_if(given_.begin(), given_.end(), [&](const SourceFile& file) { return file.path == path; });
    return given != given_.end() ? std::optional(given->text) : read(path);
  }

  /// Takes what a text in `place` includes and is a file of the folder; the rest is the compiler's business.
  void follow(const std::string& text, const std::string& place) {
    for (const Include& include : includes_of(text)) {
      if (include.quoted && take(normal(place + "/" + include.name))) continue;
      for (const std::string& folder : problem_.include)
        if (take(normal(folder + "/" + include.name))) break;
    }
  }

 private:
  std::optional<std::string> read(const std::string& path) const {
    std::error_code error;
    const auto found = path_inside(folder_, path);
    if (!found || !fs::is_regular_file(*found, error)) return std::nullopt;
    return try_whole_file(*found, most_bytes);
  }

  const JsonCursor& document_;
  fs::path folder_;
  Problem& problem_;
  std::vector<SourceFile> given_;
  std::size_t bytes_ = 0;
};

/// So that sources in a subfolder find their neighbours also where their texts stand in the problem file.
void add_include(Problem& problem, const std::string& file) {
  if (const std::string own = folder_of(file);
      own != "." && std::find(problem.include.begin(), problem.include.end(), own) == problem.include.end())
    problem.include.push_back(own);
}

std::vector<std::string> read_sources(const JsonCursor& place, Gathering& gathering, Problem& problem) {
  constexpr const char* todo = "list further files to compile, e.g. [\"helper.cpp\"]";
  std::vector<std::string> sources;
  for (const JsonCursor& item : place.items(todo)) {
    const std::string path = normal(item.string(todo));
    if (path.empty()) item.refuse("leads out of the problem's folder", "copy the file into the folder");
    const std::string extension = fs::path(path).extension().string();
    if (extension != ".cpp" && extension != ".cc" && extension != ".cxx")
      item.refuse("is not a C++ file", "name it .cpp, .cc or .cxx; headers are found by #include");
    if (std::find(sources.begin(), sources.end(), path) != sources.end())
      item.refuse("is listed twice", "list each file once");
    if (!gathering.take(path))
      item.refuse("names a file that is not there", "put it into the problem's folder");
    add_include(problem, path);
    sources.push_back(path);
  }
  return sources;
}

/// The key "files" of "build" or "external", whose other folders are `readable`: what lies next to the source
/// where a build command runs, and what an external program is made of.
std::vector<SourceFile> read_program_files(const JsonCursor& place, const Gathering& gathering,
                                           const std::string& kernel, const char* readable) {
  constexpr const char* todo = "list files of the problem's folder, e.g. [\"build.sh\"]";
  const std::string larger = std::string("larger ones belong to a folder of ") + readable;
  std::vector<SourceFile> files;
  std::size_t bytes = 0;
  for (const JsonCursor& item : place.items(todo)) {
    const std::string path = normal(item.string(todo));
    if (path.empty() || path == ".")
      item.refuse("is not a file of the problem's folder", "copy the file into the folder");
    const auto same = [&](const SourceFile& file) { return file.path == path; };
    if (std::any_of(files.begin(), files.end(), same)) item.refuse("is listed twice", "list each file once");
    if (path == kernel) item.refuse("is the kernel's source, which comes anyway", "remove it");
    std::optional<std::string> text = gathering.bytes_of(path);
    if (!text)
      item.refuse("names a file that is not there, or one of over 16 MiB",
                  "put it into the problem's folder; " + larger);
    bytes += text->size();
    if (files.size() >= most_files || bytes > most_bytes)
      item.refuse("makes them too many", std::to_string(bytes) + " bytes",
                  "1024 files and 16 MiB may be listed; " + larger);
    files.push_back({path, *std::move(text)});
  }
  return files;
}

}  // namespace

void read_files(const JsonCursor& document, const fs::path& folder, Problem& problem) {
  const JsonCursor kernel = document.at("kernel", "");
  if (const auto include = kernel.find("include"))
    for (const JsonCursor& item :
         include->items("list folders of the problem's folder, e.g. [\"include\"]")) {
      const std::string path = normal(item.string("name a folder of the problem's folder"));
      if (path.empty()) item.refuse("leads out of the problem's folder", "copy the headers into the folder");
      problem.include.push_back(path);
    }
  for (const std::string* name : {&problem.names.macros, &problem.names.device, &problem.names.host,
                                  &problem.names.reference, &problem.names.generator})
    add_include(problem, *name);
  Gathering gathering(document, folder, problem);
  const bool device = is_device(problem.backend);
  if (const auto sources = kernel.find("sources")) {
    if (device) sources->refuse("are further files of a device kernel", "include them in the kernel");
    problem.sources = read_sources(*sources, gathering, problem);
  }
  if (const auto reference = document.find("reference"))
    if (const auto sources = reference->find("sources")) {
      if (device) sources->refuse("are further files of a device's reference", "include them in it");
      problem.reference.sources = read_sources(*sources, gathering, problem);
    }
  if (const auto build = document.find("build"); build && !problem.build.command.empty()) {
    if (!problem.kernel.regions.host.empty() && device)
      build->at("command", "")
          .refuse(
              "makes device code, and the problem has a launch function, which is compiled with its kernels",
              problem.names.host, "say in `launch` how the kernels are launched, and remove kernel.host");
    if (!problem.sources.empty())
      build->at("command", "")
          .refuse("builds a kernel that has further sources, which it would not see",
                  "list them in build.files instead of kernel.sources");
    if (const auto files = build->find("files"))
      problem.build.files = read_program_files(*files, gathering, problem.names.device, "build.readable");
    for (std::size_t a = 0; a < problem.arguments.size(); ++a)
      if (problem.arguments[a].structure && !problem.arguments[a].is_array && !device)
        build->at("command", "")
            .refuse("builds a kernel that takes a struct by value", problem.arguments[a].name,
                    "pass it as an array of one element");
  }
  if (const auto external = document.find("external"))
    if (const auto files = external->find("files"))
      problem.external->files =
          read_program_files(*files, gathering, problem.names.device, "external.readable");
  const Regions& regions = problem.kernel.regions;
  gathering.follow(regions.macros, folder_of(problem.names.macros));
  gathering.follow(regions.device, folder_of(problem.names.device));
  gathering.follow(regions.host, folder_of(problem.names.host));
  gathering.follow(problem.reference.source, folder_of(problem.names.reference));
  if (problem.generator) gathering.follow(problem.generator->source, folder_of(problem.names.generator));
  std::sort(problem.files.begin(), problem.files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
}

}  // namespace kernelsearch::detail
