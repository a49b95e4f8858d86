// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each system asks of a real problem, as the model gets it.
#include "kernelsearch/run/first_questions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "external/scripted_evaluator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "machines.hpp"
#include "support/check_has.hpp"
#include "support/recorded_features.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

bool question_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string whole_text(const FirstQuestion& question) {
  std::string text;
  for (const Message& message : question.request.messages) text += message.text + '\n';
  return text;
}

std::vector<FirstQuestion> questions_asked(const std::string& system, bool gpu, std::uint32_t variant = 0) {
  FirstQuestionsOptions options;
  options.system = system;
  options.variant = variant;
  options.machine = gpu ? run_test::h200() : run_test::zen4();
  if (gpu) {
    options.evaluation = Evaluation::succeeded(0.85e-3);
    options.evaluation->features = scripted::h200_profile();
  }
  return first_questions(read_problem(std::string(KERNELSEARCH_SOURCE_DIR "/examples/") +
                                      (gpu ? "cuda/matmul_peak" : "host/matmul")),
                         options);
}

const std::map<std::string, std::vector<std::string>> roles_by_system{
    {"best_of_k", {"rewriter", "debugger"}},
    {"cuda_skill_v2", {"writer", "debugger", "ablator"}},
    {"geak", {"reflector", "optimizer", "generator"}},
    {"greedy_refine", {"rewriter", "debugger"}},
    {"helion_hybrid", {"config_search"}},
    {"helion_llm", {"config_search"}},
    {"kernelband", {"rewriter", "debugger"}},
    {"peak", {"transformer"}},
    {"stark", {"planner", "coder", "debugger"}}};

}  // namespace

TEST_CASE("first_questions: every system that asks is known here, with its roles") {
  for (const SystemEntry& system : system_entries())
    CHECK(roles_by_system.contains(std::string(system.name)) == system.asks);
}

TEST_CASE("first_questions: each role of each system gets the machine, the problem and the kernel") {
  for (const bool gpu : {false, true})
    for (const auto& [name, wanted] : roles_by_system) {
      const std::string& system = name;  // no structured binding: clang 14 captures none
      CAPTURE(system);
      CAPTURE(gpu);
      const auto questions = questions_asked(system, gpu);
      std::vector<std::string> found;
      for (const FirstQuestion& question : questions) found.push_back(question.role);
      CHECK(found == wanted);
      for (const FirstQuestion& question : questions) {
        CAPTURE(question.role);
        const std::string text = whole_text(question);
        CHECK(question.tokens < 32000);
        CHECK(question.request.messages.front().stable);
        // the machine
        CHECK(question_has(text, gpu ? "NVIDIA H200, sm_90, 132 multiprocessors" : "AVX-512, 512 bits"));
        CHECK(question_has(text, gpu ? "up to 227 KiB as dynamic shared memory" : "L2 1 MiB"));
        // the problem
        CHECK(question_has(text, "## Problem: matmul"));
        CHECK(question_has(text, "- c: array of f32, output, n*m elements; may differ by"));
        CHECK(question_has(text, gpu ? "- 2048: n=2048 m=2048 k=2048, weight 1; 17.18 Gop"
                                     : "- 512: n=512 m=512 k=512, weight 1"));
        CHECK(question_has(text, "; at best "));
        CHECK(question_has(text, "Compiled with: "));
        CHECK(question_has(text, gpu ? "caches are emptied before each timed call" : "so caches are warm"));
        // the kernel
        CHECK(question_has(text, gpu ? "__global__" : "BLOCK_K"));
        // no raw counter, no artefact of tokens, nothing left of a template
        CHECK(!question_has(text, "ncu."));
        CHECK(!question_has(text, "device__attribute"));
        CHECK(!question_has(text, "std :: "));
        CHECK(!question_has(text, "{{"));
        CHECK(!question_has(text, "\n\n\n\n"));
      }
    }
}

TEST_CASE("first_questions: who rewrites a kernel that was profiled is told what was seen, curated") {
  for (const char* system :
       {"best_of_k", "greedy_refine", "kernelband", "stark", "geak", "cuda_skill_v2", "peak"}) {
    CAPTURE(system);
    const std::string text = whole_text(questions_asked(system, true).front());
    CHECK(question_has(text, "time: 850 us"));
    CHECK(question_has(text, "- use of the device, of its peaks: multiprocessors 38.1 %"));
    CHECK(question_has(
        text,
        "- warps wait most for: data from global or local memory (long_scoreboard) 85.4 % of the time"));
    CHECK(question_has(text, "It reaches 3.77 % of what the roofline allows"));
    CHECK(question_has(text, "- hot loop (guessed from the code): 10 instructions"));
  }
}

TEST_CASE(
    "first_questions: STARK's coder has the machine and the tunables, which stand in no code that it sees") {
  const auto questions = questions_asked("stark", false);
  REQUIRE(questions.size() == 3);
  CHECK(!questions[0].example);
  CHECK(questions[1].example);  // made of a plan that stands for the planner's
  const std::string coder = whole_text(questions[1]);
  CHECK(question_has(coder, "(here stands what the planner says of this place)"));
  CHECK(question_has(coder, "<<<IMPROVE BEGINS>>>"));
  CHECK(question_has(coder, "- TILE_ROWS = "));
  CHECK(question_has(coder, "- FLAGS = \"\" of"));
  CHECK(question_has(whole_text(questions[2]), "(here stand the compiler's errors"));
}

