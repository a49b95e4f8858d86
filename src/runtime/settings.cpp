// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/settings.hpp"

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

const Value& required(const Settings& settings, std::string_view name) {
  const Value* const value = settings.find(name);
  if (value == nullptr)
    detail::raise<ConfigError>("the settings have no such tunable", name,
                               "the table belongs to another version of the kernel: tune again");
  return *value;
}

template <class T>
const T& typed(const Settings& settings, std::string_view name, const char* wanted) {
  const Value& value = required(settings, name);
  if (const T* const found = std::get_if<T>(&value)) return *found;
  detail::raise<ConfigError>("a tunable of the settings has another type",
                             std::string(name) + " is " + type_name(value) + ", wanted " + wanted,
                             "ask for it as what it is");
}

}  // namespace

const Value* Settings::find(std::string_view name) const noexcept {
  for (const auto& [known, value] : values)
    if (known == name) return &value;
  return nullptr;
}

std::int64_t Settings::integer(std::string_view name) const {
  return typed<std::int64_t>(*this, name, "int");
}

double Settings::number(std::string_view name) const {
  const Value& value = required(*this, name);
  if (value.index() > 2) (void)typed<double>(*this, name, "a number");
  return to_number(value);
}

bool Settings::boolean(std::string_view name) const {
  return typed<bool>(*this, name, "bool");
}

const std::string& Settings::text(std::string_view name) const {
  return typed<std::string>(*this, name, "string");
}

const Permutation& Settings::order(std::string_view name) const {
  return typed<Permutation>(*this, name, "permutation");
}

}  // namespace kernelsearch
