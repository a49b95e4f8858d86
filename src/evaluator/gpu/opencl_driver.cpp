// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/driver.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "evaluator/gpu/opencl_api.hpp"

namespace kernelsearch::detail::gpu {
namespace {

/// Numbers of ours for what OpenCL has under several.
enum OpenClAttribute : int {
  attribute_units = 1,
  attribute_multiple,
  attribute_clock,
  attribute_cache,
  attribute_local,
  attribute_group,
  attribute_on_host,
  attribute_major,
  attribute_minor,
  attribute_platform,
  attribute_number,
  function_group,
  function_local,
  function_private,
  function_multiple,
};

constexpr Address address_step = Address{1} << 21;  ///< between allocations, so that nothing reaches the next
/// On processors the last level of caches may be shared by a whole host; rewriting it would take longer than
/// most kernels.
constexpr std::uint64_t most_host_cache = std::uint64_t{8} << 20;

struct Allocation {
  cl::Memory memory = nullptr;
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, cl::Memory> parts;  ///< by where they begin; to the end
};

struct KernelState {
  cl::Kernel kernel = nullptr;
  cl::Uint parameters = 0;
};

struct ProgramState {
  cl::Program program = nullptr;
  std::map<std::string, std::unique_ptr<KernelState>> kernels;
};

struct EventState {
  std::vector<cl::Event> commands;
};

/// The device that this process holds, and all that it has there.
struct Held {
  std::unique_ptr<OpenClApi> api;
  std::vector<OpenClDevice> devices;
  OpenClDevice at_hand;
  cl::Context context = nullptr;
  cl::Queue queue = nullptr;
  std::map<Address, Allocation> allocations;
  std::map<void*, cl::Memory> pinned;
  Address next = Address{1} << 40;
  EventState* collecting = nullptr;
  std::map<Status, std::string> last_errors;  ///< what the library called an error that we gave a number

  /// Remembers what the library said and gives the number by which callers know it.
  Status status(cl::Int error, bool while_running = false) {
    if (error == 0) return success;
    const Status known = translated(error, while_running);
    last_errors[known] = opencl_error(error);
    return known;
  }

  static Status translated(cl::Int error, bool while_running) {
    switch (error) {
      case -1:
      case -2:
      case -1001:
        return no_device;
      case -4:
      case -6:
      case -61:
        return out_of_memory;
      case -5:  // of a launch that is too large, or of one that went wrong
        return while_running ? launch_failed : launch_out_of_resources;
      case -3:
      case -42:
      case -44:
      case -45:
        return invalid_image;
      case -46:
        return not_found;
      case -9999:  // NVIDIA: an access outside of the buffers
        return illegal_address;
      default:
        return while_running ? launch_failed : invalid_value;
    }
  }

  /// The allocation that an address lies in, and the byte of it; null where there is none.
  Allocation* find(Address address, std::uint64_t& offset) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return nullptr;
    --after;
    offset = address - after->first;
    return offset <= after->second.bytes ? &after->second : nullptr;
  }

  /// The buffer that begins at the address.
  cl::Int part(Address address, cl::Memory& memory) {
    std::uint64_t offset = 0;
    Allocation* const found = find(address, offset);
    if (found == nullptr || offset >= found->bytes) return -38;
    memory = found->memory;
    if (offset == 0) return 0;
    if (const auto known = found->parts.find(offset); known != found->parts.end()) {
      memory = known->second;
      return 0;
    }
    const cl::Region region{static_cast<std::size_t>(offset),
                            static_cast<std::size_t>(found->bytes - offset)};
    cl::Int error = 0;
    memory = api->create_part(found->memory, cl::read_write, cl::region, &region, &error);
    if (error == 0) found->parts[offset] = memory;
    return error;
  }

