// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builds every space of a folder of T1 files and prints a Markdown table: counts, checksums against the
// published ones, processor time (median of several builds, JSON and expressions included), the same with the
// parameters declared in shuffled order, memory, and time per uniform draw. With --detail also the groups.
//
//     space_bench [--repeats N] [--shuffles N] [--detail] [--no-checksum] FILE_OR_FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/t1.hpp"

namespace ks = kernelsearch;

namespace {

/// What is known about a space, and the least CPU seconds of the existing tools (python-constraint2 2.9.0,
/// Kernel Tuner 1.4.0, pyATF 0.0.13; not the column where the space was split by hand) on two shared Intel
/// Xeon cores, as published with the files in their README.
struct Known {
  const char* name;
  const char* count;
  std::uint64_t checksum;  // 0: none published
  double best_tool_seconds;
};
constexpr Known known[] = {
    {"prl_2x2", "1200", 2585576603048ULL, 0.0016},
    {"prl_4x4", "10800", 23184243944168ULL, 0.0017},
    {"dedispersion_paper", "11130", 23674882744181ULL, 0.0007},
    {"prl_8x8", "48720", 104634062446808ULL, 0.0021},
    {"gemm_paper", "116928", 251100967934880ULL, 0.037},
    {"microhh", "138600", 297664123956700ULL, 0.450},
    {"expdist", "294000", 631496505993890ULL, 0.0008},
    {"hotspot_paper", "349853", 751321798281412ULL, 1.52},
    {"sgemm_atf_576", "358128", 769047842636100ULL, 1.24},
    {"conv3d_ktt", "478177", 1026885892851916ULL, 4.05},
    {"sgemm_atf_64", "20513952", 44053031834042740ULL, 30.8},
    {"prl_atf", "23111088", 49630447906875512ULL, 0.516},
    {"gemm_atf", "108486000", 232958307947325288ULL, 0.977},
    {"conv_atf_pow2", "149281440", 320577460408152240ULL, 18.5},
    {"rise_mm_baco", "154888140", 332618554678049520ULL, 6.50},
    {"conv_atf_4096", "158995200", 341438591024893632ULL, 3.81},
    {"conv_atf", "168750000", 362406505602136744ULL, 5.59},
    {"gemm_atf_10x500x64", "251370000", 539832796709932472ULL, 0.118},
    {"ccsdt_atf", "8805321756000000000", 0, 0.099},
    {"convolution", "4362", 0, 0},
    {"dedispersion", "11130", 0, 0},
    {"gemm", "116928", 0, 0},
    {"hotspot", "82984", 0, 0},
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The text with the parameters and conditions in another order. Works on the objects' text, so that the
/// measured reading of the file stays the same.
std::vector<ks::Tunable> shuffled(const ks::Space& space, ks::Rng& rng) {
  std::vector<ks::Tunable> tunables(space.tunables().begin(), space.tunables().end());
  rng.shuffle(tunables);
  return tunables;
}

struct Options {
  int repeats = 5;
  int shuffles = 5;
  bool detail = false;
  bool checksum = true;
};

bool bench(const std::filesystem::path& path, const Options& options) {
  std::string name = path.filename().string();
  name = name.substr(0, name.find('.'));
  std::stringstream buffer;
  buffer << std::ifstream(path).rdbuf();
  const std::string text = buffer.str();

  std::vector<double> seconds;
  std::optional<ks::T1File> file;
  for (int i = 0; i < options.repeats; ++i) {
    file.reset();
    std::istringstream input(text);
    const double start = cpu_seconds();
    file = ks::read_t1(input, name);
    seconds.push_back(cpu_seconds() - start);
  }
  const ks::Space& space = file->space;

  std::vector<double> shuffled_seconds{0.0};
  ks::Rng rng(1);
  for (int i = 0; i < options.shuffles; ++i) {
    std::vector<ks::Tunable> tunables = shuffled(space, rng);
    std::vector<ks::Constraint> constraints(space.constraints().begin(), space.constraints().end());
    rng.shuffle(constraints);
    const double start = cpu_seconds();
    const ks::Space other = ks::Space::build(std::move(tunables), std::move(constraints));
    shuffled_seconds.push_back(cpu_seconds() - start);
    if (other.count() != space.count()) std::printf("ORDER CHANGES THE COUNT OF %s\n", name.c_str());
  }

  constexpr int draws = 200000;
  ks::Config config;
  std::uint64_t sink = 0;
  const double start = cpu_seconds();
  for (int i = 0; i < draws; ++i) {
    space.sample(rng, config);
    sink += config.indices[0];
  }
  const double draw_ns = (cpu_seconds() - start) / draws * 1e9 + (sink == 1 ? 1e-9 : 0);

  const Known* expected = nullptr;
  for (const Known& entry : known) {
    if (name == entry.name) expected = &entry;
  }
  std::string check = "–", ratio = "–";
  double checksum_seconds = 0;
  bool fine = true;
  if (expected != nullptr) {
    fine = space.count().to_string() == expected->count;
    check = fine ? "count" : "WRONG COUNT";
    if (options.checksum && expected->checksum != 0) {
      const double before = cpu_seconds();
      const std::optional<std::uint64_t> sum = space.try_checksum();
      checksum_seconds = cpu_seconds() - before;
      const bool same = sum == expected->checksum;
      check += same ? ", checksum" : sum ? ", WRONG CHECKSUM" : ", no checksum";
      fine = fine && same;
    }
    if (expected->best_tool_seconds > 0) {
      char out[32];
      std::snprintf(out, sizeof out, "%.1f", expected->best_tool_seconds / median(seconds));
      ratio = out;
    }
  }
  std::printf("| %s | %zu | %.4g | %s | %s | %.2f | %.2f | %s | %.0f | %.0f | %.2f |\n", name.c_str(),
              space.size(), space.raw_count().to_double(), space.count().to_string().c_str(), check.c_str(),
              median(seconds) * 1e3,
              *std::max_element(shuffled_seconds.begin(), shuffled_seconds.end()) * 1e3, ratio.c_str(),
              static_cast<double>(space.memory_bytes()) / 1024, draw_ns, checksum_seconds);
  if (options.detail) {
    for (const ks::Space::Group& group : space.groups()) {
      std::printf("    %s nodes %zu:", group.count.to_string().c_str(), group.nodes);
      for (const std::size_t i : group.tunables) std::printf(" %s", space.tunable(i).name.c_str());
      std::printf("\n");
    }
  }
  std::fflush(stdout);
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      options.repeats = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--shuffles") == 0 && i + 1 < argc) {
      options.shuffles = std::max(0, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--detail") == 0) {
      options.detail = true;
    } else if (std::strcmp(argv[i], "--no-checksum") == 0) {
      options.checksum = false;
    } else if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
        if (entry.path().string().ends_with(".t1.json")) files.push_back(entry.path());
      }
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.empty()) {
    std::fprintf(
        stderr,
        "usage: space_bench [--repeats N] [--shuffles N] [--detail] [--no-checksum] FILE_OR_FOLDER...\n");
    return 2;
  }
  std::sort(files.begin(), files.end());
  std::printf(
      "| space | tunables | raw | valid | agrees | build, ms | worst of %d shuffled orders, ms | times "
      "faster than the best "
      "tool | KiB | ns per draw | checksum, s |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      options.shuffles);
  bool fine = true;
  for (const auto& file : files) fine = bench(file, options) && fine;
  return fine ? 0 : 1;
}
