// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "evaluator/host/shape_inputs.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/evaluator/host/host_prices.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

// Before the reference: a type of numbers that counts what is done with it. What the compiler knows to be
// constant is converted when it compiles. Functions are in namespace std too, where references call them.
constexpr const char* counting_numbers =
    R"program(#include <cmath>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unistd.h>
namespace kernelsearch_counting {
struct Counts {
  unsigned long long basic, divisions, roots, exponentials, conversions;
};
inline Counts counts;
struct Number {
  float value;
  Number() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  __attribute__((always_inline)) Number(T from) : value(static_cast<float>(from)) {
    if (std::is_integral_v<T> && !__builtin_constant_p(from)) ++counts.conversions;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit operator T() const {
    if (std::is_integral_v<T>) ++counts.conversions;
    return static_cast<T>(value);
  }
  static Number of(float value) {
    Number made;
    made.value = value;
    return made;
  }
  friend Number operator+(Number a, Number b) {
    ++counts.basic;
    return of(a.value + b.value);
  }
  friend Number operator-(Number a, Number b) {
    ++counts.basic;
    return of(a.value - b.value);
  }
  friend Number operator*(Number a, Number b) {
    ++counts.basic;
    return of(a.value * b.value);
  }
  friend Number operator/(Number a, Number b) {
    ++counts.divisions;
    return of(a.value / b.value);
  }
  Number operator-() const { return of(-value); }
  Number operator+() const { return *this; }
  Number& operator+=(Number b) { return *this = *this + b; }
  Number& operator-=(Number b) { return *this = *this - b; }
  Number& operator*=(Number b) { return *this = *this * b; }
  Number& operator/=(Number b) { return *this = *this / b; }
  friend bool operator<(Number a, Number b) {
    ++counts.basic;
    return a.value < b.value;
  }
  friend bool operator>(Number a, Number b) {
    ++counts.basic;
    return a.value > b.value;
  }
  friend bool operator<=(Number a, Number b) {
    ++counts.basic;
    return a.value <= b.value;
  }
  friend bool operator>=(Number a, Number b) {
    ++counts.basic;
    return a.value >= b.value;
  }
  friend bool operator==(Number a, Number b) {
    ++counts.basic;
    return a.value == b.value;
  }
  friend bool operator!=(Number a, Number b) {
    ++counts.basic;
    return a.value != b.value;
  }
};
static_assert(sizeof(Number) == sizeof(float));
}  // namespace kernelsearch_counting
namespace std {
#define KERNELSEARCH_COUNTED(FUNCTION, KIND)                                       \
  inline kernelsearch_counting::Number FUNCTION(kernelsearch_counting::Number x) { \
    ++kernelsearch_counting::counts.KIND;                                          \
    return kernelsearch_counting::Number::of(std::FUNCTION(x.value));              \
  }
KERNELSEARCH_COUNTED(exp, exponentials)
KERNELSEARCH_COUNTED(exp2, exponentials)
KERNELSEARCH_COUNTED(expm1, exponentials) KERNELSEARCH_COUNTED(log, exponentials)
KERNELSEARCH_COUNTED(log2, exponentials) KERNELSEARCH_COUNTED(log10, exponentials)
KERNELSEARCH_COUNTED(log1p, exponentials) KERNELSEARCH_COUNTED(tanh, exponentials)
KERNELSEARCH_COUNTED(sinh, exponentials) KERNELSEARCH_COUNTED(cosh, exponentials)
KERNELSEARCH_COUNTED(sin, exponentials) KERNELSEARCH_COUNTED(cos, exponentials)
KERNELSEARCH_COUNTED(tan, exponentials) KERNELSEARCH_COUNTED(atan, exponentials)
KERNELSEARCH_COUNTED(erf, exponentials)
KERNELSEARCH_COUNTED(cbrt, exponentials)
KERNELSEARCH_COUNTED(sqrt, roots) KERNELSEARCH_COUNTED(abs, basic)
KERNELSEARCH_COUNTED(fabs, basic)
KERNELSEARCH_COUNTED(floor, basic)
KERNELSEARCH_COUNTED(ceil, basic)
KERNELSEARCH_COUNTED(round, basic)
KERNELSEARCH_COUNTED(trunc, basic)
KERNELSEARCH_COUNTED(rint, basic)
KERNELSEARCH_COUNTED(nearbyint, basic)
#undef KERNELSEARCH_COUNTED
                                                                inline kernelsearch_counting::Number
    pow(kernelsearch_counting::Number x, kernelsearch_counting::Number y) {
  ++kernelsearch_counting::counts.exponentials;
  return kernelsearch_counting::Number::of(std::pow(x.value, y.value));
}
inline kernelsearch_counting::Number fmax(kernelsearch_counting::Number x, kernelsearch_counting::Number y) {
  return x < y ? y : x;
}
inline kernelsearch_counting::Number fmin(kernelsearch_counting::Number x, kernelsearch_counting::Number y) {
  return y < x ? y : x;
}
inline kernelsearch_counting::Number fma(kernelsearch_counting::Number x,
                                         kernelsearch_counting::Number y,
                                         kernelsearch_counting::Number z) {
  return x * y + z;
}
inline bool isnan(kernelsearch_counting::Number x) {
  return std::isnan(x.value);
}
inline bool isinf(kernelsearch_counting::Number x) {
  return std::isinf(x.value);
}
inline bool isfinite(kernelsearch_counting::Number x) {
  return std::isfinite(x.value);
}
template <>
struct numeric_limits<kernelsearch_counting::Number> : numeric_limits<float> {};
}  // namespace std
    )program";

