// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "generator_support.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using namespace scripted;

static_assert(GeneratorOf<MethodFolder, Move>);

namespace {

std::string code_of(const std::string& words) {
  return "extern \"C\" void f() {\n  base\n" + words + "}\n";
}
void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}
std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct OneFolder {
  TemporaryFolder folder;
  WordHistory trials;
  MethodFolderOptions options;
  TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  TrialId champion = trials.add({root}, {"tiling"}, Evaluation::succeeded(0.5));
  Move branch{MoveKind::branch, {root}, {"tiling"}, 1};
  Move ablation{MoveKind::ablate, {champion}, {"tiling"}, 0};

  OneFolder() {
    options.folder = folder.path() / "run";
    options.methods.resize(1);
    options.methods[0].id = "tiling";
    options.methods[0].description = "Apply tiling.";
    options.settled_seconds = 0;
    const auto journal = std::make_shared<SkillJournal>();
    SkillIteration now;
    now.choice.taken = {0};
    journal->write({now});
    options.journal = journal;
  }
  [[nodiscard]] std::filesystem::path at(const std::string& name) const { return options.folder / name; }
  [[nodiscard]] Generation<Candidate> make(const Move& move) const {
    return MethodFolder(problem_of_words(), options).generate(move, trials.history());
  }
};

}  // namespace

TEST_CASE("method folder: says what it wants and takes what is there") {
  OneFolder one;
  one.options.hardware = "- processor: one of 8 cores\n";
  one.options.facts.cold = true;
  const auto nothing = one.make(one.branch);
  CHECK(nothing.candidates.empty());
  CHECK(nothing.failure.find("branches/b2/kernel.cpp") != std::string::npos);
  CHECK(read_file(one.at("iterv1/analysis.md")).find("`tiling`") != std::string::npos);
  CHECK(read_file(one.at("iterv1/methods.json")).find("\"tiling\"") != std::string::npos);
  CHECK(read_file(one.at("iterv1/start.cpp")).find("base") != std::string::npos);
  const std::string request = read_file(one.at("iterv1/branches/b2/request.md"));
  CHECK(request.find("branch 2 of 4: apply tiling") != std::string::npos);
  CHECK(request.find("verdict: ok") != std::string::npos);
  CHECK(request.find("## Machine\n\n- processor: one of 8 cores\n") != std::string::npos);
  CHECK(request.find(problem_text(problem_of_words(), one.options.facts)) != std::string::npos);
  CHECK(problem_text(problem_of_words(), one.options.facts) != problem_text(problem_of_words()));

  write(one.at("iterv1/branches/b2/kernel.cpp"), code_of("  tiling\n"));
  write(one.at("iterv1/branches/b2/macros.cpp"), "#define A 1\n");
  const auto made = one.make(one.branch);
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(words_of(made.candidates.front()).contains("tiling"));
  CHECK(made.candidates.front().kernel->regions.macros == "#define A 1\n");

  write(one.at("iterv1/ablations/tiling/kernel.cpp"), code_of(""));  // as the root: that may be
  CHECK(one.make(one.ablation).candidates.size() == 1);
  CHECK(read_file(one.at("iterv1/kernel.cpp")).find("tiling") != std::string::npos);  // the champion
  CHECK(one.make(Move{}).candidates.size() == 1);
}

TEST_CASE("method folder: what cannot be used is said with its file; a writer may decline") {
  OneFolder one;
  write(one.at("iterv1/branches/b2/kernel.cpp"), "extern \"C\" void g() {}\n");
  const auto wrong = one.make(one.branch);
  CHECK(wrong.candidates.empty());
  CHECK(wrong.failure.find("missing_function") != std::string::npos);
  CHECK(wrong.failure.find("b2/kernel.cpp") != std::string::npos);
  write(one.at("iterv1/ablations/tiling/declined.txt"), "nothing would be left");
  CHECK(one.make(one.ablation).failure == "declined: nothing would be left");
}