  /// Where the next command puts its event; null where nobody asked.
  cl::Event* wanted() {
    if (collecting == nullptr) return nullptr;
    collecting->commands.push_back(nullptr);
    return &collecting->commands.back();
  }
  Status enqueued(cl::Int error) {
    if (error != 0 && collecting != nullptr && !collecting->commands.empty() &&
        collecting->commands.back() == nullptr)
      collecting->commands.pop_back();
    return status(error);
  }
};

Held& held() {
  static Held one;
  return one;
}

Status init(unsigned) {
  Held& h = held();
  h.devices = opencl_devices(*h.api);
  if (!h.devices.empty()) return success;
  h.last_errors[no_device] = "no OpenCL platform has a device: " + opencl_advice();
  return no_device;
}

Status driver_version(int* version) {
  // "580.159.03" is 580159, "3.1+debian" 3001.
  const Held& h = held();
  const std::string text = h.api->device_text(h.at_hand.device, cl::driver_version);
  int major = 0, minor = 0;
  const char* at = text.c_str();
  while (*at != '\0' && std::isdigit(static_cast<unsigned char>(*at)) == 0) ++at;
  (void)std::sscanf(at, "%6d.%3d", &major, &minor);
  *version = major * 1000 + minor;
  return success;
}

Status device_count(int* count) {
  *count = static_cast<int>(held().devices.size());
  return success;
}

Status device_get(int* device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < held().devices.size() ? success : no_device;
}

Status device_name(char* text, int size, int device) {
  Held& h = held();
  const std::string name = opencl_device_name(*h.api, h.devices.at(static_cast<std::size_t>(device)));
  std::snprintf(text, static_cast<std::size_t>(size), "%s", name.c_str());
  return success;
}

Status device_pci(char* text, int size, int device) {
  Held& h = held();
  const OpenClDevice& one = h.devices.at(static_cast<std::size_t>(device));
  std::uint32_t bus = 0, slot = 0, domain = 0;
  if (h.api->device_info(one.device, cl::device_pci_bus_nv, sizeof bus, &bus, nullptr) == 0 &&
      h.api->device_info(one.device, cl::device_pci_slot_nv, sizeof slot, &slot, nullptr) == 0) {
    (void)h.api->device_info(one.device, cl::device_pci_domain_nv, sizeof domain, &domain, nullptr);
    std::snprintf(text, static_cast<std::size_t>(size), "%08X:%02X:%02X.0", domain, bus, slot >> 3);
  } else {
    std::snprintf(text, static_cast<std::size_t>(size), "opencl-%d-%d", one.platform_number, one.number);
  }
  return success;
}

Status device_memory(std::size_t* bytes, int device) {
  Held& h = held();
  *bytes =
      h.api->device_number(h.devices.at(static_cast<std::size_t>(device)).device, cl::device_memory_bytes);
  return success;
}

Status device_attribute(int* value, int number, int device) {
  Held& h = held();
  const cl::Device of = h.devices.at(static_cast<std::size_t>(device)).device;
  const auto get = [&](cl::Uint what) { return h.api->device_number(of, what); };
  const bool on_host = (get(cl::device_type) & cl::type_cpu) != 0;
  std::uint64_t found = 0;
  switch (number) {
    case attribute_units:
      found = get(cl::device_compute_units);
      break;
    case attribute_clock:
      found = get(cl::device_clock_mhz) * 1000;
      break;
    case attribute_cache:
      found = get(cl::device_cache_bytes);
      if (on_host) found = std::min(found, most_host_cache);
      break;
    case attribute_local:
      found = get(cl::device_local_bytes);
      break;
    case attribute_group:
      found = get(cl::device_work_group);
      break;
    case attribute_on_host:
      found = on_host ? 1 : 0;
      break;
    case attribute_multiple:
      found = get(cl::device_preferred_multiple);
      if (found == 0) found = get(cl::device_warp_nv);
      break;
    case attribute_major:  // of compute capability
      found = get(cl::device_major_nv);
      break;
    case attribute_minor:
      found = get(cl::device_minor_nv);
      break;
    case attribute_platform:
      found = static_cast<std::uint64_t>(h.devices.at(static_cast<std::size_t>(device)).platform_number);
      break;
    case attribute_number:
      found = static_cast<std::uint64_t>(h.devices.at(static_cast<std::size_t>(device)).number);
      break;
    default:
      return invalid_value;
  }
  *value = static_cast<int>(std::min<std::uint64_t>(found, 0x7fffffff));
  return success;
}

Status device_use(int device) {
  Held& h = held();
  h.at_hand = h.devices.at(static_cast<std::size_t>(device));
  const std::string extensions = h.api->device_text(h.at_hand.device, cl::device_extensions);
  for (const char* needed : {"cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"})
    if (extensions.find(needed) == std::string::npos) {
      h.last_errors[unsupported] = std::string("the device lacks ") + needed +
                                   ", with which results are compared: choose another by --devices";
      return unsupported;
    }
  cl::Int error = 0;
  h.context = h.api->create_context(nullptr, 1, &h.at_hand.device, nullptr, nullptr, &error);
  if (error != 0) return h.status(error);
  h.queue = h.api->create_queue(h.context, h.at_hand.device, cl::queue_profiling, &error);
  return h.status(error);
}

Status synchronize() {
  Held& h = held();
  h.collecting = nullptr;
  return h.status(h.api->finish(h.queue), true);
}

Status memory_info(std::size_t* free, std::size_t* total) {
  Held& h = held();
  *total = h.api->device_number(h.at_hand.device, cl::device_memory_bytes);
  // OpenCL does not say what is free. A processor's is everyone's.
  const bool on_host = (h.api->device_number(h.at_hand.device, cl::device_type) & cl::type_cpu) != 0;
  *free = on_host ? *total / 4 : *total;
  return success;
}

Status allocate(Address* address, std::size_t bytes) {
  Held& h = held();
  cl::Int error = 0;
  Allocation made;
  made.bytes = bytes;
  made.memory =
      h.api->create_buffer(h.context, cl::read_write, std::max<std::size_t>(bytes, 1), nullptr, &error);
  if (error != 0) return h.status(error);
  *address = h.next;
  h.next += (bytes + 2 * address_step) / address_step * address_step;
  h.allocations[*address] = std::move(made);
  return success;
}

Status release(Address address) {
  Held& h = held();
  const auto found = h.allocations.find(address);
  if (found == h.allocations.end()) return invalid_value;
  for (const auto& [offset, memory] : found->second.parts) (void)h.api->release_memory(memory);
  const cl::Int error = h.api->release_memory(found->second.memory);
  h.allocations.erase(found);
  return h.status(error);
}

Status copy_in(Address to, const void* from, std::size_t bytes) {
  Held& h = held();
  std::uint64_t offset = 0;
  const Allocation* const found = h.find(to, offset);
  if (found == nullptr) return h.status(-38);
  if (bytes == 0) return success;
  return h.status(h.api->write(h.queue, found->memory, 1, offset, bytes, from, 0, nullptr, nullptr), true);
}

Status copy_out(void* to, Address from, std::size_t bytes) {
  Held& h = held();
  std::uint64_t offset = 0;
  const Allocation* const found = h.find(from, offset);
  if (found == nullptr) return h.status(-38);
  if (bytes == 0) return success;
  return h.status(h.api->read(h.queue, found->memory, 1, offset, bytes, to, 0, nullptr, nullptr), true);
}

Status copy_within(Address to, Address from, std::size_t bytes, Stream) {
  Held& h = held();
  std::uint64_t to_offset = 0, from_offset = 0;
  const Allocation* const target = h.find(to, to_offset);
  const Allocation* const source = h.find(from, from_offset);
  if (target == nullptr || source == nullptr) return h.status(-38);
  if (bytes == 0) return success;
  return h.enqueued(h.api->copy(h.queue, source->memory, target->memory, from_offset, to_offset, bytes, 0,
                                nullptr, h.wanted()));
}

Status set_bytes(Address at, unsigned char byte, std::size_t bytes, Stream) {
  Held& h = held();
  std::uint64_t offset = 0;
  const Allocation* const found = h.find(at, offset);
  if (found == nullptr) return h.status(-38);
  if (bytes == 0) return success;
  return h.enqueued(h.api->fill(h.queue, found->memory, &byte, 1, offset, bytes, 0, nullptr, h.wanted()));
}

// OpenCL has no call for it, but drivers pin the memory of a buffer that lies in the host's: 16 MiB then take
// 0.3 ms on an H200, 1.4 to 2.2 otherwise. Nothing is ever done with the buffer itself.
Status pin(void* memory, std::size_t bytes, unsigned) {
  Held& h = held();
  if ((h.api->device_number(h.at_hand.device, cl::device_type) & cl::type_cpu) != 0) return success;
  cl::Int error = 0;
  const cl::Memory buffer =
      h.api->create_buffer(h.context, cl::read_write | cl::use_host_pointer, bytes, memory, &error);
  if (error == 0) h.pinned[memory] = buffer;
  return h.status(error);
}
Status unpin(void* memory) {
  Held& h = held();
  const auto found = h.pinned.find(memory);
  if (found == h.pinned.end()) return success;
  const cl::Int error = h.api->release_memory(found->second);
  h.pinned.erase(found);
  return h.status(error);
}

Status stream_create(Stream* stream, unsigned) {
  *stream = held().queue;
  return success;
}
Status stream_synchronize(Stream) {
  Held& h = held();
  return h.status(h.api->finish(h.queue), true);
}

void forget_commands(EventState& event) {
  for (const cl::Event command : event.commands)
    if (command != nullptr) (void)held().api->release_event(command);
  event.commands.clear();
}

Status event_create(Event* event, unsigned) {
  *event = new EventState;
  return success;
}
Status event_destroy(Event event) {
  auto* const state = static_cast<EventState*>(event);
  if (held().collecting == state) held().collecting = nullptr;
  forget_commands(*state);
  delete state;
  return success;
}
Status event_record(Event event, Stream) {
  Held& h = held();
  auto* const state = static_cast<EventState*>(event);
  forget_commands(*state);
  h.collecting = h.collecting == nullptr ? state : nullptr;
  return success;
}

Status event_elapsed(float* milliseconds, Event begin, Event) {
  Held& h = held();
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const cl::Event command : static_cast<EventState*>(begin)->commands) {
    cl::Int state = 0;
    if (const cl::Int error = h.api->event_info(command, cl::event_status, sizeof state, &state, nullptr);
        error != 0)
      return h.status(error);
    if (state < 0) return h.status(state, true);
    std::uint64_t started = 0, ended = 0;
    for (const auto& [what, to] :
         {std::pair(cl::command_start, &started), std::pair(cl::command_end, &ended)})
      if (const cl::Int error = h.api->event_time(command, what, sizeof *to, to, nullptr); error != 0)
        return h.status(error);
    first = std::min(first, started);
    last = std::max(last, ended);
  }
  *milliseconds = last > first ? static_cast<float>(1e-6 * static_cast<double>(last - first)) : 0.0F;
  return success;
}

