// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem folder of others: files of any names and contents, and links. It is read or refused with a
// ConfigError; nothing that lies outside of it gets into the problem, and what is read writes and reads back.
// The input is a list of files: a line with the name, or `NAME -> TARGET` for a link, the content up to a
// line `%%`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "kernelsearch/run/made_problem.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* secret = "int a_text_from_elsewhere;";

/// The text before `end`, which goes with it.
std::string_view taken(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return part;
}

/// Below the folder, whatever the name is: an unpacked archive has no others.
fs::path placed(const fs::path& folder, std::string_view name) {
  fs::path safe = folder;
  for (const fs::path& part : fs::path(name.substr(0, 200)).relative_path())
    if (part != ".." && part.native().find('\0') == std::string::npos) safe /= part;
  return safe;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const TemporaryFolder outer;
  outer.write("secret.cpp", secret);
  const fs::path folder = outer / "problem";
  fs::create_directories(folder);
  std::error_code ignored;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int files = 0; !text.empty() && files < 16; ++files) {
    std::string_view name = taken(text, "\n");
    const std::string_view content = taken(text, "\n%%\n");
    std::string_view link = name;
    const std::string_view from = taken(link, " -> ");
    const fs::path path = placed(folder, from);
    fs::create_directories(path.parent_path(), ignored);
    if (link.empty())
      std::ofstream(path, std::ios::binary) << content;
    else if (link.find('\0') == std::string_view::npos)
      fs::create_symlink(fs::path(link), path, ignored);
  }
  try {
    if (has_problem_maker(folder)) (void)read_problem_maker(folder);
  } catch (const ConfigError&) {
  }
  try {
    const Problem problem = read_problem(folder);
    const std::string written = problem_json(problem);
    if (written.find(secret) != std::string::npos) std::abort();
    (void)problem_digest(problem);
    (void)lint_static(problem);
  } catch (const ConfigError&) {
  }
  return 0;
}
