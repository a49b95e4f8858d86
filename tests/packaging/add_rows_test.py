#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows CONTRIBUTING's steps for a policy with two options and for an option of a run, in a copy of the tree, and compiles and runs
what is needed of it.

    add_rows_test.py SOURCE BUILD COMPILER

The policy touches three files: its header, the table of policies, its test. The option touches two: the struct and the table of
options."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEADER = r"""#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct MySearchOptions {
  std::uint64_t seed = 0;
  std::size_t first = 2;    ///< proposals before it goes on from the best
  double eagerness = 0.25;  ///< share of the proposals that stay near the best
};

/// Draws at random, and after a while now and then repeats the best.
class MySearch {
 public:
  using Proposal = Config;
  explicit MySearch(Space space, MySearchOptions options = {})
      : space_(std::move(space)), options_(options), rng_(Rng::stream(options.seed, "my_search")) {}
  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    for (std::size_t i = 0; i < n; ++i) proposals.push_back(space_.sample(rng_));
    return proposals;
  }
  void tell(std::span<const Observation<Config>>) {}
  [[nodiscard]] const MySearchOptions& options() const { return options_; }

 private:
  Space space_;
  MySearchOptions options_;
  Rng rng_;
};
static_assert(SearchPolicy<MySearch>);

}  // namespace kernelsearch
"""
ROWS = """inline constexpr PolicyOption my_search[] = {
    option<&MySearchOptions::first>("first", at_least_1, "proposals before it goes on from the best"),
    option<&MySearchOptions::eagerness>("eagerness", share, "share of the proposals that stay near the best"),
};

"""
ENTRY = """    policy_entry<MySearch, MySearchOptions>("my_search", "random draws near the best", my_search),
"""
POLICY_TEST = r"""
#include <cstdio>

#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/space/space.hpp"
using namespace kernelsearch;
int main() {
  const Space space = Space::build({{.name = "x", .values = {std::int64_t{1}, std::int64_t{2}}}});
  const PolicyChoice choice = choose_policy("my_search(eagerness=0.5, first=3)");
  std::printf("%s %zu\n", choice.text().c_str(), choice.make({space, 1}).ask(3).size());
  for (const auto& [name, value] : choice.entry().values({space, 1}, choice.options()))
    std::printf("%s=%s\n", name.c_str(), field_text(value).c_str());
  const auto refused = try_choose_policy("my_search(frist=3)");
  std::printf("%s\n", refused ? "taken" : refused.error().text().c_str());
  const auto outside = try_choose_policy("my_search(eagerness=2)");
  std::printf("%s\n", outside ? "taken" : outside.error().text().c_str());
}
"""
OPTION_ROW = """    {field<&Run::warm_ups>("warm_ups", {0, 9}, "calls before the first that is timed"),
     {.group = OptionGroup::measuring, .resume = OnResume::replace}},
"""
OPTION_TEST = r"""
#include <cstdio>

