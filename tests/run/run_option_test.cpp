// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_option.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "run/stored_options.hpp"
#include "run/stored_row.hpp"

using namespace kernelsearch;
using nlohmann::json;

namespace run_option_test {

/// A value that the option can have and that is not its standard one.
FieldValue another(const RunOption& option) {
  const std::optional<FieldValue> now = option.standard();
  switch (option.type) {
    case FieldType::flag:
      return !std::get<bool>(*now);
    case FieldType::count:
      return (now ? std::get<std::int64_t>(*now) : std::int64_t{0}) + 1;
    case FieldType::number:
      return std::get<double>(*now) + 0.25;
    case FieldType::text:
      for (const std::string_view choice : option.choices)
        if (FieldValue(std::string(choice)) != *now) return std::string(choice);
      return std::string(option.path == OptionPath::json ? R"({"debugs":2})" : "/other");
    case FieldType::texts:
      return std::vector<std::string>{"/one", "/two"};
    case FieldType::counts:
      return std::vector<std::int64_t>{1, 3};
    case FieldType::natural:
      return std::uint64_t{18446744073709551615U};
  }
  return false;
}

std::string refusal(const json& given) {
  RunOptions options;
  const Result<void> set = try_set_run_options(options, given);
  return set ? "" : set.error().text();
}

std::string resumed_as(const RunOption& option) {
  switch (option.resume) {
    case OnResume::keep:
      return "keeps its value";
    case OnResume::replace:
      return "keeps it unless another is given";
    case OnResume::given_now:
      return "takes what is given now";
    case OnResume::ask_again:
      return "must be given it again";
    case OnResume::not_stored:
      return "takes what is given now; not stored";
  }
  return "";
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

/// The tables of docs/options.md.
std::string tables() {
  std::string text;
  std::string_view heading;
  for (const RunOption& option : run_options()) {
    if (heading_of(option.group) != heading) {
      heading = heading_of(option.group);
      text += "\n## " + std::string(heading) + "\n\n";
      text +=
          "| option | of `tune` | values | left out | a run that goes on | what it does |\n"
          "|---|---|---|---|---|---|\n";
    }
    const std::optional<FieldValue> standard = option.standard();
    const std::string left_out = !option.otherwise.empty() ? std::string(option.otherwise)
                                 : standard && *standard != FieldValue(std::string()) &&
                                         *standard != FieldValue(std::vector<std::string>{})
                                     ? "`" + field_text(*standard) + "`"
                                     : "";
    const std::string flag = option.command_flag();
    text += "| `" + std::string(option.name) + "` | " + (flag.empty() ? "" : "`" + flag + "`") + " | " +
            (option.path == OptionPath::json ? "object" : option.values_text()) + " | " + cell(left_out) +
            " | " + resumed_as(option) + " | " + cell(std::string(option.summary)) + " |\n";
  }
  return text;
}

}  // namespace run_option_test

using namespace run_option_test;

TEST_CASE("run_option: each option is set by its name, alone, and by JSON as it was read") {
  std::set<std::string> names, flags;
  for (const RunOption& option : run_options()) {
    CAPTURE(std::string(option.name));
    CHECK(names.insert(std::string(option.name)).second);
    const std::string flag = option.command_flag();
    CHECK((flag.empty() || flags.insert(flag).second));
    CHECK_FALSE(option.summary.empty());
    CHECK(option.summary.find('\n') == std::string_view::npos);
    const FieldValue wanted = another(option);
    RunOptions options;
    REQUIRE(try_set_run_option(options, option.name, wanted));
    for (const RunOption& each : run_options())
      CHECK((each.is_standard(options) == (each.name != option.name)));
    CHECK(option.read(&options) == wanted);
    RunOptions again;
    const json given{{std::string(option.name), option.path == OptionPath::json
                                                    ? json::parse(R"({"debugs":2})")
                                                    : field_to_json(wanted)}};
    CHECK(refusal(given).empty());
    REQUIRE(try_set_run_options(again, given));
    CHECK(option.read(&again) == wanted);
  }
  CHECK(names.size() == run_options().size());
}

TEST_CASE("run_option: what does not fit is refused with what to give") {
  CHECK(refusal({{"budjet", "3"}})
            .find("there is no such option of a run: budjet; did you mean budget? there are policy, ") !=
        std::string::npos);
  CHECK(refusal({{"jobs", "two"}}) ==
        "kernelsearch: the option jobs of a run is of another type: two; give a whole number");
  CHECK(refusal({{"samples", 1001}}) ==
        "kernelsearch: the option samples of a run is out of bounds: 1001; give a number from 0 to 1000");
  CHECK(refusal({{"devices", {0, -1}}}).find("the option devices of a run is out of bounds: -1") !=
        std::string::npos);
  CHECK(refusal({{"devices", {"a"}}}).find("give a list of whole numbers") != std::string::npos);
  CHECK(refusal({{"seed", -1}}).find("give a whole number from 0") != std::string::npos);
  CHECK(refusal({{"cache", "cool"}}).find("cache of a run has no such value: cool; there are warm, cold") !=
        std::string::npos);
  CHECK(refusal({{"where", {"A == 1", 2}}}).find("of another type: [\"A == 1\",2]") != std::string::npos);
  CHECK(refusal({{"store", nullptr}}).find("of another type: null") != std::string::npos);
  CHECK(refusal({{"cache", ""}, {"devices", json::array()}, {"where", json::array()}, {"max_cost", 2}})
            .empty());
}

TEST_CASE("run_option: a run that goes on does with each option what its row says") {
  for (const RunOption& option : run_options()) {
    CAPTURE(std::string(option.name));
    if (option.name == "system" || option.name == "system_options" || option.name == "learn") continue;
    for (const char* kind : {"policy", "system", "submit", "command"}) {
      CAPTURE(kind);
      detail::StoredOptions stored;
      RunOptions& first = stored.options;
      if (kind == std::string("system")) first.system = "stark";
      if (kind == std::string("submit")) first.policy = "submit";
      if (kind == std::string("command")) first.policy_command = "mine";
      const bool of_system = kind == std::string("system");
      if (option.stored == StoredFor::system && !of_system) continue;
      if (option.stored == StoredFor::submit && kind != std::string("submit")) continue;
      if (option.stored == StoredFor::command && kind != std::string("command")) continue;
      if (option.name == "policy" || option.name == "policy_command") continue;
      const FieldValue wanted = another(option);
      option.write(&first, wanted);
      const json text = json::parse(detail::encode_options(stored));
      const bool here = option.resume != OnResume::not_stored && option.stored != StoredFor::elsewhere;
      if (option.name != "memory") CHECK(text.contains(option.name_in_store()) == here);
      const RunOptions back = detail::decode_options(row_of(stored)).options;
      if (here) CHECK(option.read(&back) == wanted);
      const RunOptions on = detail::resumed_options(row_of(stored), {}).options;
      const bool keeps = option.resume == OnResume::keep || option.resume == OnResume::replace;
      if (option.name != "root") CHECK((option.read(&on) == wanted) == keeps);
      if (option.type == FieldType::flag) continue;
      // What is given now, where the store has something else.
      detail::StoredOptions plain = stored;
      option.write(&plain.options, option.standard().value_or(FieldValue(std::int64_t{0})));
      RunOptions now;
      option.write(&now, wanted);
      const RunOptions anew = detail::resumed_options(row_of(plain), now).options;
      if (option.name != "root") CHECK((option.read(&anew) == wanted) == (option.resume != OnResume::keep));
    }
  }
}

TEST_CASE("run_option: a system's text form becomes its name and its options, with absolute paths") {
  RunOptions options;
  options.system = "stark";
  split_system(options);
  CHECK(options.system == "stark");
  CHECK(options.system_options.empty());
  options.system = "stark(debugs=2, epsilon=0.5)";
  options.system_options = R"({"debugs":7,"variant":"paper"})";
  split_system(options);
  CHECK(options.system == "stark");
  CHECK(json::parse(options.system_options) == json{{"debugs", 2}, {"epsilon", 0.5}, {"variant", "paper"}});
  RunOptions files;
  files.system = "cuda_skill_v2(from_files=mine, wait=3)";
  split_system(files);
  CHECK(json::parse(files.system_options) ==
        json{{"from_files", (std::filesystem::current_path() / "mine").string()}, {"wait", 3}});
  RunOptions flow;
  flow.system = "peak(workflow=a6000_fp32)";
  split_system(flow);
  CHECK(flow.system_options == R"({"workflow":"a6000_fp32"})");
  flow.system = "peak(workflow='mine.json')";
  split_system(flow);
  CHECK(json::parse(flow.system_options)["workflow"] ==
        (std::filesystem::current_path() / "mine.json").string());
  for (const char* wrong : {"stark(debugs=2", "strak(debugs=2)"}) {
    flow.system = wrong;
    CHECK_THROWS_AS(split_system(flow), ConfigError);
  }
  detail::StoredOptions stored;
  stored.options.system = "stark";
  RunOptions other;
  other.system = "peak";
  other.system_options = R"({"patience":2})";
  CHECK_THROWS_WITH_AS((void)detail::resumed_options(row_of(stored), other),
                       doctest::Contains("a run that goes on keeps its system"), ConfigError);
}

TEST_CASE("run_option: the schema describes each option") {
  const json schema = json::parse(run_options_schema());
  CHECK(schema["properties"].size() == run_options().size());
  CHECK(schema["properties"]["samples"] == json{{"type", "integer"},
                                                {"description", (*try_find_run_option("samples"))->summary},
                                                {"minimum", 0},
                                                {"maximum", 1000},
                                                {"x-default", "until the median is known to 1 %"},
                                                {"x-group", "Measuring"},
                                                {"x-flag", "--samples"}});
  CHECK(schema["properties"]["reuse"]["x-flag"] == "--no-reuse");
  CHECK(schema["properties"]["cache"]["enum"] == json{"warm", "cold"});
  CHECK(schema["properties"]["devices"]["items"]["minimum"] == 0);
  CHECK(schema["properties"]["system_options"]["type"] == "object");
  CHECK_FALSE(schema["properties"]["suggest"].contains("x-flag"));
}

TEST_CASE("run_option: docs/options.md has the options as they are") {
  const std::string file = std::string(KERNELSEARCH_SOURCE_DIR) + "/docs/options.md";
  std::ifstream in(file);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string begin = "<!-- options: written by test_run -->\n", end = "\n<!-- end of options -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string wanted = tables();
  if (std::getenv("KERNELSEARCH_TEST_UPDATE") != nullptr)
    std::ofstream(file) << page.substr(0, from + begin.size()) << wanted << page.substr(to);
  else
    CHECK_MESSAGE(page.substr(from + begin.size(), to - from - begin.size()) == wanted,
                  "run KERNELSEARCH_TEST_UPDATE=1 test_run -tc='run_option: docs*'");
}
