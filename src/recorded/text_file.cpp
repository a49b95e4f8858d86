// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "kernelsearch/core/error.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch::recorded {
namespace {

constexpr unsigned piece = 1U << 30;  // zlib counts in int

bool write_all(gzFile out, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto size = static_cast<unsigned>(std::min<std::size_t>(text.size() - done, piece));
    const int wrote = gzwrite(out, text.data() + done, size);
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace

TextFile read_text(const std::filesystem::path& file) {
  const auto close = [](gzFile f) { gzclose(f); };
  // zlib reads plain files as they are
  const std::unique_ptr<gzFile_s, decltype(close)> in(gzopen(file.c_str(), "rb"), close);
  if (!in || std::filesystem::is_directory(file))
    detail::raise<ConfigError>("cannot read the recording", file.string(), "give a readable file");
  gzbuffer(in.get(), 1U << 18);
  TextFile result;
  std::string& text = result.text;
  std::size_t used = 0;
  while (true) {
    text.resize(std::max<std::size_t>(1U << 22, used * 2));
    const auto room = static_cast<unsigned>(std::min<std::size_t>(text.size() - used, piece));
    const int got = gzread(in.get(), text.data() + used, room);
    if (got > 0) used += static_cast<std::size_t>(got);
    int code = Z_OK;
    const char* const message = gzerror(in.get(), &code);
    if (code == Z_BUF_ERROR) {
      result.cut = true;
      break;
    }
    if (got < 0)
      detail::raise<ConfigError>("the recording is damaged", file.string() + ": " + message,
                                 "unpack it with gzip to see what is left of it");
    if (static_cast<unsigned>(got) < room) break;
  }
  text.resize(used);
  return result;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  // "T": as it is, without compression
  const char* const mode = file.extension() == ".gz" ? "wb9" : "wbT";
  const std::error_code error = detail::replace_file(file, [&](const std::filesystem::path& draft) {
    gzFile out = gzopen(draft.c_str(), mode);
    const bool written = out != nullptr && write_all(out, text);
    return out != nullptr && gzclose(out) == Z_OK && written;
  });
  if (!error) return;
  detail::raise<ConfigError>("cannot write the recording", file.string(),
                             "name a file in a folder that exists and that you may write to");
}

}  // namespace kernelsearch::recorded
