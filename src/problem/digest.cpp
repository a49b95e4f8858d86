// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/digest.hpp"

#include <openssl/evp.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch {
namespace {

/// Fields in a fixed order, each with its length, so that no two lists of fields read the same.
class Canonical {
 public:
  Canonical& text(std::string_view field) {
    (bytes_ += std::to_string(field.size())) += ':';
    bytes_ += field;
    return *this;
  }
  Canonical& number(double value) { return text(to_string(Value{value})); }
  Canonical& count(std::size_t value) { return text(std::to_string(value)); }
  Canonical& value(const Value& one) { return text(type_name(one)).text(to_string(one)); }
  Canonical& formula(const std::optional<Expression>& one) { return text(one ? "=" + one->text() : ""); }
  Canonical& formulas(const std::vector<Expression>& all) {
    count(all.size());
    for (const Expression& one : all) formula(one);
    return *this;
  }
  Canonical& texts(const std::vector<std::string>& all) {
    count(all.size());
    for (const std::string& one : all) text(one);
    return *this;
  }
  Canonical& tolerance(const Tolerance& one) { return number(one.absolute).number(one.relative); }
  Canonical& later_tolerance(const std::string& name, const Tolerance& one) {
    if (one.matched_ratio != 1) text("matched_ratio").text(name).number(one.matched_ratio);
    if (one.cap_absolute) text("cap").text(name).number(*one.cap_absolute);
    if (one.cap_relative) text("relative cap").text(name).number(*one.cap_relative);
    if (one.infinities != Infinities::as_expected)
      text("infinities").text(name).count(static_cast<std::size_t>(one.infinities));
    return *this;
  }
  Canonical& regions(const Regions& one) { return text(one.device).text(one.host).text(one.macros); }
  Canonical& named(const std::vector<NamedValue>& all) {
    count(all.size());
    for (const auto& [name, one] : all) text(name).value(one);
    return *this;
  }
  Canonical& argument(const Problem& problem, const Argument& one) {
    text(one.name)
        .text(to_string(one.type))
        .count(one.is_array ? 1 : 0)
        .count(static_cast<std::size_t>(one.role));
    formula(one.size).formula(one.value).count(static_cast<std::size_t>(one.initialisation));
    number(one.low).number(one.high).tolerance(problem.tolerance_of(one)).text(one.symbol);
    count(one.tensor_map ? 1 : 0);
    return one.tensor_map ? tensor_map(*one.tensor_map) : *this;
  }
  Canonical& tensor_map(const TensorMap& one) {
    text(one.array).formulas(one.sizes).formulas(one.strides).formulas(one.box);
    return formula(one.swizzle).formula(one.promotion);
  }
  Canonical& geometry(const LaunchGeometry& one) {
    formulas(one.grid).formulas(one.block).formulas(one.cluster).formula(one.shared_bytes);
    // Only where it is used, so that digests of problems without it are as they always were.
    if (!one.local.empty()) text("local").count(one.local.size());
    for (const LocalArray& array : one.local) text(array.name).formula(array.bytes);
    return *this;
  }
  Canonical& step(const LaunchStep& one) {
    text(one.function).text(one.zero).texts(one.arguments).geometry(one.geometry);
    return formula(one.condition);
  }

