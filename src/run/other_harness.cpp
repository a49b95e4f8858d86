// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/other_harness.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "problem/replace_file.hpp"
#include "process/run_command.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

/// Empty where there is no such file.
std::string text_in(const fs::path& file) {
  return try_whole_file(file).value_or("");
}

/// The task's file, or the files of its folder in order.
std::string text_of_task(const fs::path& task) {
  if (!fs::is_directory(task)) return text_in(task);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(task))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += file.string() + '\n' + text_in(file) + '\n';
  return text;
}

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

HarnessSays read_verdict(const nlohmann::json& said) {
  HarnessSays says;
  if (const auto right = said.find("right"); right != said.end() && right->is_boolean()) says.right = *right;
  if (const auto speedup = said.find("speedup"); speedup != said.end() && speedup->is_number())
    says.speedup = *speedup;
  if (const auto text = said.find("text"); text != said.end() && text->is_string())
    says.text = clean_text(text->get<std::string>());
  return says;
}

}  // namespace

HarnessSays ask_harness(const std::string& command, const fs::path& task, const fs::path& answer,
                        const fs::path& kept, double seconds, const std::stop_token& stop) {
  const std::string digest =
      sha256(command + '\n' + task.string() + '\n' + text_of_task(task) + '\n' + text_in(answer));
  const nlohmann::json earlier = nlohmann::json::parse(text_in(kept), nullptr, false);
  if (earlier.is_object() && earlier.value("of", "") == digest) return read_verdict(earlier);
  const detail::Finished ended =
      detail::run_command(detail::shell_launch(command + " " + shell_word(fs::absolute(task).string()) + " " +
                                                   shell_word(fs::absolute(answer).string()),
                                               ""),
                          seconds, std::size_t{1} << 24, stop);
  nlohmann::json said = nlohmann::json::parse(last_line(ended.output), nullptr, false);
  HarnessSays says = said.is_object() ? read_verdict(said) : HarnessSays{};
  if (!says.right) {
    const std::string how = ended.timed_out ? fmt::format("no verdict within {:g} s", seconds)
                            : WIFEXITED(ended.status)
                                ? fmt::format("no verdict, exit code {}", WEXITSTATUS(ended.status))
                                : fmt::format("no verdict, ended by signal {}", WTERMSIG(ended.status));
    says.text = clean_text(how + (ended.errors.empty() ? "" : ": " + last_line(ended.errors)));
    return says;  // not kept: it is asked again
  }
  said["of"] = digest;
  fs::create_directories(kept.parent_path());
  // Replaced, not opened: the target of a link with this name stays as it is. What could not be kept is asked
  // again.
  (void)detail::replace_file(kept, said.dump() + '\n');
  return says;
}

}  // namespace kernelsearch
