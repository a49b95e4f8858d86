// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/t1_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace {

constexpr const char* axis_names[] = {"problem_size_x", "problem_size_y", "problem_size_z"};

struct ElementOf {
  ElementType type;
  int width;  ///< of a vector type such as float4
};

std::optional<ElementOf> element_of(const std::string& name) {
  constexpr std::pair<const char*, ElementType> names[] = {
      {"bool", ElementType::boolean}, {"int8", ElementType::i8},    {"int16", ElementType::i16},
      {"int32", ElementType::i32},    {"int64", ElementType::i64},  {"uint8", ElementType::u8},
      {"uint16", ElementType::u16},   {"uint32", ElementType::u32}, {"uint64", ElementType::u64},
      {"int", ElementType::i32},      {"half", ElementType::f16},   {"float", ElementType::f32},
      {"double", ElementType::f64}};
  for (const auto& [known, type] : names)
    if (name == known) return ElementOf{type, 1};
  for (const auto& [known, type] : names)
    if (is_floating(type))
      for (const int width : {2, 4, 8, 16})
        if (name == known + std::to_string(width)) return ElementOf{type, width};
  return std::nullopt;
}

/// Collects what is missing while the parts of the problem are made.
class Conversion {
 public:
  Conversion(const T1File& file, std::vector<std::string>& missing) : file_(file), missing_(missing) {}

  Problem run(const std::filesystem::path& folder) {
    Problem problem;
    folder_ = folder;
    problem.name = file_.name;
    problem.folder = folder;
    problem.function = file_.kernel_name;
    problem.kernel.space = file_.space;
    problem.build = {{}, file_.compiler_options};
    problem.reference.flags.clear();
    if (file_.language == "CUDA") {
      problem.backend = Backend::cuda;
      problem.build.compiler = "nvrtc";
    } else if (file_.language == "OpenCL") {
      problem.backend = Backend::opencl;
    } else {
      miss("a backend for the language \"" + file_.language + '"');
    }
    if (file_.kernel_name.empty()) miss("KernelName");
    problem.kernel.regions.device = text_ = source(folder);
    Shape shape{"T1", {}, 1.0};
    for (std::size_t i = 0; i < std::min<std::size_t>(3, file_.problem_size.size()); ++i)
      shape.variables.emplace_back(axis_names[i], Value{file_.problem_size[i]});
    problem.shapes.push_back(shape);
    tunables_ = named_values(file_.space, file_.space.default_config());

    bool output = false;
    for (const T1Argument& given : file_.arguments) {
      if (is_opencl() && given.memory_type == "Local") {
        local_memory(given, problem.shapes.front());
        order_.push_back(given.name);
        continue;
      }
      order_.push_back(given.name);
      if (auto made = argument(given, problem.shapes.front())) {
        if (!made->symbol.empty()) order_.pop_back();  // no parameter
        output = output || made->is_output();
        problem.arguments.push_back(*std::move(made));
      }
    }
    if (file_.arguments.empty())
      miss("Arguments");
    else if (!output)
      miss("an argument that is an output");
    launch(problem);
    return problem;
  }

 private:
  void miss(std::string what) { missing_.push_back(std::move(what)); }

  std::string source(const std::filesystem::path& folder) {
    if (file_.kernel_file.empty()) {
      miss("KernelFile");
      return {};
    }
    std::error_code error;
    // A name that leads out of the folder would make any file of the user's the kernel, which is kept and
    // shown.
    const auto path = detail::path_inside(folder, file_.kernel_file);
    std::optional<std::string> text;
    if (path && std::filesystem::is_regular_file(*path, error)) text = try_whole_file(*path);
    if (!text) miss("the kernel's file " + file_.kernel_file);
    return std::move(text).value_or("");
  }

  /// `ProblemSize[0]` becomes a variable; `max(tunable)` is over the tunable's values, as in the hub's files.
  std::string translated(std::string text) const {
    for (std::size_t i = 0; i < 3; ++i)
      detail::replace_all(text, "ProblemSize[" + std::to_string(i) + "]", axis_names[i]);
    for (const Tunable& tunable : file_.space.tunables()) {
      std::optional<double> largest = try_to_number(tunable.values.front());
      for (const Value& value : tunable.values) largest = std::max(largest, try_to_number(value));
      if (!largest) continue;  // a tunable of texts has no largest one: its name shows as unknown
      detail::replace_all(text, "max(" + tunable.name + ")",
                          to_string(Value{static_cast<std::int64_t>(*largest)}));
    }
    return text;
  }

