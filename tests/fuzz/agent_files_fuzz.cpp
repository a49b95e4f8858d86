// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/agents/checkpoint_edit.hpp"
#include "kernelsearch/agents/checkpoint_tree.hpp"
#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/agents/named_workflow.hpp"
#include "kernelsearch/agents/prompt_template.hpp"
#include "kernelsearch/agents/strategy.hpp"
#include "kernelsearch/agents/transformation.hpp"
#include "kernelsearch/agents/transformation_library.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"

namespace {

using namespace kernelsearch;

void read_checkpoints(std::string_view text) {
  const CheckpointTree tree = CheckpointTree::from_json(text, "checkpoints");
  if (CheckpointTree::from_json(tree.to_json(), "again").to_json() != tree.to_json()) std::abort();
  (void)tree.describe();
  if (const Checkpoint* const best = tree.best()) (void)tree.transformations_on(best->name);
}

void read_prompt(std::string_view text) {
  const PromptTemplate prompt = PromptTemplate::parse(text, "prompt");
  PromptValues values;
  for (const std::string& name : prompt.names()) values[name] = values.size() % 2 == 0 ? "value" : "";
  (void)prompt.render(values);
}

void read_edit(std::string_view text) {
  const CheckpointEdit edit = checkpoint_edit_from(text);
  if (to_json(checkpoint_edit_from(to_json(edit))) != to_json(edit)) std::abort();
}

void read_declarations(std::string_view text) {
  const DeclaredTunables declared = declarations_of(text);
  if (!declared.empty() && declarations_of(declaration_line(declared)).empty()) std::abort();
  (void)without_declarations(text);
}

}  // namespace

/// Files of methods, strategies, transformations, workflows, prompts and checkpoints, changes of checkpoints,
/// and a model's tunables: any text is read or refused with a ConfigError. The first byte says as what.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 10) {
      case 0:
        (void)parse_methods(text, "methods");
        break;
      case 1:
        for (const Strategy& strategy : parse_strategies(text, "strategies")) (void)strategy.applies({});
        break;
      case 2:
        (void)parse_transformation(text, "transformation");
        break;
      case 3:
        read_prompt(text);
        break;
      case 4:
        read_checkpoints(text);
        break;
      case 5:
        (void)read_declared_tunables(text, "reply");
        break;
      case 6:
        read_declarations(text);
        break;
      case 8:
        (void)parse_workflow(text, "workflow");
        break;
      case 9:
        read_edit(text);
        break;
      default:
        (void)read_skill_settings(text, {});
        break;
    }
  } catch (const ConfigError&) {
  }
  return 0;
}
