// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/transformation.hpp"

namespace kernelsearch {

/// The transformations of data/transformations, which files in a user's folder replace and join. Copies share
/// them.
class TransformationLibrary {
 public:
  /// Those that are compiled in, with `user`/transformations/*.json and `user`/snippets/*.json. ConfigError
  /// with file, line and place for one that does not fit docs/formats/transformation.schema.json.
  explicit TransformationLibrary(const std::filesystem::path& user = {});

  /// These and no others. ConfigError where two have one name.
  explicit TransformationLibrary(std::vector<Transformation> transformations);

  /// Sorted by name.
  [[nodiscard]] std::span<const Transformation> transformations() const noexcept { return *transformations_; }
  [[nodiscard]] const Transformation* find(std::string_view name) const noexcept;
  /// The transformation of that name; ConfigError with the nearest for another name.
  [[nodiscard]] const Transformation& at(std::string_view name) const;

  /// The names of those for this backend that have the tag (empty: any), those that others build on first.
  [[nodiscard]] std::vector<std::string> names(std::string_view backend, std::string_view tag = {}) const;

 private:
  std::shared_ptr<const std::vector<Transformation>> transformations_;
};

/// The traits of problems among a transformation's tags (problem/traits.hpp): it is for problems that have
/// all of them.
[[nodiscard]] std::vector<std::string> traits_of(const Transformation& transformation);

/// Reads one transformation; `snippets` are the hand-written pieces that it may use, by name.
[[nodiscard]] Transformation parse_transformation(std::string_view json, const std::string& file,
                                                  std::span<const SnippetUse> snippets = {});

}  // namespace kernelsearch
