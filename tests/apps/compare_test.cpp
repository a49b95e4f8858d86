// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

/// A cachefile of a made-up kernel with 8 x 12 configurations, some of which failed.
void write_recording(const std::filesystem::path& file, double best_x) {
  nlohmann::ordered_json json{{"device_name", "none"}, {"kernel_name", "made_up"}, {"problem_size", 1}};
  json["tune_params_keys"] = {"x", "y"};
  for (int x = 0; x < 8; ++x) json["tune_params"]["x"].push_back(x);
  for (int y = 0; y < 12; ++y) json["tune_params"]["y"].push_back(y);
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 12; ++y) {
      nlohmann::ordered_json entry{{"x", x}, {"y", y}};
      if (x == 7 && y > 8)
        entry["time"] = "RuntimeFailedConfig";
      else
        entry["time"] = 1.0 + (x - best_x) * (x - best_x) + 0.3 * std::abs(y - 5);
      entry["compile_time"] = 100.0;
      entry["benchmark_time"] = 50.0;
      json["cache"][std::to_string(x) + "," + std::to_string(y)] = entry;
    }
  write_text(file, json.dump());
}

}  // namespace

TEST_CASE("command: compare prints a table and fills a folder, whatever the number of jobs") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "recordings");
  write_recording(desk.path() / "recordings/here.json", 2);
  write_recording(desk.path() / "recordings/there.json", 5);
  write_recording(desk.path() / "recordings/there_T4.json", 5);  // a copy in another format, by its name
  const std::vector<std::string> line{"compare",   "recordings", "--policies", "random,iterated_local_search",
                                      "--repeats", "4",          "--budget",   "40"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return desk.kernelsearch(more);
  };
  const Ran ran = with({"--out", "compared", "--jobs", "1"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "P@20 [95 %]");
  check_has(ran.out, "\nrandom ");
  check_has(ran.out, "\niterated_local_search ");
  check_has(ran.out, "P per space (B)");
  check_has(ran.out, "  here (");
  check_has(ran.out, "  there (");
  CHECK(ran.out.find("there_T4") == std::string::npos);
  check_has(ran.out, ", p = ");
  check_has(ran.err, "16 of 16 runs");
  for (const char* file : {"traces.jsonl", "options.json", "scores.json", "scores.csv", "report.html"})
    CHECK(std::filesystem::file_size(desk.path() / "compared" / file) > 100);

  const Ran again = with({"--out", "compared", "--jobs", "2", "--json", "--quiet"});
  CHECK(again.code == 0);
  CHECK(again.err == "");
  CHECK(again.out == read_text(desk.path() / "compared/scores.json"));
  CHECK(with({"--jobs", "2", "--quiet"}).out.find(" 0.") != std::string::npos);
  const auto scores = again.json();
  CHECK(scores["random"]["summary"]["dev"]["spaces"] == 2);
  CHECK(scores["random"]["spaces"]["here"]["repeats"] == 4);

  // The traces are added to, so that a link of their name would have a file of its maker's choice changed.
  write_text(desk.path() / "precious", "mine");
  for (const char* name : {"traces.jsonl", "figures"}) {
    CAPTURE(name);
    std::filesystem::create_directories(desk.path() / "linked");
    std::filesystem::create_symlink(desk.path() / "precious", desk.path() / "linked" / name);
    const Ran linked = with({"--out", "linked", "--quiet"});
    CHECK(linked.code == 3);
    check_has(linked.err, "is a link");
    CHECK(read_text(desk.path() / "precious") == "mine");
    std::filesystem::remove_all(desk.path() / "linked");
  }

  const Ran other = with({"--out", "compared", "--seed", "8"});
  CHECK(other.code == 3);
  check_has(other.err, "seed is 0 there and 8 here");
}

