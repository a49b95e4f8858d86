// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/candidate_code.hpp"

#include <algorithm>
#include <cstdlib>

#include "evaluator/gpu/device_source.hpp"
#include "kernelsearch/judge/library_use.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"

namespace kernelsearch::detail::gpu {
namespace {

/// How a launch function is called, with CUDA's names; those of HIP differ in the prefix. Without standard
/// headers, so that it compiles as any C++ that the flags ask for. A stream is passed on where the function
/// takes one, and what it returns is understood: nothing, false for "not these sizes", or an error.
constexpr std::string_view entry_text = R"(namespace kernelsearch_launch {
// of 16 bits a type that the regions choose, __half or a plain number
struct Halves {
  void* data;
  template <class T>
  operator T*() const {
    static_assert(sizeof(T) == 2, "an array of 16-bit numbers");
    return static_cast<T*>(data);
  }
};
struct Half {
  const void* data;
  template <class T>
  operator T() const {
    static_assert(sizeof(T) == 2, "a 16-bit number");
    return *static_cast<const T*>(data);
  }
};
// of a byte: __nv_fp8_e4m3, two floats of 4 bits, or a plain number
struct Bytes {
  void* data;
  template <class T>
  operator T*() const {
    static_assert(sizeof(T) == 1, "an array of bytes: of 8-bit floats, or of two elements in each");
    return static_cast<T*>(data);
  }
};
// of c64: float2 and the like, or the parts
struct Pairs {
  void* data;
  template <class T>
  operator T*() const {
    static_assert(sizeof(T) == 8 || sizeof(T) == 4, "an array of c64: of pairs of float, or of their parts");
    return static_cast<T*>(data);
  }
};
struct Done {};
inline int operator,(bool launched, Done) { return launched ? 0 : -1; }
inline int operator,(int status, Done) { return status; }
inline int operator,(cudaError_t status, Done) { return static_cast<int>(status); }
inline int code(int status) { return status; }
inline int code(Done) { return 0; }
template <class F, class... A>
auto call(int, F launch, cudaStream_t stream, A... a) -> decltype(launch(a..., stream)) {
  return launch(a..., stream);
}
template <class F, class... A>
auto call(long, F launch, cudaStream_t, A... a) -> decltype(launch(a...)) {
  return launch(a...);
}
}
extern "C" __attribute__((visibility("default"))) const char* kernelsearch_status_text(int status) {
  return cudaGetErrorString(static_cast<cudaError_t>(status));
}
extern "C" __attribute__((visibility("default"))) int kernelsearch_entry(void* const* p, void* stream) {
  const int status = kernelsearch_launch::code((
      kernelsearch_launch::call(0, &)";

std::string with_names_of(GpuBackend backend, std::string text) {
  if (backend == GpuBackend::cuda) return text;
  for (std::size_t at = text.find("cuda"); at != std::string::npos; at = text.find("cuda", at + 3))
    text.replace(at, 4, "hip");
  return text;
}

/// The value of parameter `i` of a call, as the worker lays it out.
std::string parameter(const Argument& argument, std::size_t i) {
  const std::string place = "p[" + std::to_string(i) + "]";
  if (argument.tensor_map) return "*static_cast<const CUtensorMap*>(" + place + ")";
  const bool half = argument.type == ElementType::f16 || argument.type == ElementType::bf16;
  const std::string type(argument.structure ? argument.structure->name : cpp_name(argument.type)),
      given = argument.role == Role::in ? "const " : "";
  if (!argument.is_array)
    return half ? "kernelsearch_launch::Half{" + place + "}"
                : "*static_cast<const " + type + "*>(" + place + ")";
  if (argument.complex) return "kernelsearch_launch::Pairs{*static_cast<void**>(" + place + ")}";
  if (is_small_float(argument.type) || is_packed(argument.type))
    return "kernelsearch_launch::Bytes{*static_cast<void**>(" + place + ")}";
  if (half) return "kernelsearch_launch::Halves{*static_cast<void**>(" + place + ")}";
  return "*static_cast<" + given + type + "**>(" + place + ")";
}

/// Whether the linker said that an object which is not part of a library calls the symbol.
bool object_calls(std::string_view log, std::string_view symbol) {
  const std::string reference = ": reference to " + std::string(symbol);
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (!line.ends_with(reference)) continue;
    line.remove_suffix(reference.size());
    if (const std::size_t plugin = line.find(" (symbol from plugin)"); plugin != std::string_view::npos)
      line = line.substr(0, plugin);
    if (line.ends_with(".o")) return true;  // a member of a library is in parentheses
  }
  return false;
}

/// What a launch function's library calls beyond what the problem allows, in words.
std::optional<std::string> forbidden_calls(const Problem& problem, const Candidate& candidate,
                                           const Built& built) {
  const auto* bytes = reinterpret_cast<const char*>(built.image->data());
  auto use = read_library_use({bytes, built.image->size()});
  if (!use) return "the library that its compiler made cannot be read, so what it calls is not known";
  use->undefined.clear();
  for (const char* symbol : loading_symbols)
    if (object_calls(built.log, symbol)) use->undefined.emplace_back(symbol);
  std::vector<std::string> allowed = allowed_libraries(problem, candidate);
  allowed.insert(allowed.end(), {"cuda", "cudart", "amdhip64", "hsa-runtime64"});
  if (const char* runtime = std::getenv("KERNELSEARCH_HIP_RUNTIME"); runtime != nullptr) {
    const std::string_view path = runtime;
    allowed.emplace_back(path);
    allowed.emplace_back(path.substr(path.rfind('/') + 1));
  }
  return forbidden_use(*use, allowed);
}

}  // namespace

std::string library_source(const Problem& problem, const Candidate& candidate) {
  const GpuBackend backend = gpu_backend_of(problem.backend).value_or(GpuBackend::hip);
  const auto& arguments = problem.arguments;
  std::string text = "#include <cstddef>\n#include <cstdint>\n";
  if (backend == GpuBackend::hip) text += "#include <hip/hip_runtime.h>\n";
  if (std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) { return a.tensor_map; }))
    text += "#include <cuda.h>\n";
  text += tunable_definitions(*candidate.kernel, candidate.config) +
          named_region(problem, candidate, KernelRegion::macros) +
          named_region(problem, candidate, KernelRegion::device) +
          named_region(problem, candidate, KernelRegion::host) + layout_checks(problem) +
          "#line 1 \"kernelsearch_entry\"\n" + with_names_of(backend, std::string(entry_text)) +
          problem.function + ", static_cast<" + with_names_of(backend, "cudaStream_t") + ">(stream)";
  for (std::size_t i = 0; i < arguments.size(); ++i) text += ",\n          " + parameter(arguments[i], i);
  return text +
         "),\n      kernelsearch_launch::Done()));\n  return status != 0 ? status : static_cast<int>(" +
         with_names_of(backend, "cudaGetLastError") + "());\n}\n";
}

