// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/command_policy.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/policy_contract.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

constexpr const char* ready = R"(echo '{"type":"ready","protocol":1}'; )";

/// What a policy that is this shell script says to one ask, or the error that came of it.
std::string said(const std::string& script, PolicyCommandOptions options = {}) {
  const Space space = contract_space();
  try {
    CommandPolicy policy("mine", script, {space, 7, 40}, options);
    std::string text;
    for (const Config& config : policy.ask(2)) text += space.key(config) + ";";
    const Observation<Config> told = contract_observation(space, space.default_config(), 0, 0);
    policy.tell({&told, 1});
    for (const Config& config : policy.ask(2)) text += space.key(config) + ";";
    return text;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string proposing(const std::string& configurations) {
  return "read line; " + std::string(ready) +
         "read line; echo '{\"type\":\"proposals\",\"configurations\":[" + configurations + "]}'; ";
}

}  // namespace

TEST_CASE("CommandPolicy: a shell script proposes, is told, and proposes again") {
  const TemporaryFolder folder;
  const std::string first = R"({"block":16,"unroll":1,"pad":true,"layout":"tiled"})";
  const std::string log = (folder.path() / "log").string();
  const std::string script = "read line; echo \"$line\" > " + log + "; " + ready +
                             "read line; echo '{\"type\":\"proposals\",\"configurations\":[" + first +
                             "]}'; read line; echo \"$line\" >> " + log +
                             "; read line; echo '{\"type\":\"proposals\",\"configurations\":[]}'; read line; "
                             "echo \"$line\" >> " +
                             log;
  CHECK(said(script) == "16,1,true,tiled;");
  std::ifstream in(log);
  std::string hello, tell, end;
  std::getline(in, hello);
  std::getline(in, tell);
  std::getline(in, end);
  check_has(hello, R"("type":"hello","protocol":1)");
  check_has(hello, R"("policy":"mine","seed":7,"budget":40)");
  check_has(hello, R"({"name":"block","kind":"power_of_two","values":[16,32,64,128,256]})");
  check_has(hello, R"("constraints":["block * unroll <= 512")");
  check_has(tell, R"({"type":"tell","trials":[{"trial":0,"proposal":0,"configuration":{"block":16,)");
  check_has(tell, R"("verdict":"ok","objective":)");
  CHECK(end == R"({"type":"end"})");
}

TEST_CASE("CommandPolicy: runs in the folder given, with our environment") {
  const TemporaryFolder folder;
  setenv("KERNELSEARCH_TEST_POLICY", "here", 1);
  (void)said("echo \"$KERNELSEARCH_TEST_POLICY $PATH\" > seen", {.folder = folder.path()});
  std::ifstream in(folder.path() / "seen");
  std::string line;
  std::getline(in, line);
  CHECK(line == "here " + std::string(std::getenv("PATH")));
  unsetenv("KERNELSEARCH_TEST_POLICY");
}

TEST_CASE("CommandPolicy: what goes wrong is an error that names the policy and what was seen") {
  check_has(said("echo oh dear >&2; exit 3"),
            "policy mine ended: it ended with exit code 3, having written:\noh dear");
  check_has(said("no_such_program_anywhere"), "exit code 127");
  check_has(said("kill -9 $$"), "it was ended by SIGKILL");
  check_has(said("read line; echo hello"),
            "policy mine answered with a line that is not a JSON object: hello");
  check_has(said("read line; echo '{\"type\":\"ready\",\"protocol\":9}'"),
            "policy mine speaks another protocol: 9");
  check_has(said("read line; echo '{\"type\":\"ready\"}'"), "ready without a protocol");
  check_has(said("read line; echo '{\"type\":\"proposals\",\"configurations\":[]}'"), "answered out of turn");
  check_has(said("read line; echo '{\"type\":\"error\",\"message\":\"too large for me\"}'"),
            "policy mine gave up: too large for me (after 0 trials)");
  check_has(said("read line; sleep 20", {.folder = {}, .answer_seconds = 0.2}),
            "policy mine did not answer: within 0.2 s");
  check_has(said("read line; printf '{\"type\":\"ready\",\"protocol\":1}\\nhm\\n'; read line"),
            "policy mine spoke without being asked: hm");
  const std::string whole = R"({"block":16,"unroll":1,"pad":true,"layout":"tiled"})";
  check_has(said(proposing(whole + "," + whole + "," + whole)),
            "proposed more than it was asked for: 3 instead of 2");
  check_has(said(proposing(R"({"block":17,"unroll":1,"pad":true,"layout":"row"})")),
            "proposed an unknown value: block = 17");
  check_has(said(proposing(R"({"block":16,"unroll":1,"pad":true})")), "without a value for layout");
  check_has(said(proposing(R"({"block":16,"unroll":1,"pad":true,"layout":"row","unrol":2})")),
            "did you mean unroll?");
  check_has(said(proposing(whole) + "read line"),
            "policy mine ended: it ended with exit code 0 (after 1 trials)");
}

TEST_CASE(
    "CommandPolicy: a policy that is gone does not end the program, and one that hangs is ended with it") {
  const Space space = contract_space();
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  {
    CommandPolicy policy("mine", "echo $$ > " + file + "; read line; " + ready + "exec sleep 1000",
                         {space, 0});
  }
  std::ifstream in(file);
  pid_t pid = 0;
  in >> pid;
  REQUIRE(pid > 1);
  CHECK(::kill(pid, 0) != 0);

  CommandPolicy gone("mine", std::string("read line; ") + ready + "exit 0", {space, 0});
  CHECK_THROWS_AS(
      [&] {
        const Observation<Config> told = contract_observation(space, space.default_config(), 0, 0);
        for (int i = 0; i < 200000; ++i) gone.tell({&told, 1});
      }(),
      ConfigError);
}

TEST_CASE("command_policy: its name is the one given, else the script's, else the program's") {
  CHECK(command_policy("python3 dir/mine.py --fast").name == "mine");
  CHECK(command_policy("python3 -u mine.py").name == "mine");
  CHECK(command_policy("./climb --depth 3").name == "climb");
  CHECK(command_policy("best: python3 mine.py").name == "best");
  CHECK(command_policy("best: python3 mine.py").source == "python3 mine.py");
  CHECK(command_policy("A=1 python3 mine.py").name == "mine");
  CHECK(command_policy("mine").own_process);
  CHECK_THROWS_AS((void)command_policy(" "), ConfigError);
  CHECK_THROWS_AS((void)command_policy("python3 bayesian.py"), ConfigError);
  CHECK(command_policy("other: python3 bayesian.py").name == "other");
}
