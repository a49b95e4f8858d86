// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command, the processes of candidates and the compilers, killed (SIGKILL) at random moments of a real
// search, on the host and on the stand-in of a GPU: no configuration is blamed for it, nothing that was
// measured is lost, and neither processes nor folders stay.
#include <dirent.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "kill/points.hpp"

namespace {

using kernelsearch_test::Ran;
using kernelsearch_test::Started;
using nlohmann::json;
namespace fs = std::filesystem;

/// A process as nothing else is it: numbers are used again.
using Identity = std::pair<pid_t, std::string>;

struct Seen {
  Identity who;
  std::string name;
};

std::string name_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

/// Parent and time of starting; empty where it is gone.
std::pair<pid_t, std::string> parent_and_start(pid_t pid) {
  // getline, as a process that ends while it is read is no exception there
  std::string text;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return {0, ""};
  std::istringstream rest(text.substr(end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() < 20 || fields[0] == "Z") return {0, ""};
  return {static_cast<pid_t>(std::stol(fields[1])), fields[19]};
}

/// What descends from this process, without itself.
std::vector<Seen> descendants(pid_t root) {
  std::multimap<pid_t, Seen> children;
  DIR* const proc = opendir("/proc");
  REQUIRE((proc != nullptr));
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid <= 0) continue;
    if (const auto [parent, start] = parent_and_start(pid); !start.empty())
      children.emplace(parent, Seen{{pid, start}, name_of(pid)});
  }
  closedir(proc);
  std::vector<Seen> found;
  std::vector<pid_t> roots{root};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto [from, to] = children.equal_range(roots[i]);
    for (auto it = from; it != to; ++it) {
      roots.push_back(it->second.who.first);
      found.push_back(it->second);
    }
  }
  return found;
}

enum class Victim { controller, worker, builder, gpu_controller, gpu_worker, gpu_builder };

const char* text_of(Victim victim) {
  constexpr const char* names[] = {"the command",          "a candidate's process", "a compiler",
                                   "the command on a GPU", "a process on a GPU",    "a compiler for a GPU"};
  return names[static_cast<int>(victim)];
}

bool on_gpu(Victim victim) {
  return victim >= Victim::gpu_controller;
}
bool is_controller(Victim victim) {
  return victim == Victim::controller || victim == Victim::gpu_controller;
}

/// The last word of a process's command line.
std::string last_word(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string last;
  for (std::string word; std::getline(file, word, '\0');) last = word;
  return last;
}

bool is_of(const Seen& seen, Victim victim) {
  static const std::set<std::string> builders{"g++", "cc1plus", "as", "collect2", "ld", "ld.bfd"};
  if (on_gpu(victim))
    return seen.name.starts_with("kernelsearch-g") &&
           last_word(seen.who.first).starts_with("build:") == (victim == Victim::gpu_builder);
  return victim == Victim::worker ? seen.name.starts_with("kernelsearch-w") : builders.count(seen.name) != 0;
}

const std::string gpu_problem = R"json({
  "schema": 1, "name": "dot", "backend": "hip", "function": "twice",
  "kernel": {"device": {"text": [
    "extern \"C\" __global__ void twice(int n, const float* x, float* y) {",
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "  volatile float wasted = 0;",
    "  for (int k = 0; k < 100 * WASTE; ++k) wasted = k;",
    "  if (i < n) y[i] = 2 * x[i];",
    "}"]}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 500}, {"name": "odd", "n": 37, "weight": 0}],
  "tunables": {"WASTE": [0, 1, 2, 3], "BLOCK": [32, 64, 128]},
  "launch": {"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK"]},
  "reference": {"function": "twice_reference", "launch": {"grid": ["n"], "block": [1]}, "source": {"text": [
    "extern \"C\" __global__ void twice_reference(int n, const real* x, real* y) {",
    "  y[blockIdx.x] = 2 * x[blockIdx.x];",
    "}"]}}
})json";

