// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernelsearch/core/field.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/run/run_options.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {

/// What options are about; help and documents list them in this order.
enum class OptionGroup : std::uint8_t { search, limits, measuring, checks, workers, models, writing, files };

/// The group's heading: `Search`, `Budget and limits`, ...
[[nodiscard]] std::string_view heading_of(OptionGroup group) noexcept;

/// What a run that goes on does with an option of the run that was begun.
enum class OnResume : std::uint8_t {
  keep,       ///< the stored value counts, and not what is given now
  replace,    ///< the value given now counts if it is not the standard one, otherwise the stored one
  given_now,  ///< only the value given now counts; the stored one is there to be looked at
  ask_again,  ///< the same, and a run that was begun with one goes on only if one is given: no store may decide
  not_stored,  ///< only the value given now counts
};

/// Which runs store an option.
enum class StoredFor : std::uint8_t {
  all,       ///< every run
  given,     ///< those whose value is not the standard one
  command,   ///< those with a policy's command
  submit,    ///< those that kernels are submitted to
  system,    ///< those of a system
  elsewhere  ///< none here: it has a column of its own in the store, or what it came to is stored
};

/// What a text names.
enum class OptionPath : std::uint8_t { none, path, file, folder, json };

/// What is said of an option of a run besides what a Field says.
struct RunOptionColumns {
  OptionGroup group = OptionGroup::search;
  OnResume resume = OnResume::keep;
  StoredFor stored = StoredFor::all;
  OptionPath path = OptionPath::none;  ///< `file` and `folder` must be there; stores have absolute paths
  std::string_view stored_name = {};   ///< in the store, where it is not `name`; see name_in_store()
  std::string_view flag = {};          ///< on the command line, where it is not `name`; `-`: it has none
  std::string_view otherwise =
      {};                ///< what decides where it is left out, if the standard value does not tell
  bool several = false;  ///< of a list: its flag takes several values at a time
  std::string_view for_agents = {};  ///< how the MCP server describes it; empty: agents cannot give it
};

/// One option of a run: the row that every interface takes it from. Its member is one of RunOptions, or of
/// what is in it.
struct RunOption : Field, RunOptionColumns {
  /// Its flag for people: `--budget`, or `--no-reuse` of one that is true unless it is said; empty: none.
  [[nodiscard]] std::string command_flag() const;
  /// Its name in the store: of a flag that is true unless it is said `no_NAME`, and the opposite is stored.
  [[nodiscard]] std::string name_in_store() const;
  /// Its value in RunOptions{}; nothing where something else decides.
  [[nodiscard]] std::optional<FieldValue> standard() const;
  [[nodiscard]] bool is_standard(const RunOptions& options) const { return read(&options) == standard(); }
  /// The value as try_value() has it; an empty text is taken where the option is one that may be left out.
  [[nodiscard]] Result<FieldValue> try_given(FieldValue given) const;
  /// Whether it is a flag that is true unless it is said.
  [[nodiscard]] bool negated() const { return type == FieldType::flag && standard() == FieldValue(true); }
};

/// All of them, by group.
[[nodiscard]] std::span<const RunOption> run_options();

/// The option of that name; a fault with the nearest name and all of them for another name.
[[nodiscard]] Result<const RunOption*> try_find_run_option(std::string_view name);

/// Writes a value to the option of that name; a fault for another name, type, or a value that it cannot have.
[[nodiscard]] Result<void> try_set_run_option(RunOptions& options, std::string_view name, FieldValue value);

#ifdef KERNELSEARCH_HAS_JSON
/// Writes the members of a JSON object, by the names of the options. A fault as of try_set_run_option.
[[nodiscard]] Result<void> try_set_run_options(RunOptions& options, const nlohmann::json& given);
#endif

/// The JSON Schema (2020-12) of an object of options.
[[nodiscard]] std::string run_options_schema();

/// Takes the options of a system out of its text form: `stark(debugs=2)` in `options.system` becomes
/// `stark`, and the option joins `options.system_options`, over what is there. Paths become absolute.
/// ConfigError where the text does not read so, and for an unknown system.
void split_system(RunOptions& options);

}  // namespace kernelsearch
