// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

/// All that the command prints. Names, reasons and settings come from problems, stores and recordings of
/// others, so nothing but these functions writes to a terminal (tests/packaging/one_door.py).
namespace kernelsearch::app {

/// Writes the text as clean_text() makes it: nothing in it commands a terminal or turns the direction of
/// writing.
void write_clean(std::FILE* to, std::string_view text);

/// As fmt::print, but clean.
template <class... T>
void print_clean(std::FILE* to, fmt::format_string<T...> format, T&&... arguments) {
  write_clean(to, fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T>
void print_clean(fmt::format_string<T...> format, T&&... arguments) {
  write_clean(stdout, fmt::format(format, std::forward<T>(arguments)...));
}

/// The value as JSON in several lines, and a newline. What would command a terminal is escaped, so that a
/// program that reads it gets every character.
void print_json(const nlohmann::json& value);
void print_json(const nlohmann::ordered_json& value);

/// Byte for byte, e.g. a kernel's source, into a file or a pipe; to a terminal as write_clean().
void print_exact(std::string_view text);

/// A line on stderr that the next one replaces; of a terminal.
void print_status(std::string_view text);

}  // namespace kernelsearch::app
