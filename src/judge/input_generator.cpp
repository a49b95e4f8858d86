// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/input_generator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

#include "judge/compile.hpp"
#include "judge/fresh_inputs.hpp"
#include "judge/generator/kernelsearch_inputs.hpp"
#include "judge/runner.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "problem/matrix_market.hpp"

namespace kernelsearch::detail {

/// The text of generator/kernelsearch_inputs.hpp, which the build compiles in.
std::string_view inputs_header() noexcept;

namespace {

namespace protocol = kernelsearch::inputs::detail;

constexpr const char* header_name = "kernelsearch_inputs.hpp";

bool is_generated(const Argument& argument) {
  return argument.is_input() && argument.initialisation == Initialisation::generator;
}

void copy_name(const std::string& name, char (&to)[protocol::most_name]) {
  if (name.size() >= protocol::most_name)
    raise<ConfigError>("a name is too long for the generator of inputs", name, "use at most 63 characters");
  std::memcpy(to, name.c_str(), name.size() + 1);
}

protocol::Variable variable_of(const NamedValue& value) {
  protocol::Variable variable{};
  copy_name(value.first, variable.name);
  variable.real = to_number(value.second);
  if (const auto* whole = std::get_if<std::int64_t>(&value.second))
    variable.whole = *whole;
  else
    variable.whole = std::abs(variable.real) < 0x1p62 ? static_cast<std::int64_t>(variable.real) : 0;
  variable.is_real = std::holds_alternative<double>(value.second) ? 1 : 0;
  variable.is_set = 1;
  return variable;
}

CompileJob generator_job(const Problem& problem) {
  const GeneratedInputs& generator = *problem.generator;
  CompileJob job;
  job.source =
      "#include \"" + std::string(header_name) + "\"\n" +
      region(problem.names.generator.empty() ? "inputs.cpp" : problem.names.generator, generator.source) +
      "#line 1 \"kernelsearch_entry\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void kernelsearch_entry(void* const* arguments) "
      "{\n"
      "  namespace ks = kernelsearch::inputs;\n"
      "  auto& control = *static_cast<ks::detail::Control*>(arguments[0]);\n"
      "  ks::detail::answer(control, [&] {\n";
  if (!generator.sizes.empty())
    job.source +=
        "    if (control.wants_sizes != 0) {\n      ks::Sizes sizes(control);\n      return "
        "make_sizes(sizes);\n    }\n";
  job.source += "    ks::Request request(control, arguments + 1);\n    make_inputs(request);\n  });\n}\n";
  job.files = problem.files;
  std::erase_if(job.files, [](const SourceFile& file) { return file.path == header_name; });
  job.files.push_back({header_name, std::string(inputs_header())});
  job.include = problem.include;
  job.include.emplace_back(".");  // <kernelsearch_inputs.hpp> too
  // Device problems name compilers that make no programs for the host.
  job.command = {is_device(problem.backend) ? std::string("g++")
                                            : compile_command(problem, problem.default_candidate()).front()};
  for (const std::string& flag : generator.flags) {
    std::istringstream words(flag);
    for (std::string word; words >> word;) job.command.push_back(word);
  }
  return job;
}

}  // namespace

struct InputGenerator::Impl {
  Impl(const Problem& given, const HostOptions& chosen) : problem(given), options(chosen) {}

  [[noreturn]] void fail(const std::string& what, const std::string& given, const char* todo) const {
    raise<ConfigError>("the problem's generator of inputs " + what, problem.name + ": " + given, todo);
  }

  void build() {
    if (!library.empty()) return;
    const HostMachine machine = host_machine();
    CompileCache compiler(options, machine.id(), machine.cores);
    const Compiled compiled = compiler.compile(generator_job(problem));
    if (compiled.verdict != Verdict::ok)
      fail("does not build", "\n" + compiled.reason,
           "fix it: it includes kernelsearch_inputs.hpp and defines void "
           "make_inputs(kernelsearch::inputs::Request&), with \"sizes\" also void "
           "make_sizes(kernelsearch::inputs::Sizes&)");
    library = compiled.library;
    settings = worker_settings(options, machine.cores);
    settings.call_seconds = settings.run_seconds;  // it fills all arrays of a shape in one call
  }

