// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the chosen entry point of a module is: sizes, buffers, push constants.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "shader/spirv_reader.hpp"

namespace kernelsearch::detail::spirv {

namespace {

constexpr std::uint64_t limit_bytes = std::uint64_t{1} << 31;
constexpr int most_nested = 32;

}  // namespace

/// Bytes of a type in memory of a work group; nothing where they are not known.
std::optional<std::uint64_t> ModuleReader::bytes_of(std::uint32_t id, int depth) const {
  const auto found = types_.find(id);
  if (found == types_.end() || depth > most_nested) return std::nullopt;
  const Type& type = found->second;
  std::uint64_t count = 1;
  switch (type.kind) {
    case Type::boolean:
    case Type::integer:
    case Type::floating:
      return (type.width + 7) / 8;
    case Type::vector:
    case Type::matrix:
      count = type.width;
      break;
    case Type::array: {
      const auto length = whole(type.length);
      if (!length || *length < 1) return std::nullopt;
      count = static_cast<std::uint64_t>(*length);
      break;
    }
    case Type::structure: {
      std::uint64_t sum = 0;
      for (const std::uint32_t member : type.members) {
        const auto bytes = bytes_of(member, depth + 1);
        if (!bytes || *bytes > limit_bytes - sum) return std::nullopt;
        sum += *bytes;
      }
      return sum;
    }
    default:
      return std::nullopt;
  }
  const auto each = bytes_of(type.element, depth + 1);
  if (!each || (*each != 0 && count > limit_bytes / *each)) return std::nullopt;
  return count * *each;
}

template <class Ids>
std::optional<std::string> ModuleReader::set_local_size(const Ids& ids, SpirvKernel& kernel) const {
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = whole(ids[i]);
    if (!value || *value < 1 || *value > std::numeric_limits<std::uint32_t>::max())
      return "the size of its work groups is not a whole number >= 1";
    kernel.local_size[i] = static_cast<std::uint32_t>(*value);
  }
  return std::nullopt;
}

Result<SpirvKernel> ModuleReader::finish() {
  SpirvKernel kernel;
  const auto chosen = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return wanted_.empty() || entry.second == wanted_;
  });
  if (chosen == entries_.end())
    return bad(entries_.empty() ? "it has no entry point for compute" : "it has no entry point " + wanted_);
  if (wanted_.empty() && entries_.size() > 1) return bad("it has several entry points for compute");
  kernel.entry = chosen->second;
  if (auto problem = find_local_size(chosen->first, kernel)) return bad(*problem);
  // For a single entry point everything is bound that the module declares.
  const bool all = entries_.size() == 1;
  const std::set<std::uint32_t> used = all ? std::set<std::uint32_t>() : used_from(chosen->first);
  for (const Variable& variable : variables_) {
    if (!all && !used.contains(variable.id)) continue;
    if (auto problem = take(variable, kernel)) return bad(*problem);
  }
  std::sort(kernel.buffers.begin(), kernel.buffers.end(),
            [](const SpirvBuffer& a, const SpirvBuffer& b) { return a.binding < b.binding; });
  for (std::size_t i = 1; i < kernel.buffers.size(); ++i)
    if (kernel.buffers[i].binding == kernel.buffers[i - 1].binding)
      return bad("two arrays have the binding " + std::to_string(kernel.buffers[i].binding));
  std::sort(constants_.begin(), constants_.end(),
            [](const SpirvConstant& a, const SpirvConstant& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < constants_.size(); ++i) {
    if (constants_[i].id != constants_[i - 1].id ||
        (constants_[i].bytes == constants_[i - 1].bytes && constants_[i].bits == constants_[i - 1].bits))
      continue;
    if (constants_[i].name != "constant_" + std::to_string(constants_[i].id))
      return bad("two specialisation constants have the id " + std::to_string(constants_[i].id) +
                 " and different values");
    for (SpirvConstant& one : constants_) one.differ = one.differ || one.id == constants_[i].id;
  }
  constants_.erase(std::unique(constants_.begin(), constants_.end(),
                               [](const SpirvConstant& a, const SpirvConstant& b) { return a.id == b.id; }),
                   constants_.end());
  kernel.constants = std::move(constants_);
  for (const std::uint32_t capability : capabilities_)
    if (!is_supported(capability))
      return bad("it needs the capability " + std::to_string(capability) +
                 " of SPIR-V, which devices are not asked for");
  const auto can = [this](std::uint32_t capability) { return capabilities_.contains(capability); };
  kernel.needs = {can(10), can(9), can(11), can(22), can(39), can(4433) || can(4434), can(4448) || can(4449)};
  return kernel;
}

/// Matrix, Shader, widths of numbers and of what is stored, and operations of subgroups.
bool ModuleReader::is_supported(std::uint32_t capability) {
  constexpr std::uint32_t known[] = {0, 1, 9, 10, 11, 22, 39, 4433, 4434, 4448, 4449};
  return std::find(std::begin(known), std::end(known), capability) != std::end(known) ||
         (capability >= 61 && capability <= 68);
}

