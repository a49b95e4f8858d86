// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// SHA-256 of the bytes as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// The same of a file's bytes; empty where it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

/// The identity of what is asked and how it is judged: function, backend, arguments, shapes, predicate,
/// tolerances, reference, generator, included files, contents of data files, build, launch, aggregate,
/// threads. Names of the kernel's own files, the folder, the name, the description, operations, bytes and
/// traits do not enter; the kernel and its space do only where the kernel at its default is the reference.
[[nodiscard]] std::string problem_digest(const Problem& problem);

/// The identity of a kernel: its three regions and its space with every value, default and constraint, so
/// that a Config means the same under equal digests.
[[nodiscard]] std::string kernel_digest(const Kernel& kernel);

/// The identity of what is compiled for a candidate: the regions and the values of the tunables by name.
/// Adding a value to a tunable leaves it as it was, so results can be kept under it.
[[nodiscard]] std::string candidate_digest(const Candidate& candidate);

}  // namespace kernelsearch
