// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/protocol.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

namespace {

/// Puts a value of its own into every member, so that one which is not sent, or is sent to the place of
/// another, comes back as something else.
class Different {
 public:
  void set(bool& value) { value = ++last_ % 2 == 1; }
  void set(std::string& text) { text = "text " + std::to_string(++last_); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void set(T& value) { value = static_cast<T>(++last_); }
  template <class T, std::size_t N>
  void set(T (&values)[N]) {
    for (T& value : values) set(value);
  }
  template <class T>
  void set(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) set(value);
  }
  template <class T>
  void set(std::optional<T>& value) {
    if (++last_ % 3 != 0) set(value.emplace());
  }
  template <class... Ts>
  void set(std::variant<Ts...>& value) {
    const std::size_t which = ++last_ % sizeof...(Ts);
    pick(value, which, std::index_sequence_for<Ts...>());
  }
  template <HasMembers T>
  void set(T& value) {
    std::apply([this](auto&... members) { (this->set(members), ...); }, T::members(value));
  }
  void set(ScalarParameter& p) { set(p.size), set(p.bits); }
  void set(ArrayParameter& p) { set(p.binding); }
  void set(MapParameter& p) { set(p.map); }
  void set(LocalParameter& p) { set(p.bytes); }
  void set(MapPlan& p) {
    set(p.binding), set(p.rank), set(p.type), set(p.swizzle), set(p.promotion), set(p.sizes), set(p.strides);
    set(p.box);
  }
  void set(LaunchShape& s) { set(s.grid), set(s.block), set(s.cluster), set(s.shared_bytes); }
  void set(MemoryHandle& handle) { set(handle.reserved); }
  void set(FunctionFacts& f) {
    set(f.threads), set(f.shared), set(f.constant), set(f.local), set(f.registers), set(f.multiple);
  }
  void set(DeviceFacts& f) {
    set(f.multiprocessors), set(f.ordinal), set(f.on_host), set(f.platform), set(f.number_in_platform);
    set(f.memory), set(f.memory_free);
  }

 private:
  template <class... Ts, std::size_t... Is>
  void pick(std::variant<Ts...>& value, std::size_t which, std::index_sequence<Is...>) {
    ((which == Is ? this->set(value.template emplace<Is>()) : void()), ...);
  }
  unsigned last_ = 0;
};

/// Equality member by member: what is sent as bytes has gaps in memory.
struct Compared {
  template <class T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return same(x, y); });
  }
  template <class T>
  static bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }
  template <class... Ts>
  static bool same(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
    if (a.index() != b.index()) return false;
    return std::visit([&]<class A>(const A& x) { return same(x, std::get<A>(b)); }, a);
  }
  static bool same(const ScalarParameter& a, const ScalarParameter& b) {
    return a.size == b.size && std::equal(a.bits, a.bits + 2, b.bits);
  }
  static bool same(const MapPlan& a, const MapPlan& b) {
    return std::tie(a.binding, a.rank, a.type, a.swizzle, a.promotion) ==
               std::tie(b.binding, b.rank, b.type, b.swizzle, b.promotion) &&
           std::equal(a.sizes, a.sizes + 5, b.sizes) && std::equal(a.strides, a.strides + 4, b.strides) &&
           std::equal(a.box, a.box + 5, b.box);
  }
  template <class T>
  static bool same(const T& a, const T& b) {
    if constexpr (HasMembers<T>)
      return same_members(a, b, std::make_index_sequence<std::tuple_size_v<decltype(T::members(a))>>());
    else if constexpr (requires { a == b; })
      return a == b;
    else
      return std::memcmp(&a, &b, sizeof a) == 0;
  }
  template <class T, std::size_t... Is>
  static bool same_members(const T& a, const T& b, std::index_sequence<Is...>) {
    return (same(std::get<Is>(T::members(a)), std::get<Is>(T::members(b))) && ...);
  }
};
template <class T>
bool same(const T& a, const T& b) {
  return Compared::same(a, b);
}

/// Whether the members that are sent, one behind the other, take as much room as the struct: one that was
/// forgotten is missed here, but for a small one that stands in a gap.
template <class T>
bool sends_all_members() {
  const auto up = [](std::size_t offset, std::size_t align) { return (offset + align - 1) / align * align; };
  std::size_t end = 0;
  T value{};
  std::apply([&](auto&... members) { ((end = up(end, alignof(decltype(members))) + sizeof members), ...); },
             T::members(value));
  return std::is_empty_v<T> || up(end, alignof(T)) == sizeof(T);
}