#include "kernelsearch/run/run_option.hpp"
#include "run/stored_options.hpp"
using namespace kernelsearch;
int main() {
  const RunOption& row = **try_find_run_option("warm_ups");
  std::printf("%s %s\n", row.command_flag().c_str(), row.values_text().c_str());
  detail::StoredOptions stored;
  if (!try_set_run_option(stored.options, "warm_ups", std::int64_t{3})) return 1;
  RunRow run;
  run.info.policy = stored.options.policy;
  run.info.options = detail::encode_options(stored);
  std::printf("%d\n", run.info.options.find("\"warm_ups\":3") != std::string::npos);
  RunOptions now;
  std::printf("%zu ", detail::resumed_options(run, now).options.warm_ups);
  now.warm_ups = 5;
  std::printf("%zu\n", detail::resumed_options(run, now).options.warm_ups);
  const auto outside = try_set_run_option(now, "warm_ups", std::int64_t{10});
  std::printf("%s\n", outside ? "taken" : outside.error().text().c_str());
  std::printf("%d\n", run_options_schema().find("calls before the first that is timed") != std::string::npos);
}
"""


def replaced(file, old, new):
    text = file.read_text()
    if text.count(old) != 1:
        sys.exit(f"{file}: `{old}` is there {text.count(old)} times, not once: bring this test up to date with the table")
    file.write_text(text.replace(old, new))


def ran(words, **how):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words[:4]))} ...: exit code {done.returncode}\n{done.stdout}{done.stderr[-4000:]}")
    return done.stdout


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}:\n{got}\nwanted:\n{wanted}")


def main():
    source, build, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    steps = (source / "CONTRIBUTING.md").read_text()
    policy = steps[steps.index("## Adding a policy") : steps.index("## Adding an option of a run")]
    option = steps[steps.index("## Adding an option of a run") : steps.index("## A test must fail")]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("include", "src"):
            shutil.copytree(source / part, tree / part)
        header = "include/kernelsearch/policy/my_search.hpp"
        table = "include/kernelsearch/policy/impl/policy_rows.hpp"
        for file in (header, table, "tests/policy/my_search_test.cpp"):
            if f"`{file}`" not in policy:
                sys.exit(f"CONTRIBUTING.md: the steps for a policy do not name `{file}`")
        (tree / header).write_text(HEADER)
        rows = tree / table
        replaced(rows, '#include "kernelsearch/policy/particle_swarm.hpp"\n',
                 '#include "kernelsearch/policy/my_search.hpp"\n#include "kernelsearch/policy/particle_swarm.hpp"\n')
        replaced(rows, "inline constexpr PolicyOption particle_swarm[] = {", ROWS + "inline constexpr PolicyOption particle_swarm[] = {")
        replaced(rows, "    policy_entry<ParticleSwarm, ", ENTRY + "    policy_entry<ParticleSwarm, ")
        flags = ["-std=c++20", "-O0", "-I", tree / "include", "-I", tree / "src"]
        (tree / "my_search_test.cpp").write_text(POLICY_TEST)
        # What was built of the other rooms is linked; of this one the changed table is compiled.
        ran([compiler, *flags, "-c", tree / "src/policy.cpp", "-o", tree / "policy.o"])
        ran([compiler, *flags, "-c", tree / "my_search_test.cpp", "-o", tree / "test.o"])
        ran([compiler, tree / "test.o", tree / "policy.o", build / "src/libkernelsearch_core.a", "-Wl,--allow-multiple-definition",
             "-o", tree / "policy_test"])
        same("the new policy", ran([tree / "policy_test"]),
             "my_search(first=3, eagerness=0.5) 3\nfirst=3\neagerness=0.5\n"
             "kernelsearch: there is no such option of my_search: frist; did you mean first? there are first, eagerness\n"
             "kernelsearch: the option eagerness of my_search is out of bounds: 2.0; give a number from 0.0 to 1.0\n")
        ran(["cmake", f"-DSOURCE={tree}", "-P", source / "tests/packaging/umbrella.cmake"])

        struct, table = "run/run_options.hpp", "src/run/run_rows.hpp"
        for file in (struct, table):
            if f"`{file}`" not in option:
                sys.exit(f"CONTRIBUTING.md: the steps for an option of a run do not name `{file}`")
        replaced(tree / "include/kernelsearch" / struct, "  MeasurementOptions measurement = {};\n",
                 "  std::size_t warm_ups = 0;  ///< calls before the first that is timed\n  MeasurementOptions measurement = {};\n")
        replaced(tree / table, '    {field<&Run::measurement, &Measuring::jobs>(', OPTION_ROW + '    {field<&Run::measurement, &Measuring::jobs>(')
        (tree / "option_test.cpp").write_text(OPTION_TEST)
        objects = []
        for file in ("src/run/run_option.cpp", "src/run/stored_options.cpp", "option_test.cpp"):
            objects.append(tree / (re.sub(r"\W", "_", file) + ".o"))
            ran([compiler, *flags, "-c", tree / file, "-o", objects[-1]])
        rooms = ("systems", "agents", "llm", "remote", "external", "judge", "process", "recorded", "store", "problem", "runtime", "core")
        archives = [build / f"src/libkernelsearch_{room}.a" for room in rooms]
        ran([compiler, *objects, "-Wl,--start-group", *archives, "-Wl,--end-group", "-lfmt", "-lsqlite3", "-lz", "-lssl", "-lcrypto",
             "-lpthread", "-ldl", "-o", tree / "option_test"])
        same("the new option", ran([tree / "option_test"]),
             "--warm-ups int, 0 to 9\n1\n3 5\n"
             "kernelsearch: the option warm_ups of a run is out of bounds: 10; give a number from 0 to 9\n1\n")
    print("a policy with two options took three files, an option of a run two")


main()
