// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reply_code.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "kernelsearch/agents/anchors.hpp"
#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/reply_blocks.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/agents/unified_diff.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "lines.hpp"
#include "same_kernel.hpp"

namespace kernelsearch {
namespace {

/// Whether kernels are modules in Python.
bool is_module(const ReplyExpectation& expectation) {
  return expectation.problem != nullptr && has_module_reference(*expectation.problem);
}

/// Whether a text of Python says what the answer to a module is.
bool defines_module(std::string_view text, const std::string& name) {
  for (const std::string& begin : {"class " + name, name + " =", "def " + name})
    if (text.starts_with(begin) || text.find("\n" + begin) != std::string_view::npos) return true;
  return false;
}

std::string listed(const std::vector<KernelRegion>& regions) {
  return detail::joined(regions, ", ", [](KernelRegion region) { return to_string(region); });
}

bool is_code_language(std::string_view language) {
  constexpr std::array<std::string_view, 20> names{
      "",    "c",      "cpp", "c++",   "cc",   "cxx",  "cuda", "cu",     "hip", "h",
      "hpp", "opencl", "cl",  "c++20", "glsl", "hlsl", "comp", "python", "py",  "triton"};
  return std::find(names.begin(), names.end(), language) != names.end();
}

bool is_diff(const CodeBlock& block) {
  if (block.language == "diff" || block.language == "patch" || block.language == "udiff") return true;
  const std::string_view text = block.text;
  return is_code_language(block.language) &&
         (text.starts_with("--- ") || text.starts_with("diff --git") || text.starts_with("@@ "));
}

/// The region that a word such as `device`, `region=host` or `src/device.cu` names.
std::optional<KernelRegion> region_named(std::string_view words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto is_letter = [&](std::size_t i) {
      return (words[i] >= 'a' && words[i] <= 'z') || (words[i] >= 'A' && words[i] <= 'Z') || words[i] == '_';
    };
    if (!is_letter(at)) continue;
    std::size_t end = at;
    while (end < words.size() && is_letter(end)) ++end;
    if (const auto region = kernel_region_from(words.substr(at, end - at))) return region;
    at = end;
  }
  return std::nullopt;
}

/// The region in which the parent defines a function that the text defines too.
std::optional<KernelRegion> region_defining(std::string_view text, const ReplyExpectation& expectation) {
  for (const std::string& function : expectation.functions) {
    if (!function_signature(text, function)) continue;
    for (const KernelRegion region : kernel_regions)
      if (function_signature(text_of(expectation.parent->regions, region), function)) return region;
  }
  return std::nullopt;
}

/// Whether a reply without any fence is code from its first line on.
bool looks_like_code(std::string_view text) {
  const std::string_view start = detail::trimmed(text);
  for (const std::string_view head :
       {"#include", "#define", "#pragma", "//", "/*", "extern ", "template", "__global__", "static ",
        "namespace ", "using ", "inline ", "constexpr ", "typedef ", "import ", "from ", "class ", "@triton"})
    if (start.starts_with(head)) return true;
  return false;
}

bool balanced(std::string_view code) {
  long depth = 0;
  for (std::size_t i = 0; i < code.size();) {
    if (const std::size_t next = detail::skip_opaque(code, i); next != i) {
      i = next;
      continue;
    }
    depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
    if (depth < 0) return false;
    ++i;
  }
  return depth == 0;
}

/// Whether a JSON block declares something of the kernel; others are notes.
bool is_declaration(const CodeBlock& block) {
  if (block.language != "json") return false;
  for (const char* key : {"\"tunables\"", "\"constraints\"", "\"launch\""})
    if (block.text.find(key) != std::string::npos) return true;
  return false;
}

std::string launched_name(const LaunchStep& step) {
  return std::string(detail::trimmed(std::string_view(step.function).substr(0, step.function.find('<'))));
}

/// The functions whose signatures must stay. A kernel that is no longer launched, or is launched with other
/// arguments, may change.
std::vector<std::string> fixed_functions(const Kernel& kernel, const ReplyExpectation& expectation) {
  if (expectation.problem == nullptr || expectation.problem->launch.empty()) return expectation.functions;
  const auto before = try_launch_of(*expectation.problem, *expectation.parent);
  const auto now = try_launch_of(*expectation.problem, kernel);
  if (!before || !now || own_launch(kernel.regions.macros) == own_launch(expectation.parent->regions.macros))
    return expectation.functions;
  std::vector<std::string> fixed;
  for (const std::string& function : expectation.functions)
    if (std::any_of(now->begin(), now->end(), [&](const LaunchStep& step) {
          return launched_name(step) == function &&
                 std::any_of(before->begin(), before->end(), [&](const LaunchStep& one) {
                   return launched_name(one) == function && one.arguments == step.arguments;
                 });
        }))
      fixed.push_back(function);
  return fixed;
}

ReplyJudgement judge_kernel(const Kernel& kernel, const ReplyExpectation& expectation) {
  const Regions& regions = kernel.regions;
  const Regions& before = expectation.parent->regions;
  if (regions.device.size() + regions.host.size() + regions.macros.size() > expectation.most_bytes)
    return {ReplyFault::too_long,
            "The kernel has more than " + std::to_string(expectation.most_bytes) + " bytes."};
  for (const KernelRegion region : kernel_regions)
    if (has_anchors(text_of(regions, region)) && !has_anchors(text_of(before, region)))
      return {ReplyFault::bad_anchors, "Anchors are left in the code: <<<IMPROVE ...>>> is no C++."};
  const bool module = is_module(expectation);
  if (module && !defines_module(regions.device, expectation.problem->function))
    return {ReplyFault::missing_function,
            "The file no longer defines `" +
                std::string(is_function_reference(*expectation.problem) ? "def " : "class ") +
                expectation.problem->function + "`. Give the whole file."};
  for (const std::string& function :
       module ? std::vector<std::string>() : fixed_functions(kernel, expectation))
    for (const KernelRegion region : kernel_regions) {
      const auto wanted = function_signature(text_of(before, region), function);
      if (!wanted) continue;
      const auto given = function_signature(text_of(regions, region), function);
      if (!given)
        return {ReplyFault::missing_function, "The region " + std::string(to_string(region)) +
                                                  " no longer defines " + wanted->text(function) +
                                                  ". Give the whole region."};
      if (*given != *wanted)
        return {ReplyFault::changed_signature, "The signature must stay " + wanted->text(function) +
                                                   ", but it became " + given->text(function) + '.'};
    }
  if (detail::same_kernel(kernel, *expectation.parent))
    return {ReplyFault::same_code,
            std::string("The code is the same as before: nothing but blanks or comments changed") +
                (declaring_lines(regions.macros) == declaring_lines(before.macros)
                     ? "."
                     : ", and what is declared leaves the same configurations of the same tunables.")};
  if (!expectation.tried) return {};
  if (const std::string twin = expectation.tried(kernel); !twin.empty())
    return {ReplyFault::same_code, "The code equals " + twin + ". Change something that was not tried."};
  return {};
}

class Reading {
 public:
  Reading(std::string_view reply, bool cut, const ReplyExpectation& expectation)
      : reply_(reply),
        cut_(cut),
        expectation_(expectation),
        python_(is_module(expectation)),
        regions_(expectation.parent->regions) {}

