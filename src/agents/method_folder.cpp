// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/agents/method_writer.hpp"
#include "kernelsearch/agents/refusal.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/agents/retry_note.hpp"
#include "kernelsearch/agents/skill_texts.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/replace_file.hpp"
#include "prompt_builder.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr const char* retry_file = "this_time.txt";

/// There, not empty, and not being written.
bool settled(const fs::path& file, double seconds) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) == 0 || error) return false;
  const auto changed = fs::last_write_time(file, error);
  if (error) return false;
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - changed;
  return age.count() < 0 || age.count() >= seconds;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The ids in an iteration's methods.json; nothing where it has none.
std::optional<std::vector<std::string>> ids_in(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("methods") || !json["methods"].is_array()) return std::nullopt;
  std::vector<std::string> ids;
  for (const auto& one : json["methods"])
    if (one.is_object() && one.contains("id") && one["id"].is_string()) ids.push_back(one["id"]);
  return ids;
}

/// An iteration that is begun anew, without a method that does not apply, asks for other kernels in the same
/// places: what was written for the other methods is kept, but out of the way.
void set_aside(const fs::path& iteration) {
  std::error_code error;
  std::size_t n = 1;
  while (fs::exists(iteration / fmt::format("set_aside_{}", n), error)) ++n;
  const fs::path to = iteration / fmt::format("set_aside_{}", n);
  fs::create_directories(to, error);
  for (const char* name : {"branches", "analysis.md", "methods.json"})
    if (fs::exists(iteration / name, error)) fs::rename(iteration / name, to / name, error);
}

/// What is there stays: a person may have written into it.
void write_once(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (fs::exists(file, error)) return;
  error = detail::replace_file(file, text);
  if (error)
    detail::raise<ConfigError>("a file for the writer of kernels cannot be written", file.string(),
                               error.message());
}

}  // namespace

MethodFolder::MethodFolder(Problem problem, MethodFolderOptions options)
    : options_(std::move(options)), extension_(traits_of(problem.backend).extension) {
  if (!options_.journal)
    detail::raise<ConfigError>("MethodFolder has no journal", "null", "give it the policy's");
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (!fs::is_directory(options_.folder, error))
    detail::raise<ConfigError>("there is no such folder for kernels", options_.folder.string(),
                               "name a folder that can be written");
  AgentOptions common;
  common.tunables = false;
  common.hardware = options_.hardware;
  common.facts = options_.facts;
  if (!options_.methods.empty()) common.strategies = strategies_of(options_.methods);
  builder_ =
      std::make_shared<const detail::PromptBuilder>(AnyChatModel{}, std::move(problem), std::move(common));
}

bool MethodFolder::await(const fs::path& file, const fs::path& note, const fs::path& declined,
                         const std::string& words) const {
  const auto there = [&] {
    const bool noted = note.empty() || settled(note, options_.settled_seconds);
    return (noted && settled(file, options_.settled_seconds)) || settled(declined, options_.settled_seconds);
  };
  std::error_code error;
  if (there()) return true;
  // A file that was written just now gets the time to settle.
  double seconds = options_.wait_seconds;
  if (fs::exists(file, error) || fs::exists(declined, error)) seconds += options_.settled_seconds + 1;
  if (seconds > 0 && options_.say) options_.say(words + ": waiting for " + file.string());
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() < seconds) {
    if (options_.stop.stop_requested()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (there()) return true;
  }
  return false;
}

