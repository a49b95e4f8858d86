// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "handles.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/runtime/processor.hpp"

namespace kernelsearch::c {
namespace {

const Value& setting(const ks_settings* settings, const char* name) {
  const Settings& of = checked(settings).settings;
  const std::string_view wanted = text_of(name, "name");
  if (const Value* value = of.find(wanted)) return *value;
  std::vector<std::string> names;
  for (const auto& [known, value] : of.values) names.push_back(known);
  const std::string nearest = nearest_name(wanted, names);
  refuse(KS_UNKNOWN_NAME, "the settings have no tunable of that name", wanted,
         nearest.empty() ? "name one of the kernel's" : "did you mean " + nearest + "?");
}

}  // namespace
}  // namespace kernelsearch::c

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

ks_status ks_plan_read(const char* file, ks_plan** out) {
  return guarded([&] {
    give(out,
         [&] { return std::make_unique<ks_plan>(Plan::load(std::filesystem::path(text_of(file, "file")))); });
  });
}
ks_status ks_plan_parse(const char* json, ks_plan** out) {
  return guarded([&] {
    give(out, [&] { return std::make_unique<ks_plan>(Plan::parse(text_of(json, "json"), "plan")); });
  });
}
ks_status ks_plan_free(ks_plan* plan) {
  return freed(plan);
}

ks_status ks_processor_name(char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] { write_text(processor_name(), text, capacity, needed_bytes); });
}

ks_status ks_plan_best(const ks_plan* plan, const char* problem, const char* device, const char* const* names,
                       const int64_t* values, size_t count, const char* kernel_digest, ks_settings** out) {
  return guarded([&] {
    const Plan& in = checked(plan).plan;
    needed(out, "out");
    std::vector<std::pair<std::string, Value>> shape;
    if (count > 0) {
      needed(names, "names");
      needed(values, "values");
    }
    for (std::size_t i = 0; i < count; ++i)
      shape.emplace_back(std::string(text_of(names[i], "one of the names")), std::int64_t{values[i]});
    const std::string on = device != nullptr ? device : processor_name();
    auto best =
        in.best_for(text_of(problem, "problem"), on, shape, kernel_digest != nullptr ? kernel_digest : "");
    if (!best)
      refuse(KS_NONE, "nothing better than the default is known", std::string(problem) + " on " + on,
             "use the kernel's default");
    give(out, [&] { return std::make_unique<ks_settings>(*std::move(best)); });
  });
}

ks_status ks_settings_boolean(const ks_settings* settings, const char* name, int* value) {
  return guarded([&] { write_boolean(setting(settings, name), name, value); });
}
ks_status ks_settings_integer(const ks_settings* settings, const char* name, int64_t* value) {
  return guarded([&] { write_integer(setting(settings, name), name, value); });
}
ks_status ks_settings_real(const ks_settings* settings, const char* name, double* value) {
  return guarded([&] { write_real(setting(settings, name), name, value); });
}
ks_status ks_settings_text(const ks_settings* settings, const char* name, char* text, size_t capacity,
                           size_t* needed_bytes) {
  return guarded(
      [&] { write_text(text_value(setting(settings, name), name), text, capacity, needed_bytes); });
}
ks_status ks_settings_order(const ks_settings* settings, const char* name, int64_t* items, size_t capacity,
                            size_t* count) {
  return guarded([&] { write_items(order_value(setting(settings, name), name), items, capacity, count); });
}
ks_status ks_settings_free(ks_settings* settings) {
  return freed(settings);
}
