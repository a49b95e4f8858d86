// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/opencl_api.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "evaluator/gpu/library.hpp"

namespace kernelsearch::detail::gpu {
namespace {

struct ErrorName {
  cl::Int error;
  const char* name;
};
constexpr ErrorName error_names[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, "CL_INVALID_VALUE"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

std::string without_blanks_around(std::string text) {
  text.resize(std::strlen(text.c_str()));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// Keeps the lists of the environment while the loader reads them: Khronos' takes the names of
/// OCL_ICD_FILENAMES apart where they stand, so that the processes which this one starts later would see the
/// first alone.
class KeptLists {
 public:
  KeptLists() {
    for (std::size_t i = 0; i < std::size(names); ++i)
      if (const char* value = std::getenv(names[i]); value != nullptr) values_[i] = value;
  }
  KeptLists(const KeptLists&) = delete;
  KeptLists& operator=(const KeptLists&) = delete;
  ~KeptLists() {
    for (std::size_t i = 0; i < std::size(names); ++i) {
      const char* now = std::getenv(names[i]);
      if (now != nullptr && now != values_[i]) setenv(names[i], values_[i].c_str(), 1);
    }
  }

 private:
  static constexpr const char* names[] = {"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"};
  std::string values_[std::size(names)];
};

}  // namespace

std::string opencl_advice() {
  return "install a platform, e.g. apt-get install pocl-opencl-icd ocl-icd-libopencl1 for this machine's "
         "processors, or the device maker's driver, or set KERNELSEARCH_OPENCL to another libOpenCL";
}

std::string opencl_error(cl::Int error) {
  const auto* found = std::find_if(std::begin(error_names), std::end(error_names),
                                   [error](const ErrorName& one) { return one.error == error; });
  return std::string(found != std::end(error_names) ? found->name : "an error of the driver's own") + " (" +
         std::to_string(error) + ")";
}

std::unique_ptr<OpenClApi> load_opencl(std::string& problem) {
  Library library = Library::open({std::getenv("KERNELSEARCH_OPENCL"), "libOpenCL.so.1"}, problem);
  if (!library) {
    problem += "; " + opencl_advice();
    return nullptr;
  }
  auto api = std::make_unique<OpenClApi>();
  OpenClApi& a = *api;
  a.library = library.path();
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& function) {
    if (!library.find(name, function)) missing = name;
  };
  get("clGetPlatformIDs", a.platforms);
  get("clGetPlatformInfo", a.platform_info);
  get("clGetDeviceIDs", a.devices);
  get("clGetDeviceInfo", a.device_info);
  get("clCreateContext", a.create_context);
  get("clCreateCommandQueue", a.create_queue);
  get("clCreateBuffer", a.create_buffer);
  get("clCreateSubBuffer", a.create_part);
  get("clReleaseMemObject", a.release_memory);
  get("clCreateProgramWithSource", a.create_program);
  get("clCreateProgramWithBinary", a.load_program);
  get("clBuildProgram", a.build);
  get("clGetProgramInfo", a.program_info);
  get("clGetProgramBuildInfo", a.build_info);
  get("clReleaseProgram", a.release_program);
  get("clCreateKernel", a.create_kernel);
  get("clReleaseKernel", a.release_kernel);
  get("clSetKernelArg", a.set_parameter);
  get("clGetKernelInfo", a.kernel_info);
  get("clGetKernelArgInfo", a.parameter_info);
  get("clGetKernelWorkGroupInfo", a.kernel_on_device);
  get("clEnqueueNDRangeKernel", a.launch);
  get("clEnqueueReadBuffer", a.read);
  get("clEnqueueWriteBuffer", a.write);
  get("clEnqueueCopyBuffer", a.copy);
  get("clEnqueueFillBuffer", a.fill);
  get("clFinish", a.finish);
  get("clGetEventInfo", a.event_info);
  get("clGetEventProfilingInfo", a.event_time);
  get("clReleaseEvent", a.release_event);
  if (missing != nullptr) {
    problem = library.path() + " lacks " + missing + ": it is older than OpenCL 1.2";
    return nullptr;
  }
  library.keep();
  cl::Uint count = 0;
  const KeptLists kept;
  (void)a.platforms(0, nullptr, &count);  // it reads the lists at the first call
  return api;
}

std::string OpenClApi::text(cl::Platform platform, cl::Uint what) const {
  std::size_t size = 0;
  if (platform_info(platform, what, 0, nullptr, &size) != 0) return {};
  std::string value(size, '\0');
  if (platform_info(platform, what, size, value.data(), nullptr) != 0) return {};
  return without_blanks_around(std::move(value));
}

std::string OpenClApi::device_text(cl::Device device, cl::Uint what) const {
  std::size_t size = 0;
  if (device_info(device, what, 0, nullptr, &size) != 0) return {};
  std::string value(size, '\0');
  if (device_info(device, what, size, value.data(), nullptr) != 0) return {};
  return without_blanks_around(std::move(value));
}

std::uint64_t OpenClApi::device_number(cl::Device device, cl::Uint what) const {
  std::uint64_t value = 0;  // of 4 or 8 bytes, on machines that begin with the low ones
  return device_info(device, what, sizeof value, &value, nullptr) == 0 ? value : 0;
}

std::vector<OpenClDevice> opencl_devices(const OpenClApi& api) {
  std::vector<OpenClDevice> all;
  cl::Uint count = 0;
  if (api.platforms(0, nullptr, &count) != 0 || count == 0) return all;
  std::vector<cl::Platform> platforms(count);
  if (api.platforms(count, platforms.data(), nullptr) != 0) return all;
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    cl::Uint found = 0;
    if (api.devices(platforms[p], cl::type_all, 0, nullptr, &found) != 0 || found == 0) continue;
    std::vector<cl::Device> devices(found);
    if (api.devices(platforms[p], cl::type_all, found, devices.data(), nullptr) != 0) continue;
    for (std::size_t d = 0; d < devices.size(); ++d)
      all.push_back({platforms[p], devices[d], static_cast<int>(p), static_cast<int>(d)});
  }
  return all;
}

std::string opencl_device_name(const OpenClApi& api, const OpenClDevice& device) {
  return api.device_text(device.device, cl::device_name) + " (" +
         api.text(device.platform, cl::platform_name) + ", " +
         api.device_text(device.device, cl::driver_version) + ")";
}

}  // namespace kernelsearch::detail::gpu