Generation<Candidate> MethodFolder::generate(const Move& move, const History<Candidate>& history) const {
  using Made = Generation<Candidate>;
  if (move.kind == MoveKind::root) return builder_->root();
  const auto started = builder_->start(move, history);
  if (!started) return started.error().generation();
  const detail::PromptBuilder::Start& start = *started;
  const std::optional<SkillIteration> now = options_.journal->last();
  const fs::path root = options_.folder / fmt::format("iterv{}", now ? now->number : 0);
  const bool ablation = move.kind == MoveKind::ablate;
  const std::string name = ablation ? ablation_name(move)
                           : now    ? branch_name(*now, move)
                                    : fmt::format("r{}", move.variant + 1);
  const fs::path folder = root / (ablation ? "ablations" : "branches") / name;
  const std::string words =
      move_words(move, move.kind == MoveKind::branch ? options_.branches : 0, now ? now->first_variant : 0);

  const Trial<Candidate>& parent = start.parent();
  if (now && move.kind == MoveKind::branch) {
    const Features& profile = parent.outcome.evaluation.features;
    const std::string methods = methods_json(*now, options_.methods, profile);
    if (const auto before = ids_in(text_of(root / "methods.json")); before && before != ids_in(methods))
      set_aside(root);
    std::vector<SkillIteration> earlier = options_.journal->iterations();
    if (!earlier.empty()) earlier.pop_back();
    write_once(root / "analysis.md",
               analysis_text(*now, options_.methods, profile, earlier) +
                   fmt::format("\n## What is asked\n\n{} branches: branches/b1/kernel{} to b{}. After the "
                               "fastest right one is known, it without each method: see ablations.\n",
                               options_.branches, extension_, options_.branches));
    write_once(root / "methods.json", methods);
    write_once(root / ("start" + extension_), start.kernel().regions.device);
  }
  if (ablation) write_once(root / ("kernel" + extension_), start.kernel().regions.device);
  bool again = false;
  if (move.kind == MoveKind::branch)
    for (const std::string& id : move.strategies)
      for (const SkillIteration& before : options_.journal->iterations())
        for (const MethodVerdict& verdict : before.verdicts)
          again = again || (verdict.fate == MethodFate::implementation_failed &&
                            options_.methods[verdict.method].id == id);
  std::string request = fmt::format(
      "# Asked for: {}\n\n{}\n\nWrite it to `kernel{}` in this folder (the whole device region; `host{}` and "
      "`macros{}` replace the other regions), or say in `declined.txt` why not: `{}: METHOD: the reason` for "
      "a "
      "method that does not apply to this kernel, which is not asked for on it again.\n\n## What it is made "
      "from: trial {}\n\n{}\n",
      name, words, extension_, extension_, extension_, refusal_form,
      static_cast<std::uint64_t>(parent.outcome.id),
      feedback_text(parent.outcome, {}, &parent.candidate->kernel->space));
  if (again)
    request += fmt::format(
        "Methods that failed before are tried again (analysis.md says which). Say in a sentence "
        "in `{}` what is done differently now and why it may succeed; without it the kernel is "
        "not taken.\n\n",
        retry_file);
  request += builder_->kernel_of(*parent.candidate);
  if (!builder_->hardware().empty()) request += "\n## Machine\n\n" + builder_->hardware() + '\n';
  request += '\n' + builder_->described_problem() + '\n';
  write_once(folder / "request.md", request);

  const fs::path file = folder / ("kernel" + extension_);
  const fs::path declined = folder / "declined.txt";
  const fs::path note_file = again ? folder / retry_file : fs::path();
  if (!await(file, note_file, declined, words))
    return Made::none(
        options_.stop.stop_requested()
            ? "stopped while waiting for " + file.string()
            : fmt::format("there is no {} after {} s",
                          again ? file.string() + " with a " + retry_file + " next to it" : file.string(),
                          options_.wait_seconds));
  std::error_code error;
  if (!fs::exists(file, error)) {
    const std::string why = text_of(declined);
    const auto refusal = read_refusal(why, move.strategies);
    if (refusal && refusal->judgement.ok()) return Made::not_applicable(refusal->reason);
    return Made::none("declined: " + why);
  }
  std::string note;
  if (again) {
    std::string written = text_of(note_file);
    std::replace(written.begin(), written.end(), '\n', ' ');
    const auto said = read_retry_note(std::string(retry_form) + ": " + written);
    if (!said)
      return Made::none(fmt::format("{}: says nothing of what is done differently", note_file.string()));
    note = *said;
  }
  Regions regions = start.kernel().regions;
  regions.device = text_of(file);
  for (const KernelRegion region : {KernelRegion::host, KernelRegion::macros})
    if (const fs::path other = folder / (std::string(to_string(region)) + extension_);
        fs::exists(other, error))
      text_of(regions, region) = text_of(other);
  ReplyExpectation wanted = builder_->expectation(start, history);
  wanted.tried = nullptr;  // a person may hand in what was there before; an ablation often is
  ReplyCode code = checked_kernel(std::move(regions), {}, wanted);
  if (!code.judgement.ok())
    return Made::none(
        fmt::format("{}: {}: {}", file.string(), to_string(code.judgement.fault), code.judgement.detail));
  Made made = detail::PromptBuilder::candidate(*std::move(code.kernel), start);
  made.rationale = std::move(note);
  return made;
}

}  // namespace kernelsearch
