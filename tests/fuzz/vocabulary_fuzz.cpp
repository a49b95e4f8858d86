// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"

namespace {

using namespace kernelsearch;

/// What is read is written, and reads back as the same text.
template <class T>
void read_as(std::string_view text) {
  std::string once;
  try {
    once = to_json_text(from_json_text<T>(text));
  } catch (const ConfigError&) {
    return;
  }
  if (to_json_text(from_json_text<T>(once)) != once) std::abort();
}

}  // namespace

/// Any text of a store's columns is read or refused with a ConfigError; the first byte says as what.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      read_as<Measurement>(text);
      break;
    case 1:
      read_as<Features>(text);
      break;
    case 2:
      read_as<Evaluation>(text);
      break;
    case 3:
      read_as<Outcome>(text);
      break;
    case 4:
      read_as<FinalistComparison>(text);
      break;
    case 5:
      read_as<Move>(text);
      break;
    case 6:
      read_as<Config>(text);
      break;
    default:
      break;
  }
  return 0;
}