  /// Parses a formula and evaluates it for the shape and the default, so that unknown names show here.
  std::optional<Expression> formula(const std::string& what, const std::string& text, const Shape& shape) {
    std::string error;
    auto expression = Expression::try_parse(translated(text), error);
    if (!expression) {
      miss(what + " as an expression (" + error + ")");
      return std::nullopt;
    }
    for (const std::string& name : expression->names()) {
      const auto known = [&](const std::vector<NamedValue>& values) {
        return std::any_of(values.begin(), values.end(),
                           [&](const NamedValue& value) { return value.first == name; });
      };
      if (known(shape.variables) || known(tunables_)) continue;
      miss("the value of " + name + " in " + what + " (" + text + ")");
      return std::nullopt;
    }
    return expression;
  }

  std::optional<Argument> argument(const T1Argument& given, const Shape& shape) {
    const std::size_t before = missing_.size();
    const std::string who = "argument " + given.name;
    Argument made;
    made.name = given.name;
    const auto element = element_of(given.type);
    if (element)
      made.type = element->type;
    else
      miss("the element type of " + who + " (" + given.type + ")");
    // A __constant parameter of OpenCL is a buffer like others.
    if ((given.constant_memory || given.memory_type == "Symbol") && !is_opencl()) {
      made.symbol = given.name;
      if (!declares_constant(given.name))
        miss("a __constant__ variable called " + given.name + " in the kernel's text, for " + who);
      if (given.output || (!given.access_type.empty() && given.access_type != "ReadOnly"))
        miss("a constant that is only read, for " + who);
    } else if (given.memory_type == "Symbol") {
      miss("constant memory by its variable, for " + who);
    }
    if (given.memory_type == "Local") miss("local memory as an argument, for " + who);
    made.is_array = given.memory_type != "Scalar";
    if (given.access_type == "WriteOnly")
      made.role = Role::out;
    else if (given.access_type == "ReadWrite")
      made.role = Role::inout;
    if (!made.is_array) {
      if (element && element->width != 1) miss("vectors as scalars, for " + who);
      made.role = Role::in;
      const bool whole =
          given.fill_value == std::floor(given.fill_value) && std::abs(given.fill_value) < 0x1p53;
      made.value = Expression::parse(whole && element && !is_floating(element->type)
                                         ? std::to_string(static_cast<std::int64_t>(given.fill_value))
                                         : to_string(Value{given.fill_value}));
    } else {
      fill(given, made);
      if (given.output && made.role == Role::in) made.role = Role::out;
      const int width = element ? element->width : 1;
      if (given.size.empty())
        miss("the size of " + who);
      else
        made.size =
            formula("the size of " + who,
                    width == 1 ? given.size : "(" + given.size + ") * " + std::to_string(width), shape);
    }
    if (made.is_output() && made.size)
      for (const NamedValue& tunable : tunables_)
        if (std::find(made.size->names().begin(), made.size->names().end(), tunable.first) !=
            made.size->names().end())
          miss("a size without tunables for the output " + given.name + " (" + given.size + ')');
    if (missing_.size() != before) return std::nullopt;
    try {
      if (made.is_array) {
        const std::uint64_t needed = element_count(made, shape, tunables_) * made.element_bytes();
        if (!made.files.empty() && made.files.front().bytes != needed) {
          miss("data as long as " + who + " (" + made.files.front().name + " has " +
               std::to_string(made.files.front().bytes) + " bytes of " + std::to_string(needed) + ")");
          return std::nullopt;
        }
      } else
        (void)scalar_value(made, shape);
    } catch (const ConfigError& error) {
      miss("a usable " + who + " (" + error.what() + ")");
      return std::nullopt;
    }
    return made;
  }

