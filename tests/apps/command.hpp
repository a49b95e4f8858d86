// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

/// Runs the built `kernelsearch` as a user would, in a folder of the test's own.
namespace kernelsearch_test {

struct Ran {
  int code = -1;  ///< exit code; 128 + n for an end by signal n
  std::string out, err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// Leaves only the first shape of a problem, smaller: where what is measured is not looked at, judging and
/// comparing the finalists is what takes the time.
inline void one_small_shape(nlohmann::json& problem) {
  problem["shapes"] = {problem["shapes"][0]};
  for (auto& [name, value] : problem["shapes"][0].items())
    if (name != "weight" && value.is_number()) value = 96;
}

/// A program in `folder`, its output in files there; ended with its owner.
class Started {
 public:
  Started(const std::filesystem::path& folder, std::vector<std::string> arguments) : folder_(folder) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string home = folder.string(), out = (folder / ".out").string(),
                      err = (folder / ".err").string();
    pid_ = fork();
    if (pid_ != 0) return;
    if (chdir(home.c_str()) != 0) _exit(126);
    for (const char* name : {"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}) setenv(name, home.c_str(), 1);
    unsetenv("KERNELSEARCH_STORE");
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() {
    if (pid_ > 0 && !ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }

  [[nodiscard]] bool running() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
  }

  /// Its end; code -1 where it does not come.
  [[nodiscard]] Ran finish(std::chrono::seconds limit = std::chrono::seconds(300)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (running() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Ran ran;
    if (ended_) ran.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    ran.out = read_text(folder_ / ".out");
    ran.err = read_text(folder_ / ".err");
    return ran;
  }

 private:
  std::filesystem::path folder_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// A user's folder with a cache, a data folder and a home of its own.
class Desk {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  [[nodiscard]] Ran program(std::vector<std::string> arguments) const {
    return Started(path(), std::move(arguments)).finish();
  }
  /// Where the test does not say how many samples, few of them: what finalists are worth takes half of the
  /// time of a small run, and most tests look at something else. Seven is the least number of pairs of which
  /// a single disturbed one cannot make the faster kernel lose.
  [[nodiscard]] Ran kernelsearch(std::vector<std::string> arguments) const {
    const auto says = [&](const char* option) {
      return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
    };
    if (!arguments.empty() && arguments[0] == "tune" && !says("--samples") && !says("--resume") &&
        !says("--help"))
      arguments.insert(arguments.begin() + 1, {"--samples", "7"});
    return program(line(arguments));
  }
  [[nodiscard]] static std::vector<std::string> line(const std::vector<std::string>& arguments) {
    const char* given = getenv("KERNELSEARCH_COMMAND");  // where tests run apart from their build
    std::vector<std::string> all{given != nullptr ? given : KERNELSEARCH_COMMAND};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

 private:
  TemporaryFolder folder_;
};

/// The same of the problem `mine`, which `kernelsearch new mine` made.
inline void with_one_small_shape(const Desk& desk) {
  const auto file = desk.path() / "mine" / "problem.json";
  auto problem = nlohmann::json::parse(read_text(file), nullptr, true, true);
  one_small_shape(problem);
  write_text(file, problem.dump());
}

}  // namespace kernelsearch_test
