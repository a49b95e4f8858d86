// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"

namespace kernelsearch::comparing {

/// Which run: space, policy, repeat.
using RunKey = std::tuple<std::string, std::string, std::uint64_t>;

/// The finished runs of a comparison on disk: `traces.jsonl`, a line a run, and `options.json`, which says
/// what they were made with.
class TraceFolder {
 public:
  /// Makes the folder or takes over what is in it; a last line that was cut is dropped. ConfigError where
  /// `options` differ from the ones there. Both have the members `runs` (any options) and `spaces` (by
  /// name); spaces may be added.
  TraceFolder(std::filesystem::path folder, nlohmann::ordered_json options,
              std::span<const Landscape> landscapes);

  /// The runs that are there of the spaces given.
  [[nodiscard]] const std::map<RunKey, Trace>& finished() const noexcept { return finished_; }

  /// Appends a run; from several threads. On disk when it returns, as far as a killed program goes.
  void append(const Trace& trace, const Landscape& landscape);

  /// Writes all lines again in the order of their keys, so that the file does not tell who was first.
  void sort();

 private:
  void read_options(nlohmann::ordered_json options);
  void read_traces(std::span<const Landscape> landscapes);

  /// Where a line is in the file, its end included.
  struct Place {
    std::uintmax_t begin, size;
  };

  std::filesystem::path folder_, file_;
  std::map<RunKey, Place> lines_;  ///< of every run in the file
  std::uintmax_t end_ = 0;         ///< of the last whole line
  std::map<RunKey, Trace> finished_;
  std::mutex mutex_;
};

}  // namespace kernelsearch::comparing