Status module_load(Module* module, const void* image) {
  Held& h = held();
  // Its length comes first, since the library asks for it and a table of functions with pointers does not.
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, image, sizeof bytes);
  const std::size_t length = bytes;
  const auto* code = static_cast<const unsigned char*>(image) + sizeof bytes;
  cl::Int error = 0, loaded = 0;
  auto state = std::make_unique<ProgramState>();
  state->program = h.api->load_program(h.context, 1, &h.at_hand.device, &length, &code, &loaded, &error);
  if (error == 0) error = loaded;
  if (error == 0) error = h.api->build(state->program, 1, &h.at_hand.device, "", nullptr, nullptr);
  if (error != 0) {
    (void)h.status(error);
    h.last_errors[invalid_image] = opencl_error(error);
    return invalid_image;
  }
  *module = state.release();
  return success;
}

Status module_unload(Module module) {
  Held& h = held();
  const std::unique_ptr<ProgramState> state(static_cast<ProgramState*>(module));
  for (const auto& [name, kernel] : state->kernels) (void)h.api->release_kernel(kernel->kernel);
  return h.status(h.api->release_program(state->program));
}

Status module_function(Function* function, Module module, const char* name) {
  Held& h = held();
  auto& state = *static_cast<ProgramState*>(module);
  std::unique_ptr<KernelState>& kernel = state.kernels[name];
  if (!kernel) {
    cl::Int error = 0;
    auto made = std::make_unique<KernelState>();
    made->kernel = h.api->create_kernel(state.program, name, &error);
    if (error == 0)
      error = h.api->kernel_info(made->kernel, cl::kernel_parameters, sizeof made->parameters,
                                 &made->parameters, nullptr);
    if (error != 0) {
      state.kernels.erase(name);
      return h.status(error);
    }
    kernel = std::move(made);
  }
  *function = kernel.get();
  return success;
}

