// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/gpu_worker_client.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "evaluator/gpu/frame.hpp"
#include "kernelsearch/core/error.hpp"
#include "process/helper_program.hpp"
#include "process/sandboxed.hpp"

#ifndef KERNELSEARCH_GPU_WORKER_PATHS
#  define KERNELSEARCH_GPU_WORKER_PATHS ""
#endif

namespace kernelsearch::detail::gpu {

std::filesystem::path find_gpu_worker(const std::filesystem::path& given) {
  return find_helper({"kernelsearch-gpu-worker", "KERNELSEARCH_GPU_WORKER", KERNELSEARCH_GPU_WORKER_PATHS},
                     given);
}

namespace {

/// Names by which keys of services go, e.g. NVIDIA_API_KEY: no driver asks for them.
bool names_a_secret(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  const auto has = [name](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return has("KEY") || has("TOKEN") || has("SECRET") || has("PASSW") || has("CREDENTIAL");
}

std::vector<std::string> environment_of(std::initializer_list<std::string_view> wanted) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    for (const std::string_view name : wanted)
      if (std::string_view(*entry).starts_with(name) && !names_a_secret(*entry)) entries.emplace_back(*entry);
  return entries;
}

void add_folder(std::vector<std::filesystem::path>& folders, const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.is_absolute() && std::filesystem::is_directory(folder, error)) folders.push_back(folder);
}

std::vector<std::filesystem::path> folders_of(std::initializer_list<const char*> files,
                                              std::initializer_list<const char*> roots) {
  std::vector<std::filesystem::path> folders;
  for (const char* name : files)
    if (const char* file = std::getenv(name); file != nullptr)
      add_folder(folders, std::filesystem::path(file).parent_path());
  for (const char* name : roots)
    if (const char* root = std::getenv(name); root != nullptr) add_folder(folders, root);
  if (const char* list = std::getenv("LD_LIBRARY_PATH"); list != nullptr) {
    std::istringstream in(list);
    for (std::string folder; std::getline(in, folder, ':');) add_folder(folders, folder);
  }
  return folders;
}

/// Where the loader of OpenCL finds out which platforms there are.
void add_opencl_folders(std::vector<std::filesystem::path>& folders) {
  add_folder(folders, "/etc/OpenCL");
  if (const char* vendors = std::getenv("OCL_ICD_VENDORS"); vendors != nullptr) {
    add_folder(folders, vendors);
    add_folder(folders, std::filesystem::path(vendors).parent_path());
  }
}

/// Where the loader of Vulkan finds out which drivers there are, besides /usr.
void add_vulkan_folders(std::vector<std::filesystem::path>& folders) {
  add_folder(folders, "/etc/vulkan");
  for (const char* variable : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"})
    if (const char* list = std::getenv(variable); list != nullptr) {
      std::istringstream in(list);
      for (std::string file; std::getline(in, file, ':');)
        add_folder(folders, std::filesystem::path(file).parent_path());
    }
}

}  // namespace

std::vector<std::string> driver_environment() {
  return environment_of({"CUDA_", "NVIDIA_", "LD_LIBRARY_PATH=", "HIP_", "HSA_", "ROCR_", "ROCM_", "OCL_ICD_",
                         "POCL_", "VK_", "LP_NUM_THREADS=", "KERNELSEARCH_", "HOME=", "XDG_", "TMPDIR="});
}

std::vector<std::string> compiler_environment() {
  return environment_of({"CUDA_HOME=", "CUDA_PATH=", "LD_LIBRARY_PATH=", "ROCM_PATH=", "HIP_PATH=",
                         "KERNELSEARCH_NVRTC=", "KERNELSEARCH_HIPRTC=", "KERNELSEARCH_HIP_RUNTIME=",
                         "KERNELSEARCH_OPENCL=", "KERNELSEARCH_NVJITLINK=", "OCL_ICD_", "POCL_",
                         "KERNELSEARCH_GLSLANG="});
}

std::vector<std::filesystem::path> compiler_folders() {
  auto folders = folders_of({"KERNELSEARCH_NVRTC", "KERNELSEARCH_NVJITLINK", "KERNELSEARCH_HIPRTC",
                             "KERNELSEARCH_HIP_RUNTIME", "KERNELSEARCH_GLSLANG"},
                            {"CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH"});
  add_folder(folders, "/opt/rocm");
  return folders;
}

bool was_killed(std::string_view why) {
  return why.find(signal_text(SIGKILL)) != std::string_view::npos;
}

void raise_if_killed(const std::string& doing, const std::string& why) {
  if (was_killed(why))
    raise<DeviceError>("a process was killed from outside", doing + ": " + why,
                       "look for what ends processes, such as too little memory, and go on with the run");
}

GpuWorkerClient::GpuWorkerClient(const std::filesystem::path& program, GpuBackend backend, Role role,
                                 int device, const Arena* shared, Sandbox sandbox,
                                 const std::vector<std::filesystem::path>& readable)
    : backend_(backend) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    raise<DeviceError>("no socket for a GPU worker", program.string(), "close some files");
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  const bool boxed_in = sandbox != Sandbox::none;
  const Descriptor contents(boxed_in ? open_for_reading(program.string()) : Descriptor());
  Boxed boxed;
  boxed.files = {{contents.number(), "/kernelsearch-gpu-worker", program.string(), true}};
  boxed.argv = {path_in(sandbox, boxed), std::string(to_string(backend)),
                (role == Role::builder ? "build:" : "") + std::to_string(device)};
  if (!boxed_in) boxed.files.clear();
  const bool builds_in_sandbox = boxed_in && role == Role::builder;
  boxed.environment = builds_in_sandbox ? compiler_environment() : driver_environment();
  boxed.devices = !builds_in_sandbox || compiles_on_device(backend);
  boxed.outlives_thread = true;
  boxed.limits = {{RLIMIT_CORE, 0}};
  boxed.descriptors = {{socket_fd, theirs.number()}};
  if (shared != nullptr) boxed.descriptors.emplace_back(memory_fd, shared->descriptor());
  if (boxed_in) {
    boxed.readable = builds_in_sandbox ? readable
                                       : folders_of({"KERNELSEARCH_CUDA_DRIVER", "KERNELSEARCH_HIP_RUNTIME",
                                                     "KERNELSEARCH_OPENCL", "KERNELSEARCH_VULKAN_LOADER"},
                                                    {});
    if (backend == GpuBackend::opencl) add_opencl_folders(boxed.readable);
    if (backend == GpuBackend::vulkan) add_vulkan_folders(boxed.readable);
    boxed.temporary_bytes = std::uint64_t{1} << 30;
    if (sandbox == Sandbox::landlock) {
      scratch_ = std::make_unique<ScratchFolder>(sandbox_status(sandbox).as_nobody);
      boxed.scratch = scratch_->path();
    }
  }
  // What Mesa keeps of shaders it loads again, and so would the one who may write there.
  if (backend == GpuBackend::vulkan) boxed.environment.emplace_back("MESA_SHADER_CACHE_DISABLE=true");
  if (backend == GpuBackend::opencl) {
    // What PoCL and NVIDIA's driver keep of code they load again, so that nobody else may write there.
    // NVIDIA's must have a folder, or it compiles kernels of its own for each context: 1.6 s on an H200
    // instead of 0.2.
    if (!boxed_in) scratch_ = std::make_unique<ScratchFolder>();
    const std::string own = boxed_in ? temporary_folder(sandbox, boxed) : scratch_->path().string();
    for (const std::string name : {"POCL_CACHE_DIR=", "CUDA_CACHE_PATH=", "CUDA_CACHE_DISABLE="})
      std::erase_if(boxed.environment, [&](const std::string& one) { return one.starts_with(name); });
    boxed.environment.push_back("POCL_CACHE_DIR=" + own + "/pocl");
    boxed.environment.push_back("CUDA_CACHE_PATH=" + own);
  }
  process_ = Process(launch_in(sandbox, boxed));
}

