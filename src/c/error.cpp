// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "handles.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/store/store_error.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::c {
namespace {

// A plain array: it needs no memory when that has run out, and no destructor when a thread ends.
constexpr std::size_t longest_error = 4096;
thread_local std::array<char, longest_error> last_error{};

constexpr const char* no_memory = "kernelsearch: there is no more memory; ask for less, or free some";

ks_status said(ks_status status, std::string_view text) noexcept {
  const std::size_t length = detail::utf8_cut(text, longest_error - 1);
  std::copy_n(text.data(), length, last_error.data());
  last_error[length] = '\0';
  return status;
}

}  // namespace

void refuse(ks_status status, std::string_view what, std::string_view given, std::string_view todo) {
  throw Refused(status, detail::error_text(what, given, todo));
}

ks_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Refused& error) {
    return said(error.status(), error.what());
  } catch (const ConfigError& error) {
    return said(KS_CONFIG_ERROR, error.what());
  } catch (const DeviceError& error) {
    return said(KS_DEVICE_ERROR, error.what());
  } catch (const StoreError& error) {
    return said(KS_STORE_ERROR, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return said(KS_FILE_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return said(KS_NO_MEMORY, no_memory);
  } catch (const std::length_error&) {  // more than any memory holds
    return said(KS_NO_MEMORY, no_memory);
  } catch (const std::exception& error) {
    return said(KS_INTERNAL, error.what());
  } catch (...) {
    return said(KS_INTERNAL, "kernelsearch: an exception of an unknown type");
  }
}

std::string_view text_of(const char* text, const char* what) {
  return needed(text, what);
}

Working::Working(std::atomic<bool>& busy) : busy_(busy) {
  if (busy_.exchange(true, std::memory_order_acquire))
    refuse(KS_BUSY, "another call on this object is under way", "from another thread, or from a callback",
           "wait until it has returned");
}

void write_text(std::string_view from, char* text, std::size_t capacity, std::size_t* needed_bytes) {
  if (text == nullptr && capacity > 0)
    refuse(KS_BAD_ARGUMENT, "a buffer is missing", "NULL with a capacity",
           "give a buffer, or a capacity of 0 to ask for the size");
  if (needed_bytes != nullptr) *needed_bytes = from.size() + 1;
  if (capacity < from.size() + 1)
    refuse(KS_SMALL_BUFFER, "the buffer is too small", std::to_string(capacity) + " bytes",
           "give one of " + std::to_string(from.size() + 1));
  std::copy(from.begin(), from.end(), text);
  text[from.size()] = '\0';
}

void write_items(std::span<const std::int64_t> from, std::int64_t* items, std::size_t capacity,
                 std::size_t* count) {
  if (items == nullptr && capacity > 0)
    refuse(KS_BAD_ARGUMENT, "a buffer is missing", "NULL with a capacity",
           "give a buffer, or a capacity of 0 to ask for the size");
  if (count != nullptr) *count = from.size();
  if (capacity < from.size())
    refuse(KS_SMALL_BUFFER, "the buffer is too small", std::to_string(capacity) + " items",
           "give one of " + std::to_string(from.size()));
  std::copy(from.begin(), from.end(), items);
}

void write_config(const Config& from, std::uint32_t* config, std::size_t length) {
  if (length < from.indices.size())
    refuse(KS_SMALL_BUFFER, "the buffer is too small for a configuration", std::to_string(length),
           "give room for " + std::to_string(from.indices.size()) + " positions");
  if (!from.indices.empty())
    std::copy(from.indices.begin(), from.indices.end(), needed(config, "the configuration's array"));
}

Config read_config(const Space& space, const std::uint32_t* config, std::size_t length) {
  if (length != space.size())
    refuse(KS_BAD_ARGUMENT, "a configuration has a position for each tunable",
           std::to_string(length) + " of them", "give " + std::to_string(space.size()));
  if (length > 0) needed(config, "the configuration's array");
  Config made{{config, config + length}};
  for (std::size_t i = 0; i < length; ++i)
    if (config[i] >= space.tunable(i).values.size())
      refuse(KS_BAD_ARGUMENT, "a tunable has no value at that position",
             space.tunable(i).name + " at " + std::to_string(config[i]),
             "it has " + std::to_string(space.tunable(i).values.size()) + " values, from position 0");
  return made;
}

namespace {
template <class T>
const T& value_as(const Value& from, std::string_view name, const char* type) {
  if (const T* value = std::get_if<T>(&from)) return *value;
  refuse(KS_WRONG_TYPE, "the value is not of the type " + std::string(type),
         std::string(name) + " = " + to_string(from) + ", " + type_name(from),
         "call the function for its type");
}
}  // namespace

void write_boolean(const Value& from, std::string_view name, int* value) {
  *needed(value, "value") = value_as<bool>(from, name, "boolean") ? 1 : 0;
}
void write_integer(const Value& from, std::string_view name, std::int64_t* value) {
  *needed(value, "value") = value_as<std::int64_t>(from, name, "integer");
}
void write_real(const Value& from, std::string_view name, double* value) {
  needed(value, "value");
  if (const auto* integer = std::get_if<std::int64_t>(&from))
    *value = static_cast<double>(*integer);
  else
    *value = value_as<double>(from, name, "number");
}
const std::string& text_value(const Value& from, std::string_view name) {
  return value_as<std::string>(from, name, "text");
}
const Permutation& order_value(const Value& from, std::string_view name) {
  return value_as<Permutation>(from, name, "order");
}

double objective_value(const Evaluation& from, std::string_view name) {
  if (from.verdict != Verdict::ok)
    refuse(KS_NONE, "the trial has no objectives", std::string(to_string(from.verdict)),
           "ks_trial_reason() says why");
  constexpr std::string_view prefix = "objective.";
  if (name == "time") return from.measurement.seconds;
  if (const auto value = from.features.find(std::string(prefix).append(name))) return *value;
  std::vector<std::string> known{"time"};
  for (const auto& [feature, value] : from.features)
    if (feature.starts_with(prefix)) known.push_back(feature.substr(prefix.size()));
  const std::string nearest = nearest_name(name, known);
  refuse(KS_UNKNOWN_NAME, "there is no objective of that name", name,
         nearest.empty() ? "choose among: " + detail::joined(known, ", ") : "did you mean " + nearest + "?");
}

struct Options::Body {
  nlohmann::json object = nlohmann::json::object();
  std::vector<std::string> known;

  /// The member, where it was given.
  const nlohmann::json* find(const char* name) {
    known.emplace_back(name);
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }
  [[noreturn]] static void wrong(const char* name, const nlohmann::json& given, const char* wanted) {
    refuse(KS_WRONG_TYPE, "an option is of another type",
           "\"" + std::string(name) +
               "\": " + given.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
           "give " + std::string(wanted));
  }
};

Options::Options(const char* json) : body_(std::make_unique<Body>()) {
  if (json == nullptr) return;
  body_->object = nlohmann::json::parse(json, nullptr, false);
  if (!body_->object.is_object())
    refuse(KS_CONFIG_ERROR, "the options are not a JSON object", json,
           "give NULL, or such as {\"budget\": 200}");
}
Options::~Options() = default;

void Options::read(const char* name, bool& value) {
  if (const auto* given = body_->find(name)) {
    if (!given->is_boolean()) Body::wrong(name, *given, "true or false");
    value = given->get<bool>();
  }
}
void Options::read(const char* name, std::uint64_t& value) {
  if (const auto* given = body_->find(name)) {
    if (!given->is_number_unsigned()) Body::wrong(name, *given, "a whole number from 0");
    value = given->get<std::uint64_t>();
  }
}
void Options::read(const char* name, std::optional<std::uint64_t>& value) {
  std::uint64_t number = 0;
  const bool given = body_->object.contains(name);
  read(name, number);
  if (given) value = number;
}
void Options::read(const char* name, unsigned& value) {
  std::uint64_t number = value;
  read(name, number);
  if (number > std::numeric_limits<unsigned>::max())
    Body::wrong(name, body_->object[name], "a whole number in its range");
  value = static_cast<unsigned>(number);
}
void Options::read(const char* name, double& value) {
  if (const auto* given = body_->find(name)) {
    if (!given->is_number()) Body::wrong(name, *given, "a number");
    value = given->get<double>();
  }
}
void Options::read(const char* name, std::string& value) {
  if (const auto* given = body_->find(name)) {
    if (!given->is_string()) Body::wrong(name, *given, "a text");
    value = given->get<std::string>();
  }
}
void Options::read(const char* name, std::vector<std::string>& value) {
  if (const auto* given = body_->find(name)) {
    if (!given->is_array()) Body::wrong(name, *given, "a list of texts");
    value.clear();
    for (const auto& one : *given) {
      if (!one.is_string()) Body::wrong(name, *given, "a list of texts");
      value.push_back(one.get<std::string>());
    }
  }
}
const nlohmann::json& Options::object() const noexcept {
  return body_->object;
}
void Options::finish() const {
  for (const auto& [name, value] : body_->object.items()) {
    if (std::find(body_->known.begin(), body_->known.end(), name) != body_->known.end()) continue;
    const std::string nearest = nearest_name(name, body_->known);
    std::string all;
    for (const std::string& one : body_->known) all += (all.empty() ? "" : ", ") + one;
    refuse(KS_UNKNOWN_NAME, "there is no such option", '"' + name + '"',
           (nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") + ("there are: " + all));
  }
}

}  // namespace kernelsearch::c

const char* ks_version(void) {
  return KERNELSEARCH_VERSION;
}
uint32_t ks_api_version(void) {
  return KS_API_VERSION;
}
const char* ks_last_error(void) {
  return kernelsearch::c::last_error.data();
}
