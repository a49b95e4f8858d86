// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/made_problem.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/process/inflow.hpp"
#include "problem/json_cursor.hpp"
#include "problem/replace_file.hpp"
#include "process/process.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr const char* maker_file = "make_problem.json";
/// Says of a folder that it is ours to empty: written once the command has ended well.
constexpr const char* made_file = "made_from.json";
constexpr std::size_t most_kept_messages = std::size_t{64} << 10;
constexpr std::size_t most_shown_lines = 15;

std::string whole_text(const fs::path& file) {
  std::optional<std::string> text = try_whole_file(file);
  if (!text)
    detail::raise<ConfigError>("a folder without a make_problem.json that can be read", file.string(),
                               "write one: docs/formats/make_problem.md");
  return *std::move(text);
}

/// The folder that is meant, absolute; what is named may be the file in it.
fs::path folder_of_maker(const fs::path& path) {
  fs::path folder = fs::absolute(path).lexically_normal();
  if (folder.filename() == maker_file && !fs::is_directory(folder)) folder = folder.parent_path();
  if (!folder.has_filename()) folder = folder.parent_path();  // of FOLDER/
  return folder;
}

std::vector<std::string> read_command(const detail::JsonCursor& place) {
  constexpr const char* todo =
      "list the program and its arguments, e.g. [\"python3\", \"${FOLDER}/make.py\", \"${OUT}\"]";
  std::vector<std::string> command;
  bool writes = false;
  for (const detail::JsonCursor& item : place.items(todo)) {
    const std::string& word = item.string(todo);
    if (word.find('\0') != std::string::npos) item.refuse("has a NUL in it", todo);
    for (std::size_t at = word.find("${"); at != std::string::npos; at = word.find("${", at + 2)) {
      const bool out = word.compare(at, 6, "${OUT}") == 0;
      if (!out && word.compare(at, 9, "${FOLDER}") != 0)
        item.refuse("has a name in it that is not known here",
                    "there are ${FOLDER}, this folder, and ${OUT}, the problem's");
      writes = writes || out;
    }
    command.push_back(word);
  }
  if (command.empty() || command.front().empty()) place.refuse("names no program", todo);
  if (!writes)
    place.refuse("has no ${OUT}", "put ${OUT} where the command takes the folder that it writes to");
  return command;
}

/// Empties the folder; what cannot be removed is an error.
void empty_folder(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
}

void prepare(const fs::path& out) {
  try {
    const fs::file_status status = fs::status(out);
    if (fs::exists(status) && !fs::is_directory(status))
      detail::raise<ConfigError>("a file has the name of the problem's folder", out.string(),
                                 "name another folder, or move the file");
    if (fs::exists(status) && !fs::is_empty(out) && !fs::is_regular_file(out / made_file))
      detail::raise<ConfigError>("the folder holds something else than a problem that was made here",
                                 out.string(), "name another one, or remove it");
    if (fs::exists(status)) empty_folder(out);
    fs::create_directories(out);
  } catch (const fs::filesystem_error& error) {
    detail::raise<ConfigError>("the problem's folder cannot be made", out.string() + ": " + error.what(),
                               "name a folder that can be written");
  }
}

/// Without what the command has left there; the folder was empty before it began.
void discard(const fs::path& out) {
  std::error_code error;
  fs::remove_all(out, error);
}

std::string last_lines(const std::string& text) {
  std::string clean = clean_text(text);
  while (!clean.empty() && clean.back() == '\n') clean.pop_back();
  std::size_t begin = clean.size();
  for (std::size_t lines = 0; lines < most_shown_lines && begin != 0; ++lines) {
    const std::size_t end = begin == clean.size() ? begin : begin - 1;
    const std::size_t before = end == 0 ? std::string::npos : clean.rfind('\n', end - 1);
    begin = before == std::string::npos ? 0 : before + 1;
  }
  return clean.substr(begin);
}

struct Ended {
  std::string messages;  ///< the end of what it printed
  int status = 0;        ///< as waitpid gives it
  bool stopped = false;
};

