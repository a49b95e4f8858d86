// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/problem/argument.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/problem/hidden_shapes.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/shape.hpp"

namespace kernelsearch {

/// A source file of the problem next to the kernel's own: a header, or a file compiled with the kernel.
struct SourceFile {
  std::string path;  ///< relative to the folder, with slashes
  std::string text;
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

/// Where the kernel's own texts came from, for compilers' messages; empty where the problem file holds them.
struct SourceNames {
  std::string device, host, macros, reference, generator;
};

/// What fills arrays whose `init` is `generator`: a C++ function of the problem or a Matrix Market file.
struct GeneratedInputs {
  std::string source;  ///< text of a C++ file that includes kernelsearch_inputs.hpp; empty: matrix_market
  std::vector<std::string> flags{"-O2"};
  std::vector<InputFile> matrix_market;  ///< one for all shapes, or one for each
  /// For a matrix: which arguments get its row pointers, columns and values; empty: none does.
  std::string row_pointers, columns, values;
  /// Names that it gives values for each shape; of a matrix its numbers of rows, columns and entries.
  std::vector<std::string> sizes;
};

/// A `__local` parameter of a kernel in OpenCL C: memory of a work group whose size the launch chooses.
struct LocalArray {
  std::string name;  ///< by which a step's `arguments` may name it
  Expression bytes;
};

/// What one launch of a device kernel is made of; expressions over shape variables and tunables.
struct LaunchGeometry {
  std::vector<Expression> grid, block, cluster;  ///< one to three extents, x first; empty cluster: none
  std::optional<Expression> shared_bytes;        ///< dynamic shared memory
  /// OpenCL: parameters in `__local` memory. Those that the step's `arguments` do not name follow the others,
  /// in this order.
  std::vector<LocalArray> local;
};

/// The function that says what is right: plain C++ (for device problems a plain device kernel), compiled
/// apart from the kernel. Its floating arrays are `real*`: double or wider when it checks, the kernel's own
/// type when it is timed as the baseline.
struct Reference {
  std::string source;  ///< its text; empty: the kernel at its default configuration is the reference
  std::string function;
  std::string compiler;  ///< on the host; empty: build.compiler
  std::vector<std::string> flags{"-O3"};
  std::vector<std::string> sources;    ///< of Problem::files, compiled and linked with it; on the host
  std::vector<std::string> libraries;  ///< linked with it, by name; on the host
  /// For device problems, whose reference is a `__global__` function; over shape variables.
  std::optional<LaunchGeometry> launch;
};

/// How kernels are compiled: by any compiler on the host, by `nvrtc` or `nvcc` for cuda, by `hiprtc` or
/// `hipcc` for hip, by the driver (an empty name) for opencl. Entries may name tunables as `${NAME}`; an
/// entry that expands to nothing is dropped.
struct HostBuild {
  std::string compiler = "g++";
  std::vector<std::string> flags{"-O3", "-march=native"};
  std::vector<std::string> libraries{};  ///< to link by name: `m` for -lm; host kernels only
  /// A program and its arguments that makes the kernel's object file, archive or library on the host, where
  /// compiler and flags build what calls it; for cuda and hip its device code. Words may name tunables and
  /// `${SOURCE}`, `${LIBRARY}`, `${NAME}`, `${READABLE}`, `${ARCH}`: the kernel's source, the file to make,
  /// the function, folders to read besides the system's, the architecture. Empty: the compiler compiles it.
  std::vector<std::string> command{};
  std::vector<SourceFile> files{};                   ///< next to the source where the command runs
  std::vector<std::vector<std::string>> identity{};  ///< commands that print what else results depend on
  std::vector<std::string> readable{};               ///< folders that the command may read besides
};

/// Where the times of an external problem come from.
enum class ExternalClock : std::uint8_t {
  slope,    ///< our wall clock: what a request of several calls takes longer than one of a single call
  claimed,  ///< the program's own word, for what has no wall clock here, as the cycles of a simulator
};

/// The word of problem files.
[[nodiscard]] constexpr std::string_view to_string(ExternalClock clock) noexcept {
  constexpr std::string_view names[] = {"slope", "claimed"};
  return names[static_cast<std::size_t>(clock)];
}

/// A program that builds and runs the kernels of an external problem, and speaks JSON Lines:
/// docs/external_evaluators.md.
struct ExternalProgram {
  std::vector<std::string> command{};  ///< its words; `${FILES}` stands for the folder in which `files` lie
  std::vector<SourceFile> files{};     ///< it is made of these, of the problem's folder
  std::vector<std::vector<std::string>> identity{};  ///< commands that print what else results depend on
  std::vector<std::string> readable{};               ///< folders that it may read besides
  bool devices = false;                              ///< it needs the machine's devices
  ExternalClock clock = ExternalClock::slope;
  double answer_seconds = 60.0;  ///< within which each request must be answered
};

/// One step of a call of a device problem. Steps run in order on one stream; all of them are timed.
struct LaunchStep {
  /// The kernel: a function of the device region, or a template's instance as a name expression in which
  /// `${NAME}` stands for a tunable's value, e.g. `scale<float, ${VEC}>`. Empty: the step sets `zero` to 0.
  std::string function;
  std::string zero;  ///< an array whose bytes are set to 0 instead of a launch
  std::vector<std::string>
      arguments;  ///< of the launch, by name in the kernel's order; empty: all but symbols. With those of
                  ///< geometry.local
  LaunchGeometry geometry;
  std::optional<Expression> condition;  ///< the step is left out where it is false
};

/// How the times of several shapes become one number.
enum class Aggregate : std::uint8_t {
  reference_weighted,  ///< sum of weight * time: shapes count by how long the reference takes on them
  geometric_mean,
};

/// The word of problem files.
[[nodiscard]] constexpr std::string_view to_string(Aggregate aggregate) noexcept {
  constexpr std::string_view names[] = {"reference_weighted", "geometric_mean"};
  return names[static_cast<std::size_t>(aggregate)];
}

/// What must be computed, and how it is judged: everything in a problem folder.
struct Problem {
  std::string name;
  std::string description;
  Backend backend = Backend::host;
  std::string function;              ///< the entry point, `extern "C"` in the device (or host) region
  Kernel kernel;                     ///< the starting code and its space
  std::vector<std::string> include;  ///< folders of the problem's folder in which #include looks
  std::vector<std::string> sources;  ///< of `files`, compiled and linked with the kernel; on the host
  std::vector<SourceFile> files;     ///< all that kernel, reference and generator include, and their sources
  SourceNames names;                 ///< not part of its identity
  std::vector<Argument> arguments;
  std::optional<GeneratedInputs> generator;  ///< what fills arrays whose `init` is `generator`
  std::vector<Shape> shapes;
  /// Further ones, drawn anew for each evaluation; left out: derived_hidden_shapes.
  std::optional<HiddenShapes> hidden_shapes;
  std::string trivial_answers;      ///< why zeros and the like may pass: they are not tried before a search
  std::optional<Expression> valid;  ///< over shape variables and tunables: false means rejected, not failed
  std::vector<std::pair<ElementType, Tolerance>> tolerances;  ///< overrides of default_tolerance
  /// Outputs must have the bits of the reference's, computed in the kernel's own precision (any NaN for a
  /// NaN); tolerances do not count then.
  bool bit_exact = false;
  Reference reference;
  HostBuild build;
  std::optional<ExternalProgram> external;  ///< of Backend::external, where there is no build
  std::vector<LaunchStep> launch;  ///< of a device kernel, unless its host region launches; empty on the host
  Aggregate aggregate = Aggregate::reference_weighted;
  int threads = 1;  ///< that the kernel may use
  /// Bytes that a host kernel may allocate in addition to its arrays; left out: HostLimits::run_memory.
  std::optional<std::uint64_t> memory;
  /// Shared libraries that a candidate may call, by name as for the linker, besides those of C and C++; left
  /// out: those of `build`. See allowed_libraries.
  std::optional<std::vector<std::string>> libraries;
  std::uint64_t over_read_bytes = 0;     ///< that a host kernel may read beyond the end of an array
  std::optional<Expression> operations;  ///< arithmetic operations of one call, over shape variables
  std::optional<Expression> bytes;       ///< bytes that one call must move
  Objectives objectives;                 ///< what tuning minimizes or maximizes; not part of its identity
  std::vector<std::string> traits;       ///< what kind of work it is, e.g. `matmul`; see problem/traits.hpp
  std::filesystem::path folder;          ///< where it was read from; not part of its identity

