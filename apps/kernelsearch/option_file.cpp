// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "option_file.hpp"

#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/systems/system_options.hpp"

namespace kernelsearch::app {

void add_option_file(CLI::App& sub, OptionFile& file) {
  sub.add_option("--variant", file.variant,
                 "Variant of the system: as a paper has it, or ours; see `kernelsearch list systems --json`");
  sub.add_option(
         "--options", file.options,
         "JSON file of the system's options, over those of the variant; their schema, values and sources "
         "are in `kernelsearch list systems --json` and docs/formats/system_options")
      ->check(CLI::ExistingFile);
}

std::string with_option_file(const OptionFile& file, const std::string& more) {
  std::string text;
  if (!file.options.empty()) {
    const std::optional<std::string> read = try_whole_file(file.options);
    if (!read)
      detail::raise<ConfigError>("the options cannot be read", file.options,
                                 "give a file with a JSON object");
    text = *read;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      detail::raise<ConfigError>("the file of options is empty", file.options,
                                 R"(write {"NAME": value, ...}, at least {})");
  }
  std::string merged = merged_system_options(text, more, file.options);
  if (file.variant.empty()) return merged;
  const nlohmann::json variant{{"variant", file.variant}};
  const nlohmann::json known = merged.empty() ? nlohmann::json::object() : nlohmann::json::parse(merged);
  if (const auto other = known.find("variant"); other != known.end() && *other != file.variant)
    detail::raise<ConfigError>("--variant and the file of options name different variants",
                               file.variant + " and " + other->dump(), "leave one of them out");
  return merged_system_options(merged, variant.dump(), file.options);
}

}  // namespace kernelsearch::app
