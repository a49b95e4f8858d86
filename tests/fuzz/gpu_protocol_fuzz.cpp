// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GPU worker and its controller read from each other: any bytes are a message or none, and what was
// read is written as no more than it was read from.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "evaluator/gpu/protocol.hpp"

using namespace kernelsearch::detail::gpu;

namespace {

template <class T>
void read_as(const std::vector<std::byte>& bytes) {
  Reader in(bytes);
  const T value = in.take<T>();
  if (in.ok() && Writer().put(value).bytes().size() > bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(begin, begin + size);
  read_as<Command>(bytes);
  read_as<Answer>(bytes);
  read_as<Hello::Reply>(bytes);
  read_as<LoadModule::Reply>(bytes);
  read_as<DefineProgram::Reply>(bytes);
  read_as<LendBuffer::Reply>(bytes);
  read_as<Act::Reply>(bytes);
  read_as<CompileSource::Reply>(bytes);
  return 0;
}