/// Runs a command line of /bin/sh to its end, however long that takes, as make runs a user's recipe.
Ended run_to_end(const std::string& line, const MakeProblemOptions& options) {
  detail::PipeEnds pipe = detail::make_pipe();
  detail::Launch launch = detail::shell_launch(line, {});
  launch.ends_with_thread = true;
  launch.leaves_nothing = true;
  for (const int number : {1, 2}) launch.descriptors.emplace_back(number, pipe.write.number());
  detail::Process process(launch);
  pipe.write.reset();
  Ended ended;
  detail::Inflow said(pipe.read.number());
  // Whether there was something to read within that time.
  const auto read_some = [&](double seconds) {
    if (!said.read_within(seconds)) return false;
    const std::string text = said.take();
    if (options.messages) options.messages(text);
    ended.messages += text;
    if (ended.messages.size() > 2 * most_kept_messages)
      ended.messages.erase(0, ended.messages.size() - most_kept_messages);
    return true;
  };
  // Its own end is what counts: what it leaves running may keep the pipe open.
  for (bool running = true; running;) {
    if (options.stop.stop_requested()) {
      ended.stopped = true;
      return ended;
    }
    if (!read_some(0.05)) running = !process.wait(said.open() ? 0.0 : 0.05, ended.status);
  }
  while (read_some(0)) continue;
  return ended;
}

}  // namespace

bool has_problem_maker(const fs::path& path) {
  if (path.empty()) return false;
  const fs::path folder = folder_of_maker(path);
  std::error_code error;
  return fs::is_regular_file(folder / maker_file, error) &&
         (path.filename() == maker_file || !fs::exists(folder / "problem.json", error));
}

ProblemMaker read_problem_maker(const fs::path& path) {
  ProblemMaker maker;
  maker.folder = folder_of_maker(path);
  const std::string file = (maker.folder / maker_file).string();
  const detail::JsonNode root = detail::parse_json(whole_text(file), file);
  const detail::JsonCursor document(root, file);
  document.only({"schema", "name", "command"});
  const detail::JsonCursor schema = document.at("schema", "this version of the format is \"schema\": 1");
  if (schema.integer("this version of the format is 1") != 1)
    schema.refuse("is a version of the format that is not known", "this program reads version 1");
  constexpr const char* name_todo = "give it letters, digits and _, no digit first";
  maker.name = maker.folder.filename().string();
  if (const auto name = document.find("name")) {
    maker.name = name->string(name_todo);
    if (!detail::is_identifier(maker.name)) name->refuse("is not a name for a problem", name_todo);
  } else if (!detail::is_identifier(maker.name)) {
    document.refuse("lacks the key \"name\", and its folder's name cannot be the name of a problem",
                    maker.name, "add a \"name\" of letters, digits and _");
  }
  maker.command = read_command(document.at("command", "say what makes the problem: \"command\": [...]"));
  return maker;
}

fs::path made_problem_folder(const ProblemMaker& maker) {
  return maker.name + "_problem";
}

bool make_problem(const ProblemMaker& maker, const fs::path& out, const MakeProblemOptions& options) {
  const fs::path folder = fs::absolute(out).lexically_normal();
  prepare(folder);
  nlohmann::ordered_json words = nlohmann::ordered_json::array();
  std::string line;
  const auto add = [&](const std::string& word) {
    words.push_back(word);
    line += (line.empty() ? "exec " : " ") + readable_word(word);
  };
  for (std::string word : maker.command) {
    detail::replace_all(word, "${FOLDER}", maker.folder.string());
    detail::replace_all(word, "${OUT}", folder.string());
    add(word);
  }
  for (const std::string& word : options.arguments) add(word);
  const Ended ended = run_to_end(line, options);
  const auto refuse = [&](const std::string& what, const std::string& todo) {
    discard(folder);
    const std::string said = last_lines(ended.messages);
    detail::raise<ConfigError>(
        (maker.folder / maker_file).string() + ": " + what,
        said.empty() ? line.substr(5) + ", which printed nothing" : line.substr(5) + "\n" + said + "\n",
        todo);
  };
  if (ended.stopped) {
    discard(folder);
    return false;
  }
  if (!WIFEXITED(ended.status) || WEXITSTATUS(ended.status) != 0)
    refuse("the command that makes the problem " + detail::end_text(ended.status),
           "fix what it says; what it needs of you is given behind `--`");
  if (!fs::is_regular_file(folder / "problem.json"))
    refuse("the command ended well and wrote no problem.json to ${OUT}", "let it write one there");
  const nlohmann::ordered_json made = {{"folder", maker.folder.string()}, {"command", words}};
  const std::string text = made.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (const std::error_code failed = detail::replace_file(folder / made_file, text))
    detail::raise<ConfigError>("the problem's folder cannot be written",
                               (folder / made_file).string() + ": " + failed.message(), "name another one");
  (void)read_problem(folder);
  return true;
}

}  // namespace kernelsearch
