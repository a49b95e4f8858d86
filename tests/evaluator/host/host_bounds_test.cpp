// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_bounds.hpp"

#include <doctest/doctest.h>

#include <string>

#include "evaluator/host/support.hpp"

using namespace kernelsearch;
using support::quick;

namespace {

std::optional<Evaluation> bounds_of(const std::string& loop, const std::string& more = {},
                                    HostOptions options = quick()) {
  const std::string source =
      "#include <cstdint>\n#include <cstring>\n#include <csignal>\n#include <csetjmp>\n#include "
      "<sys/syscall.h>\n#include <unistd.h>\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n" +
      loop + "\n}\n";
  const Problem problem = parse_problem(support::scale_problem(source, more), support::sources);
  HostBounds bounds(problem, std::move(options));
  return bounds.validate(support::default_candidate(problem));
}

const std::string right_loop = "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;";

struct ExpectedAccess {
  const char* name;
  std::string loop;
  const char* words;
};

}  // namespace

TEST_CASE("HostBounds: a kernel within its arrays has no objection, in any sandbox") {
  for (const Sandbox sandbox : {Sandbox::automatic, Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none}) {
    if (!sandbox_status(sandbox).works) {
      MESSAGE("no " << to_string(sandbox));
      continue;
    }
    HostOptions options = quick();
    options.sandbox = sandbox;
    const auto objection = bounds_of(right_loop, {}, options);
    CHECK_MESSAGE(!objection, objection->reason);
    const auto found = bounds_of("volatile float z = x[n]; (void)z;" + right_loop, {}, options);
    REQUIRE(found);
    CHECK_MESSAGE(found->reason.find("past the end of x") != std::string::npos, found->reason);
  }
}

TEST_CASE("HostBounds: a system call tells no kernel that it is run with guarded arrays") {
  // What is allowed in timed calls is the test of what may gain nothing; here each of these is refused too.
  const auto objection = bounds_of(R"(
  struct { long a, b; } every[2] = {{3600, 0}, {3600, 0}}, now;
  long (*call)(long, ...) = (long (*)(long, ...))(void*)syscall;
  const bool watched = call(SYS_setitimer, 0, every, 0) == 0 || call(SYS_getppid) > 0 ||
                       call(SYS_openat, -100, "/", 0) >= 0 || call(SYS_nanosleep, &now, 0) == 0;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  if (watched) y[n] = 0;)");
  CHECK_MESSAGE(!objection, objection->reason);
}

TEST_CASE("HostBounds: OpenMP has the cores that it has where it is timed") {
  // With more cores than threads are allowed its runtime would end the process.
  const std::string source =
      "extern \"C\" void scale(int n, const float* x, float* y) {\n#pragma omp parallel for\n" + right_loop +
      "}\n";
  Problem problem = parse_problem(support::scale_problem(source), support::sources);
  problem.build.flags.emplace_back("-fopenmp");
  for (const int threads : {0, 2}) {
    problem.threads = threads;
    HostBounds bounds(problem, quick());
    const auto objection = bounds.validate(support::default_candidate(problem));
    CHECK_MESSAGE(!objection, objection->reason);
  }
}

TEST_CASE("HostBounds: one element too far is found, with the argument, the distance and the shape") {
  const ExpectedAccess all[] = {
      {"reads", "volatile float z = x[n]; (void)z;" + right_loop,
       "it reads past the end of x, at byte 0 behind its 37 elements (shape small)"},
      {"reads the last byte but of", "volatile char z = ((const char*)x)[4 * n + 2]; (void)z;" + right_loop,
       "it reads past the end of x, at byte 2 behind its 37 elements"},
      {"reads far", "volatile float z = x[n + 20000]; (void)z;" + right_loop,
       "it reads past the end of x, at byte 80000 behind"},
      {"reads before", "volatile float z = x[-1]; (void)z;" + right_loop,
       "it reads before the beginning of x, 4 bytes before its first element (shape small)"},
      {"writes", right_loop + " y[n] = 1;", "it writes past the end of y, at byte 0 behind its 37 elements"},
      {"writes before", right_loop + " *(volatile float*)(y - 2) = 1;",
       "it writes before the beginning of y, 8 bytes before"},
      {"only of the large shape", "if (n == 4096) { volatile float z = x[n]; (void)z; }" + right_loop,
       "behind its 4096 elements (shape large)"},
      {"only the last of eight",
       "  for (int i = 0; i < n; i += 8) { float b[8]; std::memcpy(b, x + i, 32); "
       "asm volatile(\"\" :: \"r\"(b) : \"memory\"); for (int k = 0; k < 8 && i + k < n; ++k) "
       "y[i + k] = 3 * b[k] + 1; }",
       "past the end of x"},
      {"with a handler of its own",
       "static sigjmp_buf at; struct S { static void h(int) { siglongjmp(at, 1); } }; signal(SIGSEGV, S::h);"
       "if (!sigsetjmp(at, 1)) { volatile float z = x[n]; (void)z; }" +
           right_loop,
       "past the end of x"},
  };
  for (const ExpectedAccess& one : all) {
    CAPTURE(one.name);
    const auto objection = bounds_of(one.loop);
    REQUIRE(objection);
    CHECK_MESSAGE(objection->reason.find(one.words) != std::string::npos, objection->reason);
    CHECK(objection->verdict == Verdict::crashed);
    CHECK(objection->progress < 1);
  }
}

