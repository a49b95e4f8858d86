// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/report/report_model.hpp"

namespace kernelsearch {

/// What a run that a process works on does at the moment, for people.
struct ServedNow {
  RunId run{};
  std::int64_t process = 0;
  std::string doing;
  bool paused = false;
  std::optional<double> filled;  ///< the share of its budget that is spent
  std::optional<double> left;    ///< seconds, as far as they can be told
};

/// How busy the machine is.
struct ServedMachine {
  double load = 0.0;  ///< processes that run or want to, over the last minute
  unsigned processors = 0;
  std::vector<std::string> held;  ///< what is measured on, with who holds it
};

/// What a server of stores does.
struct StoreServerOptions {
  std::vector<std::filesystem::path> stores;  ///< that exist; at least one
  std::uint16_t port = 0;                     ///< 0: any that is free
  std::string token = {};                     ///< that opens it; empty: a random one
  /// What reports show that is not in the store; nothing where it is empty.
  std::function<ReportExtras(const RunStore&, RunId)> extras = nullptr;
  /// The runs of a store that processes work on, and the machine; asked twice a second while a page is open.
  /// Empty: nothing is told of them.
  std::function<std::vector<ServedNow>(const std::filesystem::path& store)> now = nullptr;
  std::function<ServedMachine()> machine = nullptr;
  /// Does to a run what a person asked for (`stop`, `pause`, `continue`, `resume`; a budget, or empty) and
  /// says in a line what came of it. Empty: the server only reads, and lets nobody change tags and notes.
  std::function<std::string(const RunStore&, RunId, const std::string& action, const std::string& budget)>
      control = nullptr;
};

/// Shows the runs of stores to browsers of this machine: a page that lists them, and that of each run, which
/// grows while the run works (docs/page.md#serve). It listens on 127.0.0.1 alone, and answers only those who
/// know the token and call it by that address; it never writes to a store, and next to it only tags, notes
/// (RunNotes), where it may control runs. A ConfigError where the port
/// cannot be had.
class StoreServer {
 public:
  explicit StoreServer(StoreServerOptions options);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// What to open in a browser, with the token.
  [[nodiscard]] std::string address() const;

  /// Answers until it is told to stop.
  void serve(const std::stop_token& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
