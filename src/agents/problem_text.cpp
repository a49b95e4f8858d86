// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/problem_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "lines.hpp"
#include "problem/metric.hpp"

namespace kernelsearch {
namespace {

std::string extents(const std::vector<Expression>& list) {
  return detail::joined(list, " x ", [](const Expression& extent) { return extent.text(); });
}

/// How a kernel sees elements of types that C++ has not.
std::string_view layout_text(const Argument& argument, Backend backend) {
  const bool cuda = backend == Backend::cuda, host = backend == Backend::host;
  switch (argument.named_type()) {
    case ElementType::f8e4m3:
      return cuda ? "`__nv_fp8_e4m3` of cuda_fp8.h or its bytes: 1 sign, 4 exponent and 3 mantissa bits, "
                    "bias 7, no "
                    "infinities, NaN 0x7f and 0xff"
                  : "bytes: 1 sign, 4 exponent and 3 mantissa bits, bias 7, no infinities, NaN 0x7f and 0xff";
    case ElementType::f8e5m2:
      return cuda ? "`__nv_fp8_e5m2` of cuda_fp8.h or its bytes, the upper half of an f16"
                  : "bytes, the upper half of an f16";
    case ElementType::f4e2m1:
      return cuda ? "two in a byte, the lower four bits first, `__nv_fp4x2_e2m1` of cuda_fp4.h or its bytes: "
                    "the values "
                    "0 0.5 1 1.5 2 3 4 6 by three bits under the sign"
                  : "two in a byte, the lower four bits first: the values 0 0.5 1 1.5 2 3 4 6 by three bits "
                    "under the sign";
    case ElementType::i4:
      return "two in a byte, the lower four bits first, in two's complement";
    case ElementType::u4:
      return "two in a byte, the lower four bits first";
    case ElementType::c64:
      return host   ? "two float each, the real part first: `std::complex<float>` or `float`"
             : cuda ? "two float each, the real part first: `float2` or `float`"
                    : "two float each, the real part first";
    default:
      return {};
  }
}

/// What an input holds before a call.
std::string contents_text(const Argument& argument) {
  if (!argument.scale_of.empty())
    return "the scales of " + clean_text(argument.scale_of) + ", block by block";
  if (argument.quantised) {
    const Quantised& made = *argument.quantised;
    const bool biased = argument.type == ElementType::u4 || argument.type == ElementType::u8;
    std::string text = made.of.empty() ? "floats" : clean_text(made.of);
    text += " over " + clean_text(made.scale);
    if (biased) text += argument.type == ElementType::u4 ? " plus 8" : " plus 128";
    text += made.block.empty() ? std::string(", which is one for the array")
                               : ", of which each block of " + clean_text(made.block[0].text()) + " x " +
                                     clean_text(made.block[1].text()) + " elements has one";
    if (made.columns) text += "; rows have " + clean_text(made.columns->text()) + " elements";
    if (!made.of.empty()) return text;
    Argument floats = argument;
    floats.quantised.reset();
    return text + "; the floats are " + contents_text(floats);
  }
  const auto end = [](const std::optional<Expression>& expression, double value) {
    return expression ? clean_text(expression->text()) : fmt::format("{:g}", value);
  };
  const std::string low = end(argument.low_expression, argument.low);
  const std::string high = end(argument.high_expression, argument.high);
  switch (argument.initialisation) {
    case Initialisation::zeros:
      return "zeros";
    case Initialisation::ones:
      return "ones";
    case Initialisation::uniform:
      return "uniform in [" + low + ", " + high + ")";
    case Initialisation::normal:
      return "normal, mean " + low + ", standard deviation " + high;
    case Initialisation::arange:
      return "0, 1, 2, ...";
    case Initialisation::permutation:
      return "a permutation of 0 to its size less 1";
    case Initialisation::ill_conditioned:
      return "magnitudes over many decades with mixed signs";
    case Initialisation::sorted:
      return "ascending, in [" + low + ", " + high + ")";
    case Initialisation::offsets:
      return "offsets: from 0, never descending" +
             (argument.total ? ", the last is " + clean_text(argument.total->text()) : std::string());
    case Initialisation::file:
      return "the contents of a file";
    case Initialisation::generator:
      return "written by the problem's generator";
  }
  return {};
}

/// What else a tolerance says of an output.
std::string rest_of(const Tolerance& tolerance) {
  std::string text;
  if (tolerance.matched_ratio < 1) {
    const Tolerance cap = cap_of(tolerance);
    text += fmt::format(" for at least {:g} % of the elements", 100 * tolerance.matched_ratio);
    text += tolerance.cap_absolute || tolerance.cap_relative
                ? fmt::format(", the others by {:g} + {:g} |expected|", cap.absolute, cap.relative)
                : std::string(", the others must be finite");
  }
  if (tolerance.infinities == Infinities::none) text += "; no element may be infinite";
  if (tolerance.infinities == Infinities::negative) text += "; no element may be plus infinity";
  return text;
}

std::string argument_text(const Problem& problem, const Argument& argument) {
  constexpr std::array<std::string_view, 4> roles{"input", "output", "input and output", "workspace"};
  std::string text = "- " + clean_text(argument.name) + ": ";
  if (argument.tensor_map)
    text += "tensor map of " + clean_text(argument.tensor_map->array);
  else if (argument.is_array) {
    text += fmt::format("array of {}, {}, {} elements", clean_text(argument.type_text()),
                        roles[static_cast<std::size_t>(argument.role)],
                        argument.size ? clean_text(argument.size->text()) : std::string("?"));
    if (const std::string_view layout = layout_text(argument, problem.backend); !layout.empty())
      text += fmt::format(" ({})", layout);
  } else {
    text += clean_text(argument.type_text());
  }
  if (argument.is_input()) text += "; holds " + contents_text(argument);
  if (argument.is_scalar() && argument.value) text += "; is " + clean_text(argument.value->text());
  if (detail::is_unchecked(argument)) {
    text += "; a number that the kernel says of itself: any finite number, it is not checked";
  } else if (argument.is_output()) {
    const Tolerance tolerance = problem.tolerance_of(argument);
    text +=
        problem.bit_exact || (tolerance.absolute == 0 && tolerance.relative == 0)
            ? std::string("; must equal the reference's bit for bit")
            : fmt::format("; may differ by {:g} + {:g} |expected|", tolerance.absolute, tolerance.relative);
    if (!problem.bit_exact) text += rest_of(tolerance);
  }
  if (!argument.symbol.empty()) text += "; the __constant__ variable " + clean_text(argument.symbol);
  return text + '\n';
}

/// The least time that the roofline allows a shape, and why; empty where it is not known.
std::string bound_text(const Problem& problem, const Shape& shape, const ProblemFacts& facts, bool cold) {
  ShapeBound bound;
  try {
    bound = shape_bound(problem, shape, facts.peaks, cold);
  } catch (const ConfigError&) {
    return {};  // its generator has yet to say the sizes
  }
  std::string text;
  if (bound.operations) text += "; " + scaled_text(*bound.operations) + "op";
  if (bound.bytes) text += fmt::format("{}{}B", bound.operations ? ", " : "; ", scaled_text(*bound.bytes));
  if (bound.operations && bound.bytes)
    text += fmt::format(" ({:.3g} op/B)", *bound.operations / *bound.bytes);
  if (const auto seconds = bound.seconds()) {
    text += "; at best " + time_text(*seconds);
    text += *bound.computing >= *bound.moving
                ? ", limited by computing"
                : ", limited by moving data from " + clean_text(bound.level->name);
  }
  return text;
}

std::string shapes_text(const Problem& problem, const ProblemFacts& facts, bool cold) {
  std::string timed, checked;
  for (const Shape& shape : problem.shapes) {
    std::string line = "- " + clean_text(shape.name) + ":";
    for (const auto& [name, value] : shape.variables)
      line += ' ' + clean_text(name) + '=' + clean_text(to_string(value));
    if (shape.weight > 0)
      timed +=
          line + fmt::format(", weight {:g}", shape.weight) + bound_text(problem, shape, facts, cold) + '\n';
    else
      checked += line + '\n';
  }
  std::string text = "\nShapes that are timed (and checked):\n" + timed;
  if (!checked.empty()) text += "Shapes that are only checked, weight 0:\n" + checked;
  if (problem.hidden_shapes)
    text += fmt::format(
        "Each kernel is also checked on {} shapes that nobody is told, drawn anew each time: sizes that no "
        "tile "
        "divides, single elements, large ones.\n",
        problem.hidden_shapes->count);
  return text;
}

std::string launch_text(const Problem& problem) {
  if (problem.launch.empty()) {
    if (problem.backend == Backend::host || problem.external) return {};
    return "\nLaunch: the host region launches the kernels; all that it launches is timed.\n";
  }
  std::string text = "\nLaunch:\n";
  for (const LaunchStep& step : problem.launch) {
    if (step.function.empty()) {
      text += "- bytes of " + clean_text(step.zero) + " are set to 0\n";
      continue;
    }
    const bool opencl = problem.backend == Backend::opencl;
    const bool vulkan = problem.backend == Backend::vulkan;
    text += "- `" + clean_text(step.function) + (opencl || vulkan ? "`, groups " : "`, grid ") +
            clean_text(extents(step.geometry.grid)) +
            (opencl   ? " (\"grid\"), local size "
             : vulkan ? " (\"grid\"), work group "
                      : ", block ") +
            clean_text(extents(step.geometry.block)) + (opencl || vulkan ? " (\"block\")" : "");
    if (!step.geometry.cluster.empty()) text += ", cluster " + clean_text(extents(step.geometry.cluster));
    if (step.geometry.shared_bytes)
      text += (opencl ? ", as the last parameter __local memory of " : ", dynamic shared memory ") +
              clean_text(step.geometry.shared_bytes->text()) + " bytes";
    for (const LocalArray& one : step.geometry.local)
      text +=
          ", __local parameter " + clean_text(one.name) + " of " + clean_text(one.bytes.text()) + " bytes";
    if (step.condition) text += ", only if " + clean_text(step.condition->text());
    text += '\n';
  }
  return text;
}

/// What a kernel of an answer in Python may be written with, and what each costs.
std::string maker_text() {
  return "On a GPU, a kernel of your own is a function with @triton.jit where Triton is installed, or CUDA "
         "C++ "
         "that torch.cuda._compile_kernel(source, name) compiles in about a second; with "
         "torch.utils.cpp_extension.load_inline each answer takes about a minute to build. Everything is in "
         "the "
         "one file. Tensors that forward is given are on the device where it runs: make others there "
         "(device=x.device).\n";
}

/// What is in the place of arguments, shapes and builds where a module says what is right.
/// A function of a definition or another task: what it takes and gives is in the text's own `TASK`.
std::string task_text(const Problem& problem) {
  return "\nThe function, which says what is right, and the calls that are judged and timed:\n\n" +
         quoted(problem.reference.source, "python", 100'000) +
         fmt::format(
             "\n\n`{}` is a file of Python: plain PyTorch, Triton, or another installed library. It defines "
             "`{}`, which is called with the same inputs in the same order. Inputs are drawn anew, also from "
             "other distributions than the generator's within its range, and outputs are compared with the "
             "function computed in f64 where it can be, by the tolerances above. Types and shapes of outputs "
             "must be the function's.\n{}\nWhat is timed: calls on tensors that are there already, without "
             "gradients, by a clock outside of the process, for each shape. What it has to prepare once it "
             "may "
             "do in the first call. It counts as faster if interleaved pairs of calls, one of each, show "
             "it.\n",
             clean_text(problem.names.device), clean_text(problem.function), maker_text());
}

std::string module_text(const Problem& problem) {
  if (is_function_reference(problem)) return task_text(problem);
  std::string text =
      "\nThe module, which says what is right:\n\n" + quoted(problem.reference.source, "python", 100'000);
  const Tolerance single = problem.tolerance_of(ElementType::f32),
                  half = problem.tolerance_of(ElementType::f16);
  const bool strict = std::find(problem.reference.flags.begin(), problem.reference.flags.end(), "strict") !=
                      problem.reference.flags.end();
  text += fmt::format(
      "\n\n`{}` is a file of Python: plain PyTorch, Triton, or another installed library. It is constructed "
      "with "
      "get_init_inputs() and takes the module's weights by the names of its parameters and buffers, or by "
      "their "
      "order where names differ. Weights and inputs are drawn anew, also from other distributions than the "
      "generator's within its range, and what it gives is compared with the module computed in f64",
      clean_text(problem.names.device));
  text += strict ? ", with bounds stricter than KernelBench's"
                 : fmt::format(
                       ": f32 may differ by {:g} + {:g} |expected|, f16 and bf16 by {:g} + {:g} |expected|",
                       single.absolute, single.relative, half.absolute, half.relative);
  text += ". Types, shapes and the structure of what forward gives must be the module's.\n";
  text += maker_text();
  text +=
      "\nWhat is timed: calls of forward on tensors that are there already, without gradients, by a clock "
      "outside "
      "of the process. What it has to prepare once it may do in the first call. A module counts as faster "
      "if interleaved pairs of calls, one of each module, show it; a few percent between times that were "
      "measured separately mean nothing.\n";
  return text;
}

std::string timing_text(const Problem& problem, bool cold) {
  std::string text = "\nWhat is timed: whole calls";
  if (problem.external)
    text += problem.external->clock == ExternalClock::claimed
                ? ", by the program that runs them, whose word the times are"
                : " as the program that runs them makes them, by the wall's clock";
  else
    text += problem.backend == Backend::host
                ? " of the function, on arrays that are filled and checked outside of "
                  "the timed part"
                : " on the device, from the first launch to the end of the last";
  text +=
      cold ? "; caches are emptied before each timed call" : "; calls follow one another, so caches are warm";
  text += problem.aggregate == Aggregate::reference_weighted
              ? ". The timed shapes give one number: the sum of weight x time.\n"
              : ". The timed shapes give one number: the geometric mean of the times.\n";
  text +=
      "A kernel counts as faster if interleaved pairs of calls, one of each kernel, show it; a few percent "
      "between times that were measured separately mean nothing.\n";
  return text;
}

bool has_fast_math(const Problem& problem) {
  return std::any_of(problem.build.flags.begin(), problem.build.flags.end(), [](const std::string& flag) {
    return flag == "-ffast-math" || flag == "-Ofast" || flag == "--use_fast_math" || flag == "-use_fast_math";
  });
}

/// A flag that a tunable chooses.
bool may_have_fast_math(const Problem& problem) {
  for (const Tunable& tunable : problem.kernel.space.tunables())
    for (const Value& value : tunable.values)
      if (const auto* text = std::get_if<std::string>(&value))
        if (text->find("fast-math") != std::string::npos || text->find("fast_math") != std::string::npos)
          return true;
  return false;
}

std::string build_text(const Problem& problem) {
  std::string text = "\n";
  if (problem.external) {
    text += "Built and run by the program:";
    for (const std::string& word : problem.external->command) text += ' ' + clean_text(word);
    return text + "\nIt is given the kernel's text, " + clean_text(problem.names.device) +
           ", and the values of the tunables, and makes of them what it does.\n";
  }
  if (!problem.build.command.empty()) {
    // The flags below would be read as the kernel's.
    text += "Built by the command:";
    for (const std::string& word : problem.build.command) text += ' ' + clean_text(word);
    text += "\n${SOURCE} is the kernel's file " + clean_text(problem.names.device);
    if (is_device(problem.backend))
      return text +
             ", ${LIBRARY} the device code that is made of it, of which the steps of the launch are "
             "called.\n";
    return text + ", ${LIBRARY} the object file that is made of it; the kernel's function " +
           clean_text(problem.function) + " has C's calling convention.\n";
  }
  text += "Compiled with: " + clean_text(problem.build.compiler);
  for (const std::string& flag : problem.build.flags) text += ' ' + clean_text(flag);
  for (const std::string& library : problem.build.libraries) text += " -l" + clean_text(library);
  text += '\n';
  if (has_fast_math(problem))
    text +=
        "Fast mathematics is on: the compiler reorders floating-point arithmetic and assumes no NaN and no "
        "infinity.\n";
  else if (may_have_fast_math(problem))
    text +=
        "Fast mathematics is on or off by a tunable; where it is off the compiler keeps the order of "
        "floating-point arithmetic, and NaN and infinity follow IEEE 754.\n";
  else if (problem.backend != Backend::host)
    text +=
        "Fast mathematics is off: divisions, square roots and functions are exact as IEEE 754 or the toolkit "
        "has "
        "them, subnormal numbers count, and so do NaN and infinity. Sums in another order are allowed within "
        "the "
        "tolerance.\n";
  else
    text +=
        "Fast mathematics is off: the compiler keeps the order of floating-point arithmetic, so it "
        "vectorises "
        "no sum that is written as one; NaN and infinity follow IEEE 754. Sums in another order are allowed "
        "within the tolerance, but you must write them.\n";
  return text;
}

/// For a task whose own commands judge it.
std::string commands_text(const Problem& problem) {
  const CommandTask task = command_task_of(problem);
  std::string text =
      "\nThe kernel is the whole text of " + clean_text(task.source) +
      ", which the commands below use, in a copy of the task's folder. What they import of it must "
      "stay there, with the same names and parameters.\n";
  if (!task.functions.empty()) {
    text += "What is to be faster:";
    for (const std::string& function : task.functions) text += " `" + clean_text(function) + "`";
    text += "\n";
  }
  for (const auto& [what, commands] :
       {std::pair("built", &task.build), std::pair("checked", &task.check), std::pair("timed", &task.time)}) {
    text += std::string("It is ") + what + " by:\n";
    for (const std::string& command : *commands) text += "    " + clean_text(command) + "\n";
  }
  return text + "The time is what the last command reports, as the geometric mean of its cases.\n";
}

}  // namespace

std::string_view kernel_language(const Problem& problem) {
  if (has_module_reference(problem)) return "python";
  if (!problem.external) return traits_of(problem.backend).language;
  const std::string_view file = problem.names.device;
  for (const BackendTraits& traits : backend_traits)
    if (!traits.language.empty() && file.ends_with(traits.extension)) return traits.language;
  using Language = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Language, 4> others{
      {{".py", "python"}, {".hlsl", "hlsl"}, {".cc", "cpp"}, {".c", "c"}}};
  for (const auto& [extension, language] : others)
    if (file.ends_with(extension)) return language;
  return {};
}

std::string scaled_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 5> prefixes{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [size, prefix] : prefixes)
    if (std::abs(value) >= size) return fmt::format("{:.4g} {}", value / size, prefix);
  return fmt::format("{:.4g} ", value);
}

std::string problem_text(const Problem& problem, const ProblemFacts& facts) {
  const bool cold = facts.cold.value_or(problem.backend != Backend::host);
  std::string text = "## Problem: " + clean_text(problem.name) + "\n\n";
  if (!problem.description.empty()) text += clean_text(problem.description) + "\n\n";
  text += has_module_reference(problem) ? "What is sought: a module in Python."
                                        : fmt::format("Backend: {}.", to_string(problem.backend));
  if (!problem.function.empty()) text += " Function: `" + clean_text(problem.function) + "`.";
  if (problem.backend == Backend::host) text += fmt::format(" Threads that it may use: {}.", problem.threads);
  text += "\n";
  if (has_module_reference(problem)) return text + module_text(problem);
  if (has_command_reference(problem)) return text + commands_text(problem);
  for (const std::string& function : entry_functions(problem))
    for (const KernelRegion region : kernel_regions)
      if (const auto signature = function_signature(text_of(problem.kernel.regions, region), function))
        text += "Signature: `" + clean_text(signature->text(function)) + "`.\n";
  text += "\nArguments, in order:\n";
  for (const Argument& argument : problem.arguments) text += argument_text(problem, argument);
  text += shapes_text(problem, facts, cold) + launch_text(problem);
  if (!problem.launch.empty() && !facts.fixed_kernel) text += "Its expressions may use the tunables.\n";
  if (problem.valid)
    text += "\nA configuration is refused for a shape unless: " + clean_text(problem.valid->text()) + '\n';
  text += timing_text(problem, cold) + build_text(problem);
  return text;
}

}  // namespace kernelsearch
