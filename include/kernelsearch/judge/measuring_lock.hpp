// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// Hears in words for people what is waited for, and an empty text once the waiting is over; from any thread.
using WaitTeller = std::function<void(std::string_view)>;

/// Something that one process at a time may measure on: its lock's file, and how people call it.
struct MeasuredThing {
  std::string lock;   ///< e.g. `core-3`; letters, digits, `-`, `.`
  std::string words;  ///< e.g. `core 3`
};

/// A core of the host, by the operating system's number.
[[nodiscard]] MeasuredThing measured_core(int core);
/// A GPU by its PCI address, so that whichever number a process knows it by makes no difference.
[[nodiscard]] MeasuredThing measured_gpu(const std::string& bus);

/// Where the files of the locks lie: `$KERNELSEARCH_LOCKS`, else `/tmp/kernelsearch-locks`, which all users
/// of the machine may write. $TMPDIR does not count, since it differs between users.
[[nodiscard]] std::filesystem::path lock_folder();

/// Why no locks can be taken in the folder, e.g. that it cannot be made; empty where they can.
[[nodiscard]] std::string lock_problem(const std::filesystem::path& folder = lock_folder());

/// Longer than any turn of ours: a GPU's, with all its checks, takes minutes.
inline constexpr double longest_turn_seconds = 900;

/// The right to measure on some things, until it goes out of scope: a lock (flock) on a file for each, which
/// excludes every other process of the machine and every other turn of this one. The system releases it when
/// the process ends, however it ends; the files stay. Those who wait come before the last holder.
class MeasuringTurn {
 public:
  /// Waits until nobody else has one of them; where files cannot be locked (see lock_problem) at once. Any
  /// user of the machine can lock the files, so one process that keeps a lock for `most_seconds` is a
  /// DeviceError that says which it is and whose.
  [[nodiscard]] static MeasuringTurn take(std::vector<MeasuredThing> things, const std::stop_token& stop = {},
                                          const WaitTeller& tell = nullptr,
                                          const std::filesystem::path& folder = lock_folder(),
                                          double most_seconds = longest_turn_seconds);

  /// The same without waiting; nothing where somebody else has one of them.
  [[nodiscard]] static std::optional<MeasuringTurn> try_take(
      std::vector<MeasuredThing> things, const std::filesystem::path& folder = lock_folder());

  MeasuringTurn(MeasuringTurn&&) noexcept;
  MeasuringTurn& operator=(MeasuringTurn&&) noexcept;
  ~MeasuringTurn();

  /// False where a stop was asked for while it waited: nothing may be measured.
  explicit operator bool() const noexcept { return taken_; }

 private:
  struct File;
  MeasuringTurn();

  std::vector<std::unique_ptr<File>> files_;
  bool taken_ = false;
};

/// Something that a process measures on at the moment.
struct HeldThing {
  std::string words;   ///< e.g. `core 3`
  int process = 0;     ///< that holds its lock
  std::string holder;  ///< that in words: its number, its program and its user
};

/// What is measured on now, by the kernel's list of locks, which shows no processes of other containers; in
/// the order of the locks' names, at most 64. It takes no lock itself, so nobody waits for it.
[[nodiscard]] std::vector<HeldThing> held_things(const std::filesystem::path& folder = lock_folder());

/// The core that a run measures on where nobody chose one: of the allowed cores, ascending, the last that no
/// other run measures on (`reserve_core`), else the last. With fewer than four cores always the last: the
/// compilers of two runs would work on each other's measured cores, so they take turns on one.
[[nodiscard]] int free_core(const std::vector<int>& allowed,
                            const std::filesystem::path& folder = lock_folder());

/// Says for as long as it lives that a run measures on this core, so that others choose another one; nothing
/// where one does already.
[[nodiscard]] std::optional<MeasuringTurn> reserve_core(int core,
                                                        const std::filesystem::path& folder = lock_folder());

}  // namespace kernelsearch
