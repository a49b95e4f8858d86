// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A pass plugin for clang and opt: lists the loops of a file, and gives loops the hints of a plan before
// anything is optimised. docs/llvm.md is its manual.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/nearest.hpp"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "plan.hpp"

namespace {

using kernelsearch_loops::hint_space;
using kernelsearch_loops::LoopHints;

// By options and not by the environment, which a sandboxed compiler does not see.
llvm::cl::opt<std::string> plan_option(
    "kernelsearch-plan",
    llvm::cl::desc("Hints for loops: FUNCTION:LOOP:NAME=VALUE,...;..., or @FILE with a line for each"),
    llvm::cl::value_desc("plan or @file"));
llvm::cl::opt<std::string> list_option(
    "kernelsearch-loops", llvm::cl::desc("Write the loops found as JSON lines"),
    llvm::cl::value_desc("file, +file to add to it, or - for standard output"));
llvm::cl::opt<bool> program_option(
    "kernelsearch-plan-of-program", llvm::cl::init(false),
    llvm::cl::desc("The plan is of several files: functions that this one lacks are passed over"));

/// A loop in source order, with what names it.
struct NamedLoop {
  llvm::Loop* loop = nullptr;
  unsigned header = 0;  ///< place of its header among the function's blocks
  unsigned line = 0;    ///< 0: compiled without line numbers
};

/// The function's loops in the order in which their headers stand, which is that of the source: unlike the
/// order of an analysis it is the same in every version of LLVM.
std::vector<NamedLoop> loops_of(const llvm::Function& function, llvm::LoopInfo& info) {
  std::vector<NamedLoop> loops;
  unsigned place = 0;
  for (const llvm::BasicBlock& block : function) {
    llvm::Loop* loop = info.getLoopFor(&block);
    if (loop != nullptr && loop->getHeader() == &block) {
      const llvm::DebugLoc start = loop->getStartLoc();
      loops.push_back({loop, place, start ? start.getLine() : 0});
    }
    ++place;
  }
  return loops;
}

/// How often the body runs, where that is one number: header by header.
std::map<unsigned, std::uint64_t> trip_counts(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  // Counters still live in memory here, where nothing is known of them. A copy has them in registers; its
  // blocks are in the same order.
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&function, map);
  llvm::PromotePass().run(*copy, analyses);
  analyses.invalidate(*copy, llvm::PreservedAnalyses::none());
  std::map<unsigned, std::uint64_t> counts;
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(*copy);
  for (const NamedLoop& named : loops_of(*copy, analyses.getResult<llvm::LoopAnalysis>(*copy))) {
    const llvm::BasicBlock* leaves = named.loop->getExitingBlock();
    const auto* turns = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getBackedgeTakenCount(named.loop));
    if (leaves == nullptr || turns == nullptr || turns->getAPInt().getActiveBits() > 62) continue;
    const std::uint64_t back = turns->getAPInt().getZExtValue();
    if (leaves ==
        named.loop->getLoopLatch())  // a test at the end: the body has run once more than it was gone back to
      counts[named.header] = back + 1;
    else if (leaves == named.loop->getHeader())
      counts[named.header] = back;
  }
  analyses.clear(*copy, copy->getName());
  copy->eraseFromParent();
  return counts;
}

using Found = std::vector<std::pair<llvm::Function*, std::vector<NamedLoop>>>;

