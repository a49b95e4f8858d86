// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_cursor.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/problem/problem.hpp"

/// The parts that read_problem is made of, one for each section of a problem file.
namespace kernelsearch::detail {

/// Whether it can name something in C++ and in an expression.
[[nodiscard]] bool is_name(const std::string& name) noexcept;

/// A name that can stand in C++ and in an expression; `what` says whose name it is.
void check_name(const JsonCursor& place, const std::string& name, std::string_view what);

/// An expression given as a string or a number, whose names are all in `known`; `over` says what those are.
[[nodiscard]] Expression read_expression(const JsonCursor& place, std::span<const std::string> known,
                                         std::string_view over);

/// Where `name` leads from `folder` with links followed, if that is in the folder or below it; empty: the
/// current one. Nothing where it leads out, or cannot be found out.
[[nodiscard]] std::optional<std::filesystem::path> path_inside(const std::filesystem::path& folder,
                                                               const std::filesystem::path& name);

/// A regular file below `folder` that is named at `place`; refuses names that lead out of it or to nothing.
[[nodiscard]] std::filesystem::path find_file(const JsonCursor& place, const std::string& name,
                                              const std::filesystem::path& folder);

/// The text of a file relative to `folder`, or given inline as {"text": "..."} or {"text": ["line", ...]};
/// `file` gets the file's name, with slashes, or nothing.
[[nodiscard]] std::string read_source(const JsonCursor& place, const std::filesystem::path& folder,
                                      std::string* file = nullptr);

/// The contents of arrays as a file, or an object with one for each shape by its name; digests are taken.
[[nodiscard]] std::vector<InputFile> read_data_files(const JsonCursor& place,
                                                     const std::filesystem::path& folder,
                                                     std::span<const Shape> shapes);

/// Whether the file's name says that it holds tensors with names.
[[nodiscard]] bool is_safetensors(const InputFile& file);

/// Where the elements of `argument` begin in its files: the whole file, or of .npy and .safetensors what
/// its header says, of the latter for the tensor `wanted` (empty: that of the argument's name, or the only
/// one). Refuses headers of another type or of arrays that do not lie in C order.
void check_elements(const JsonCursor& place, const Argument& argument, const std::string& wanted,
                    std::vector<InputFile>& files);

/// The key "generator".
[[nodiscard]] GeneratedInputs read_generator(const JsonCursor& place, const std::filesystem::path& folder,
                                             std::span<const Shape> shapes, std::string& name);

/// The keys "include" and "sources" of the kernel, "sources" of the reference and "files" of the document,
/// and every file of the folder that these and the kernel's own texts include.
void read_files(const JsonCursor& document, const std::filesystem::path& folder, Problem& problem);

/// The text with `${NAME}` replaced by the tunable's default, so that what remains can be judged.
[[nodiscard]] std::string at_default(std::string_view text, const Space& space);

/// For a kernel whose file is a ready module of SPIR-V: its text in place of its bytes. Refuses what is no
/// such module, and backends other than Vulkan.
void read_ready_module(const JsonCursor& kernel, Backend backend, Regions& regions, const SourceNames& names);

/// Refuses a ready module that cannot be launched as the problem says, and tunables that are nowhere in it.
void check_ready_module(const JsonCursor& document, const Problem& problem);

/// Names of libraries for the linker.
[[nodiscard]] std::vector<std::string> read_libraries(const JsonCursor& place);

[[nodiscard]] std::vector<Shape> read_shapes(const JsonCursor& place);

/// The key "hidden_shapes" of a problem whose shapes, generator and arguments are read.
[[nodiscard]] HiddenShapes read_hidden_shapes(const JsonCursor& place, const Problem& problem);

/// Sizes can be drawn that the problem accepts at its default configuration.
void check_hidden_shapes(const JsonCursor& place, const Problem& problem);

[[nodiscard]] Tolerance read_tolerance(const JsonCursor& place, ElementType type);

/// The members of an object of tolerances per type.
[[nodiscard]] std::vector<std::pair<ElementType, Tolerance>> read_tolerances(const JsonCursor& place);

/// What the rest of a problem may refer to.
struct Scope {
  Backend backend = Backend::host;
  std::vector<std::string> variables;  ///< of the shapes, then the generator's sizes
  std::vector<std::string> tunables;
  std::vector<std::string> both;  ///< variables, then tunables

  [[nodiscard]] bool on_host() const noexcept { return !is_device(backend); }
};

/// `folder` and `shapes` are those of files with contents; `generator`: there is one.
[[nodiscard]] std::vector<Argument> read_arguments(const JsonCursor& place, const Scope& scope,
                                                   const std::filesystem::path& folder,
                                                   std::span<const Shape> shapes, bool generator);

/// The key "tensor_map" of an argument; that its array exists is checked by `check_tensor_maps`.
[[nodiscard]] TensorMap read_tensor_map(const JsonCursor& place, const Scope& scope);

/// Every tensor map describes an array that is a parameter; `places` are those of the arguments.
void check_tensor_maps(std::span<const JsonCursor> places, std::span<const Argument> arguments);

/// Every ${NAME} in the text names a tunable.
void check_substitutions(const JsonCursor& place, const std::string& text,
                         std::span<const std::string> tunables);

/// Grid, block, cluster, shared and local memory over the names in `known`; `over` says what those are. No
/// local array may have the name of one of `arguments`.
[[nodiscard]] LaunchGeometry read_geometry(const JsonCursor& place, std::span<const std::string> known,
                                           std::string_view over, Backend backend,
                                           std::span<const Argument> arguments);

/// The key "launch" of a device problem whose function and arguments are read: one step or a list. `space` is
/// that of the kernel that it launches.
[[nodiscard]] std::vector<LaunchStep> read_launch(const JsonCursor& place, const Scope& scope,
                                                  const Problem& problem, const Space& space);

/// What is declared per shape holds for every shape at the default configuration.
void check_shapes(const JsonCursor& document, const Problem& problem);

/// A list of values given as a list, {"range"}, {"powers_of_two"}, {"permutation"}, or an expression.
[[nodiscard]] std::vector<Value> read_values(const JsonCursor& place);

/// {"range": [from, to, step]}: from, from + step, ... below to.
[[nodiscard]] std::vector<Value> read_range(const JsonCursor& place);

/// The space of the keys "tunables", "constraints" and "default" of a problem file.
[[nodiscard]] Space read_space(const JsonCursor& document);

/// Runs `act`, and says at which place a ConfigError in it arose.
template <class Act>
auto located(const JsonCursor& place, std::string_view problem, Act act) -> decltype(act()) {
  try {
    return act();
  } catch (const ConfigError& error) {
    std::string_view text = error.what();
    constexpr std::string_view prefix = "kernelsearch: ";
    if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
    place.refuse(problem, text, "");
  }
}

}  // namespace kernelsearch::detail
