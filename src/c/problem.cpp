// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "handles.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

ks_status ks_problem_read(const char* folder_or_file, ks_problem** out) {
  return guarded([&] {
    give(out, [&] {
      auto made = std::make_unique<ks_problem>();
      made->path = text_of(folder_or_file, "folder_or_file");
      made->problem = read_problem(made->path);
      return made;
    });
  });
}
ks_status ks_problem_new(const char* name, const char* code, const ks_space* space, ks_problem** out) {
  return guarded([&] {
    give(out, [&] {
      auto made = std::make_unique<ks_problem>();
      Problem& problem = made->problem;
      problem.name = text_of(name, "name");
      if (problem.name.empty())
        refuse(KS_BAD_ARGUMENT, "a problem needs a name", "an empty one", "name what is tuned");
      problem.function = problem.name;
      problem.kernel.regions.device = text_of(code, "code");
      problem.kernel.space = checked(space).space;
      return made;
    });
  });
}
ks_status ks_problem_free(ks_problem* problem) {
  return freed(problem);
}

ks_status ks_evaluator_own(const char* device, const char* toolchain, ks_evaluate evaluate, void* user,
                           ks_evaluator** out) {
  return guarded([&] {
    needed(reinterpret_cast<void*>(evaluate), "evaluate");
    give(out, [&] {
      auto made = std::make_unique<ks_evaluator>();
      made->judge = {std::string(text_of(device, "device")), std::string(text_of(toolchain, "toolchain")),
                     evaluate, user};
      return made;
    });
  });
}
ks_status ks_evaluator_free(ks_evaluator* evaluator) {
  return freed(evaluator);
}