std::optional<WorkerError> GpuWorkerClient::exchange(const std::vector<std::byte>& command, double seconds,
                                                     std::vector<std::byte>& reply) {
  std::vector<std::byte> frame;
  bool late = false;
  if (!socket_) return WorkerError{WorkerError::ended, unknown_error, "its process has ended"};
  if (!send_frame(socket_.number(), command) || !receive_frame(socket_.number(), frame, seconds, &late)) {
    int status = 0;
    const bool known = !late && process_.wait(2.0, status);
    stop();
    if (late)
      return WorkerError{WorkerError::timed_out, success,
                         "it did not finish within " + std::to_string(static_cast<int>(seconds)) + " s"};
    // bubblewrap reports the end by signal n of what it runs as status 128 + n, as shells do
    const int signal = !known                      ? 0
                       : WIFSIGNALED(status)       ? WTERMSIG(status)
                       : WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
                                                   : 0;
    return WorkerError{WorkerError::ended, unknown_error,
                       signal != 0 ? signal_text(signal) : "its process ended"};
  }
  Reader in(frame);
  const auto answer = in.take<Answer>();
  reply.clear();
  if (in.ok() && answer.status == success) reply = in.take<std::vector<std::byte>>();
  if (!in.ok()) return cut_short();
  if (answer.status == success) return std::nullopt;
  if (is_sticky(answer.status)) stop();
  return WorkerError{WorkerError::refused, answer.status, answer.text};
}

