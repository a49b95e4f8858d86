// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "terminal.hpp"

#include <unistd.h>

#include <string>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/store/clean_json.hpp"

namespace kernelsearch::app {
namespace {

void write(std::FILE* to, std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), to);
}

template <class Json>
void print_json_text(const Json& value) {
  write(stdout, clean_json(value.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n");
}

}  // namespace

void write_clean(std::FILE* to, std::string_view text) {
  write(to, clean_text(text));
}

void print_json(const nlohmann::json& value) {
  print_json_text(value);
}
void print_json(const nlohmann::ordered_json& value) {
  print_json_text(value);
}

void print_exact(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1)
    write_clean(stdout, text);
  else
    write(stdout, text);
}

void print_status(std::string_view text) {
  write(stderr, "\r\033[K" + clean_text(text));
}

}  // namespace kernelsearch::app
