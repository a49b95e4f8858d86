// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/runtime_compiler.hpp"

namespace standin_test {

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

/// Both stand-ins behind the library's own interfaces, as if the process had begun with these settings:
/// `{"FAIL", "hipMalloc:1:2"}` sets KERNELSEARCH_STANDIN_FAIL while it lives.
class StandIn {
 public:
  explicit StandIn(std::initializer_list<std::pair<const char*, const char*>> settings = {}) {
    setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
    setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
    for (const auto& [name, value] : settings) {
      names_.push_back(std::string("KERNELSEARCH_STANDIN_") + name);
      setenv(names_.back().c_str(), value, 1);
    }
    std::string problem;
    driver = load_driver(GpuBackend::hip, problem);
    REQUIRE_MESSAGE(driver != nullptr, problem);
    compiler = RuntimeCompiler::load(GpuBackend::hip, problem);
    REQUIRE_MESSAGE(compiler != nullptr, problem);
    symbol<void()>(KERNELSEARCH_STANDIN_HIP, "kernelsearch_standin_reset")();
    symbol<void()>(KERNELSEARCH_STANDIN_HIPRTC, "kernelsearch_standin_reset")();
  }
  ~StandIn() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// How often the function of the HIP runtime was called.
  [[nodiscard]] long calls(const char* function) const {
    return symbol<long(const char*)>(KERNELSEARCH_STANDIN_HIP, "kernelsearch_standin_calls")(function);
  }

  /// Compiles and loads; the kernels in the order of the expressions.
  std::vector<Function> kernels(const std::string& source, const std::vector<std::string>& expressions,
                                const std::vector<std::string>& options = {}) {
    const DeviceCode code = compiler->compile(source, options, expressions);
    REQUIRE_MESSAGE(code.ok, code.log);
    REQUIRE(driver->module_load(&module, code.image.data()) == success);
    std::vector<Function> functions;
    for (const std::string& lowered : code.lowered) {
      functions.push_back(nullptr);
      REQUIRE(driver->module_function(&functions.back(), module, lowered.c_str()) == success);
    }
    return functions;
  }

  template <class T>
  Address upload(const std::vector<T>& values) {
    Address address = 0;
    REQUIRE(driver->allocate(&address, values.size() * sizeof(T)) == success);
    REQUIRE(driver->copy_in(address, values.data(), values.size() * sizeof(T)) == success);
    return address;
  }
  template <class T>
  std::vector<T> download(Address address, std::size_t count) {
    std::vector<T> values(count);
    REQUIRE(driver->copy_out(values.data(), address, count * sizeof(T)) == success);
    return values;
  }
  /// One-dimensional; arguments are copied as the kernel's parameters.
  template <class... A>
  Status launch(Function function, unsigned blocks, unsigned threads, unsigned shared_bytes, A... arguments) {
    const std::vector<LaunchParameter> parameters{
        {LaunchParameter::Kind::value, &arguments, sizeof arguments}...};
    LaunchShape shape;
    shape.grid[0] = blocks;
    shape.block[0] = threads;
    shape.shared_bytes = shared_bytes;
    return driver->launch_kernel(function, shape, nullptr, parameters);
  }

  std::unique_ptr<Driver> driver;
  std::unique_ptr<RuntimeCompiler> compiler;
  Module module = nullptr;

 private:
  template <class F>
  static F* symbol(const char* library, const char* name) {
    void* const address = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), name);
    REQUIRE(address != nullptr);
    return reinterpret_cast<F*>(address);
  }

  std::vector<std::string> names_;
};

}  // namespace standin_test
