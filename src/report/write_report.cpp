// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <system_error>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch {

namespace fs = std::filesystem;

void write_report(const fs::path& file, const std::string& text) {
  std::error_code error, ignored;
  const bool there = fs::exists(file, ignored);
  if (there && !fs::is_regular_file(file, ignored)) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) error = std::make_error_code(std::errc::io_error);
  } else {
    // A link stays one: the file that it names is replaced.
    const fs::path named = there ? fs::canonical(file, error) : file;
    if (!error) error = detail::replace_file(named, text);
  }
  if (error)
    detail::raise<ConfigError>("the report cannot be written", file.string() + ": " + error.message(),
                               "check its folder's permissions and space, or name another file with --out");
}

}  // namespace kernelsearch