void write_loops(const llvm::Module& module, const Found& found, llvm::FunctionAnalysisManager& analyses) {
  llvm::LLVMContext& context = module.getContext();
  // A build of several files lists them all in one: each compilation adds its lines at once.
  const bool append = list_option[0] == '+';
  const std::string name = list_option.substr(append ? 1 : 0);
  std::error_code error;
  llvm::raw_fd_ostream file(name, error, append ? llvm::sys::fs::OF_Append : llvm::sys::fs::OF_Text);
  if (error)
    return context.emitError("kernelsearch: the loops cannot be written to " + name + ": " + error.message());
  file.SetUnbuffered();
  std::string lines;
  llvm::raw_string_ostream out(lines);
  llvm::json::Object settings;
  for (const kernelsearch::Tunable& tunable : hint_space().tunables()) {
    llvm::json::Array values;
    for (const kernelsearch::Value& value : tunable.values)
      values.push_back(static_cast<std::int64_t>(kernelsearch::to_number(value)));
    settings[tunable.name] = std::move(values);
  }
  llvm::json::Array constraints;
  for (const kernelsearch::Constraint& constraint : hint_space().constraints())
    constraints.push_back(constraint.text());
  out << llvm::json::Value(llvm::json::Object{{"kernelsearch_loops", 1},
                                              {"llvm", LLVM_VERSION_STRING},
                                              {"source", module.getSourceFileName()},
                                              {"hints", std::move(settings)},
                                              {"constraints", std::move(constraints)},
                                              {"combinations", hint_space().count().to_string()}})
      << '\n';
  for (const auto& [function, loops] : found) {
    const auto counts =
        loops.empty() ? std::map<unsigned, std::uint64_t>{} : trip_counts(*function, analyses);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto count = counts.find(loops[i].header);
      const bool counted = count != counts.end();
      out << llvm::json::Value(llvm::json::Object{
                 {"function", function->getName()},
                 {"loop", static_cast<std::int64_t>(i)},
                 {"line", loops[i].line != 0 ? llvm::json::Value(loops[i].line) : llvm::json::Value(nullptr)},
                 {"depth", static_cast<std::int64_t>(loops[i].loop->getLoopDepth())},
                 {"innermost", loops[i].loop->getSubLoops().empty()},
                 {"trip_count", counted ? llvm::json::Value(static_cast<std::int64_t>(count->second))
                                        : llvm::json::Value(nullptr)}})
          << '\n';
    }
  }
  file << out.str();
}

/// The hints as operands of a loop's metadata, beside what stands there of other hints.
void give(llvm::Loop& loop, const LoopHints& hints) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  const std::int64_t width = hints.value("vectorize_width");
  const std::int64_t interleave = hints.value("interleave_count");
  const std::int64_t unroll = hints.value("unroll_count");
  const std::int64_t distribute = hints.value("distribute");
  std::vector<llvm::StringRef> replaced;
  llvm::SmallVector<llvm::Metadata*, 8> added;
  const auto flag = [&](llvm::StringRef name) {
    added.push_back(llvm::MDNode::get(context, {llvm::MDString::get(context, name)}));
  };
  const auto number = [&](llvm::StringRef name, unsigned bits, std::int64_t value) {
    auto* constant =
        llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), static_cast<std::uint64_t>(value));
    added.push_back(llvm::MDNode::get(
        context, {llvm::MDString::get(context, name), llvm::ConstantAsMetadata::get(constant)}));
  };
  if (width != 0) {
    replaced.push_back("llvm.loop.vectorize.width");
    replaced.push_back("llvm.loop.vectorize.enable");
    number("llvm.loop.vectorize.width", 32, width);
    // As `#pragma clang loop vectorize_width` does it. It also lets sums of floats be reordered.
    if (width > 1) number("llvm.loop.vectorize.enable", 1, 1);
  }
  if (interleave != 0) {
    replaced.push_back("llvm.loop.interleave.count");
    number("llvm.loop.interleave.count", 32, interleave);
  }
  if (unroll != 0) {
    replaced.push_back("llvm.loop.unroll.");
    if (unroll == 1)
      flag("llvm.loop.unroll.disable");
    else
      number("llvm.loop.unroll.count", 32, unroll);
  }
  if (distribute != 0) {
    replaced.push_back("llvm.loop.distribute.enable");
    number("llvm.loop.distribute.enable", 1, 1);
  }
  if (added.empty()) return;  // nothing is hinted: the loop stays as if it had no entry

  llvm::SmallVector<llvm::Metadata*, 8> operands{nullptr};  // the first is the node itself
  if (const llvm::MDNode* old = loop.getLoopID())
    for (unsigned i = 1; i < old->getNumOperands(); ++i) {
      const auto* node = llvm::dyn_cast<llvm::MDNode>(old->getOperand(i));
      const auto* name = node != nullptr && node->getNumOperands() > 0
                             ? llvm::dyn_cast<llvm::MDString>(node->getOperand(0))
                             : nullptr;
      const bool goes =
          name != nullptr && std::any_of(replaced.begin(), replaced.end(), [&](llvm::StringRef prefix) {
            return name->getString().take_front(prefix.size()) == prefix;
          });
      if (!goes) operands.push_back(old->getOperand(i));
    }
  operands.append(added.begin(), added.end());
  llvm::MDNode* id = llvm::MDNode::getDistinct(context, operands);
  id->replaceOperandWith(0, id);
  loop.setLoopID(id);
}