template <class T>
T sent(const T& value) {
  const std::vector<std::byte> bytes = Writer().put(value).bytes();
  Reader in(bytes);
  T read = in.take<T>();
  CHECK(in.ok());
  (void)in.take<char>();
  CHECK(!in.ok());  // all of it was read
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    Reader shortened(cut);
    (void)shortened.take<T>();
    CHECK(!shortened.ok());
  }
  return read;
}

template <class... Ts, class Function>
void each_alternative(const std::variant<Ts...>&, Function function) {
  (function(Ts{}), ...);
}

}  // namespace

TEST_CASE("protocol: every command, every reply and every action arrives as it was sent") {
  Different different;
  std::size_t commands = 0, actions = 0;
  each_alternative(Command{}, [&]<class C>(C command) {
    ++commands;
    CAPTURE(commands);
    CHECK(sends_all_members<C>());
    CHECK(sends_all_members<typename C::Reply>());
    for (int round = 0; round < 8; ++round) {
      different.set(command);
      const Command whole = command;
      const Command read = sent(whole);
      REQUIRE(std::holds_alternative<C>(read));
      CHECK(same(std::get<C>(read), command));
      CHECK(frame_of(read) == frame_of(whole));
      typename C::Reply reply;
      different.set(reply);
      CHECK(same(sent(Answer{out_of_memory, "none left"}), Answer{out_of_memory, "none left"}));
      if constexpr (!std::is_same_v<typename C::Reply, NoReply>) CHECK(same(sent(reply), reply));
    }
  });
  each_alternative(Action{}, [&]<class A>(A action) {
    ++actions;
    CAPTURE(actions);
    CHECK(sends_all_members<A>());
    for (int round = 0; round < 8; ++round) {
      different.set(action);
      const Action read = sent(Action(action));
      REQUIRE(std::holds_alternative<A>(read));
      CHECK(same(std::get<A>(read), action));
    }
  });
  CHECK(commands == std::variant_size_v<Command>);
  CHECK(actions == std::variant_size_v<Action>);
}

TEST_CASE("protocol: programs and their parts are sent whole") {
  CHECK(sends_all_members<ProgramPlan>());
  CHECK(sends_all_members<LaunchKernel>());
  CHECK(sends_all_members<SetToZero>());
  CHECK(sends_all_members<CallEntry>());
  CHECK(sends_all_members<SymbolPlan>());
  CHECK(sends_all_members<AllocateBuffers::Buffer>());
  CHECK(sends_all_members<Answer>());
}

TEST_CASE("protocol: the values of actions are counted") {
  CHECK(value_count(FlushCache{}) == 0);
  CHECK(value_count(FillPattern{}) == 0);
  CHECK(value_count(CallProgram{}) == 0);
  CHECK(value_count(CheckGuard{}) == 1);
  CHECK(value_count(HashArray{}) == 1);
  CHECK(value_count(CountPattern{}) == 1);
  CHECK(value_count(ReadElement{}) == 1);
  CHECK(value_count(CompareArrays{}) == 2);
  CHECK(value_count(FindOverrun{}) == 2);
}

TEST_CASE("IdSource: no number is given out twice, and none is that of the evaluator's own module") {
  IdSource<ModuleId> ids;
  const ModuleId first = ids.next(), second = ids.next();
  CHECK(first != second);
  CHECK(first != service_module);
  CHECK(second != service_module);
}

TEST_CASE("protocol: random bytes are a command or none, and nothing beyond their end is read") {
  Rng rng(5);
  std::size_t read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(rng.below(96)));
    for (std::byte& byte : bytes) {
      // Small numbers more often, so that lengths and alternatives are sometimes right.
      const std::uint64_t r = rng();
      byte = static_cast<std::byte>(r % 4 == 0 ? r >> 8 : r % 4 == 1 ? (r >> 8) % 17 : 0);
    }
    Reader in(bytes);
    const auto command = in.take<Command>();
    if (!in.ok()) continue;
    ++read;
    CHECK(frame_of(command).size() <= bytes.size());
  }
  CHECK(read > 100);
}