  ReplyCode read() {
    if (detail::trimmed(reply_).empty()) return fault(ReplyFault::empty, "The reply is empty.");
    std::vector<CodeBlock> blocks = code_blocks(reply_);
    if (blocks.empty() && looks_like_code(reply_)) {
      CodeBlock whole;
      whole.text = std::string(reply_) + '\n';
      whole.closed = !cut_;
      blocks.push_back(std::move(whole));
    }
    // Regions whose last block breaks off; nothing where it does not say which.
    std::set<std::optional<KernelRegion>> broken;
    bool unplaced = false;
    std::string declared;
    for (const CodeBlock& block : blocks) {
      if (is_declaration(block)) declared = block.text;
      if (block.language == "json") continue;
      if (is_diff(block)) {
        if (!block.closed && cut_) {
          broken.insert(std::nullopt);
          continue;
        }
        if (auto judgement = patch(block); !judgement.ok()) return {std::move(judgement), {}, {}};
        continue;
      }
      if (!is_code_language(block.language)) continue;
      std::optional<KernelRegion> region = region_named(block.info);
      if (!region && python_ && defines_module(block.text, expectation_.problem->function))
        region = KernelRegion::device;
      if (!region) region = region_defining(block.text, expectation_);
      if (!region) {
        unplaced = true;
        // A draft of a part, or a block that broke off before the function was whole.
        if (!block.closed && (cut_ || python_ || !balanced(block.text))) broken.insert(std::nullopt);
        continue;
      }
      if (!block.closed && (cut_ || (!python_ && !balanced(block.text)))) {
        broken.insert(region);
        continue;
      }
      if (auto judgement = replace(*region, block.text); !judgement.ok())
        return {std::move(judgement), {}, {}};
      broken.erase(region);
      broken.erase(std::nullopt);
    }
    if (!broken.empty() || (cut_ && changed_.empty()))
      return fault(ReplyFault::truncated, "The code breaks off before its end. Give the whole block.");
    if (changed_.empty() && unplaced) {
      if (expectation_.functions.empty())
        return fault(ReplyFault::wrong_region, "The block does not say of which region it is: name one of " +
                                                   listed(expectation_.regions) + " after the language.");
      return fault(
          ReplyFault::missing_function,
          "No block defines " + detail::joined(expectation_.functions, ", ") +
              ". Give the whole region, not only the changed part, and name the region after the language.");
    }
    if (changed_.empty() && declared.empty())
      return fault(ReplyFault::no_code, "There is no block of code in the reply.");
    ReplyCode result = checked_kernel(std::move(regions_), declared, expectation_);
    result.changed = std::move(changed_);
    return result;
  }

