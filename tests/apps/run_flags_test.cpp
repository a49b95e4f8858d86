// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of `tune` that the rows of the options of runs make, and those of earlier versions.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;
using nlohmann::json;

namespace {
const std::filesystem::path flag_fixtures = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";
}

TEST_CASE("run flags: the help lists each option in its group, and the completion completes it") {
  const Desk desk;
  const std::string help = desk.kernelsearch({"tune", "--help"}).out;
  const std::string bash = desk.kernelsearch({"completion", "bash"}).out;
  const json schema = desk.kernelsearch({"list", "options", "--json"}).json();
  REQUIRE(schema["properties"].size() > 40);
  std::size_t flags = 0;
  for (const auto& entry : schema["properties"].items()) {
    const std::string& name = entry.key();  // no structured binding: clang 14 captures none
    const json& option = entry.value();
    const std::size_t group = help.find("\n" + option["x-group"].get<std::string>() + ":\n");
    REQUIRE_MESSAGE(group != std::string::npos, name);
    if (!option.contains("x-flag")) continue;
    ++flags;
    const std::string flag = option["x-flag"];
    const std::size_t at = help.find("\n  " + flag + " ", group);
    CHECK_MESSAGE(at < help.find("\n\n", group), flag);
    CHECK_MESSAGE(bash.find(flag + " ") != std::string::npos, flag);
  }
  CHECK(flags > 40);
  check_has(help, "INT in [1 - 64]");
  check_has(help, "{warm,cold}");
  const std::size_t tune = bash.find("\n    tune) ");
  REQUIRE(tune != std::string::npos);
  const std::string of_tune = bash.substr(tune, bash.find(";;", tune) - tune);
  check_has(of_tune, "--samples ");
  for (const char* former : {"--iterations", "--from-files", "--workflow", "--repairs", "--stage2"}) {
    CHECK(help.find(former) == std::string::npos);
    CHECK(of_tune.find(former) == std::string::npos);
  }
  check_has(desk.kernelsearch({"list", "options"}).out,
            "samples                  timed samples of every shape");
}

TEST_CASE("run flags: a value that does not fit is wrong usage, and says what to give") {
  const Desk desk;
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tune", "nothing"});
    const Ran ran = desk.kernelsearch(more);
    CHECK(ran.code == 2);
    return ran.err;
  };
  check_has(refused({"--samples", "two"}),
            "--samples: kernelsearch: the option samples of a run is of another "
            "type: two; give a whole number");
  check_has(refused({"--proposals", "65"}), "is out of bounds: 65; give a number from 1 to 64");
  check_has(refused({"--require-sandbox", "landlok"}), "did you mean landlock?");
  check_has(refused({"--seed", "-1"}), "give a whole number from 0");
  check_has(refused({"--max-cost", "much"}), "of another type: much; give a number");
  check_has(refused({"--iterations", "0", "--system", "cuda_skill_v2"}),
            "the option iterations of cuda_skill_v2 is out of bounds: 0; give a number from 1 to 100");
  check_has(refused({"--wait", "3"}),
            "a policy has none: leave it out, or name --system 'cuda_skill_v2(wait=3.0)'");
}

TEST_CASE("run flags: a system's options are written with its name; a former flag still works and says so") {
  const Desk desk;
  const auto tuned = [&](std::vector<std::string> more, const char* store) {
    more.insert(more.begin(), {"tune", (flag_fixtures / "problems/dot").string(), "--budget", "3",
                               "--samples", "2", "--store", store, "--out", "out", "--seed", "3", "--json"});
    Ran ran = desk.kernelsearch(more);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    return ran;
  };
  const Ran now = tuned({"--system", "helion_lfbo(initial=4)"}, "now.db");
  CHECK(now.err.find("is an option of the system") == std::string::npos);
  const auto stored = [&] {
    return json::parse(read_text(desk.path() / "out/dot_best.json"))["run"]["options"];
  };
  CHECK(stored()["system"] == "helion_lfbo");
  CHECK(stored()["system_options"]["initial"] == 4);
  const Ran on =
      desk.kernelsearch({"tune", "--resume", "latest", "--budget", "4", "--system", "helion_lfbo(patience=3)",
                         "--store", "now.db", "--out", "out", "--json"});
  REQUIRE_MESSAGE(on.code == 0, on.err);
  CHECK(on.json()["trials"] == 4);
  const Ran wrong = desk.kernelsearch({"tune", (flag_fixtures / "problems/dot").string(), "--system",
                                       "helion_lfbo(initail=4)", "--store", "x.db"});
  CHECK(wrong.code == 3);
  check_has(wrong.err, "there is no such option of helion_lfbo: initail; did you mean initial?");
  const Ran former = desk.kernelsearch({"tune", (flag_fixtures / "problems/dot").string(), "--system",
                                        "stark", "--repairs", "2", "--store", "x.db"});
  CHECK(former.code == 3);
  check_has(former.err,
            "--repairs is an option of the system: write --system 'stark(repairs=2)'; the old "
            "spelling still works");
  check_has(former.err, "there is no such option of stark: repairs");
}