  /// Whether the kernel's text declares a `__constant__` variable of that name.
  [[nodiscard]] bool declares_constant(const std::string& name) const {
    constexpr std::string_view keyword = "__constant__";
    for (std::size_t at = text_.find(keyword); at != text_.npos; at = text_.find(keyword, at + 1)) {
      if (detail::has_whole_word(text_.substr(at, text_.find(';', at) - at), name)) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_opencl() const { return file_.language == "OpenCL"; }

  /// Dynamic local memory of a kernel of OpenCL, whose size its launch gives.
  void local_memory(const T1Argument& given, const Shape& shape) {
    const auto element = element_of(given.type);
    if (!element) return miss("the element type of argument " + given.name + " (" + given.type + ")");
    const std::size_t bytes = size_in_bytes(element->type) * static_cast<std::size_t>(element->width);
    if (auto size = formula("the size of argument " + given.name,
                            "(" + given.size + ") * " + std::to_string(bytes), shape))
      local_.push_back({given.name, *std::move(size)});
  }

  void fill(const T1Argument& given, Argument& made) {
    if (made.role == Role::out) return;
    if (given.fill_type == "Constant" && (given.fill_value == 0 || given.fill_value == 1)) {
      made.initialisation = given.fill_value == 0 ? Initialisation::zeros : Initialisation::ones;
    } else if (given.fill_type == "Random" && given.fill_value > 0) {
      made.initialisation = Initialisation::uniform;
      made.low = 0;
      made.high = given.fill_value;
      if (!is_floating(made.type))
        made.high = std::floor(given.fill_value) + 1;  // integers include the bound
    } else if (given.fill_type == "BinaryRaw") {
      fill_from(given, made);
    } else if (given.fill_type == "Generator") {
      miss("a way to fill argument " + given.name +
           ": its Generator is a program that only KTT runs (write its data to a file, as BinaryRaw)");
    } else {
      miss("a way to fill argument " + given.name + " (" + given.fill_type + ' ' +
           to_string(Value{given.fill_value}) + ')');
    }
  }

  void fill_from(const T1Argument& given, Argument& made) {
    const std::filesystem::path name = std::filesystem::path(given.data_source).lexically_normal();
    InputFile file;
    file.name = given.data_source;
    file.path = folder_ / name;
    std::error_code error;
    const bool inside =
        !given.data_source.empty() && name.is_relative() && detail::path_inside(folder_, name).has_value();
    if (inside && std::filesystem::is_regular_file(file.path, error)) {
      file.bytes = std::filesystem::file_size(file.path, error);
      if (!error) file.digest = sha256_of_file(file.path);
    }
    if (file.digest.empty())
      return miss("the data of argument " + given.name + " in the folder (" + given.data_source + ')');
    made.initialisation = Initialisation::file;
    made.files.push_back(std::move(file));
  }

  void launch(Problem& problem) {
    const Shape& shape = problem.shapes.front();
    const std::array<const std::vector<std::string>*, 3> divisors = {&file_.grid_div_x, &file_.grid_div_y,
                                                                     &file_.grid_div_z};
    LaunchStep step;
    step.function = file_.kernel_name;
    step.geometry.local = local_;
    const bool local_last =
        local_.size() <= order_.size() &&
        std::equal(local_.rbegin(), local_.rend(), order_.rbegin(),
                   [](const LocalArray& one, const std::string& name) { return one.name == name; });
    if (!local_last) step.arguments = order_;
    // For OpenCL it would be a further parameter; what kernels declare by themselves they have anyway.
    if (file_.shared_memory > 0 && !is_opencl())
      step.geometry.shared_bytes = Expression::parse(std::to_string(file_.shared_memory));
    const bool divided =
        std::any_of(divisors.begin(), divisors.end(), [](const auto* list) { return !list->empty(); });
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string axis(1, static_cast<char>('X' + static_cast<int>(i)));
      std::string grid = file_.global_size[i];
      if (divided) {
        // The hub's files: blocks are the problem's size over the product of the divisors, rounded up.
        grid = i < shape.variables.size() ? axis_names[i] : "1";
        std::string product;
        for (const std::string& divisor : *divisors[i])
          (product += product.empty() ? "(" : " * (") += divisor + ")";
        if (!product.empty()) grid = "(" + grid + " + " + product + " - 1) // (" + product + ")";
      } else if (file_.global_size_type == "OpenCL" ||
                 (file_.global_size_type.empty() && file_.language == "OpenCL")) {
        const std::string local = "(" + file_.local_size[i] + ")";
        grid = "((" + grid + ") + " + local + " - 1) // " + local;
      }
      if (auto expression = formula("the grid's size " + axis, grid, shape))
        step.geometry.grid.push_back(*std::move(expression));
      if (auto expression = formula("the block's size " + axis, file_.local_size[i], shape))
        step.geometry.block.push_back(*std::move(expression));
    }
    problem.launch.push_back(std::move(step));
  }

  const T1File& file_;
  std::vector<std::string>& missing_;
  std::vector<NamedValue> tunables_;
  std::vector<LocalArray> local_;  ///< parameters in local memory
  std::filesystem::path folder_;
  std::string text_;                ///< of the kernel
  std::vector<std::string> order_;  ///< of the kernel's parameters, by name
};

}  // namespace

Result<Problem, std::vector<std::string>> try_t1_problem(const T1File& file,
                                                         const std::filesystem::path& folder) {
  std::vector<std::string> missing;
  Problem problem = Conversion(file, missing).run(folder);
  if (!missing.empty()) return missing;
  return problem;
}

Problem t1_problem(const T1File& file, const std::filesystem::path& folder) {
  auto problem = try_t1_problem(file, folder);
  if (problem) return *std::move(problem);
  detail::raise<ConfigError>("the T1 file does not suffice as a problem, it lacks",
                             detail::joined(problem.error(), "; "),
                             "search it as a space, or write a problem.json");
}

}  // namespace kernelsearch
