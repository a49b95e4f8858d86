// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>
#include <memory>
#include <string>

namespace support {

/// The text of a fixture, which may be packed: NAME.gz is read where there is no NAME.
inline std::string packed_text(const std::filesystem::path& file) {
  const std::string name = std::filesystem::exists(file) ? file.string() : file.string() + ".gz";
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(name.c_str(), "rb"), gzclose);
  REQUIRE_MESSAGE(in != nullptr, name);
  std::string text;
  char piece[1 << 14];
  int got = 0;
  while ((got = gzread(in.get(), piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(got));
  REQUIRE_MESSAGE(got == 0, name);
  REQUIRE_MESSAGE(!text.empty(), name);
  return text;
}

}  // namespace support
