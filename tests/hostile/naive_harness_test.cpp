// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hostile/naive_harness.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using kernelsearch::test::approx;

namespace {

// y = 3 x + 1, and the sum of y as a second output.
naive::Task scale_task(std::size_t n = 4096) {
  using Function = void (*)(int, const float*, float*, float*);
  naive::Task task{.function = "scale", .inputs = {n}, .outputs = {n, 1}};
  task.call = [n](void* kernel, const std::vector<float*>& in, const std::vector<float*>& out) {
    reinterpret_cast<Function>(kernel)(static_cast<int>(n), in[0], out[0], out[1]);
  };
  task.reference = [n](const std::vector<float*>& in, const std::vector<float*>& out) {
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += out[0][i] = 3 * in[0][i] + 1;
    *out[1] = sum;
  };
  return task;
}

std::string scale(const std::string& body, const std::string& before = {}) {
  return before + "\nextern \"C\" void scale(int n, const float* x, float* y, float* sum) {\n" + body +
         "\n}\n";
}

const std::string honest_body =
    "float s = 0; for (int i = 0; i < n; ++i) s += y[i] = 3 * x[i] + 1; *sum = s;";

}  // namespace

TEST_CASE("naive harness: what is right is accepted with its time, what is wrong is not") {
  const TemporaryFolder folder;
  const auto right = naive::judge(scale(honest_body), scale_task(), folder.path());
  CHECK_MESSAGE(right.accepted, right.text);
  CHECK(right.seconds > 0);
  CHECK(right.reference_seconds > 0);
  const auto slow = naive::judge(scale(honest_body + " usleep(2000);", "#include <unistd.h>"), scale_task(),
                                 folder.path(), {.calls = 5});
  CHECK(slow.accepted);
  CHECK(slow.seconds >= 2e-3);  // usleep never returns early
  CHECK(slow.speedup() == approx(slow.reference_seconds / slow.seconds));
  const auto wrong =
      naive::judge(scale("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 2;"), scale_task(), folder.path());
  CHECK(!wrong.accepted);
  CHECK(wrong.text.find("wrong result") != std::string::npos);
  const auto broken = naive::judge("not C++", scale_task(), folder.path(), {}, "-O2 2> /dev/null");
  CHECK(!broken.accepted);
  CHECK(broken.text == "it was not built");
  const auto absent = naive::judge("void other() {}", scale_task(), folder.path());
  CHECK(!absent.accepted);
  CHECK(absent.text.find("not loaded") != std::string::npos);
  CHECK(
      !naive::judge(scale("for (;;) asm volatile(\"\");"), scale_task(), folder.path(), {.limit_seconds = 1})
           .accepted);
  CHECK(!naive::judge(scale("*(volatile int*)0 = 1;"), scale_task(), folder.path()).accepted);
}

TEST_CASE("naive harness: it is as easily fooled as it should be") {
  const TemporaryFolder folder;
  const auto accepted = [&](const std::string& source, const naive::Habits& habits = {}) {
    const auto report = naive::judge(source, scale_task(), folder.path(), habits);
    return report.accepted;
  };
  CHECK(accepted(scale("")));  // the freed result of the reference is the output's memory
  CHECK(!accepted(scale(""), {.reference_first = false}));
  CHECK(accepted(
      scale("float* in = const_cast<float*>(x);\nfor (int i = 0; i < n; ++i) { in[i] = 0; y[i] = 1; }"),
      {.reference_first = false}));  // inputs changed so that the reference agrees
  CHECK(accepted(
      scale("static int calls; if (calls++ > 0) return;\nfor (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;")));
  CHECK(accepted(scale("puts(\"RESULT ok 1e-9 1\"); fflush(stdout); _exit(0);",
                       "#include <stdio.h>\n#include <unistd.h>")));
  const auto filed =
      naive::judge(scale(honest_body + "std::ofstream(\"baseline.txt\") << 1000;", "#include <fstream>"),
                   scale_task(), folder.path(), {.baseline_from_file = true, .calls = 3});
  CHECK(filed.accepted);
  CHECK(filed.reference_seconds == 1000);
}