Status module_global(Address*, std::size_t*, Module, const char*) {
  held().last_errors[unsupported] = "OpenCL gives no address of a program's variables";
  return unsupported;
}

Status function_attribute(int* value, int number, Function function) {
  Held& h = held();
  cl::Uint what = 0;
  switch (number) {
    case function_group:
      what = cl::kernel_work_group;
      break;
    case function_local:
      what = cl::kernel_local_bytes;
      break;
    case function_private:
      what = cl::kernel_private_bytes;
      break;
    case function_multiple:
      what = cl::kernel_preferred_multiple;
      break;
    default:
      return invalid_value;
  }
  std::uint64_t found = 0;
  const cl::Int error = h.api->kernel_on_device(static_cast<KernelState*>(function)->kernel, h.at_hand.device,
                                                what, sizeof found, &found, nullptr);
  *value = static_cast<int>(std::min<std::uint64_t>(found, 0x7fffffff));
  return h.status(error);
}

/// Sets parameter `index`, of which a place takes two.
cl::Int set_parameter(Held& h, cl::Kernel kernel, cl::Uint& index, const LaunchParameter& parameter) {
  using Kind = LaunchParameter::Kind;
  if (parameter.kind == Kind::local) return h.api->set_parameter(kernel, index++, parameter.bytes, nullptr);
  if (parameter.kind == Kind::value)
    return h.api->set_parameter(kernel, index++, parameter.bytes, parameter.at);
  Address address = 0;
  std::memcpy(&address, parameter.at, sizeof address);
  cl::Memory memory = nullptr;
  if (parameter.kind == Kind::array) {
    if (const cl::Int error = h.part(address, memory); error != 0) return error;
    return h.api->set_parameter(kernel, index++, sizeof memory, &memory);
  }
  std::uint64_t offset = 0;
  if (address != 0) {
    const Allocation* const found = h.find(address, offset);
    if (found == nullptr) return -38;
    memory = found->memory;
  }
  if (const cl::Int error = h.api->set_parameter(kernel, index++, sizeof memory, &memory); error != 0)
    return error;
  return h.api->set_parameter(kernel, index++, sizeof offset, &offset);
}