std::string described(const std::vector<NamedLoop>& loops) {
  std::string text;
  for (std::size_t i = 0; i < loops.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(i) +
            (loops[i].line != 0 ? " (line " + std::to_string(loops[i].line) + ")" : "");
  return text;
}

/// Why there is no function of that name with loops, and which there are.
kernelsearch::Fault no_function(const LoopHints& hints, const Found& found) {
  std::vector<std::string> names;
  bool defined = false;
  for (const auto& [function, loops] : found) {
    defined = defined || function->getName() == hints.function;
    if (!loops.empty()) names.push_back(function->getName().str());
  }
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < 40; ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > 40) all += " and " + std::to_string(names.size() - 40) + " more";
  const std::string near = kernelsearch::nearest_name(hints.function, names);
  return {defined ? "the plan names a function without loops"
                  : "the plan names a function that this file does not define",
          hints.text,
          names.empty() ? "no function here has loops"
                        : (near.empty() || defined ? "" : "did you mean " + near + "? ") +
                              "functions with loops: " + all};
}

/// The loop that the entry names, or why there is none.
kernelsearch::Result<llvm::Loop*> try_find(const LoopHints& hints, const std::vector<NamedLoop>& loops) {
  const std::string there = hints.function + " has " + described(loops);
  if (!hints.by_line) {
    if (hints.number < loops.size()) return loops[hints.number].loop;
    return kernelsearch::Fault{"the plan names a loop that is not there", hints.text, there};
  }
  if (std::all_of(loops.begin(), loops.end(), [](const NamedLoop& one) { return one.line == 0; }))
    return kernelsearch::Fault{"the plan names a loop by its line, and there are no lines", hints.text,
                               "compile with -gline-tables-only, or name loops by number: " + there};
  llvm::Loop* here = nullptr;
  for (const NamedLoop& one : loops)
    if (one.line == hints.number) {
      if (here != nullptr)
        return kernelsearch::Fault{"the plan names a line with several loops", hints.text,
                                   "name one by number: " + there};
      here = one.loop;
    }
  if (here == nullptr)
    return kernelsearch::Fault{"the plan names a line on which no loop begins", hints.text, there};
  return here;
}

std::optional<std::string> plan_text(llvm::LLVMContext& context) {
  const llvm::StringRef given = plan_option;
  if (given.empty() || given.front() != '@') return given.str();
  auto file = llvm::MemoryBuffer::getFile(given.drop_front());
  if (file) return (*file)->getBuffer().str();
  context.emitError("kernelsearch: the plan " + given.drop_front() +
                    " cannot be read: " + file.getError().message());
  return std::nullopt;
}

void apply_plan(llvm::Module& module, const Found& found) {
  llvm::LLVMContext& context = module.getContext();
  const auto refuse = [&](const kernelsearch::Fault& fault) { context.emitError(fault.text()); };
  const std::optional<std::string> text = plan_text(context);
  if (!text) return;
  const auto plan = kernelsearch_loops::try_read_plan(*text);
  if (!plan) return refuse(plan.error());
  std::vector<const llvm::Loop*> done;
  for (const LoopHints& hints : *plan) {
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const auto& one) { return one.first->getName() == hints.function; });
    if (at == found.end() && program_option) continue;
    if (at == found.end() || at->second.empty()) {
      refuse(no_function(hints, found));
      continue;
    }
    const auto loop = try_find(hints, at->second);
    if (!loop) {
      refuse(loop.error());
    } else if (std::find(done.begin(), done.end(), *loop) != done.end()) {
      refuse(
          {"the plan names a loop by its number and by its line", hints.text, "keep one of the two entries"});
    } else {
      give(**loop, hints);
      done.push_back(*loop);
    }
  }
}

struct HintLoops : llvm::PassInfoMixin<HintLoops> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager) {
    if (plan_option.empty() && list_option.empty()) return llvm::PreservedAnalyses::all();
    auto& analyses = manager.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
    Found found;  // gathered first, as listing adds functions for a while
    for (llvm::Function& function : module)
      if (!function.isDeclaration())
        found.emplace_back(&function, loops_of(function, analyses.getResult<llvm::LoopAnalysis>(function)));
    if (!list_option.empty()) write_loops(module, found, analyses);
    if (!plan_option.empty()) apply_plan(module, found);
    return llvm::PreservedAnalyses::all();  // metadata of loops is part of no analysis
  }
  static bool isRequired() { return true; }
};

void add_to(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& passes, auto) { passes.addPass(HintLoops()); });
  // for `opt -passes=kernelsearch-loops`
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager& passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name != "kernelsearch-loops") return false;
    passes.addPass(HintLoops());
    return true;
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "kernelsearch-loops", "1", add_to};
}