TEST_CASE("method folder: a kernel that tries a failed method again needs a sentence beside it") {
  OneFolder one;
  SkillIteration before, now;
  before.verdicts.push_back({0, MethodFate::implementation_failed, {}, {}, {}, {}, {}, false, "no trace"});
  now.number = 2;
  now.choice.taken = {0};
  const auto journal = std::make_shared<SkillJournal>();
  journal->write({before, now});
  one.options.journal = journal;
  write(one.at("iterv2/branches/b2/kernel.cpp"), code_of("  tiling\n"));
  const auto silent = one.make(one.branch);
  CHECK(silent.candidates.empty());
  CHECK(silent.failure.find("this_time.txt") != std::string::npos);
  CHECK(read_file(one.at("iterv2/branches/b2/request.md")).find("this_time.txt") != std::string::npos);
  write(one.at("iterv2/branches/b2/this_time.txt"), "better\n");
  CHECK(one.make(one.branch).failure.find("says nothing") != std::string::npos);
  write(one.at("iterv2/branches/b2/this_time.txt"), "The tiles are\npadded.\n");
  const auto made = one.make(one.branch);
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(made.rationale == "The tiles are padded.");
  // It is waited for like the kernel.
  std::filesystem::remove(one.at("iterv2/branches/b2/this_time.txt"));
  one.options.wait_seconds = 60;
  one.options.say = [&one](const std::string&) {
    write(one.at("iterv2/branches/b2/part"), "The tiles are padded now.");
    std::filesystem::rename(one.at("iterv2/branches/b2/part"), one.at("iterv2/branches/b2/this_time.txt"));
  };
  CHECK(one.make(one.branch).rationale == "The tiles are padded now.");
  one.options.say = nullptr;
  // The ablation of such a kernel tries nothing.
  write(one.at("iterv2/ablations/tiling/kernel.cpp"), code_of(""));
  CHECK(one.make(one.ablation).candidates.size() == 1);
}

TEST_CASE("method folder: an iteration that is begun anew asks anew, and keeps what was said before") {
  OneFolder one;
  one.options.methods.resize(2);
  one.options.methods[1].id = "fusion";
  one.options.methods[1].description = "Fuse loops.";
  const auto journal = std::make_shared<SkillJournal>();
  one.options.journal = journal;
  SkillIteration now;
  now.choice.taken = {0, 1};
  journal->write({now});
  write(one.at("iterv1/branches/b1/declined.txt"), "DOES NOT APPLY: fusion: there is one loop\n");
  const auto declined = one.make({MoveKind::branch, {one.root}, {"tiling", "fusion"}, 0});
  CHECK_FALSE(declined.applicable);
  now.choice.taken = {0};
  journal->write({now});
  const Move anew{MoveKind::branch, {one.root}, {"tiling"}, 0};
  CHECK(one.make(anew).failure.find("there is no") != std::string::npos);  // and not that of before
  CHECK(read_file(one.at("iterv1/set_aside_1/branches/b1/declined.txt")).find("one loop") !=
        std::string::npos);
  CHECK(read_file(one.at("iterv1/branches/b1/request.md")).find("fusion") == std::string::npos);
  CHECK(read_file(one.at("iterv1/methods.json")).find("fusion") == std::string::npos);
  // Asked again for the same, what is there stays where it is.
  write(one.at("iterv1/branches/b1/kernel.cpp"), code_of("  tiling\n"));
  CHECK(one.make(anew).candidates.size() == 1);
  CHECK_FALSE(std::filesystem::exists(one.at("iterv1/set_aside_2")));
}

TEST_CASE("method folder: it waits for a file, and stops when it is told to") {
  OneFolder one;
  one.options.wait_seconds = 60;
  std::vector<std::string> said;
  one.options.say = [&said](const std::string& words) { said.push_back(words); };
  std::jthread writer([&one] {
    const auto request = one.at("iterv1/branches/b2/request.md");
    while (!std::filesystem::exists(request)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    write(one.at("iterv1/branches/b2/part"), code_of("  late\n"));
    std::filesystem::rename(one.at("iterv1/branches/b2/part"), one.at("iterv1/branches/b2/kernel.cpp"));
  });
  const auto made = one.make(one.branch);
  REQUIRE(made.candidates.size() == 1);
  CHECK(words_of(made.candidates.front()).contains("late"));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("waiting for") != std::string::npos);

  std::stop_source stop;
  stop.request_stop();
  one.options.stop = stop.get_token();
  CHECK(one.make(one.ablation).failure.find("stopped") != std::string::npos);
}

TEST_CASE("method folder: no journal is an error of whoever makes it") {
  OneFolder one;
  one.options.journal = nullptr;
  CHECK_THROWS_AS(MethodFolder(problem_of_words(), one.options), ConfigError);
}