  /// The tolerance of an output: its own, the problem's for its type, or the default for its type.
  [[nodiscard]] Tolerance tolerance_of(const Argument& argument) const;
  /// The problem's tolerance for a type, or the default.
  [[nodiscard]] Tolerance tolerance_of(ElementType type) const;

  /// The kernel at its default configuration; a copy of the kernel, so ask once rather than in a loop.
  [[nodiscard]] Candidate default_candidate() const;
};

/// Defaults per type against a reference of higher precision: f16 1e-2/1e-2, bf16 4e-2/4e-2, f32 1e-4/1e-4,
/// f64 1e-10/1e-10, c64 as f32, f8e4m3 0.125/0.125, f8e5m2 0.25/0.25, f4e2m1 0.5/0.375, integers and bool
/// exact (KernelBench's current bounds for f32 and half; see docs/formats/problem.md).
[[nodiscard]] Tolerance default_tolerance(ElementType type) noexcept;

/// The elements of an output of `count` that say how large its values are: first places and lengths of the
/// whole, or of four pieces that are spread evenly.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> scale_sample(std::size_t count);

/// The tolerance for an output whose expected values are of the size of `sample`. For f16, bf16 and smaller
/// floats the absolute bound is multiplied with the root mean square of the sample's finite values where
/// that is above 0 and below 1, but is no less than the type's smallest number: else zeros pass where
/// values are small.
[[nodiscard]] Tolerance scaled_tolerance(ElementType type, Tolerance tolerance,
                                         std::span<const double> sample) noexcept;
/// The same for all expected values of an output.
[[nodiscard]] Tolerance tolerance_for(ElementType type, Tolerance tolerance,
                                      std::span<const double> expected);

}  // namespace kernelsearch
