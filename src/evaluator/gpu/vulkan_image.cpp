// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/vulkan_image.hpp"

#include <algorithm>
#include <cstring>

#include "evaluator/gpu/wire.hpp"

namespace kernelsearch::detail::gpu {
namespace {

constexpr std::uint64_t image_magic = 0x31'6b'76'73'6b;  // "ksvk1"

std::string names_in(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

kernelsearch::Fault unbound(const std::string& function, const std::string& what, const std::string& todo) {
  return {"the shader does not fit the problem's arguments", "kernel " + function + ": " + what, todo};
}

/// The place of the parameter with this name; nothing where there is none.
std::optional<std::uint32_t> parameter_named(std::span<const ShaderParameter> parameters,
                                             const std::string& name) {
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (parameters[p].name == name) return static_cast<std::uint32_t>(p);
  return std::nullopt;
}

}  // namespace

Result<Shader> bind_shader(const std::string& function, std::vector<std::uint32_t> words,
                           const SpirvKernel& kernel, std::span<const ShaderParameter> parameters,
                           bool begins) {
  Shader shader;
  shader.function = function;
  shader.entry = kernel.entry;
  shader.words = std::move(words);
  shader.parameters = static_cast<std::uint32_t>(parameters.size());
  shader.push_bytes = (kernel.push_bytes + 3) / 4 * 4;
  shader.local_size = kernel.local_size;
  shader.shared_bytes = kernel.shared_bytes;
  shader.needs = kernel.needs;
  for (const SpirvConstant& constant : kernel.constants)
    if (!constant.differ) shader.constants.push_back({constant.id, constant.bytes, constant.bits});

  std::vector<std::uint32_t> arrays, scalars;
  std::vector<std::string> array_names, scalar_names;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    (parameters[p].is_array ? arrays : scalars).push_back(static_cast<std::uint32_t>(p));
    (parameters[p].is_array ? array_names : scalar_names).push_back(parameters[p].name);
  }
  const auto array_named = [&](const SpirvBuffer& buffer) -> std::optional<std::uint32_t> {
    for (const std::string& name : buffer.names)
      if (const auto place = parameter_named(parameters, name); place && parameters[*place].is_array)
        return place;
    return std::nullopt;
  };
  const bool by_name =
      std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                  [&](const SpirvBuffer& buffer) { return array_named(buffer).has_value(); });
  for (const SpirvBuffer& buffer : kernel.buffers) {
    std::optional<std::uint32_t> place = array_named(buffer);
    if (!by_name && buffer.binding < arrays.size()) place = arrays[buffer.binding];
    if (!place)
      return unbound(function,
                     "the buffer " +
                         (buffer.names.empty() ? std::string("without a name") : buffer.names.front()) +
                         " at binding " + std::to_string(buffer.binding) +
                         (by_name ? " has the name of no array" : " is beyond the arrays"),
                     "the arrays of this launch are " + names_in(array_names) +
                         ": name buffers like them, or number bindings in their order");
    const bool twice = std::any_of(shader.arrays.begin(), shader.arrays.end(),
                                   [&](const Shader::Array& known) { return known.parameter == *place; });
    if (twice)
      return unbound(function, "two buffers are the array " + parameters[*place].name, "declare it once");
    shader.arrays.push_back({buffer.binding, *place, buffer.asks_length ? 1u : 0u});
  }

  const auto is_begin = [&](const std::string& name) -> std::optional<std::uint32_t> {
    constexpr std::string_view ending = "_begin";
    if (!begins || !name.ends_with(ending)) return std::nullopt;
    return parameter_named(parameters, name.substr(0, name.size() - ending.size()));
  };
  const auto scalar_named = [&](const SpirvPushMember& member) -> std::optional<std::uint32_t> {
    const auto place = parameter_named(parameters, member.name);
    return place && !parameters[*place].is_array ? place : std::nullopt;
  };
  const bool push_by_name =
      begins || std::any_of(kernel.push.begin(), kernel.push.end(),
                            [&](const SpirvPushMember& member) { return scalar_named(member).has_value(); });
  for (std::size_t m = 0; m < kernel.push.size(); ++m) {
    const SpirvPushMember& member = kernel.push[m];
    if (const auto array = is_begin(member.name)) {
      shader.push.push_back({member.offset, member.bytes, *array, 1});
      continue;
    }
    std::optional<std::uint32_t> place = scalar_named(member);
    if (!push_by_name && m < scalars.size()) place = scalars[m];
    if (!place)
      return unbound(function,
                     "the push constant " + (member.name.empty() ? std::to_string(m) : member.name) +
                         (push_by_name ? " has the name of no scalar" : " is beyond the scalars"),
                     "the scalars of this launch are " + names_in(scalar_names));
    if (member.bytes != parameters[*place].bytes)
      return unbound(function,
                     "the push constant " + member.name + " has " + std::to_string(member.bytes) +
                         " bytes, the scalar " + parameters[*place].name + " has " +
                         std::to_string(parameters[*place].bytes),
                     "give both the same type");
    shader.push.push_back({member.offset, member.bytes, *place, 0});
  }
  return shader;
}

std::vector<std::byte> image_of(const std::vector<Shader>& shaders) {
  const std::vector<std::byte> body = Writer().put(shaders).bytes();
  Writer out;
  out.put(image_magic).put(static_cast<std::uint64_t>(body.size()));
  std::vector<std::byte> image = out.bytes();
  image.insert(image.end(), body.begin(), body.end());
  return image;
}

std::uint64_t image_bytes(const void* image) noexcept {
  std::uint64_t head[2] = {};
  std::memcpy(head, image, sizeof head);
  return head[0] == image_magic ? sizeof head + head[1] : 0;
}

std::optional<std::vector<Shader>> shaders_of(std::span<const std::byte> image) {
  constexpr std::size_t head = 16;
  if (image.size() < head || image_bytes(image.data()) != image.size()) return std::nullopt;
  const std::vector<std::byte> body(image.begin() + head, image.end());
  Reader in(body);
  auto shaders = in.take<std::vector<Shader>>();
  if (!in.ok()) return std::nullopt;
  return shaders;
}

}  // namespace kernelsearch::detail::gpu
