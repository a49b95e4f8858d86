// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/measuring_lock.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {

namespace fs = std::filesystem;

namespace {

/// How often a waiting process looks. A blocking flock could not be given up when a stop is asked for.
constexpr std::chrono::milliseconds interval{4};

/// A descriptor of the lock's file, -1 with errno where there is none.
int opened(const fs::path& folder, const std::string& name) {
  // First without O_CREAT: in a sticky folder for all Linux refuses O_CREAT of other users' files
  // (fs.protected_regular). A file that is only read can be locked all the same.
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  const std::string path = (folder / (name + ".lock")).string();
  for (int attempt = 0; attempt < 3; ++attempt) {
    int fd = ::open(path.c_str(), flags);
    if (fd >= 0 || errno != ENOENT) return fd;
    fd = ::open(path.c_str(), flags | O_CREAT | O_EXCL, 0644);
    if (fd >= 0) {
      (void)::fchmod(fd, 0644);  // for all users, whatever this one's umask is
      return fd;
    }
    if (errno == ENOENT) {
      if (::mkdir(folder.c_str(), 01777) == 0)
        (void)::chmod(folder.c_str(), 01777);
      else if (errno != EEXIST)
        return -1;
    } else if (errno != EEXIST) {
      return -1;
    }
  }
  return -1;
}

std::string user_name(::uid_t user) {
  std::vector<char> room(4096);
  ::passwd entry{};
  ::passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr)
    return clean_text(found->pw_name);
  return std::to_string(user);
}

/// The process that has the file of the descriptor locked: its number by the kernel's list of locks; 0 where
/// that does not show it, as for one in another container.
::pid_t holder_of(int fd) {
  struct ::stat file {};
  if (::fstat(fd, &file) != 0) return 0;
  // E.g. `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`.
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, place;
    ::pid_t process = 0;
    if (!(words >> number >> kind >> advisory >> access >> process >> place) || kind != "FLOCK") continue;
    const std::size_t inode = place.rfind(':');
    if (inode != std::string::npos && place.substr(inode + 1) == std::to_string(file.st_ino)) return process;
  }
  return 0;
}

/// Whose process it is, for people.
std::string owner_text(::pid_t process) {
  if (process <= 0) return "a process that this one cannot see";
  const std::string folder = "/proc/" + std::to_string(process);
  std::string name;
  std::getline(std::ifstream(folder + "/comm"), name);
  struct ::stat its {};
  const bool there = ::stat(folder.c_str(), &its) == 0;
  return "process " + std::to_string(process) + (name.empty() ? "" : " (" + clean_text(name) + ")") +
         (there ? " of user " + user_name(its.st_uid) : "");
}

std::chrono::duration<double> seconds_of(double seconds) {
  return std::chrono::duration<double>(seconds);
}

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<long>(seconds)) + " s";
}

MeasuredThing core_of_a_run(int core) {
  return {"core-" + std::to_string(core) + ".run", "core " + std::to_string(core)};
}

}  // namespace

MeasuredThing measured_core(int core) {
  return {"core-" + std::to_string(core), "core " + std::to_string(core)};
}

MeasuredThing measured_gpu(const std::string& bus) {
  std::string name = bus.empty() ? std::string("unknown") : bus;
  for (char& c : name)
    if (!detail::is_alphanumeric(c) && c != '.') c = '-';
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {"gpu-" + name, "GPU " + (bus.empty() ? std::string("of unknown address") : bus)};
}

fs::path lock_folder() {
  const char* const given = std::getenv("KERNELSEARCH_LOCKS");
  return given != nullptr && *given != '\0' ? fs::path(given) : fs::path("/tmp/kernelsearch-locks");
}

std::string lock_problem(const fs::path& folder) {
  const int fd = opened(folder, "probe");
  if (fd < 0) return folder.string() + ": " + std::strerror(errno);
  ::close(fd);
  return {};
}

/// One file of a lock. Next to it is that of its queue: who waits holds the queue, so that who had the
/// last turn stands behind and cannot take the lock again at once.
struct MeasuringTurn::File {
  File(const fs::path& folder, const std::string& name)
      : lock(opened(folder, name)), queue(opened(folder, name + ".next")) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    // Unlocked before it is closed: a child between fork and exec still has the descriptor.
    for (const int fd : {lock, queue})
      if (fd >= 0) {
        (void)::flock(fd, LOCK_UN);
        ::close(fd);
      }
  }
  /// Whether it is held now, or cannot be locked at all.
  [[nodiscard]] bool take_now() {
    if (lock < 0 || queue < 0) return true;
    if (!queued && !locked(queue)) return false;
    queued = true;
    if (!locked(lock)) return false;
    (void)::flock(queue, LOCK_UN);
    queued = false;
    return true;
  }
  /// A file system without locks (EOPNOTSUPP, ENOLCK) must not keep anyone waiting.
  [[nodiscard]] static bool locked(int fd) {
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      return errno != EWOULDBLOCK;
    }
    return true;
  }
  /// The descriptor that somebody else has locked.
  [[nodiscard]] int awaited() const noexcept { return queued ? lock : queue; }

  int lock, queue;
  bool queued = false;
};