// After it: the call.
constexpr const char* counting_call = R"program(
#line 1 "kernelsearch_counting"
  namespace kernelsearch_counting {
  using Size = unsigned long long;
  inline void fill(void* to, Size bytes) {
    for (Size done = 0; done < bytes;) {
      const long got = read(3, static_cast<char*>(to) + done, bytes - done);
      if (got <= 0) _exit(3);
      done += static_cast<Size>(got);
    }
  }
  }  // namespace kernelsearch_counting
  int main() {
    using namespace kernelsearch_counting;
    static void* arguments[64];
    Size given = 0;
    fill(&given, sizeof given);
    for (Size i = 0; i < given && i < 64; ++i) {
      Size header[3];  // bytes, whether an array, whether it has contents
      fill(header, sizeof header);
      if (posix_memalign(&arguments[i], 64, header[0] + 64) != 0) _exit(4);
      memset(arguments[i], 0, header[0]);
      if (header[2] != 0) fill(arguments[i], header[0]);
    }
    kernelsearch_entry(arguments);
    dprintf(1, "%llu %llu %llu %llu %llu\n", counts.basic, counts.divisions, counts.roots,
  counts.exponentials, counts.conversions);
    _exit(0);
  }
)program";

/// Whether a type that counts has the size of the arrays' elements.
bool fits(const Problem& problem) {
  return problem.reference.sources.empty() &&
         std::all_of(problem.arguments.begin(), problem.arguments.end(), [](const Argument& argument) {
           return !argument.structure && !argument.complex && !argument.tensor_map &&
                  (!is_floating(argument.type) || argument.type == ElementType::f32);
         });
}

}  // namespace

std::optional<CountedWork> count_reference(const Problem& problem, const Shape& shape,
                                           const HostOptions& host, double seconds) {
  if (!fits(problem) || problem.reference.source.empty()) return std::nullopt;
  const auto wanted = std::find_if(problem.shapes.begin(), problem.shapes.end(),
                                   [&](const Shape& one) { return one.name == shape.name; });
  if (wanted == problem.shapes.end()) return std::nullopt;
  try {
    CompileJob job = reference_job(problem, Real::kernel);
    const std::string given = "using real = float;\n";
    const std::size_t at = job.source.find(given);
    if (at == std::string::npos) return std::nullopt;
    job.source.replace(at, given.size(), "using real = kernelsearch_counting::Number;\n");
    // The entry casts to the type by its name.
    std::string entry = job.source.substr(job.source.rfind("#line 1 \"kernelsearch_entry\""));
    job.source.resize(job.source.size() - entry.size());
    detail::replace_all(entry, "float*>", "kernelsearch_counting::Number*>");
    job.source = counting_numbers + job.source + entry + counting_call;
    for (const char* flag : {"-O2", "-w"}) job.command.emplace_back(flag);
    const HostMachine machine = host_machine();
    detail::CompileCache compiler(host, machine.id(), machine.cores);
    const detail::Compiled program = compiler.compile(job, detail::Product::program);
    if (program.verdict != Verdict::ok) return std::nullopt;
    const detail::ShapePlan plan = detail::plan_shape(
        problem, problem.default_candidate(), static_cast<std::size_t>(wanted - problem.shapes.begin()));
    detail::InputGenerator generator(problem, host);
    detail::ShapeInputs inputs(plan, generator.contents(plan, InputFlavour::declared, 0));
    const detail::Descriptor executable = detail::open_for_reading(program.library.string());
    detail::Boxed boxed;
    boxed.files = {{executable.number(), "/counting", program.library.string(), true}};
    boxed.argv = {detail::path_in(host.sandbox, boxed)};
    boxed.descriptors = {{detail::inputs_fd, inputs.from_start()}};
    boxed.readable = host.readable;
    boxed.cores = machine.cores;
    boxed.limits = {{RLIMIT_CORE, 0}, {RLIMIT_FSIZE, detail::max_program}};
    const detail::Finished finished =
        detail::run_command(detail::launch_in(host.sandbox, boxed), seconds, 4096);
    if (finished.timed_out || !WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0)
      return std::nullopt;
    std::istringstream words(finished.output);
    CountedWork work;
    if (!(words >> work.basic >> work.divisions >> work.roots >> work.exponentials >> work.conversions))
      return std::nullopt;
    return work;
  } catch (const Error&) {  // what cannot be counted is not told
    return std::nullopt;
  }
}

}  // namespace kernelsearch