  /// What later versions of the format brought enters only where it is used, so that digests of problems
  /// without it are as they always were.
  Canonical& later_parts(const Problem& problem) {
    for (const Argument& one : problem.arguments) {
      if (one.structure) {
        text("struct").text(one.name).text(one.structure->name).count(one.structure->fields.size());
        for (const StructField& field : one.structure->fields)
          text(field.name).text(to_string(field.type)).number(field.low).number(field.high);
        if (one.is_output()) field_tolerances(problem, *one.structure);
      }
      if (one.low_expression || one.high_expression)
        text("range").text(one.name).formula(one.low_expression).formula(one.high_expression);
      if (one.edge) {
        text("edge").text(one.name).count(one.edge->size());
        for (const double value : *one.edge) number(value);
      }
      if (!one.exact.empty()) text("exact").text(one.name);
      if (one.quantised) {
        text("quantised").text(one.name).text(one.quantised->scale).text(one.quantised->of);
        formula(one.quantised->columns).formulas(one.quantised->block);
      }
      if (one.complex) text("c64").text(one.name);
      if (one.is_output()) later_tolerance(one.name, problem.tolerance_of(one));
      if (one.total) text("offsets").text(one.name).formula(one.total).number(one.skew);
      if (!one.files.empty()) text("files").text(one.name).data(one.files);
    }
    if (problem.generator) generator(*problem.generator);
    if (!problem.files.empty()) {
      text("sources").texts(problem.include).texts(problem.sources).texts(problem.reference.sources);
      count(problem.files.size());
      for (const SourceFile& file : problem.files) text(file.path).text(file.text);
    }
    if (!problem.build.libraries.empty()) text("libraries").texts(problem.build.libraries);
    if (!problem.reference.libraries.empty()) text("reference").texts(problem.reference.libraries);
    if (!problem.reference.compiler.empty()) text("reference compiler").text(problem.reference.compiler);
    if (!problem.build.command.empty()) build_command(problem);
    if (problem.external) external(problem);
    if (problem.bit_exact) text("bit_exact");
    if (problem.hidden_shapes) hidden_shapes(*problem.hidden_shapes);
    if (!problem.trivial_answers.empty()) text("trivial answers");
    if (problem.libraries) text("allowed libraries").texts(*problem.libraries);
    if (problem.over_read_bytes != 0) text("over_read_bytes").count(problem.over_read_bytes);
    return *this;
  }
  /// An output of structs is compared field by field, each by the tolerance of its type. A tolerance enters
  /// only where it is not the default, so that digests of other problems are as they always were.
  Canonical& field_tolerances(const Problem& problem, const StructType& type) {
    const auto bytes = [](ElementType of, const Tolerance& tolerance) {
      const std::string name(to_string(of));
      return Canonical()
          .text("field tolerance")
          .text(name)
          .tolerance(tolerance)
          .later_tolerance(name, tolerance)
          .bytes_;
    };
    std::set<ElementType> types;
    for (const StructField& field : type.fields) types.insert(field.type);
    for (const ElementType of : types)
      if (const std::string own = bytes(of, problem.tolerance_of(of));
          own != bytes(of, default_tolerance(of)))
        bytes_ += own;
    return *this;
  }
  Canonical& build_command(const Problem& problem) {
    const HostBuild& build = problem.build;
    text("build command").texts(build.command).text(problem.names.device).count(build.files.size());
    for (const SourceFile& file : build.files) text(file.path).text(file.text);
    count(build.identity.size());
    for (const std::vector<std::string>& one : build.identity) texts(one);
    return texts(build.readable);
  }
  Canonical& external(const Problem& problem) {
    const ExternalProgram& program = *problem.external;
    text("external").texts(program.command).count(program.files.size());
    for (const SourceFile& file : program.files) text(file.path).text(file.text);
    count(program.identity.size());
    for (const std::vector<std::string>& one : program.identity) texts(one);
    texts(program.readable).count(program.devices ? 1 : 0);
    return count(static_cast<std::size_t>(program.clock));
  }
  Canonical& data(const std::vector<InputFile>& files) {
    count(files.size());
    for (const InputFile& file : files) {
      text(file.shape).text(file.digest);
      if (!file.tensor.empty()) text("tensor").text(file.tensor);
    }
    return *this;
  }
  Canonical& hidden_shapes(const HiddenShapes& one) {
    if (!one.none.empty()) return text("no hidden shapes");
    text("hidden shapes").count(one.count).count(one.ranges.size());
    for (const SizeRange& range : one.ranges)
      text(range.name).value(Value{range.low}).value(Value{range.high}).value(Value{range.multiple_of});
    return formulas(one.where);
  }
  Canonical& generator(const GeneratedInputs& one) {
    text("generator").text(one.source).texts(one.flags).data(one.matrix_market);
    return text(one.row_pointers).text(one.columns).text(one.values).texts(one.sizes);
  }

  [[nodiscard]] std::string digest() const { return sha256(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

namespace {

[[noreturn]] void refused() {
  detail::raise<Error>("SHA-256 is not available", "the system's OpenSSL refused it",
                       "check its configuration");
}

std::string hexadecimal(const unsigned char* digest, unsigned int size) {
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) refused();
  return hexadecimal(digest, size);
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) refused();
  std::vector<char> part(std::size_t{1} << 20);
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    if (EVP_DigestUpdate(context.get(), part.data(), static_cast<std::size_t>(file.gcount())) != 1) refused();
  }
  if (!file.eof()) return {};
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(context.get(), digest, &size) != 1) refused();
  return hexadecimal(digest, size);
}

std::string problem_digest(const Problem& problem) {
  Canonical all;
  all.text("kernelsearch problem 2").text(to_string(problem.backend)).text(problem.function);
  all.count(problem.arguments.size());
  for (const Argument& argument : problem.arguments) all.argument(problem, argument);
  all.count(problem.shapes.size());
  for (const Shape& shape : problem.shapes) all.text(shape.name).number(shape.weight).named(shape.variables);
  all.formula(problem.valid);
  all.text(problem.reference.source).text(problem.reference.function).texts(problem.reference.flags);
  if (problem.reference.source.empty())
    all.regions(problem.kernel.regions)
        .named(named_values(problem.kernel.space, problem.kernel.space.default_config()));
  all.text(problem.build.compiler).texts(problem.build.flags);
  all.count(problem.reference.launch ? 1 : 0);
  if (problem.reference.launch) all.geometry(*problem.reference.launch);
  all.count(problem.launch.size());
  for (const LaunchStep& step : problem.launch) all.step(step);
  all.count(static_cast<std::size_t>(problem.aggregate)).count(static_cast<std::size_t>(problem.threads));
  all.later_parts(problem);
  return all.digest();
}

std::string kernel_digest(const Kernel& kernel) {
  Canonical all;
  all.text("kernelsearch kernel 1").regions(kernel.regions).count(kernel.space.size());
  for (const Tunable& tunable : kernel.space.tunables()) {
    all.text(tunable.name).text(to_string(tunable.kind)).count(tunable.values.size());
    for (const Value& value : tunable.values) all.value(value);
    all.count(tunable.default_index).formula(tunable.active_if);
    if (tunable.role != TunableRole::none) all.text(to_string(tunable.role));  // kernels without keep theirs
  }
  all.count(kernel.space.constraints().size());
  for (const Constraint& constraint : kernel.space.constraints()) all.text(constraint.text());
  return all.digest();
}

std::string candidate_digest(const Candidate& candidate) {
  Canonical all;
  all.text("kernelsearch candidate 1").regions(candidate.kernel->regions);
  all.named(named_values(candidate.kernel->space, candidate.config));
  return all.digest();
}

}  // namespace kernelsearch