WorkerError GpuWorkerClient::cut_short() {
  stop();
  return {WorkerError::ended, unknown_error, "its answer was cut short"};
}

std::optional<WorkerError> GpuWorkerClient::hello(double seconds, GpuDevice& device) {
  Hello::Reply reply;
  if (auto error = ask(Hello{}, seconds, reply)) return error;
  const DeviceFacts& f = reply.facts;
  device.backend = backend_;
  device.name = std::move(reply.name);
  device.bus = std::move(reply.bus);
  device.ordinal = f.ordinal;
  device.major = f.major;
  device.minor = f.minor;
  device.driver = f.driver;
  device.multiprocessors = f.multiprocessors;
  device.warp_size = f.warp_size;
  device.clock = f.clock;
  device.memory_clock = f.memory_clock;
  device.bus_bits = f.bus_bits;
  device.l2 = f.l2;
  device.shared_per_block = f.shared_per_block_optin;
  device.shared_per_multiprocessor = f.shared_per_multiprocessor;
  device.registers_per_multiprocessor = f.registers_per_multiprocessor;
  device.threads_per_multiprocessor = f.threads_per_multiprocessor;
  device.threads_per_block = f.threads_per_block;
  device.on_host = f.on_host == 1;
  device.platform = f.platform;
  device.number_in_platform = f.number_in_platform;
  device.memory = f.memory;
  device.memory_free = f.memory_free;
  return std::nullopt;
}

std::optional<WorkerError> GpuWorkerClient::load(ModuleId module, const std::vector<std::byte>& image,
                                                 const std::vector<std::string>& functions,
                                                 std::vector<FunctionFacts>& facts) {
  LoadModule::Reply reply;
  if (auto error = ask(LoadModule{module, image, functions}, 30, reply)) return error;
  facts = std::move(reply.functions);
  return std::nullopt;
}

std::optional<WorkerError> GpuWorkerClient::load_library(ModuleId module,
                                                         const std::vector<std::byte>& library) {
  return ask(LoadLibrary{module, library}, 30);
}

std::optional<WorkerError> GpuWorkerClient::unload(ModuleId module) {
  return ask(UnloadModule{module}, 30);
}

std::optional<WorkerError> GpuWorkerClient::define(ProgramId program, const ProgramPlan& plan,
                                                   std::vector<std::int32_t>& blocks) {
  DefineProgram::Reply reply;
  if (auto error = ask(DefineProgram{program, plan}, 30, reply)) return error;
  blocks = std::move(reply.blocks);
  return std::nullopt;
}

std::optional<WorkerError> GpuWorkerClient::allocate(std::vector<AllocateBuffers::Buffer> buffers) {
  return ask(AllocateBuffers{std::move(buffers)}, 30);
}

std::optional<WorkerError> GpuWorkerClient::release(std::vector<BufferId> buffers) {
  return ask(ReleaseBuffers{std::move(buffers)}, 30);
}

std::optional<WorkerError> GpuWorkerClient::lend(BufferId buffer, MemoryHandle& handle) {
  LendBuffer::Reply reply;
  if (auto error = ask(LendBuffer{buffer}, 30, reply)) return error;
  handle = reply.handle;
  return std::nullopt;
}

std::optional<WorkerError> GpuWorkerClient::borrow(BufferId buffer, std::uint64_t bytes,
                                                   const MemoryHandle& handle) {
  return ask(BorrowBuffer{buffer, bytes, handle}, 30);
}

std::optional<WorkerError> GpuWorkerClient::act(std::vector<Action> actions, double seconds,
                                                Act::Reply& done) {
  return ask(Act{std::move(actions)}, seconds, done);
}

bool GpuWorkerClient::alive() {
  int status = 0;
  return socket_ && process_.running() && !process_.wait(0.0, status);
}

void GpuWorkerClient::stop() noexcept {
  process_.kill();
  socket_.reset();
}

}  // namespace kernelsearch::detail::gpu