Status launch_parameters(Function function, const LaunchShape& shape,
                         std::span<const LaunchParameter> parameters, Stream) {
  Held& h = held();
  const KernelState& kernel = *static_cast<KernelState*>(function);
  cl::Uint index = 0;
  for (const LaunchParameter& parameter : parameters) {
    const cl::Uint at = index;
    const cl::Int error = set_parameter(h, kernel.kernel, index, parameter);
    if (error == 0) continue;
    const Status known = h.status(error);
    h.last_errors[known] = "parameter " + std::to_string(at) + " of " + std::to_string(kernel.parameters) +
                           ": " + opencl_error(error) +
                           " (the kernel's parameters are global buffers and numbers in the order of the "
                           "arguments, then a __local pointer for each entry of \"local\" that they do not "
                           "name, and one with \"shared_bytes\"; there are no images)";
    return known;
  }
  std::size_t global[3], local[3];
  for (int i = 0; i < 3; ++i) {
    local[i] = shape.block[i];
    global[i] = std::size_t{shape.grid[i]} * shape.block[i];
  }
  return h.enqueued(h.api->launch(h.queue, kernel.kernel, 3, nullptr, global, local, 0, nullptr, h.wanted()));
}

Status error_name(Status status, const char** name) {
  const auto found = held().last_errors.find(status);
  if (found != held().last_errors.end()) *name = found->second.c_str();
  return success;
}

}  // namespace

std::unique_ptr<Driver> load_opencl_driver(std::string& problem) {
  auto api = load_opencl(problem);
  if (!api) return nullptr;
  auto driver = std::make_unique<Driver>();
  Driver& d = *driver;
  d.backend = GpuBackend::opencl;
  d.library = api->library;
  held().api = std::move(api);
  AttributeNumbers& n = d.numbers;
  n = {};
  for (int* none : {&n.memory_clock_khz, &n.bus_bits, &n.shared_per_multiprocessor,
                    &n.registers_per_multiprocessor, &n.threads_per_multiprocessor, &n.cluster_launch,
                    &n.function_constant, &n.function_registers, &n.function_max_dynamic})
    *none = -1;
  n.multiprocessors = attribute_units;
  n.warp_size = attribute_multiple;
  n.clock_khz = attribute_clock;
  n.l2_bytes = attribute_cache;
  n.shared_per_block = n.shared_per_block_optin = attribute_local;
  n.threads_per_block = attribute_group;
  n.on_host = attribute_on_host;
  n.platform = attribute_platform;
  n.number_in_platform = attribute_number;
  n.major = attribute_major;
  n.minor = attribute_minor;
  n.function_threads = function_group;
  n.function_shared = function_local;
  n.function_local = function_private;
  n.function_multiple = function_multiple;
  d.checks_clock = true;
  d.init = init;
  d.driver_version = driver_version;
  d.device_count = device_count;
  d.device_get = device_get;
  d.device_name = device_name;
  d.device_attribute = device_attribute;
  d.device_pci = device_pci;
  d.device_memory = device_memory;
  d.device_use = device_use;
  d.synchronize = synchronize;
  d.memory_info = memory_info;
  d.allocate = allocate;
  d.release = release;
  d.copy_in = copy_in;
  d.copy_out = copy_out;
  d.copy_within = copy_within;
  d.set_bytes = set_bytes;
  d.pin = pin;
  d.unpin = unpin;
  d.stream_create = stream_create;
  d.stream_synchronize = stream_synchronize;
  d.event_create = event_create;
  d.event_destroy = event_destroy;
  d.event_record = event_record;
  d.event_elapsed = event_elapsed;
  d.module_load = module_load;
  d.module_unload = module_unload;
  d.module_function = module_function;
  d.module_global = module_global;
  d.function_attribute = function_attribute;
  d.launch_parameters = launch_parameters;
  d.error_name = error_name;
  return driver;
}

}  // namespace kernelsearch::detail::gpu