 private:
  static ReplyCode fault(ReplyFault which, std::string detail) {
    return {{which, std::move(detail)}, {}, {}};
  }

  ReplyJudgement allowed(KernelRegion region) const {
    if (std::find(expectation_.regions.begin(), expectation_.regions.end(), region) !=
        expectation_.regions.end())
      return {};
    return {ReplyFault::wrong_region,
            "The region " + std::string(to_string(region)) +
                " is not one of those that may change: " + listed(expectation_.regions) + '.'};
  }

  ReplyJudgement replace(KernelRegion region, const std::string& text) {
    if (auto judgement = allowed(region); !judgement.ok()) return judgement;
    if (const auto home = region_defining(text, expectation_); home && *home != region)
      return {ReplyFault::wrong_region, "The block is named " + std::string(to_string(region)) +
                                            ", but what it defines belongs to the region " +
                                            std::string(to_string(*home)) + '.'};
    text_of(regions_, region) = text;
    note(region);
    return {};
  }

  ReplyJudgement patch(const CodeBlock& block) {
    std::optional<KernelRegion> region = region_named(block.info);
    const std::string file = patched_file(block.text);
    if (!region) region = region_named(file);
    if (region) {
      if (auto judgement = allowed(*region); !judgement.ok()) return judgement;
      PatchResult patched = apply_unified_diff(text_of(regions_, *region), block.text);
      if (!patched.judgement.ok()) return patched.judgement;
      text_of(regions_, *region) = std::move(patched.text);
      note(*region);
      return {};
    }
    std::vector<std::pair<KernelRegion, std::string>> fits;
    ReplyJudgement last{ReplyFault::bad_patch, "The kernel has no text that the diff could change."};
    for (const KernelRegion candidate : expectation_.regions) {
      const std::string& text = text_of(regions_, candidate);
      if (text.empty()) continue;
      PatchResult patched = apply_unified_diff(text, block.text);
      if (patched.judgement.ok())
        fits.emplace_back(candidate, std::move(patched.text));
      else if (last.ok() || last.detail.find("no text") != std::string::npos)
        last = patched.judgement;
    }
    if (fits.empty()) return last;
    if (fits.size() > 1)
      return {ReplyFault::wrong_region, "The diff fits several regions: name one of " +
                                            listed(expectation_.regions) +
                                            " in its head, e.g. --- device and +++ device."};
    text_of(regions_, fits.front().first) = std::move(fits.front().second);
    note(fits.front().first);
    return {};
  }

  void note(KernelRegion region) {
    if (std::find(changed_.begin(), changed_.end(), region) == changed_.end()) changed_.push_back(region);
  }

  std::string_view reply_;
  bool cut_;
  const ReplyExpectation& expectation_;
  bool python_;
  Regions regions_;
  std::vector<KernelRegion> changed_;
};

}  // namespace

std::vector<std::string> entry_functions(const Problem& problem) {
  std::vector<std::string> functions;
  const auto add = [&](std::string_view name) {
    name = detail::trimmed(name.substr(0, name.find('<')));
    if (!name.empty() && std::find(functions.begin(), functions.end(), name) == functions.end())
      functions.emplace_back(name);
  };
  for (const LaunchStep& step : problem.launch) add(step.function);
  if (functions.empty()) add(problem.function);
  return functions;
}

ReplyCode checked_kernel(Regions regions, std::string_view json, const ReplyExpectation& expectation) {
  const Kernel& parent = *expectation.parent;
  // A macros region that is given anew without these lines means the code alone.
  if (declaring_lines(regions.macros).empty())
    regions.macros = declaring_lines(parent.regions.macros) + regions.macros;
  const Space& base = expectation.problem != nullptr ? expectation.problem->kernel.space : parent.space;
  DeclaredKernel declared = declared_kernel(
      base, std::move(regions), json,
      {.problem = expectation.problem, .before = &parent.regions, .tunables = expectation.tunables});
  if (declared.judgement.ok()) declared.judgement = judge_kernel(*declared.kernel, expectation);
  if (!declared.judgement.ok()) return {std::move(declared.judgement), {}, {}};
  return {{}, std::move(declared.kernel), {}};
}

std::string declared_tunables(std::string_view reply) {
  std::string json;
  for (const CodeBlock& block : code_blocks(reply))
    if (is_declaration(block)) json = block.text;
  return json;
}

ReplyCode read_reply_code(std::string_view reply, bool cut, const ReplyExpectation& expectation) {
  return Reading(reply, cut, expectation).read();
}

}  // namespace kernelsearch
