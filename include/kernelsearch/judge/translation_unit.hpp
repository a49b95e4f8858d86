// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The floating type that a reference computes in.
enum class Real : std::uint8_t {
  kernel,    ///< the widest floating type among the arguments: float, or double for f64; for timing
  f64,       ///< double
  extended,  ///< long double: for arguments of f64
};

[[nodiscard]] std::string_view cpp_name(Real real) noexcept;

/// What `Real::kernel` stands for in this problem, and what its references are checked with.
[[nodiscard]] bool uses_f64(const Problem& problem) noexcept;

/// The tunables of a configuration as preprocessor definitions: see `problem/tunable_text.hpp`.
[[nodiscard]] std::string tunable_definitions(const Kernel& kernel, const Config& config);

/// The C++ source of a candidate: definitions, macros, device and host regions, and the entry point
/// `kernelsearch_entry(void* const* arguments)` whose call of the kernel the compiler checks.
[[nodiscard]] std::string candidate_source(const Problem& problem, const Candidate& candidate);

/// The C++ source of the problem's reference with `using real = ...` and the same entry point.
[[nodiscard]] std::string reference_source(const Problem& problem, Real real);

/// `text` with each `${NAME}` replaced by the tunable's value; a ConfigError names an unknown one.
[[nodiscard]] std::string expand_tunables(std::string_view text, const Kernel& kernel, const Config& config);

/// The problem's flags with tunables expanded, split at blanks, empty ones dropped.
[[nodiscard]] std::vector<std::string> candidate_flags(const Problem& problem, const Candidate& candidate);

/// A region's text, whose lines compilers report under `name`; nothing of an empty one.
[[nodiscard]] std::string region(std::string_view name, const std::string& text);

/// Assertions that the code's structs are laid out as the problem says, for the end of a translation unit
/// of any backend; empty where arguments have none. What fails names the field.
[[nodiscard]] std::string layout_checks(const Problem& problem);

/// A program of the problem's that makes the kernel's object file, shared library or device code.
struct BuildCommand {
  /// With tunables and the kernel's function in their places; what the place of the build tells is left:
  /// `${SOURCE}`, `${LIBRARY}` and `${READABLE}`.
  std::vector<std::string> argv;
  SourceFile source;                               ///< the kernel, under the name that it has for the command
  std::vector<SourceFile> files;                   ///< next to it
  std::vector<std::vector<std::string>> identity;  ///< commands whose output identifies the toolchain
  std::vector<std::string> readable;               ///< folders that these commands may read besides
  std::string function;                            ///< the kernel's, to be found in a shared library
  /// In place of the job's source where a shared library is made: see `caller_by_pointer_source`.
  std::string caller;
  bool device = false;  ///< it makes device code, and may say next to it how that is launched
};

/// All that a compiler is given to build a library.
struct CompileJob {
  std::string source;
  std::vector<SourceFile> units;  ///< further translation units, by the names that messages call them
  std::vector<SourceFile> files;  ///< to include, below one folder
  std::vector<std::string>
      include;  ///< folders of these in which #include looks; quoted ones look everywhere
  std::vector<std::string> command;  ///< the compiler and its flags
  std::optional<BuildCommand> by{};  ///< makes an object that is linked with `source`, which calls it, or a
                                     ///< shared library
};

/// What builds a candidate: its source, the problem's further sources with the same macros, headers,
/// libraries.
[[nodiscard]] CompileJob candidate_job(const Problem& problem, const Candidate& candidate);

/// The kernel's text as a build command gets it: its regions, one after another.
[[nodiscard]] SourceFile command_source(const Problem& problem, const Candidate& candidate);

/// The command that makes a candidate's device code for an architecture, e.g. `sm_90a`. A ConfigError where
/// the command asks for an architecture and none is known (empty).
[[nodiscard]] BuildCommand device_build_command(const Problem& problem, const Candidate& candidate,
                                                const std::string& architecture);

/// The C++ source of what calls a kernel that a build command made: its declaration with C's calling
/// convention, as `arguments` have it, and the entry point.
[[nodiscard]] std::string caller_source(const Problem& problem);

/// The same for a kernel in a shared library: the entry point calls it through `kernelsearch_function`, which
/// is set once the function `kernelsearch_function_name` has been found there.
[[nodiscard]] std::string caller_by_pointer_source(const Problem& problem);

/// What builds the reference.
[[nodiscard]] CompileJob reference_job(const Problem& problem, Real real);

/// The compiler and its flags for a candidate, tunables expanded, split at blanks, empty ones dropped; and
/// its libraries.
[[nodiscard]] std::vector<std::string> compile_command(const Problem& problem, const Candidate& candidate);

}  // namespace kernelsearch
