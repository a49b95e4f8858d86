// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/tunable_header.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "agents/read_declared.hpp"
#include "agents/same_kernel.hpp"
#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"

namespace kernelsearch {
namespace {

constexpr const char* declaration_form =
    R"(write {"tunables": {"NAME": [values]}, "constraints": ["..."], "launch": {...}})";

/// The message without the parts that concern files.
std::string plain_message(std::string_view text) {
  for (const std::string_view prefix : {"kernelsearch: ", "tunables:"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return std::string(text);
}

bool reads_name(const std::string& expression, const std::string& name) {
  std::string error;
  const auto parsed = Expression::try_parse(expression, error);
  return parsed && std::find(parsed->names().begin(), parsed->names().end(), name) != parsed->names().end();
}

Tunable* tunable_named(std::vector<Tunable>& tunables, const std::string& name) {
  const auto found =
      std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& one) { return one.name == name; });
  return found == tunables.end() ? nullptr : &*found;
}

/// A kernel's declarations while a reply's are joined to them.
class Declaring {
 public:
  Declaring(const Space& base, Regions regions, const DeclaringOptions& options)
      : base_(base), regions_(std::move(regions)), options_(options) {
    if (const std::string_view own = own_launch(regions_.macros); !own.empty()) launch_ = own;
    declared_ = declarations_of(regions_.macros, kernel_limits);
    lines_ = declaring_lines(regions_.macros);
    regions_.macros = without_declaring_lines(regions_.macros);
    changed_ = options_.before == nullptr || lines_ != declaring_lines(options_.before->macros);
  }

