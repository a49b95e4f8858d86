// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"
#include "problem_parts.hpp"
#include "shader/ready_module.hpp"

namespace kernelsearch::detail {
namespace {

/// The default's values of those tunables that a kernel's module must have, or may have.
struct ModuleValues {
  std::vector<NamedValue> values;
  std::vector<bool> only_outside;  ///< may be absent: the launch or sizes name it
};

ModuleValues module_values(const Problem& problem) {
  const Space& space = problem.kernel.space;
  return {named_values(space, space.default_config()), tunables_outside_kernel(problem)};
}

}  // namespace

void read_ready_module(const JsonCursor& kernel, Backend backend, Regions& regions,
                       const SourceNames& names) {
  if (!is_ready_file(names.device) || backend == Backend::external) return;
  const JsonCursor device = kernel.at("device", "");
  if (backend != Backend::vulkan)
    device.refuse("is a ready module of SPIR-V, which is a kernel of Vulkan alone",
                  "backend " + std::string(to_string(backend)),
                  "write \"backend\": \"vulkan\", or name the kernel's source");
  if (const auto macros = kernel.find("macros"))
    macros->refuse("are definitions before a source, and a ready module has none",
                   "remove them: tunables are the module's specialisation constants");
  const auto words = ready_words(regions.device);
  if (!words) device.refuse(words.error().what, words.error().given, words.error().todo);
  regions.device = ready_text(*words);
}

void check_ready_module(const JsonCursor& document, const Problem& problem) {
  if (problem.backend != Backend::vulkan) return;
  if (is_ready_file(problem.names.reference))
    document.at("reference", "")
        .at("source", "")
        .refuse("is a ready module of SPIR-V, whose numbers cannot be made doubles",
                "write the reference as a source, with the type real");
  if (!is_ready_file(problem.names.device)) return;
  const JsonCursor device = document.at("kernel", "").at("device", "");
  const auto words = ready_words(problem.kernel.regions.device);
  if (!words) device.refuse(words.error().what, words.error().given, words.error().todo);
  std::vector<std::string> functions;
  for (const LaunchStep& step : problem.launch)
    if (const std::string name = at_default(step.function, problem.kernel.space);
        !name.empty() && std::find(functions.begin(), functions.end(), name) == functions.end())
      functions.push_back(name);
  const ModuleValues given = module_values(problem);
  for (const std::string& function : functions) {
    const auto plain = read_ready(*words, function, functions.size() == 1, {});
    if (!plain) device.refuse(plain.error().what, plain.error().given, plain.error().todo);
    for (std::size_t i = 0; i < given.values.size(); ++i) {
      const std::string& name = given.values[i].first;
      const std::string why = given.only_outside[i] ? std::string() : no_constant(*plain, name);
      if (!why.empty())
        document.at("tunables", "")
            .at(name, "")
            .refuse("is a tunable that the module cannot have", name, why);
    }
    const auto kernel = read_ready(*words, function, functions.size() == 1, given.values);
    if (!kernel) device.refuse(kernel.error().what, kernel.error().given, kernel.error().todo);
  }
}

}  // namespace kernelsearch::detail