  protocol::Control request_of(const Shape& shape) const {
    protocol::Control control{};
    control.version = protocol::version;
    const auto add = [&](const NamedValue& value, protocol::Variable* to, std::uint32_t& count) {
      if (count == protocol::most_variables) fail("gets too many variables", shape.name, "128 are allowed");
      to[count++] = variable_of(value);
    };
    for (const NamedValue& variable : shape.variables)
      add(variable, control.variables, control.variable_count);
    for (const std::string& name : problem.generator->sizes) {
      NamedValue size{name, std::int64_t{0}};
      for (const NamedValue& known : shape.generated)
        if (known.first == name) size = known;
      add(size, control.sizes, control.size_count);
    }
    return control;
  }

  /// Calls the generator on slot 0 for `plan`, whose first argument is the control block.
  void call(const ShapePlan& plan, const protocol::Control& control, const Shape& shape,
            protocol::Control& answer) {
    build();
    Contents contents(plan.arguments.size());
    contents[0].resize(sizeof control);
    std::memcpy(contents[0].data(), &control, sizeof control);
    const ArenaBytes needed = Slots(plan, Storage::native, 0, 1, 1).arena_bytes();
    std::optional<Fault> fault;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!runner || !runner->worker().alive() || !runner->arena_bytes().holds(needed))
        runner = std::make_unique<Runner>(settings, library, Storage::native, false, needed);
      fault = runner->fault();
      if (fault) break;
      runner->select(plan, 0, 1, 1);
      runner->slots().fill(0, contents, secret_seed());
      double seconds = 0;
      fault = runner->run(1, 0, settings.run_seconds, seconds);
      // The process may have used up its processor time in earlier calls, or ended with the thread that
      // began it.
      if (!fault || fault->verdict == Verdict::timed_out) break;
    }
    if (fault && fault->verdict == Verdict::timed_out)
      fail("takes too long", fault->reason + " (shape " + shape.name + ")",
           "make it faster, or the shape smaller");
    if (fault) fail("fails", fault->reason + " (shape " + shape.name + ")", "fix it");
    if (!runner->slots().guards_intact(0))
      fail("writes past an array", "shape " + shape.name, "fix it, or the sizes of the arguments");
    std::memcpy(&answer, runner->slots().data(0, 0), sizeof answer);
    answer.error[sizeof answer.error - 1] = '\0';
    if (answer.failed != 0 || answer.done != 1)
      fail("gives up", std::string(answer.error) + " (shape " + shape.name + ")", "fix it");
  }

  static PlannedArgument control_argument() {
    PlannedArgument argument;
    argument.type = ElementType::u8;
    argument.is_array = true;
    argument.role = Role::inout;
    argument.initialisation = Initialisation::zeros;
    argument.count = sizeof(protocol::Control);
    return argument;
  }

  /// Fills those arrays of `contents` that are wanted and left to the generator.
  void generate(const ShapePlan& plan, InputFlavour flavour, std::uint64_t seed,
                const std::vector<bool>& wanted, Contents& contents) {
    const Shape& shape = problem.shapes[plan.shape];
    protocol::Control control = request_of(shape), answer{};
    control.seed = seed;
    control.flavour = static_cast<kernelsearch::inputs::Flavour>(flavour);
    ShapePlan call_plan;
    call_plan.shape = plan.shape;
    call_plan.arguments.push_back(control_argument());
    std::vector<std::size_t> arrays;
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
      if (!is_generated(problem.arguments[a])) continue;
      if (arrays.size() == protocol::most_arrays) fail("has too many arrays", shape.name, "63 are allowed");
      PlannedArgument array = plan.arguments[a];
      array.role = Role::out;
      protocol::ArrayInfo& info = control.arrays[control.array_count++];
      copy_name(problem.arguments[a].name, info.name);
      info.count = array.count;
      info.element_bytes = static_cast<std::uint32_t>(array.element_bytes());
      arrays.push_back(a);
      call_plan.arguments.push_back(std::move(array));
    }
    const auto run = [&](Contents& to) {
      std::vector<std::vector<std::size_t>> left(arrays.size());  // of each array, what may be unfilled
      const auto nothing_left = [&left] {
        return std::all_of(left.begin(), left.end(), [](const auto& elements) { return elements.empty(); });
      };
      // What holds the poison was left as it was, or given that value by chance: over other poison a value
      // does not.
      constexpr int times = 3;
      for (int time = 0; time == 0 || (time < times && !nothing_left()); ++time) {
        call(call_plan, control, shape, answer);
        const Slots& slots = runner->slots();
        for (std::size_t i = 0; i < arrays.size(); ++i) {
          if (time == 0 && slots.poison_left(0, i + 1) != 0) {
            left[i].resize(plan.arguments[arrays[i]].count);
            std::iota(left[i].begin(), left[i].end(), std::size_t{0});
          }
          std::erase_if(left[i], [&](std::size_t element) { return !slots.is_poison(0, i + 1, element); });
        }
      }
      const Slots& slots = runner->slots();
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::size_t a = arrays[i];
        if (!left[i].empty())
          fail("leaves elements unfilled",
               std::to_string(left[i].size()) + " of " + std::to_string(plan.arguments[a].count) + " of " +
                   problem.arguments[a].name + " (shape " + shape.name + ")",
               "write every element of every array that has \"init\": \"generator\"");
        if (wanted.empty() || wanted[a])
          to[a].assign(slots.data(0, i + 1), slots.data(0, i + 1) + slots.bytes(i + 1));
      }
    };
    run(contents);
    if (!tried.emplace(plan.shape, 0).second) return;
    // Once for each shape a second time over other poison: elements that differ were left as they were, also
    // where one byte is too narrow to tell, or are not made from the seed alone.
    Contents again(contents.size());
    run(again);
    for (const std::size_t a : arrays)
      if ((wanted.empty() || wanted[a]) && again[a] != contents[a])
        fail("does not give the same for the same seed",
             problem.arguments[a].name + " (shape " + shape.name + ")",
             "write every element, and draw only from request.random() or request.seed()");
  }

  const SparseMatrix& matrix_of(const Shape& shape) {
    const auto& files = problem.generator->matrix_market;
    const auto file = std::find_if(files.begin(), files.end(), [&](const InputFile& one) {
      return one.shape.empty() || one.shape == shape.name;
    });
    if (file == files.end())
      fail("has no matrix for a shape", shape.name, "name one under \"matrix_market\"");
    const auto known = matrices.find(file->path.string());
    if (known != matrices.end()) return known->second;
    const std::optional<std::string> text = try_whole_file(file->path);
    if (!text) fail("cannot read its matrix", file->path.string(), "check its permissions");
    if (sha256(*text) != file->digest)
      fail("finds its matrix changed", file->path.string() + " is not what it was when the problem was read",
           "start again");
    auto matrix = try_matrix_market(*text);
    if (!matrix) fail("cannot read its matrix", file->name + ": " + matrix.error(), "fix the file");
    return matrices.emplace(file->path.string(), *std::move(matrix)).first->second;
  }

  std::vector<NamedValue> matrix_sizes(const Shape& shape) {
    const SparseMatrix& matrix = matrix_of(shape);
    const std::array<std::int64_t, 3> values{matrix.rows, matrix.columns,
                                             static_cast<std::int64_t>(matrix.entries.size())};
    std::vector<NamedValue> sizes;
    for (std::size_t i = 0; i < values.size() && i < problem.generator->sizes.size(); ++i)
      sizes.emplace_back(problem.generator->sizes[i], values[i]);
    return sizes;
  }

  /// The part of the matrix that an argument gets.
  void fill_from_matrix(const Argument& argument, std::size_t count, const Shape& shape,
                        std::vector<std::byte>& out) {
    const SparseMatrix& matrix = matrix_of(shape);
    const GeneratedInputs& names = *problem.generator;
    const bool pointers = argument.name == names.row_pointers;
    const std::size_t needed = pointers ? static_cast<std::size_t>(matrix.rows) + 1 : matrix.entries.size();
    if (count != needed)
      fail("has a matrix of another size",
           argument.name + " has " + std::to_string(count) + " elements in shape " + shape.name +
               ", the matrix " + std::to_string(needed),
           "let \"size\" be rows + 1 for row pointers, and entries for columns and values");
    const std::size_t size = argument.element_bytes();
    out.resize(count * size);
    const std::int64_t largest =
        pointers ? static_cast<std::int64_t>(matrix.entries.size()) : matrix.columns - 1;
    if (argument.name != names.values && largest > largest_exact_integer(argument.type))
      fail("has indices that do not fit", argument.name + " is " + std::string(to_string(argument.type)),
           "use a wider type");
    if (pointers) {
      std::size_t entry = 0;
      for (std::size_t row = 0; row < count; ++row) {
        while (entry < matrix.entries.size() && matrix.entries[entry].row < static_cast<std::int64_t>(row))
          ++entry;
        store_element(argument.type, static_cast<std::int64_t>(entry), &out[row * size]);
      }
    } else if (argument.name == names.columns) {
      for (std::size_t i = 0; i < count; ++i)
        store_element(argument.type, matrix.entries[i].column, &out[i * size]);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        store_element(argument.type, matrix.entries[i].value, &out[i * size]);
    }
  }

  const Problem& problem;
  HostOptions options;
  std::filesystem::path library;
  WorkerSettings settings;
  std::unique_ptr<Runner> runner;
  std::map<std::size_t, int> tried;  // shapes that were generated twice and compared
  std::map<std::string, SparseMatrix> matrices;
};