TEST_CASE("first_questions: a device is shown its own steps, and a question that was asked before says so") {
  const std::string host = whole_text(questions_asked("kernelband", false).front());
  CHECK(question_has(host, "Steps:\n1. "));
  const std::string again = whole_text(questions_asked("kernelband", false, 2).front());
  CHECK(question_has(again, "attempt 3"));
  CHECK(!question_has(host, "attempt 3"));
  // The part that providers cache is the same.
  CHECK(questions_asked("kernelband", false, 2).front().request.messages.front() ==
        questions_asked("kernelband", false).front().request.messages.front());
}

TEST_CASE("first_questions: GEAK compares kernels only where there are several") {
  CHECK(!question_has(whole_text(questions_asked("geak", false).front()), "these kernels"));
}

TEST_CASE("first_questions: a system that asks nothing, and one that nobody knows") {
  CHECK_THROWS_WITH_AS((void)questions_asked("helion_lfbo", false),
                       doctest::Contains("asks no language model"), ConfigError);
  CHECK_THROWS_WITH_AS((void)questions_asked("kernelbund", false), doctest::Contains("kernelband"),
                       ConfigError);
}

TEST_CASE("first_questions: an ablation is asked of a right kernel, which has a number of this run") {
  const auto questions = questions_asked("cuda_skill_v2", true);
  REQUIRE(questions.size() == 3);
  const std::string ablation = whole_text(questions[2]);
  CHECK(question_has(ablation, "Take out of this kernel, and nothing else: "));
  CHECK_FALSE(question_has(ablation, "build_failed"));
  CHECK_FALSE(question_has(ablation, "What it changed:"));
  CHECK_FALSE(question_has(whole_text(questions[1]), "kernel 65"));
}

namespace {

std::string document(const std::string& name) {
  std::ifstream file(KERNELSEARCH_SOURCE_DIR "/docs/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("docs: each role that exists has its question in agents_prompts.md, linked from agents.md") {
  const std::string page = document("agents_prompts.md"), manual = document("agents.md");
  std::set<std::string> shown;
  for (std::size_t at = page.find("\n## "); at != std::string::npos; at = page.find("\n## ", at + 1)) {
    const std::string heading = page.substr(at + 4, page.find('\n', at + 1) - at - 4);
    const std::size_t of = heading.find(" of `");
    if (of == std::string::npos) continue;  // a heading within a question
    const std::string role = heading.substr(0, of);
    const std::string system = heading.substr(of + 5, heading.rfind('`') - of - 5);
    CAPTURE(heading);
    REQUIRE(roles_by_system.contains(system));
    const auto& roles = roles_by_system.at(system);
    CHECK(std::find(roles.begin(), roles.end(), role) != roles.end());
    CHECK(question_has(manual, "(agents_prompts.md#" + role + "-of-" + system + ")"));
    shown.insert(role + " of " + system);
  }
  for (const auto& entry : roles_by_system)
    for (const std::string& role : entry.second) {
      const std::string& system = entry.first;
      CAPTURE(system);
      CAPTURE(role);
      // Systems that share a role's question (best_of_k, greedy_refine; helion_hybrid) link to the one of it.
      const bool shared = system == "best_of_k" || system == "greedy_refine" || system == "helion_hybrid";
      CHECK((shared || shown.contains(role + " of " + system)));
      CHECK(question_has(manual, "| `" + system + "` |"));
    }
}

TEST_CASE("docs: agents_prompts.md shows the questions as they are asked now") {
  const std::string page = document("agents_prompts.md");
  for (const auto& entry :
       {std::pair("kernelband", false), std::pair("stark", false), std::pair("geak", false),
        std::pair("helion_llm", false), std::pair("cuda_skill_v2", true), std::pair("peak", true)})
    for (const FirstQuestion& question : questions_asked(entry.first, entry.second)) {
      const std::string system = entry.first;
      const Message& rules = question.request.messages.front();
      std::istringstream lines(rules.text);
      bool facts = false;
      for (std::string line; std::getline(lines, line);) {
        // The facts of the machine, and of what was measured on it, are others.
        facts = facts || line == "## Machine";
        if (facts && line.starts_with("- ")) continue;
        if (question_has(line, "at best")) continue;
        CAPTURE(system);
        CAPTURE(line);
        CHECK(question_has(page, line));
      }
    }
}

TEST_CASE("first_questions: a module that its reference refuses is no problem to ask about") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  const TemporaryFolder folder;
  FirstQuestionsOptions options;
  options.system = "best_of_k";
  CHECK_FALSE(first_questions(test::scripted_module(folder.path()), options).empty());
  std::string refused;
  try {
    (void)first_questions(test::scripted_module(folder.path(), "declined"), options);
  } catch (const ConfigError& error) {
    refused = error.what();
  }
  check_has(refused, "it drops out elements at random");
}
