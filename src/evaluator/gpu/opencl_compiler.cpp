// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/runtime_compiler.hpp"

#include <cstring>
#include <utility>

#include "evaluator/gpu/opencl_api.hpp"
#include "evaluator/gpu/ptx_assembler.hpp"

namespace kernelsearch::detail::gpu {
namespace {

class OpenClCompiler final : public RuntimeCompiler {
 public:
  OpenClCompiler(std::unique_ptr<OpenClApi> api, OpenClDevice device, cl::Context context)
      : api_(std::move(api)), device_(device), context_(context) {
    // What it builds is for this device alone.
    identity_ =
        opencl_device_name(*api_, device_) + ", " + api_->text(device_.platform, cl::platform_version);
    library_ = api_->library;
    major_ = api_->device_number(device_.device, cl::device_major_nv);
    minor_ = api_->device_number(device_.device, cl::device_minor_nv);
    if (major_ != 0) assembler_ = PtxAssembler::load();
    if (assembler_) identity_ += ", " + assembler_->identity();
  }

  DeviceCode compile(const std::string& source, const std::vector<std::string>& options,
                     const std::vector<std::string>& name_expressions) const override {
    DeviceCode result;
    cl::Int error = 0;
    const char* text = source.c_str();
    const std::size_t length = source.size();
    const cl::Program program = api_->create_program(context_, 1, &text, &length, &error);
    if (error != 0) {
      result.log = "the driver made no program of the source: " + opencl_error(error);
      return result;
    }
    std::string all = "-cl-kernel-arg-info";
    for (const std::string& option : options) all += " " + option;
    error = api_->build(program, 1, &device_.device, all.c_str(), nullptr, nullptr);
    std::size_t size = 0;
    if (api_->build_info(program, device_.device, cl::build_log, 0, nullptr, &size) == 0 && size > 1) {
      result.log.resize(size);
      (void)api_->build_info(program, device_.device, cl::build_log, size, result.log.data(), nullptr);
      result.log.resize(std::strlen(result.log.c_str()));
    }
    if (error != 0) {
      if (result.log.empty()) result.log = opencl_error(error);
    } else {
      take_image(program, name_expressions, result);
    }
    (void)api_->release_program(program);
    return result;
  }

 private:
  /// The type of the first parameter that is not a buffer and no number; empty: there is none.
  [[nodiscard]] std::string image_parameter(cl::Kernel kernel) const {
    cl::Uint count = 0;
    (void)api_->kernel_info(kernel, cl::kernel_parameters, sizeof count, &count, nullptr);
    for (cl::Uint i = 0; i < count; ++i) {
      char type[256] = {};
      if (api_->parameter_info(kernel, i, cl::parameter_type, sizeof type - 1, type, nullptr) != 0) continue;
      for (const char* refused : {"image", "sampler_t", "pipe"})
        if (std::strncmp(type, refused, std::strlen(refused)) == 0) return type;
    }
    return {};
  }

  void take_image(cl::Program program, const std::vector<std::string>& names, DeviceCode& result) const {
    for (const std::string& name : names) {
      cl::Int error = 0;
      const cl::Kernel kernel = api_->create_kernel(program, name.c_str(), &error);
      if (error != 0) {
        result.log += "error: there is no kernel " + name + " in the device region: " + opencl_error(error);
        return;
      }
      const std::string refused = image_parameter(kernel);
      (void)api_->release_kernel(kernel);
      if (refused.empty()) continue;
      result.log += "error: the kernel " + name + " has a parameter of type " + refused +
                    ": problems have no images and no samplers; pass a __global buffer";
      return;
    }
    std::size_t size = 0;
    cl::Int error = api_->program_info(program, cl::program_binary_sizes, sizeof size, &size, nullptr);
    if (error == 0 && size == 0) error = -42;
    std::string code;
    if (error == 0) {
      code.resize(size);
      char* to = code.data();
      error = api_->program_info(program, cl::program_binaries, sizeof to, static_cast<void*>(&to), nullptr);
    }
    if (error != 0) {
      result.log += "error: the driver gives no code of what it built: " + opencl_error(error);
      return;
    }
    if (assembler_)
      if (std::string cubin = assembler_->assemble(code, major_, minor_); !cubin.empty())
        code = std::move(cubin);
    const std::uint64_t bytes = code.size();
    result.image.resize(sizeof bytes + code.size());
    std::memcpy(result.image.data(), &bytes, sizeof bytes);
    std::memcpy(result.image.data() + sizeof bytes, code.data(), code.size());
    result.lowered = names;
    result.ok = true;
  }

  std::unique_ptr<OpenClApi> api_;
  OpenClDevice device_;
  cl::Context context_;
  std::uint64_t major_ = 0, minor_ = 0;      ///< the compute capability of NVIDIA's devices, 0 of others
  std::unique_ptr<PtxAssembler> assembler_;  ///< null: the driver's code is taken as it is
};

}  // namespace

std::unique_ptr<RuntimeCompiler> load_opencl_compiler(std::string& problem, int device) {
  auto api = load_opencl(problem);
  if (!api) return nullptr;
  const std::vector<OpenClDevice> devices = opencl_devices(*api);
  if (device < 0 || static_cast<std::size_t>(device) >= devices.size()) {
    problem = devices.empty() ? "no OpenCL platform has a device: " + opencl_advice()
                              : "there is no OpenCL device " + std::to_string(device) + ": there are " +
                                    std::to_string(devices.size());
    return nullptr;
  }
  const OpenClDevice chosen = devices[static_cast<std::size_t>(device)];
  cl::Int error = 0;
  const cl::Context context = api->create_context(nullptr, 1, &chosen.device, nullptr, nullptr, &error);
  if (error != 0) {
    problem = "the OpenCL device gives no context: " + opencl_error(error);
    return nullptr;
  }
  return std::make_unique<OpenClCompiler>(std::move(api), chosen, context);
}

}  // namespace kernelsearch::detail::gpu