Built build_candidate(BuilderPool& builders, const Problem& problem, const Candidate& candidate,
                      const GpuDevice& device, const GpuOptions& options, const std::stop_token& stop) {
  if (launches_itself(*candidate.kernel) != launches_itself(problem.kernel)) {
    Built refused;
    refused.verdict = Verdict::rejected;
    refused.reason = launches_itself(problem.kernel) ? "it has no host region to launch it"
                                                     : "the problem's `launch` launches it, no host region";
    return refused;
  }
  if (const auto steps = try_launch_of(problem, *candidate.kernel); !steps) {
    Built refused;
    refused.verdict = Verdict::rejected;
    refused.reason = "its launch cannot be used: " + steps.error();
    return refused;
  }
  if (!problem.build.command.empty())
    return builders.build_by_command(
        device_build_command(problem, candidate, architecture_of(device, options)),
        launched_kernels(problem, candidate), stop);
  const auto all = problem_options(problem, device, options, candidate_flags(problem, candidate));
  if (launches_itself(*candidate.kernel)) {
    Built built = builders.build_library(library_source(problem, candidate), all, stop);
    if (built.verdict != Verdict::ok) return built;
    if (auto forbidden = forbidden_calls(problem, candidate, built)) {
      built.verdict = Verdict::cheated;
      built.reason = *std::move(forbidden);
    }
    return built;
  }
  return builders.build(device_source(problem, candidate), all, launched_kernels(problem, candidate), stop);
}

std::string compiler_identity(BuilderPool& builders, const Problem& problem) {
  if (launches_itself(problem.kernel)) return builders.library_identity();
  if (problem.build.command.empty()) return builders.identity();
  // The reference and our own kernels come from the run-time compiler. What identifies the command does not
  // depend on the architecture.
  return builders.identity() + "; " +
         builders.command_identity(device_build_command(problem, problem.default_candidate(), "any"));
}

std::optional<WorkerError> load_candidate(GpuWorkerClient& worker, ModuleId module,
                                          const std::vector<std::byte>& image, bool library,
                                          const std::vector<std::string>& functions,
                                          std::vector<FunctionFacts>& facts) {
  return library ? worker.load_library(module, image) : worker.load(module, image, functions, facts);
}

}  // namespace kernelsearch::detail::gpu
