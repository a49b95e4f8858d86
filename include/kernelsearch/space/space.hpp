// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/space/big_count.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/constraint.hpp"
#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch {

/// Which configurations count as next to another one.
enum class Neighbourhood : std::uint8_t {
  hamming,   ///< exactly one tunable differs, in any way
  adjacent,  ///< one tunable moved one position among its usable values; an order by one swap of a pair
};

/// Limits of building a space.
struct SpaceOptions {
  /// Partial configurations kept apart while building one group of connected tunables; beyond it building
  /// stops with an error. Ten million take about 1 GiB; the largest of the published spaces in bench/ takes
  /// 0.1.
  std::size_t max_states = 10'000'000;
};

namespace detail {
struct SpaceData;
}

/// The valid configurations of a set of tunables: never listed, but counted, ranked, drawn and tested
/// exactly.
///
/// Tunables that no constraint connects are independent, so their counts multiply. Each connected group is a
/// counted trie whose equal subtrees are shared. A space does not change after it is built; copies share it,
/// and every function may be called from several threads.
class Space {
 public:
  /// Without tunables: one configuration.
  [[nodiscard]] static Space without_tunables();

  /// Builds the space. ConfigError for a repeated or unknown name, a tunable without values or with repeated
  /// ones, and for constraints that leave nothing, naming the one that empties the space.
  [[nodiscard]] static Space build(std::vector<Tunable> tunables, std::vector<Constraint> constraints = {},
                                   SpaceOptions options = {});
  /// The same without raising: what ConfigError would say comes as a value.
  [[nodiscard]] static Result<Space> try_build(std::vector<Tunable> tunables,
                                               std::vector<Constraint> constraints = {},
                                               SpaceOptions options = {});

  /// The space of exactly these configurations, such as those of a recording, however they came about.
  /// `constraints` are what else is known of them: all must meet them, which is not checked again.
  /// ConfigError for tunables as in build(), for an empty list and for a configuration that does not fit.
  [[nodiscard]] static Space listed(std::vector<Tunable> tunables, std::vector<Config> configs,
                                    std::vector<Constraint> constraints = {},
                                    std::string_view label = "one of the listed configurations");

  /// The same configurations with another default, which must be one of them; ConfigError otherwise.
  [[nodiscard]] Space with_default(const Config& config) const;

  /// Number of tunables.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const Tunable& tunable(std::size_t i) const;
  [[nodiscard]] std::span<const Tunable> tunables() const noexcept;
  [[nodiscard]] std::span<const Constraint> constraints() const noexcept;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

  /// Number of valid configurations.
  [[nodiscard]] const BigCount& count() const noexcept;
  /// Number of configurations without constraints: the product of the value lists.
  [[nodiscard]] const BigCount& raw_count() const noexcept;

  /// False also for a config of another shape.
  [[nodiscard]] bool contains(const Config& config) const;

  /// The configuration of rank `rank` < count(). Ranks order the configurations in a way of the space's own.
  [[nodiscard]] Config unrank(const BigCount& rank) const;
  /// The rank of a valid configuration; ConfigError for another one.
  [[nodiscard]] BigCount rank(const Config& config) const;

  /// A uniformly drawn valid configuration.
  [[nodiscard]] Config sample(Rng& rng) const;
  /// The same into `config`, without allocating.
  void sample(Rng& rng, Config& config) const;

  /// The valid configurations next to a valid one, by tunable, then by value. Empty where `config` is not
  /// valid.
  [[nodiscard]] std::vector<Config> neighbours(const Config& config, Neighbourhood neighbourhood) const;

  /// The valid configuration that differs from `config`, valid or not, in the fewest tunables, and among
  /// those by the fewest positions. Takes time in proportion to the tries.
  [[nodiscard]] Config nearest(const Config& config) const;

  /// The values of tunable `i` that some valid configuration has, as positions in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> usable(std::size_t i) const;

  [[nodiscard]] const Value& value(const Config& config, std::size_t i) const;
  /// The same by name; ConfigError with the nearest name if the tunable is unknown.
  [[nodiscard]] const Value& value(const Config& config, std::string_view name) const;
  [[nodiscard]] std::vector<Value> values(const Config& config) const;

  /// The configuration with these values, valid or not; empty where a value is not one of its tunable's.
  [[nodiscard]] std::optional<Config> config_of(std::span<const Value> values) const;

  /// The declared default where it is valid, else the one nearest to it.
  [[nodiscard]] const Config& default_config() const noexcept;

  /// The values joined by commas: the key of cache files.
  [[nodiscard]] std::string key(const Config& config) const;

  /// Calls `f(config)` for every valid configuration in order of rank; an `f` that returns false ends it.
  template <class F>
  void for_each(F&& f) const {
    visit(&f, [](void* context, const Config& config) {
      auto& function = *static_cast<std::remove_reference_t<F>*>(context);
      if constexpr (std::is_convertible_v<std::invoke_result_t<F&, const Config&>, bool>) {
        return static_cast<bool>(function(config));
      } else {
        function(config);
        return true;
      }
    });
  }

  /// The sum, mod 2^64, of crc32 (zlib) of the keys of all valid configurations; equal sums mean equal
  /// spaces, whatever built them. Computed without listing where a trie in the order of declaration is small;
  /// else by listing, and empty where that is too much (over 4e9 configurations).
  [[nodiscard]] std::optional<std::uint64_t> try_checksum() const;
  /// The same; ConfigError where it is empty.
  [[nodiscard]] std::uint64_t checksum() const;

  /// Memory that the space holds, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  /// Processor time that building took, in seconds.
  [[nodiscard]] double build_seconds() const noexcept;

  /// Groups of connected tunables, each with its number of valid combinations.
  struct Group {
    std::vector<std::size_t> tunables;
    BigCount count;
    std::size_t nodes = 0;
  };
  [[nodiscard]] std::vector<Group> groups() const;

  /// The built form; for the library's own use.
  [[nodiscard]] const detail::SpaceData& data() const noexcept { return *data_; }

 private:
  explicit Space(std::shared_ptr<const detail::SpaceData> data) : data_(std::move(data)) {}
  void visit(void* context, bool (*f)(void*, const Config&)) const;
  std::shared_ptr<const detail::SpaceData> data_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/space_impl.hpp"
#endif