/// A user's folder with a problem whose configurations are all right, and a folder for temporary files.
struct Bench {
  kernelsearch_test::Desk desk;
  bool gpu;

  explicit Bench(bool on_gpu) : gpu(on_gpu) {
    if (gpu) {
      fs::create_directory(desk.path() / "dot");
      kernelsearch_test::write_text(desk.path() / "dot" / "problem.json", gpu_problem);
    } else {
      fs::copy(fs::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures/problems/dot", desk.path() / "dot");
    }
    fs::create_directory(desk.path() / "tmp");
    // what runs as nobody makes files there too
    fs::permissions(desk.path() / "tmp", fs::perms::all | fs::perms::sticky_bit);
    fs::permissions(desk.path(), fs::perms::others_exec, fs::perm_options::add);
    fs::create_directory(desk.path() / "locks");
  }
  [[nodiscard]] std::vector<std::string> line(std::vector<std::string> words) const {
    // No time is looked at here, so it need not wait for others that measure.
    std::vector<std::string> all{"env", "TMPDIR=" + (desk.path() / "tmp").string(),
                                 "KERNELSEARCH_LOCKS=" + (desk.path() / "locks").string()};
#ifdef KERNELSEARCH_STANDIN_HIP
    if (gpu) {
      all.push_back("KERNELSEARCH_HIP_RUNTIME=" KERNELSEARCH_STANDIN_HIP);
      all.push_back("KERNELSEARCH_HIPRTC=" KERNELSEARCH_STANDIN_HIPRTC);
      words.insert(words.end(), {"--sandbox", "none"});  // its headers are where no sandbox sees them
    }
#endif
    for (std::string& word : kernelsearch_test::Desk::line(words)) all.push_back(std::move(word));
    return all;
  }
  [[nodiscard]] std::vector<std::string> begin() const {
    return line({"tune", "dot", "--policy", "exhaustive", "--budget", "all", "--samples", "3", "--jobs", "2",
                 "--no-reuse", "--store", "runs.db", "--out", "out", "--json", "-q"});
  }
  [[nodiscard]] std::vector<std::string> resume() const {
    return line({"tune", "--resume", "latest", "--samples", "3", "--no-reuse", "--store", "runs.db", "--out",
                 "out", "--json", "-q"});
  }
  /// A line for each trial: its configuration and its verdict.
  [[nodiscard]] std::vector<std::string> trials() const {
    std::vector<std::string> all;
    if (!fs::exists(desk.path() / "runs.db")) return all;
    const kernelsearch::RunStore store(desk.path() / "runs.db");
    if (!store.find_run("latest")) return all;
    store.each_trial(kernelsearch::RunId{1}, [&](const kernelsearch::StoredTrial& trial) {
      all.push_back(trial.point + " " + std::string(to_string(trial.outcome.evaluation.verdict)));
    });
    return all;
  }
  [[nodiscard]] std::vector<std::string> left_over() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(desk.path() / "tmp")) {
      std::string name = entry.path().filename().string();
      // The stand-in is a compiler and a driver, whose folders are their own.
      if (!name.starts_with("kernelsearch-standin-")) names.push_back(std::move(name));
    }
    return names;
  }
};

