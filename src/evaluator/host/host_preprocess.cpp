// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_preprocess.hpp"

#include <memory>

#include "judge/compile.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch {

Preprocess host_preprocess(const Problem& problem, const HostOptions& options) {
  const HostMachine machine = host_machine();
  auto compiler = std::make_shared<detail::CompileCache>(options, machine.id(), machine.cores);
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  auto ours = std::make_shared<const Problem>(problem);
  return [compiler, kernel, ours](const Config& config) {
    const Candidate candidate{kernel, config};
    return compiler->preprocess(candidate_job(*ours, candidate));
  };
}

}  // namespace kernelsearch