  ReplyJudgement join(std::string_view json) {
    const std::string file = "tunables";
    const detail::JsonNode node = detail::parse_json(json, file);
    const detail::JsonCursor document(node, file);
    const auto members = document.members(declaration_form);
    document.only({"tunables", "constraints", "default", "launch"});
    if (members.empty())
      return bad_tunables(std::string("The JSON block declares nothing: ") + declaration_form);
    changed_ = true;
    const DeclaredTunables more = detail::read_declared(document, reply_limits);
    if (!options_.tunables && !more.empty()) return nothing_tunes();
    for (const Tunable& tunable : more.tunables) {
      if (auto judgement = judge_name(tunable.name); !judgement.ok()) return judgement;
      // What held for the values that there were need not hold for these.
      std::erase_if(declared_.constraints,
                    [&](const std::string& one) { return reads_name(one, tunable.name); });
      if (Tunable* known = tunable_named(declared_.tunables, tunable.name))
        *known = tunable;
      else
        declared_.tunables.push_back(tunable);
    }
    for (const std::string& constraint : more.constraints)
      if (std::find(declared_.constraints.begin(), declared_.constraints.end(), constraint) ==
          declared_.constraints.end())
        declared_.constraints.push_back(constraint);
    for (const auto& [name, value] : more.defaults) {
      if (auto judgement = judge_default(name, value); !judgement.ok()) return judgement;
      std::erase_if(declared_.defaults, [&name = name](const auto& one) { return one.first == name; });
      declared_.defaults.emplace_back(name, value);
    }
    if (document.find("launch"))  // it parsed, so it is there
      launch_ = nlohmann::ordered_json::parse(json, nullptr, false, true)["launch"].dump(
          -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    for (const Tunable& tunable : more.tunables)
      if (!used(tunable.name))
        return bad_tunables("The tunable " + tunable.name + " is declared, but the code does not use it.");
    return {};
  }

  DeclaredKernel kernel() {
    if (!options_.tunables && changed_ && !declared_.empty()) return {nothing_tunes(), std::nullopt};
    drop_needless();
    if (declared_.tunables.size() > kernel_limits.tunables ||
        declared_.constraints.size() > kernel_limits.constraints)
      return {bad_tunables("The kernel would have " + std::to_string(declared_.tunables.size()) +
                           " declared tunables and " + std::to_string(declared_.constraints.size()) +
                           " constraints; at most 48 and 64 are taken. Leave some out."),
              std::nullopt};
    regions_.macros = (launch_.empty() ? "" : launch_line(launch_)) + declaration_line(declared_) +
                      std::move(regions_.macros);
    Kernel made = kernel_with_declared(base_, std::move(regions_), kernel_limits);
    if (auto judgement = judge_launch(made); !judgement.ok()) return {std::move(judgement), std::nullopt};
    return {{}, std::move(made)};
  }

 private:
  static ReplyJudgement bad_tunables(std::string detail) {
    return {ReplyFault::bad_tunables, std::move(detail)};
  }
  static ReplyJudgement bad_launch(std::string detail) { return {ReplyFault::bad_launch, std::move(detail)}; }
  static ReplyJudgement nothing_tunes() {
    return {ReplyFault::unwanted_tunables,
            "Nothing searches tunables here, so nothing would define what the block declares: write each "
            "setting as a number in the code, and leave the declaration out."};
  }

  /// A tunable is a macro: it would replace every such word in the code.
  [[nodiscard]] ReplyJudgement judge_name(const std::string& name) const {
    if (options_.problem == nullptr) return {};
    const Problem& problem = *options_.problem;
    const char* clash = name == problem.function ? "the function" : nullptr;
    for (const Shape& shape : problem.shapes)
      for (const NamedValue& variable : shape.variables)
        if (variable.first == name) clash = "a shape variable";
    for (const Argument& argument : problem.arguments)
      if (argument.name == name) clash = "an argument";
    if (clash == nullptr) return {};
    return bad_tunables("The tunable " + name + " is called like " + clash + ": choose another name.");
  }

  [[nodiscard]] ReplyJudgement judge_default(const std::string& name, const Value& value) {
    const Tunable* tunable = tunable_named(declared_.tunables, name);
    if (tunable == nullptr)
      if (const auto at = base_.find(name)) tunable = &base_.tunable(*at);
    if (tunable == nullptr) return bad_tunables("\"default\" names no tunable: " + name + '.');
    if (!tunable->position(value))
      return bad_tunables("\"default\" gives " + name + " = " + to_string(value) +
                          ", which is none of its values.");
    return {};
  }

  [[nodiscard]] bool used(const std::string& name) const {
    // In JSON all expressions are strings, so the launch is searched in these too.
    return detail::mentions(regions_.device, name) || detail::mentions(regions_.host, name) ||
           detail::mentions(regions_.macros, name) || detail::has_whole_word(launch_, name);
  }

  /// What an ancestor declared and the code no longer names would multiply the space for nothing; and what
  /// the problem declares just so need not be said again.
  void drop_needless() {
    std::vector<std::string> unused;
    for (const Tunable& tunable : declared_.tunables)
      if (!base_.find(tunable.name) && !used(tunable.name)) unused.push_back(tunable.name);
    for (const std::string& name : unused) {
      std::erase_if(declared_.tunables, [&](const Tunable& one) { return one.name == name; });
      std::erase_if(declared_.constraints, [&](const std::string& one) { return reads_name(one, name); });
      std::erase_if(declared_.defaults, [&](const auto& one) { return one.first == name; });
    }
    std::erase_if(declared_.tunables, [&](const Tunable& one) {
      const auto at = base_.find(one.name);
      return at && detail::adds_nothing(one, base_.tunable(*at));
    });
  }

  [[nodiscard]] ReplyJudgement judge_launch(const Kernel& made) const {
    if (launch_.empty()) return {};
    if (options_.problem == nullptr)
      return changed_ ? bad_launch("The launch of this kernel stays as it is.") : ReplyJudgement{};
    const Problem& problem = *options_.problem;
    const auto steps = try_launch_of(problem, made);
    if (!steps) return bad_launch("The launch cannot be used: " + steps.error());
    const Candidate first{std::make_shared<const Kernel>(made), made.space.default_config()};
    if (const auto fine = check_launch(problem, first, *steps); !fine)
      return bad_launch("The launch cannot be used at the default values: " + fine.error());
    for (const LaunchStep& step : *steps) {
      if (step.function.empty()) continue;
      std::string_view name = std::string_view(step.function).substr(0, step.function.find('<'));
      if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
        name.remove_prefix(colons + 2);
      const auto signature = function_signature(made.regions.device, detail::trimmed(name));
      if (!signature)
        return bad_launch("The launch names the kernel " + step.function +
                          ", which the device region does not define.");
      const std::size_t passed = step.arguments.empty()
                                     ? static_cast<std::size_t>(std::count_if(
                                           problem.arguments.begin(), problem.arguments.end(),
                                           [](const Argument& one) { return one.symbol.empty(); }))
                                     : step.arguments.size();
      if (signature->parameters.size() != passed)
        return bad_launch("The launch passes " + std::to_string(passed) + " arguments to " + step.function +
                          ", which has " + std::to_string(signature->parameters.size()) + " parameters.");
    }
    return {};
  }

  const Space& base_;
  Regions regions_;  ///< without the lines that declare
  const DeclaringOptions& options_;
  DeclaredTunables declared_;
  std::string launch_, lines_;
  bool changed_ = false;  ///< the declarations are others than the parent's
};

}  // namespace

DeclaredKernel declared_kernel(const Space& base, Regions regions, std::string_view json,
                               const DeclaringOptions& options) {
  if (json.empty() && declaring_lines(regions.macros).empty()) return {{}, Kernel{std::move(regions), base}};
  try {
    Declaring declaring(base, std::move(regions), options);
    if (!json.empty())
      if (auto judgement = declaring.join(json); !judgement.ok()) return {std::move(judgement), std::nullopt};
    return declaring.kernel();
  } catch (const ConfigError& error) {
    return {{ReplyFault::bad_tunables,
             "The declaration of tunables cannot be used: line " + plain_message(error.what())},
            std::nullopt};
  }
}

DeclaredSpace declare_tunables(const Space& space, std::string_view json, const Regions& code) {
  const auto fault = [](std::string detail) {
    return DeclaredSpace{{ReplyFault::bad_tunables, std::move(detail)}, std::nullopt};
  };
  if (json.empty()) return fault("The declaration is empty.");
  DeclaredKernel made = declared_kernel(space, code, json);
  if (!made.judgement.ok()) return {std::move(made.judgement), std::nullopt};
  return {{}, std::move(made.kernel->space)};
}

}  // namespace kernelsearch
