// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::recorded {

std::string read_text(const std::filesystem::path& file) {
  const auto close = [](gzFile f) { gzclose(f); };
  // zlib reads plain files as they are
  const std::unique_ptr<gzFile_s, decltype(close)> in(gzopen(file.c_str(), "rb"), close);
  if (!in || std::filesystem::is_directory(file))
    detail::raise<ConfigError>("cannot read the recording", file.string(), "give a readable file");
  gzbuffer(in.get(), 1U << 18);
  std::string text;
  std::size_t used = 0;
  while (true) {
    text.resize(std::max<std::size_t>(1U << 20, used * 2));
    const int got = gzread(in.get(), text.data() + used, static_cast<unsigned>(text.size() - used));
    if (got < 0) {
      int code = 0;
      detail::raise<ConfigError>("the recording is damaged", file.string() + ": " + gzerror(in.get(), &code),
                                 "unpack it with gzip to see what is left of it");
    }
    used += static_cast<std::size_t>(got);
    if (used < text.size()) break;
  }
  text.resize(used);
  return text;
}

}  // namespace kernelsearch::recorded
