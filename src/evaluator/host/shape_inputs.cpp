// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/shape_inputs.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail {
namespace {

std::vector<std::byte> scalar_bytes(const PlannedArgument& scalar) {
  std::vector<std::byte> bytes(size_in_bytes(scalar.type));
  if (const auto* whole = std::get_if<std::int64_t>(&scalar.value))
    store_element(scalar.type, *whole, bytes.data());
  else
    store_element(scalar.type, to_number(scalar.value), bytes.data());
  return bytes;
}

}  // namespace

std::uint64_t array_bytes(const ShapePlan& plan) {
  std::uint64_t bytes = 0;
  for (const PlannedArgument& argument : plan.arguments) bytes += argument.count * argument.element_bytes();
  return bytes;
}

ShapeInputs::ShapeInputs(const ShapePlan& plan, const Contents& contents)
    : file_(memfd_create("kernelsearch-inputs", MFD_CLOEXEC)) {
  add(plan.arguments.size());
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    const std::vector<std::byte> scalar =
        argument.is_array ? std::vector<std::byte>() : scalar_bytes(argument);
    const std::vector<std::byte>& given = argument.is_array ? contents[a] : scalar;
    add(argument.is_array ? argument.count * argument.element_bytes() : scalar.size());
    add(argument.is_array ? 1 : 0);
    add(given.empty() ? 0 : 1);
    add(given.data(), given.size());
  }
}

int ShapeInputs::from_start() {
  lseek(file_.number(), 0, SEEK_SET);
  return file_.number();
}

void ShapeInputs::add(const void* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t wrote = ::write(file_.number(), static_cast<const char*>(data) + done, bytes - done);
    if (wrote <= 0)
      raise<DeviceError>("the inputs do not fit into memory", std::to_string(bytes) + " bytes",
                         "free memory");
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace kernelsearch::detail
