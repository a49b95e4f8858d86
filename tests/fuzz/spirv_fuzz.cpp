// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled shaders: any bytes are a module with buffers and sizes that make sense, or refused with a reason;
// an image of shaders and a source's text are read or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "evaluator/gpu/glslang.hpp"
#include "evaluator/gpu/vulkan_image.hpp"
#include "evaluator/gpu/vulkan_source.hpp"
#include "shader/ready_module.hpp"
#include "shader/shader_text.hpp"
#include "shader/spirv_module.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto words = spirv_words({begin, size})) {
    make_bindings_distinct(*words);
    const std::vector<std::pair<std::string, Value>> values{{"SIZE", Value{std::int64_t{8}}}};
    const auto kernel = read_spirv(*words, {}, values);
    if (!kernel && kernel.error().text().empty()) std::abort();
    if (kernel) {
      for (const std::uint32_t extent : kernel->local_size)
        if (extent == 0) std::abort();
      for (const SpirvPushMember& member : kernel->push)
        if (member.offset + member.bytes > kernel->push_bytes) std::abort();
      const std::vector<ShaderParameter> parameters{{"a", true, 0}, {"b", true, 0}, {"n", false, 4}};
      (void)bind_shader("k", *words, *kernel, parameters);
    }
  }
  if (const auto words = ready_words(text)) {
    if (*ready_words(ready_text(*words)) != *words && !words->empty()) std::abort();
    for (const std::string& entry : spirv_entries(*words))
      if (const auto kernel = read_ready(*words, entry, false, {}))
        if (specialised(*words, kernel->constants).size() != words->size()) std::abort();
  }
  (void)with_constants(std::string(text), {{"SIZE", Value{std::int64_t{8}}}});
  (void)shaders_of({begin, size});
  (void)declared_constants(text);
  (void)cleaned_glslang(std::string(text));
  if (const auto source = shader_source_of(text); source && source->entries.empty()) std::abort();
  return 0;
}