/// Waits for the end of processes whose owner was killed; those that stay.
std::vector<std::string> staying(const std::vector<Seen>& processes) {
  std::vector<std::string> names;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (const Seen& seen : processes) {
    while (parent_and_start(seen.who.first).second == seen.who.second &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (parent_and_start(seen.who.first).second == seen.who.second) names.push_back(seen.name);
  }
  return names;
}

struct Count {
  std::uint64_t killed = 0, resumed = 0, most_lost = 0;
};

/// One search of all configurations, in which `kills` of `victim` are killed.
void search_with_kills(Victim victim, std::uint64_t kills, kernelsearch::Rng& rng, Count& count) {
  const Bench bench(on_gpu(victim));
  constexpr std::size_t configurations = 12;
  const auto begun = [&] {
    return fs::exists(bench.desk.path() / "runs.db") &&
           kernelsearch::RunStore(bench.desk.path() / "runs.db").find_run("latest");
  };
  Ran ran;
  for (std::uint64_t left = kills, part = 0; part < 10 * kills + 10; ++part) {
    const std::vector<std::string> known = bench.trials();
    Started started(bench.desk.path(), begun() ? bench.resume() : bench.begin());
    std::vector<Seen> ours;
    while (left > 0 && started.running()) {
      std::this_thread::sleep_for(std::chrono::microseconds(
          rng.below(victim == Victim::builder || victim == Victim::gpu_builder ? 400'000 : 1'500'000)));
      // Of those that are needed one, as soon as there is one and a moment more.
      pid_t target = started.pid();
      while (!is_controller(victim) && started.running()) {
        ours = descendants(started.pid());
        const auto found =
            std::find_if(ours.begin(), ours.end(), [&](const Seen& seen) { return is_of(seen, victim); });
        target = found == ours.end() ? 0 : found->who.first;
        if (target != 0) break;
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
      if (target == 0 || !started.running()) break;
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(3000)));
      if (is_controller(victim)) ours = descendants(started.pid());
      if (::kill(target, SIGKILL) != 0) continue;
      --left;
      ++count.killed;
      if (is_controller(victim)) break;
      // Whoever is killed twice in a row is at fault, as far as can be told: not before others have come.
      const std::size_t so_far = bench.trials().size();
      while (left > 0 && started.running() && bench.trials().size() < so_far + 3)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ran = started.finish();
    if (is_controller(victim))
      for (const std::string& name : staying(ours)) CHECK_MESSAGE(false, name << " stays");
    const std::vector<std::string> now = bench.trials();
    // What was in the store is there.
    REQUIRE(now.size() >= known.size());
    CHECK(std::equal(known.begin(), known.end(), now.begin()));
    if (ran.code == 0) break;
    ++count.resumed;
    CAPTURE(ran.err);
    if (!is_controller(victim)) CHECK(ran.code == 4);  // a DeviceError
  }
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const std::vector<std::string> all = bench.trials();
  CHECK(all.size() == configurations);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == configurations);
  for (const std::string& trial : all) CHECK_MESSAGE(trial.ends_with(" ok"), trial);
  for (const std::string& name : bench.left_over()) CHECK_MESSAGE(false, name << " is left over");
}

void check_kills(Victim victim) {
  using namespace kill_test;
  const std::uint64_t all = kills(on_gpu(victim) ? 3 : 6);
  kernelsearch::Rng rng = kernelsearch::Rng::stream(seed(), text_of(victim));
  Count count;
  // A search may be over before the last of its kills.
  for (std::uint64_t search = 0; count.killed < all && search < all; ++search)
    search_with_kills(victim, std::min<std::uint64_t>(all - count.killed, 3), rng, count);
  add_row(std::string("| ") + text_of(victim) + " | " + std::to_string(count.killed) + " | " +
          std::to_string(count.resumed) + " |");
  CHECK(count.killed > 0);
}

}  // namespace

TEST_CASE("the command is killed: what it measured stays, its processes and folders do not") {
  check_kills(Victim::controller);
}

TEST_CASE("processes of candidates are killed: no candidate is blamed, and the run goes on") {
  check_kills(Victim::worker);
}

TEST_CASE("compilers are killed: no candidate is blamed, and the run goes on") {
  check_kills(Victim::builder);
}

#ifdef KERNELSEARCH_STANDIN_HIP

TEST_CASE("GPU: the command is killed: what it measured stays, its processes and folders do not") {
  check_kills(Victim::gpu_controller);
}

TEST_CASE("GPU: its processes are killed: no candidate is blamed, and the run goes on") {
  check_kills(Victim::gpu_worker);
}

TEST_CASE("GPU: its compilers are killed: no candidate is blamed, and the run goes on") {
  check_kills(Victim::gpu_builder);
}

#endif