MeasuringTurn::MeasuringTurn() = default;
MeasuringTurn::MeasuringTurn(MeasuringTurn&&) noexcept = default;
MeasuringTurn& MeasuringTurn::operator=(MeasuringTurn&&) noexcept = default;
MeasuringTurn::~MeasuringTurn() = default;

MeasuringTurn MeasuringTurn::take(std::vector<MeasuredThing> things, const std::stop_token& stop,
                                  const WaitTeller& tell, const fs::path& folder, double most_seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds told_again{2};
  // In one order for everybody: two that want the same things in another order would wait for each other.
  std::sort(things.begin(), things.end(),
            [](const MeasuredThing& a, const MeasuredThing& b) { return a.lock < b.lock; });
  MeasuringTurn turn;
  bool told = false;
  const auto done = [&] {
    if (told && tell) tell("");
  };
  for (const MeasuredThing& thing : things) {
    auto file = std::make_unique<File>(folder, thing.lock);
    Clock::time_point begun = Clock::now(), looked = begun;
    ::pid_t holder = -1;
    while (!file->take_now()) {
      if (stop.stop_requested()) {
        done();
        return MeasuringTurn();
      }
      // Each holder has its time: with many that take turns it is long until ours.
      if (const auto now = Clock::now();
          now - looked > told_again || now - begun > seconds_of(most_seconds)) {
        looked = now;
        const ::pid_t who = holder_of(file->awaited());
        if (who != holder) begun = holder == -1 ? begun : now;
        holder = who;
        if (now - begun > seconds_of(most_seconds)) {
          done();
          detail::raise<DeviceError>(
              "another process has kept " + thing.words + " locked for " + whole_seconds(most_seconds),
              owner_text(holder) + " has " + (folder / (thing.lock + ".lock")).string(),
              "end it, measure on something else, or set KERNELSEARCH_LOCKS to a folder of those who share "
              "this machine fairly");
        }
        if (tell)
          tell("waits for " + thing.words + ", which " + owner_text(holder) + " has; at most " +
               whole_seconds(most_seconds));
      }
      if (!told && tell) tell("waits for " + thing.words + ": another kernelsearch measures on it");
      told = true;
      std::this_thread::sleep_for(interval);
    }
    turn.files_.push_back(std::move(file));
  }
  done();
  turn.taken_ = true;
  return turn;
}

std::optional<MeasuringTurn> MeasuringTurn::try_take(std::vector<MeasuredThing> things,
                                                     const fs::path& folder) {
  MeasuringTurn turn;
  for (const MeasuredThing& thing : things) {
    auto file = std::make_unique<File>(folder, thing.lock);
    if (!file->take_now()) return std::nullopt;
    turn.files_.push_back(std::move(file));
  }
  turn.taken_ = true;
  return turn;
}

std::vector<HeldThing> held_things(const fs::path& folder) {
  constexpr std::size_t most = 64;  // the folder is for all users, who may put anything there
  constexpr std::string_view end = ".lock", core = "core-", gpu = "gpu-";
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), none; !error && entry != none; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.size() <= end.size() || !name.ends_with(end)) continue;
    name.resize(name.size() - end.size());
    const bool digits = name.starts_with(core) && name.size() > core.size() && name.size() < 16 &&
                        name.find_first_not_of("0123456789", core.size()) == std::string::npos;
    const bool bus =
        name.starts_with(gpu) && name.size() < 64 && !name.ends_with(".next") && !name.ends_with(".run");
    if (digits || bus) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  std::vector<HeldThing> held;
  for (const std::string& name : names) {
    if (held.size() == most) break;
    // A pipe of that name must not keep us waiting for its other end.
    const int fd =
        ::open((folder / (name + ".lock")).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (const ::pid_t holder = holder_of(fd); holder > 0)
      held.push_back({clean_text(name.starts_with(core) ? "core " + name.substr(core.size())
                                                        : "GPU " + name.substr(gpu.size())),
                      holder, owner_text(holder)});
    ::close(fd);
  }
  return held;
}

std::optional<MeasuringTurn> reserve_core(int core, const fs::path& folder) {
  return MeasuringTurn::try_take({core_of_a_run(core)}, folder);
}

int free_core(const std::vector<int>& allowed, const fs::path& folder) {
  if (allowed.size() >= 4)
    for (auto core = allowed.rbegin(); core != allowed.rend(); ++core)
      if (reserve_core(*core, folder)) return *core;
  return allowed.back();
}

}  // namespace kernelsearch