InputGenerator::InputGenerator(const Problem& problem, const HostOptions& options)
    : impl_(std::make_unique<Impl>(problem, options)) {}
InputGenerator::~InputGenerator() = default;

Contents InputGenerator::contents(const ShapePlan& plan, InputFlavour flavour, std::uint64_t seed,
                                  const std::vector<bool>& wanted) {
  const Problem& problem = impl_->problem;
  const Shape& shape = problem.shapes[plan.shape];
  Contents contents(plan.arguments.size());
  bool generates = false;
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    if (!argument.is_input() || argument.is_in_quantised() || (!wanted.empty() && !wanted[a])) continue;
    const std::size_t count = plan.arguments[a].count;
    if (!is_generated(argument)) {
      contents[a].resize(count * argument.element_bytes());
      Rng rng = Rng::stream(seed, argument.name);
      fill_input(at_shape(argument, shape), count, flavour, rng, contents[a].data());
    } else if (!problem.generator) {
      raise<ConfigError>("argument " + argument.name + " is left to a generator that the problem has not",
                         problem.name, "give the problem a \"generator\"");
    } else if (!problem.generator->matrix_market.empty()) {
      impl_->fill_from_matrix(argument, count, shape, contents[a]);
    } else {
      generates = true;
    }
  }
  if (generates) impl_->generate(plan, flavour, seed, wanted, contents);
  for (const QuantisedArray& array : quantised_arrays(problem, plan)) {
    if (!wanted.empty() && !wanted[array.argument] && !wanted[array.scale] && !wanted[array.floats]) continue;
    const Argument& drawn = problem.arguments[array.floats];
    const std::size_t elements = plan.arguments[array.argument].elements();
    std::vector<std::byte> floats(elements * size_in_bytes(array.float_type));
    Rng rng = Rng::stream(seed, drawn.name);
    fill_input(at_shape(drawn.quantised ? floats_of(drawn) : drawn, shape), elements, flavour, rng,
               floats.data());
    write_quantised(array, floats, contents);
    if (array.floats != array.argument) contents[array.floats] = std::move(floats);
  }
  return contents;
}

