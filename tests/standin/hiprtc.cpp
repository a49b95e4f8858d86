// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of hipRTC that the library binds, with the signatures of hiprtc.h.
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu_compiler.hpp"
#include "injection.hpp"

using namespace kernelsearch_standin;

#define EXPORTED extern "C" __attribute__((visibility("default"))) int
#define ENTER(function) \
  if (const int status = count_call(#function); status != 0) return status

namespace {

/// hiprtcResult.
enum Result : int {
  success = 0,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6,
  no_names_after_compilation = 8,
  no_lowered_names_before_compilation = 9,
  name_not_valid = 10,
};

struct Program {
  std::string source, name;
  std::vector<std::string> expressions;
  bool compiled = false;
  CpuCode code;
  std::vector<std::string> lowered;
};

std::mutex& one_at_a_time() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
std::unique_ptr<Injection> injection;

int count_call(const char* function) {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  if (injection == nullptr) injection = std::make_unique<Injection>();
  return injection->count(function);
}

Program* program_of(void* handle) {
  return static_cast<Program*>(handle);
}

}  // namespace

/// As if the process began anew: also reads the environment again.
extern "C" __attribute__((visibility("default"))) void kernelsearch_standin_reset() {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  injection.reset();
}

EXPORTED hiprtcVersion(int* major, int* minor) {
  ENTER(hiprtcVersion);
  if (major == nullptr || minor == nullptr) return invalid_input;
  // No release of hipRTC: what is kept under the compiler's name is never taken for AMD's code, nor the code
  // for one warp for that of another.
  *major = 0;
  *minor = static_cast<int>(warp_of_target());
  return success;
}
EXPORTED hiprtcCreateProgram(void** program, const char* source, const char* name, int headers,
                             const char* const* /*texts*/, const char* const* /*names*/) {
  ENTER(hiprtcCreateProgram);
  if (program == nullptr || source == nullptr || headers != 0) return invalid_input;
  *program = new Program{source, name != nullptr ? name : "CompileSource", {}, false, {}, {}};
  return success;
}
EXPORTED hiprtcDestroyProgram(void** program) {
  ENTER(hiprtcDestroyProgram);
  if (program == nullptr || *program == nullptr) return invalid_program;
  delete program_of(*program);
  *program = nullptr;
  return success;
}
EXPORTED hiprtcAddNameExpression(void* program, const char* expression) {
  ENTER(hiprtcAddNameExpression);
  if (program == nullptr) return invalid_program;
  if (expression == nullptr || *expression == '\0') return invalid_input;
  if (program_of(program)->compiled) return no_names_after_compilation;
  program_of(program)->expressions.emplace_back(expression);
  return success;
}
EXPORTED hiprtcCompileProgram(void* program, int count, const char* const* options) {
  ENTER(hiprtcCompileProgram);
  if (program == nullptr) return invalid_program;
  Program& p = *program_of(program);
  p.code = compile_for_cpu(p.source, p.name, p.expressions,
                           std::vector<std::string>(options, options + (count > 0 ? count : 0)));
  p.compiled = true;
  for (std::size_t i = 0; i < p.expressions.size(); ++i)
    p.lowered.push_back("kernelsearch_standin_call_" + std::to_string(i));
  return p.code.ok ? success : compilation;
}
EXPORTED hiprtcGetProgramLogSize(void* program, std::size_t* bytes) {
  ENTER(hiprtcGetProgramLogSize);
  if (program == nullptr || bytes == nullptr) return invalid_input;
  *bytes = program_of(program)->code.log.size() + 1;
  return success;
}
EXPORTED hiprtcGetProgramLog(void* program, char* log) {
  ENTER(hiprtcGetProgramLog);
  if (program == nullptr || log == nullptr) return invalid_input;
  const std::string& text = program_of(program)->code.log;
  std::memcpy(log, text.c_str(), text.size() + 1);
  return success;
}
EXPORTED hiprtcGetCodeSize(void* program, std::size_t* bytes) {
  ENTER(hiprtcGetCodeSize);
  if (program == nullptr || bytes == nullptr) return invalid_input;
  *bytes = program_of(program)->code.image.size();
  return success;
}
EXPORTED hiprtcGetCode(void* program, char* code) {
  ENTER(hiprtcGetCode);
  if (program == nullptr || code == nullptr) return invalid_input;
  const std::vector<char>& image = program_of(program)->code.image;
  if (!image.empty()) std::memcpy(code, image.data(), image.size());
  return success;
}
EXPORTED hiprtcGetLoweredName(void* program, const char* expression, const char** lowered) {
  ENTER(hiprtcGetLoweredName);
  if (program == nullptr || expression == nullptr || lowered == nullptr) return invalid_input;
  const Program& p = *program_of(program);
  if (!p.compiled || !p.code.ok) return no_lowered_names_before_compilation;
  for (std::size_t i = 0; i < p.expressions.size(); ++i) {
    if (p.expressions[i] != expression) continue;
    *lowered = p.lowered[i].c_str();
    return success;
  }
  return name_not_valid;
}