TEST_CASE("HostBounds: what a kernel may rely on is no access past an array") {
  // Arrays begin at multiples of 64 in timed calls: instructions that need that are honest, and so is
  // reading the rest of the last line with them.
  const auto aligned = bounds_of(
      "typedef float v4 __attribute__((vector_size(16)));\n"
      "for (int i = 0; i < n; i += 4) { v4 v; asm volatile(\"movaps %1, %0\" : \"=x\"(v) : \"m\"(*(const "
      "v4*)(x + i)));"
      " v = 3 * v + 1; for (int k = 0; k < 4 && i + k < n; ++k) y[i + k] = v[k]; }");
#if defined(__x86_64__)
  CHECK_MESSAGE(!aligned, aligned->reason);
#endif
#if defined(__x86_64__)
  const auto next_line = bounds_of(
      "if (n == 37) { typedef float v4 __attribute__((vector_size(16))); v4 v; for (int i = 0; i <= 48; i += "
      "4) "
      "asm volatile(\"movaps %1, %0\" : \"=x\"(v) : \"m\"(*(const v4*)(x + i))); }" +
      right_loop);
  REQUIRE(next_line);  // 37 floats end in the third line, 44 bytes before the fourth
  CHECK_MESSAGE(next_line->reason.find("past the end of x, at byte 44 behind") != std::string::npos,
                next_line->reason);
#endif
  // A vector around the last element, at a multiple of its size, crosses no page.
  const auto around = bounds_of(
      "const auto end = reinterpret_cast<std::uintptr_t>(x + n) & ~std::uintptr_t{15};"
      "volatile char z = *reinterpret_cast<const char*>(end - 1); (void)z;" +
      right_loop);
  CHECK_MESSAGE(!around, around->reason);
}

TEST_CASE("HostBounds: over_read_bytes allows reads past the end, and no writes") {
  const std::string reads = "volatile float z = x[n + 3]; (void)z;" + right_loop;
  CHECK(bounds_of(reads));
  CHECK(bounds_of(reads, R"(, "over_read_bytes": 12)"));
  CHECK_FALSE(bounds_of(reads, R"(, "over_read_bytes": 16)"));
  const auto writes = bounds_of(right_loop + " y[n + 3] = 1;", R"(, "over_read_bytes": 16)");
  REQUIRE(writes);
  CHECK_MESSAGE(writes->reason.find("writes past the end of y, at byte 12") != std::string::npos,
                writes->reason);
}

TEST_CASE("HostBounds: a kernel that crashes or hangs on its own is said to") {
  const auto crashed = bounds_of("*(volatile int*)8 = 1;" + right_loop);
  REQUIRE(crashed);
  CHECK(crashed->verdict == Verdict::crashed);
  CHECK_MESSAGE(crashed->reason.find("SIGSEGV") != std::string::npos, crashed->reason);
  HostOptions options = quick();
  options.limits.load_seconds = options.limits.call_seconds = 0.3;
  const auto hung = bounds_of("while (n > 0) asm volatile(\"\");" + right_loop, {}, options);
  REQUIRE(hung);
  CHECK(hung->verdict == Verdict::timed_out);
}