std::optional<std::string> ModuleReader::find_local_size(std::uint32_t entry, SpirvKernel& kernel) const {
  // A constant that is decorated as the size of work groups has precedence over the execution mode.
  for (const auto& [id, decoration] : decorations_) {
    constexpr std::uint32_t work_group_size = 25;
    const auto parts = composites_.find(id);
    if (decoration.built_in != work_group_size || parts == composites_.end()) continue;
    if (parts->second.size() != 3) return "the size of its work groups is not a vector of three";
    return set_local_size(parts->second, kernel);
  }
  const auto size = sizes_.find(entry);
  if (size == sizes_.end()) return "it does not say how large its work groups are";
  if (size->second.first) return set_local_size(size->second.second, kernel);
  for (std::size_t i = 0; i < 3; ++i) kernel.local_size[i] = size->second.second[i];
  for (const std::uint32_t extent : kernel.local_size)
    if (extent == 0) return "its work groups are empty";
  return std::nullopt;
}

std::optional<std::string> ModuleReader::take(const Variable& variable, SpirvKernel& kernel) {
  const auto pointer = types_.find(variable.type);
  if (pointer == types_.end() || pointer->second.kind != Type::pointer)
    return std::optional<std::string>("a variable is not a pointer");
  const std::uint32_t target = pointer->second.element;
  const auto found = types_.find(target);
  const Decorations decorated = decorations_[variable.id];
  const std::string called = name(variable.id).empty() ? name(target) : name(variable.id);
  const bool is_buffer = variable.storage == storage_buffer ||
                         (variable.storage == storage_uniform && decorations_[target].buffer_block);
  if (variable.storage == storage_workgroup) {
    const auto bytes = bytes_of(target);
    if (!bytes || *bytes > limit_bytes - kernel.shared_bytes)
      return "the size of its shared variable " + called + " is not known";
    kernel.shared_bytes += *bytes;
  } else if (variable.storage == storage_push_constant) {
    return take_push(target, kernel);
  } else if (is_buffer) {
    if (found == types_.end() || found->second.kind != Type::structure)
      return called + " is an array of buffers: declare one buffer for each array";
    if (decorated.set.value_or(0) != 0)
      return called + " is in descriptor set " + std::to_string(*decorated.set) + ": only set 0 is bound";
    if (!decorated.binding) return called + " has no binding";
    SpirvBuffer buffer;
    buffer.binding = *decorated.binding;
    buffer.asks_length = measured_.contains(variable.id);
    const auto add = [&](const std::string& text) {
      if (!text.empty() && std::find(buffer.names.begin(), buffer.names.end(), text) == buffer.names.end())
        buffer.names.push_back(text);
    };
    add(name(variable.id));
    add(name(target));
    if (!found->second.members.empty()) {
      const auto member =
          member_names_.find({target, static_cast<std::uint32_t>(found->second.members.size() - 1)});
      if (member != member_names_.end()) add(member->second);
    }
    kernel.buffers.push_back(std::move(buffer));
  } else if (variable.storage == storage_uniform || variable.storage == storage_uniform_constant) {
    return "it binds " + (called.empty() ? std::string("something") : called) +
           ", which is a uniform buffer, an image or a sampler: arrays are storage buffers, scalars push "
           "constants";
  }
  return std::nullopt;
}

std::optional<std::string> ModuleReader::take_push(std::uint32_t target, SpirvKernel& kernel) {
  const auto found = types_.find(target);
  if (found == types_.end() || found->second.kind != Type::structure || !kernel.push.empty())
    return "its push constants are not a single block";
  const Decorations& decorated = decorations_[target];
  for (std::size_t m = 0; m < found->second.members.size(); ++m) {
    const auto index = static_cast<std::uint32_t>(m);
    const auto offset = decorated.offsets.find(index);
    const auto bytes = bytes_of(found->second.members[m]);
    if (offset == decorated.offsets.end() || !bytes) return "a push constant has no place or size";
    SpirvPushMember member{offset->second, static_cast<std::uint32_t>(std::min(*bytes, limit_bytes)), ""};
    if (member.offset > limit_bytes || member.bytes > limit_bytes - member.offset)
      return "its push constants are too large";
    if (const auto named = member_names_.find({target, index}); named != member_names_.end())
      member.name = named->second;
    kernel.push_bytes = std::max(kernel.push_bytes, member.offset + member.bytes);
    kernel.push.push_back(std::move(member));
  }
  std::sort(kernel.push.begin(), kernel.push.end(),
            [](const SpirvPushMember& a, const SpirvPushMember& b) { return a.offset < b.offset; });
  return std::nullopt;
}

}  // namespace kernelsearch::detail::spirv
