// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compile SOURCE OUTPUT KERNEL...: a compiler for build commands of tests; what it makes, the stand-in of the
// runtime loads.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cpu_compiler.hpp"
#include "device/abi.hpp"

int main(int count, char** words) {
  using namespace kernelsearch_standin;
  if (count < 4) {
    std::fprintf(stderr, "usage: %s SOURCE OUTPUT KERNEL...\n", words[0]);
    return 2;
  }
  std::ifstream in(words[1], std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  const CpuCode code = compile_for_cpu(source, words[1], {words + 3, words + count}, {});
  std::fputs(code.log.c_str(), stderr);
  if (!code.ok) return 1;
  std::ofstream out(words[2], std::ios::binary);
  out.write(bundle_magic, sizeof bundle_magic);
  out.write(code.image.data(), static_cast<std::streamsize>(code.image.size()));
  return out.flush() ? 0 : 1;
}