std::vector<NamedValue> InputGenerator::sizes(const Shape& shape) {
  const Problem& problem = impl_->problem;
  if (!problem.generator || problem.generator->sizes.empty()) return {};
  if (!problem.generator->matrix_market.empty()) return impl_->matrix_sizes(shape);
  protocol::Control control = impl_->request_of(shape), answer{};
  control.wants_sizes = 1;
  for (protocol::Variable& size : control.sizes) size.is_set = 0;
  ShapePlan plan;
  plan.arguments.push_back(Impl::control_argument());
  impl_->call(plan, control, shape, answer);
  std::vector<NamedValue> sizes;
  for (std::size_t i = 0; i < problem.generator->sizes.size(); ++i) {
    if (answer.sizes[i].is_set != 1)
      impl_->fail("gives no value for a size", problem.generator->sizes[i] + " (shape " + shape.name + ")",
                  "call sizes.set for it in make_sizes");
    sizes.emplace_back(problem.generator->sizes[i], answer.sizes[i].whole);
  }
  return sizes;
}

}  // namespace kernelsearch::detail

namespace kernelsearch {

void fill_generated_sizes(Problem& problem, const HostOptions& options) {
  if (!problem.generator || problem.generator->sizes.empty()) return;
  const auto there = [](const Shape& shape) { return !shape.generated.empty(); };
  if (std::all_of(problem.shapes.begin(), problem.shapes.end(), there)) return;
  detail::InputGenerator generator(problem, options);
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  for (Shape& shape : problem.shapes) {
    if (shape.generated.empty()) shape.generated = generator.sizes(shape);
    for (const Argument& argument : problem.arguments) {
      if (argument.tensor_map || argument.role == Role::workspace) continue;
      if (argument.is_array)
        (void)element_count(argument, shape, tunables);
      else
        (void)scalar_value(argument, shape);
      if (argument.is_input()) (void)at_shape(argument, shape);
    }
  }
}

}  // namespace kernelsearch