TEST_CASE("command: compare scores the traces of other tuners beside") {
  const Desk desk;
  write_recording(desk.path() / "here.json", 2);
  std::ofstream(desk.path() / "others.jsonl")
      << R"({"space":"here","strategy":"oracle","repeat":0,"evals":["2,5"]})"
      << "\n"
      << R"({"space":"elsewhere","strategy":"oracle","repeat":0,"evals":["2,5"]})"
      << "\n";
  const Ran ran = desk.kernelsearch({"compare", "here.json", "--policies", "random", "--repeats", "2",
                                     "--traces", "others.jsonl", "--against", "random", "--json", "-q"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  const auto json = ran.json();
  REQUIRE(json.is_object());
  CHECK(json["oracle"]["summary"]["dev"]["P"] == 1.0);
  CHECK(json["oracle"]["paired"]["against"] == "random");
}

TEST_CASE("command: compare lets policies learn from other recordings, never from the same") {
  const Desk desk;
  write_recording(desk.path() / "here.json", 2);
  write_recording(desk.path() / "there.json", 5);
  const std::vector<std::string> few{"--policies", "random", "--repeats", "1", "--budget", "5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), few.begin(), few.end());
    return desk.kernelsearch(more);
  };
  const Ran out = with({"compare", "here.json", "there.json", "--leave-one-out"});
  CHECK_MESSAGE(out.code == 0, out.err);
  check_has(out.err, "here: policies may learn from there\n");
  check_has(out.err, "there: policies may learn from here\n");
  const Ran given = with({"compare", "here.json", "--learn-from", "here.json", "there.json"});
  check_has(given.err, "here: policies may learn from there\n");
  check_has(with({"compare", "here.json", "--leave-one-out"}).err, "here: policies may learn from nothing\n");
}

TEST_CASE("command: compare says what is wrong with what it was given") {
  const Desk desk;
  write_recording(desk.path() / "here.json", 2);
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& words) {
    const Ran ran = desk.kernelsearch(arguments);
    CHECK(ran.code == code);
    CHECK(ran.out == "");
    check_has(ran.err, words);
  };
  refused({"compare"}, 2, "SPACE");
  refused({"compare", "here.json", "--polices", "random"}, 2, "did you mean --policies?");
  refused({"compare", "here.json", "--repeats", "0"}, 2, "--repeats");
  refused({"compare", "here.json", "--policies", "randm"}, 3, "did you mean random");
  refused({"compare", "here.json", "--budget", "many"}, 3, "budget");
  refused({"compare", "nowhere.json"}, 3, "nowhere.json");
  refused({"compare", "here.json", "--policies", "random", "--repeats", "1", "--against", "nobody", "-q"}, 3,
          "nobody");
  std::filesystem::create_directory(desk.path() / "empty");
  refused({"compare", "empty"}, 3, "no recordings in the folder");
}

TEST_CASE("command: compare takes options of policies, and calls each by the text it was given") {
  const Desk desk;
  write_recording(desk.path() / "here.json", 2);
  const auto compare = [&](const std::string& policies, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"compare", "here.json", "--policies", policies, "--repeats", "3", "--budget", "30", "-q"});
    return desk.kernelsearch(more);
  };
  const std::string small = "genetic(population=4,patience=0)";
  const Ran ran =
      compare(small + ", genetic,tabu(neighbourhood=hamming)", {"--out", "compared", "--against", small});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "\n" + small + " ");
  check_has(ran.out, "\ngenetic ");
  check_has(ran.out, "\ntabu(neighbourhood=hamming) ");
  const auto scores = nlohmann::json::parse(read_text(desk.path() / "compared/scores.json"));
  for (const char* name : {"genetic(population=4,patience=0)", "genetic", "tabu(neighbourhood=hamming)"})
    CHECK_MESSAGE(scores.contains(name), name);
  CHECK(scores.at(small).at("spaces") != scores.at("genetic").at("spaces"));
  check_has(read_text(desk.path() / "compared/report.html"), "genetic(population=4,");
  check_has(read_text(desk.path() / "compared/scores.csv"), "genetic(population=4,patience=0)");
  // Finished runs are found again by the text.
  CHECK(
      compare(small + ",genetic,tabu(neighbourhood=hamming)", {"--out", "compared"}).out.find("\n" + small) !=
      std::string::npos);

  Ran refused = compare("genetic(poplation=4)");
  CHECK(refused.code == 3);
  check_has(
      refused.err,
      "there is no such option of genetic: poplation; did you mean population? there are default_first, "
      "population, tournament, crossover, mutations, patience");
  refused = compare("random,genetic(population=4");
  CHECK(refused.code == 3);
  check_has(refused.err,
            "the options of a policy are not closed: genetic(population=4, character 21; end them with `)`");
  refused = compare("random(default_first=maybe)");
  CHECK(refused.code == 3);
  check_has(refused.err, "the option default_first of random is of another type: maybe; give true or false");
}

TEST_CASE("command: list policies shows the options of each") {
  const Desk desk;
  const auto all = desk.kernelsearch({"list", "policies", "--json"}).json();
  REQUIRE(all.is_array());
  bool seen = false;
  for (const auto& policy : all) {
    if (policy.at("name") != "genetic") continue;
    seen = true;
    const auto& options = policy.at("options").at("properties");
    CHECK(options.size() == 6);
    CHECK(options.at("population") ==
          nlohmann::json{{"type", "integer"},
                         {"description", "survivors; as many random configurations come first"},
                         {"default", 20},
                         {"minimum", 2},
                         {"maximum", 1000000}});
    CHECK_FALSE(options.at("default_first").contains("default"));
    CHECK(options.at("crossover").at("type") == "number");
  }
  CHECK(seen);
  const auto one = desk.kernelsearch({"list", "policies", "tabu", "--json"}).json();
  REQUIRE(one.size() == 1);
  const auto& choices = one.at(0).at("options").at("properties").at("neighbourhood").at("enum");
  CHECK(choices == nlohmann::json{"hamming", "adjacent"});
  const Ran text = desk.kernelsearch({"list", "policies", "genetic"});
  check_has(text.out,
            "\n  population = 20  (int, 2 to 1000000)\n      survivors; as many random configurations come "
            "first\n");
  check_has(text.out, "\n  default_first = as the space says  (bool)\n");
  check_has(text.out, "\n  mutations = 0.6  (float, 0 or more)\n");
  check_has(desk.kernelsearch({"list", "policies", "tabu"}).out,
            "\n  neighbourhood = adjacent  (hamming or adjacent)\n");
  check_has(desk.kernelsearch({"list", "policies", "exhaustive"}).out, "It has no options.");
  CHECK(desk.kernelsearch({"list", "policies", "tabo"}).code == 3);
  CHECK(desk.kernelsearch({"list", "systems", "stark"}).code == 2);
}
