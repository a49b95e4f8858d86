// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/settings_table.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

using Shape = std::vector<std::pair<std::string, Value>>;

Shape shape(std::int64_t n, std::int64_t m) {
  return {{"n", n}, {"m", m}};
}

Settings entry(std::string device, Shape variables, std::int64_t tile) {
  Settings settings;
  settings.problem = "matmul";
  settings.device = std::move(device);
  settings.shape = std::move(variables);
  settings.values = {{"TILE", tile}};
  settings.seconds = 0.5;
  return settings;
}

std::int64_t tile(const std::optional<Settings>& settings) {
  return settings ? settings->integer("TILE") : -1;
}

}  // namespace

TEST_CASE("SettingsTable: the exact shape wins, then the nearest, then nothing") {
  const SettingsTable table({entry("cpu", shape(512, 512), 1), entry("cpu", shape(1024, 512), 2),
                             entry("cpu", shape(64, 64), 3), entry("gpu", shape(100, 100), 4)});
  CHECK(tile(table.best_for("matmul", "cpu", shape(512, 512))) == 1);
  CHECK(tile(table.best_for("matmul", "cpu", shape(1024, 512))) == 2);
  CHECK(tile(table.best_for("matmul", "cpu", shape(900, 500))) == 2);
  CHECK(tile(table.best_for("matmul", "cpu", shape(600, 500))) == 1);
  CHECK(tile(table.best_for("matmul", "cpu", Shape{{"m", std::int64_t{512}}, {"n", std::int64_t{1024}}})) ==
        2);
  CHECK(tile(table.best_for("matmul", "cpu", shape(1 << 20, 1 << 20))) == -1);
  CHECK(tile(table.best_for("matmul", "cpu", shape(1 << 20, 1 << 20), 100.0)) == 2);
  // log2(2) in one variable is a distance of exactly 1.
  CHECK(tile(table.best_for("matmul", "cpu", shape(128, 64), 1.0)) == 3);
  CHECK(tile(table.best_for("matmul", "cpu", shape(128, 64), 0.99)) == -1);
}

TEST_CASE("SettingsTable: never another device, problem or kind of shape") {
  const SettingsTable table({entry("cpu", shape(512, 512), 1)});
  CHECK_FALSE(table.best_for("matmul", "gpu", shape(512, 512)));
  CHECK_FALSE(table.best_for("matmul", "cp", shape(512, 512)));
  CHECK_FALSE(table.best_for("conv", "cpu", shape(512, 512)));
  CHECK_FALSE(table.best_for("matmul", "cpu", Shape{{"n", std::int64_t{512}}}, 1e9));
  CHECK_FALSE(
      table.best_for("matmul", "cpu", Shape{{"n", std::int64_t{512}}, {"k", std::int64_t{512}}}, 1e9));
  CHECK_FALSE(table.best_for("matmul", "cpu", shape(512, 0), 1e9));
  CHECK_FALSE(table.best_for("matmul", "cpu", shape(512, -512), 1e9));
  CHECK_FALSE(table.best_for("matmul", "cpu", Shape{{"n", std::int64_t{512}}, {"m", std::string("x")}}, 1e9));
  CHECK_FALSE(SettingsTable().best_for("matmul", "cpu", shape(1, 1)));
}

TEST_CASE("SettingsTable: nothing is appended through a link that others may have put there") {
  const TemporaryFolder folder;
  folder.write("precious", "mine");
  std::filesystem::create_symlink(folder / "precious", folder / "table.jsonl");
  const Settings some[] = {entry("cpu", {{"n", std::int64_t{7}}}, 8)};
  CHECK_THROWS_WITH_AS(SettingsTable::append(folder / "table.jsonl", some), doctest::Contains("not a link"),
                       ConfigError);
  std::string kept;
  std::ifstream(folder / "precious") >> kept;
  CHECK(kept == "mine");
}

TEST_CASE("SettingsTable: what is appended reads back the same, and later lines win") {
  const TemporaryFolder folder;
  const auto file = folder / "settings.jsonl";
  CHECK(SettingsTable::load(file).entries().empty());
  Settings full = entry("a \"cpu\"\n", {{"n", std::int64_t{7}}, {"kind", std::string("é")}, {"x", 0.1}}, 8);
  full.values = {{"Z", std::int64_t{-1}},
                 {"FAST", false},
                 {"A", 1.0 / 3.0},
                 {"T", std::string("")},
                 {"O", Permutation{2, 0, 1}}};
  full.seconds = 1.0 / 3.0;
  full.speedup = 4.25;
  full.speedup_interval = {4.0, 4.5};
  full.source = "run 3";
  SettingsTable::append(file, std::vector<Settings>{full});
  SettingsTable::append(file,
                        std::vector<Settings>{entry("cpu", shape(8, 8), 1), entry("cpu", shape(8, 8), 2)});
  const SettingsTable table = SettingsTable::load(file);
  REQUIRE(table.entries().size() == 3);
  const Settings& back = table.entries().front();
  CHECK(back.problem == full.problem);
  CHECK(back.device == full.device);
  CHECK(back.shape == full.shape);
  CHECK(back.values == full.values);
  CHECK(back.seconds == full.seconds);
  CHECK(back.speedup == full.speedup);
  CHECK(back.speedup_interval == full.speedup_interval);
  CHECK(back.source == full.source);
  CHECK(tile(table.best_for("matmul", "cpu", shape(8, 8))) == 2);
}

TEST_CASE("SettingsTable: damaged files are refused with their line, never a crash") {
  const TemporaryFolder folder;
  const auto file = folder / "settings.jsonl";
  SettingsTable::append(file, std::vector<Settings>{entry("cpu", shape(8, 8), 1)});
  std::ofstream(file, std::ios::app) << "\n{\"settings_format\":2}\n";
  CHECK_THROWS_WITH_AS((void)SettingsTable::load(file), doctest::Contains(":3: written by a newer"),
                       ConfigError);
  CHECK_THROWS_AS((void)SettingsTable::load(folder.path()), ConfigError);
  CHECK_THROWS_AS(SettingsTable::append(folder / "no/such/folder", {}), ConfigError);
  std::string good;
  std::getline(std::ifstream(file), good);
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    std::ofstream(file) << bad;
    try {
      (void)SettingsTable::load(file);
    } catch (const ConfigError&) {
    }
  }
}

TEST_CASE("SettingsTable: a line that 0.1 wrote with the number of cores is found by the processor's name") {
  const TemporaryFolder folder;
  const auto file = folder / "settings.jsonl";
  std::ofstream(file)
      << R"({"settings_format":1,"problem":"matmul","device":"AMD EPYC, 2 cores","shape":{"n":8},)"
         R"("settings":{"TILE":4},"seconds":0.5})"
      << "\n";
  const SettingsTable table = SettingsTable::load(file);
  const Shape n8{{"n", std::int64_t{8}}};
  CHECK(tile(table.best_for("matmul", "AMD EPYC", n8)) == 4);
  CHECK(tile(table.best_for("matmul", "AMD EPYC, 1 core, governor powersave", n8)) == 4);
  CHECK(tile(table.best_for("matmul", "AMD EPYC 2", n8)) == -1);
}
