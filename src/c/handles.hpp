// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/c/kernelsearch.h"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/runtime/plan.hpp"
#include "kernelsearch/runtime/settings.hpp"
#include "kernelsearch/space/space.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch::c {

/// What every object begins with, so that one of another kind is noticed.
template <std::uint32_t number>
struct Marked {
  static constexpr std::uint32_t mark = 0x6b730000U + number;
  std::uint32_t marked = mark;
  Marked() = default;
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
  /// Through a volatile, or the compiler would leave out a write that nobody may read any more.
  ~Marked() { *static_cast<volatile std::uint32_t*>(&marked) = 0; }
};

/// How a policy is made, shared by what was made with it.
struct Recipe {
  std::string name;
  std::function<AnyPolicy<Config>(const PolicySetup&)> make;
  bool own = false;  ///< of the caller
};

/// How the caller judges.
struct OwnJudge {
  std::string device, toolchain;
  ks_evaluate evaluate = nullptr;
  void* user = nullptr;
};

}  // namespace kernelsearch::c

struct ks_builder : kernelsearch::c::Marked<1> {
  std::atomic<bool> busy = false;
  std::vector<kernelsearch::Tunable> tunables;
  std::vector<kernelsearch::Constraint> constraints;
};

struct ks_space : kernelsearch::c::Marked<2> {
  explicit ks_space(kernelsearch::Space s) : space(std::move(s)) {}
  kernelsearch::Space space;
};

struct ks_policy : kernelsearch::c::Marked<3> {
  std::shared_ptr<const kernelsearch::c::Recipe> recipe;
};

/// What is lent to a callback; it points to what the caller of the callback has.
struct ks_trial : kernelsearch::c::Marked<4> {
  std::uint64_t number = 0;
  std::optional<ks_space> space;  ///< nothing: there was no candidate
  const kernelsearch::Config* config = nullptr;
  const kernelsearch::Evaluation* evaluation = nullptr;  ///< null: it is being judged
  double objective = 0.0;
  bool foreign = false;
  const kernelsearch::Regions* code = nullptr;
};

struct ks_plan : kernelsearch::c::Marked<5> {
  explicit ks_plan(kernelsearch::Plan p) : plan(std::move(p)) {}
  kernelsearch::Plan plan;
};

struct ks_settings : kernelsearch::c::Marked<6> {
  explicit ks_settings(kernelsearch::Settings s) : settings(std::move(s)) {}
  kernelsearch::Settings settings;
};

struct ks_problem : kernelsearch::c::Marked<7> {
  kernelsearch::Problem problem;
  std::filesystem::path path;  ///< where it was read from; empty: it was made by calls
};

struct ks_evaluator : kernelsearch::c::Marked<8> {
  kernelsearch::c::OwnJudge judge;
};

namespace kernelsearch::c {

/// Any status but KS_OK on its way out.
class Refused final : public Error {
 public:
  Refused(ks_status status, const std::string& text) : Error(text), status_(status) {}
  [[nodiscard]] ks_status status() const noexcept { return status_; }

 private:
  ks_status status_;
};

[[noreturn]] void refuse(ks_status status, std::string_view what, std::string_view given,
                         std::string_view todo);

/// The status of the exception that is being handled; its text becomes the thread's last error.
ks_status status_of_exception() noexcept;

/// Every function's body: what it throws becomes a status.
template <class Body>
ks_status guarded(Body&& body) noexcept {
  try {
    body();
    return KS_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// That the pointer leads to an object of this kind.
template <class Handle>
Handle& checked(Handle* handle) {
  if (handle == nullptr)
    refuse(KS_BAD_ARGUMENT, "an object is missing", "NULL", "give what the function that made it wrote");
  std::uint32_t marked = 0;
  std::memcpy(&marked, static_cast<const void*>(handle), sizeof marked);
  if (marked != Handle::mark)
    refuse(KS_BAD_HANDLE, "this is an object of another kind, or one that was freed",
           "mark " + std::to_string(marked) + ", not " + std::to_string(Handle::mark),
           "give an object that the function is for");
  return *handle;
}

/// That there is a place to write to, or something to read.
template <class T>
T* needed(T* pointer, const char* what) {
  if (pointer == nullptr) refuse(KS_BAD_ARGUMENT, "an argument is missing", what, "NULL is not allowed here");
  return pointer;
}

[[nodiscard]] std::string_view text_of(const char* text, const char* what);

/// One call at a time on an object that changes.
class Working {
 public:
  explicit Working(std::atomic<bool>& busy);
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  ~Working() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& busy_;
};

void write_text(std::string_view from, char* text, std::size_t capacity, std::size_t* needed_bytes);
void write_items(std::span<const std::int64_t> from, std::int64_t* items, std::size_t capacity,
                 std::size_t* count);
/// The value of a right evaluation in the objective of that name, which is the time or one that the run has.
[[nodiscard]] double objective_value(const Evaluation& from, std::string_view name);
void write_config(const Config& from, std::uint32_t* config, std::size_t length);

/// The configuration of that array; its positions are positions of values.
[[nodiscard]] Config read_config(const Space& space, const std::uint32_t* config, std::size_t length);

/// Writes a value as one of these types, or refuses with the tunable's name.
void write_boolean(const Value& from, std::string_view name, int* value);
void write_integer(const Value& from, std::string_view name, std::int64_t* value);
void write_real(const Value& from, std::string_view name, double* value);
[[nodiscard]] const std::string& text_value(const Value& from, std::string_view name);
[[nodiscard]] const Permutation& order_value(const Value& from, std::string_view name);

/// `out` is written last, so that nothing is where something failed.
template <class Handle, class Make>
void give(Handle** out, Make&& make) {
  needed(out, "out");
  std::unique_ptr<Handle> made = make();
  *out = made.release();
}

template <class Handle>
ks_status freed(Handle* handle) noexcept {
  return guarded([&] {
    if (handle == nullptr) return;
    checked(handle);
    if constexpr (requires { handle->busy; })
      if (handle->busy.load(std::memory_order_acquire))
        refuse(KS_BUSY, "an object that is at work cannot be freed", "a call on it is under way",
               "free it once the call has returned");
    delete handle;
  });
}

/// Options as a JSON object, whose members are asked for one after another; then `finish()` refuses the rest.
class Options {
 public:
  explicit Options(const char* json);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void read(const char* name, bool& value);
  void read(const char* name, std::uint64_t& value);
  void read(const char* name, std::optional<std::uint64_t>& value);
  void read(const char* name, unsigned& value);
  void read(const char* name, double& value);
  void read(const char* name, std::string& value);
  void read(const char* name, std::vector<std::string>& value);
  void finish() const;
  [[nodiscard]] const nlohmann::json& object() const noexcept;  ///< all of them

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace kernelsearch::c
