// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/t1.hpp"
#include "raw_recording.hpp"
#include "text_file.hpp"

namespace kernelsearch::recorded {
namespace {

/// The T1 file next to `file` whose name is what the recording's name begins with.
std::filesystem::path declared_beside(const std::filesystem::path& file, const std::string& name) {
  constexpr std::string_view extension = ".t1.json";
  std::filesystem::path best;
  std::size_t length = 0;
  std::error_code unreadable;
  const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    std::string other = entry.path().filename().string();
    if (!other.ends_with(extension)) continue;
    other.resize(other.size() - extension.size());
    if (other.size() < length || !name.starts_with(other)) continue;
    best = entry.path();
    length = other.size();
  }
  return best;
}

bool is_t1(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file) || !std::filesystem::exists(file)) return false;
  const TextFile content = read_text(file);
  JsonReader in(content.text, file.string());
  bool found = false;
  try {
    in.object([&](std::string_view key) {
      found = found || key == "ConfigurationSpace";
      in.skip();
    });
  } catch (const TextEnds&) {
  } catch (const ConfigError&) {  // problem.json may have comments
  }
  return found;
}

std::optional<Permutation> order_in(const Value& value) {
  Permutation order;
  if (const auto* const given = std::get_if<Permutation>(&value)) {
    order = *given;
  } else if (const auto* const text = std::get_if<std::string>(&value);
             text != nullptr && text->size() > 2 && text->front() == '[' && text->back() == ']') {
    for (const char* at = text->data() + 1; at < text->data() + text->size() - 1;) {
      std::int64_t element = 0;
      const auto [end, error] = std::from_chars(at, text->data() + text->size() - 1, element);
      if (error != std::errc{}) return std::nullopt;
      order.push_back(element);
      for (at = end; *at == ',' || *at == ' ';) ++at;
    }
  }
  Permutation sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  if (order.empty()) return std::nullopt;
  return order;
}

/// Finds the positions of recorded values, which files write in several ways.
class Positions {
 public:
  explicit Positions(const Tunable& tunable) : tunable_(tunable) {}

  std::optional<std::uint32_t> of(const Value& value) {
    if (std::optional<std::size_t> at = tunable_.position(value)) return static_cast<std::uint32_t>(*at);
    if (by_text_.empty()) {
      for (std::uint32_t i = 0; i < tunable_.values.size(); ++i) {
        by_text_.emplace(to_string(tunable_.values[i]), i);
        // Python's words for the same
        if (const bool* const yes = std::get_if<bool>(&tunable_.values[i]))
          by_text_.emplace(*yes ? "True" : "False", i);
      }
    }
    const std::optional<Permutation> order = order_in(value);
    const auto found = by_text_.find(order ? to_string(Value(*order)) : to_string(value));
    if (found == by_text_.end()) return std::nullopt;
    return found->second;
  }

 private:
  const Tunable& tunable_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
};

class Assembly {
 public:
  Assembly(RawRecording raw, const std::filesystem::path& file, std::string name)
      : raw_(std::move(raw)), file_(file), name_(std::move(name)) {}

  Recording make(const ReadRecordingOptions& options) {
    if (raw_.trials.empty())
      detail::raise<ConfigError>("the recording holds no whole record", file_.string(),
                                 "give a file with at least one measured configuration");
    find_declared(options);
    if (declared_ && raw_.unordered) order_as_declared();
    for (std::size_t i = 0; i < raw_.names.size(); ++i) tunables_.push_back(tunable(i));
    const std::optional<Space> whole = declared_space(!options.space.empty());
    take_trials(whole);
    Space space = space_of(whole);
    return {std::move(name_), std::move(raw_.kernel), std::move(raw_.device), std::move(raw_.problem_size),
            std::move(space), std::move(trials_),     std::move(raw_.notes),  std::string(raw_.format)};
  }

 private:
  void note(std::string text) { raw_.notes.push_back(std::move(text)); }

  void find_declared(const ReadRecordingOptions& options) {
    const bool asked = !options.space.empty();
    std::filesystem::path path = options.space;
    if (!asked && !raw_.alone) path = declared_beside(file_, name_);
    if (path.empty()) return;
    if (is_t1(path))
      declared_ = read_t1(path).space;
    else
      declared_ = read_problem(path).kernel.space;
    for (const Tunable& t : declared_->tunables()) {
      const bool recorded = std::find(raw_.names.begin(), raw_.names.end(), t.name) != raw_.names.end();
      if (!recorded && t.values.size() > 1) return mismatch(asked, path, "the recording lacks " + t.name);
    }
    for (const std::string& name : raw_.names)
      if (!declared_->find(name)) return mismatch(asked, path, "it does not declare " + name);
  }

  void order_as_declared() {
    std::vector<std::size_t> from(raw_.names.size());
    std::iota(from.begin(), from.end(), std::size_t{0});
    std::sort(from.begin(), from.end(), [&](std::size_t a, std::size_t b) {
      return *declared_->find(raw_.names[a]) < *declared_->find(raw_.names[b]);
    });
    const auto permute = [&from](auto& list) {
      std::remove_reference_t<decltype(list)> ordered;
      for (const std::size_t i : from) ordered.push_back(std::move(list[i]));
      list = std::move(ordered);
    };
    permute(raw_.names);
    permute(raw_.values);
    for (RawTrial& trial : raw_.trials) permute(trial.values);
  }

  void mismatch(bool asked, const std::filesystem::path& path, const std::string& why) {
    if (asked)
      detail::raise<ConfigError>(
          "the space is not the recording's", path.string() + ": " + why,
          "give the space that was tuned when " + file_.filename().string() + " was recorded");
    note(path.filename().string() + " next to the recording is not its space (" + why + "): not used");
    declared_.reset();
  }

  /// The values of a tunable as the file lists them or, where it does not, as they occur.
  std::vector<Value> values_of(std::size_t i) {
    std::vector<Value> values = std::move(raw_.values[i]);
    const bool listed = !values.empty();
    std::vector<Value> kept;
    const auto add = [&kept](const Value& value) {
      const std::string text = to_string(value);
      for (const Value& other : kept)
        if (other == value || to_string(other) == text) return false;
      kept.push_back(value);
      return true;
    };
    std::size_t repeated = 0;
    for (const Value& value : values) repeated += add(value) ? 0 : 1;
    if (repeated > 0) note(raw_.names[i] + " lists " + counted(repeated, "value") + " twice");
    const std::size_t before = kept.size();
    if (!listed && declared_) return kept;
    const Tunable known{raw_.names[i], TunableKind::categorical, kept};
    for (const RawTrial& trial : raw_.trials)
      if (!listed || !known.position(trial.values[i])) add(trial.values[i]);
    if (listed && kept.size() > before)
      note(counted(kept.size() - before, "value") + " of " + raw_.names[i] +
           " recorded but not listed: added");
    if (!listed) sort(kept);
    return kept;
  }

  static void sort(std::vector<Value>& values) {
    const bool numbers =
        std::all_of(values.begin(), values.end(), [](const Value& v) { return v.index() <= 2; });
    std::sort(values.begin(), values.end(),
              [&](const Value& a, const Value& b) { return numbers ? to_number(a) < to_number(b) : a < b; });
  }

  /// Orders are written as texts where a file knows no lists; lists that are not orders are texts here.
  static void settle_orders(std::vector<Value>& values) {
    std::vector<Value> orders;
    for (const Value& value : values) {
      const std::optional<Permutation> order = order_in(value);
      if (!order || (!orders.empty() && std::get<Permutation>(orders[0]).size() != order->size())) break;
      orders.emplace_back(*order);
    }
    if (orders.size() == values.size()) {
      values = std::move(orders);
      return;
    }
    for (Value& value : values)
      if (std::holds_alternative<Permutation>(value)) value = to_string(value);
  }

  Tunable tunable(std::size_t i) {
    const std::string& name = raw_.names[i];
    std::vector<Value> values = values_of(i);
    settle_orders(values);
    if (!declared_) return with_role(Tunable::of(name, std::move(values)));
    const Tunable& declared = declared_->tunable(*declared_->find(name));
    if (values.empty() || values == declared.values) return declared;
    Tunable own = Tunable::of(name, std::move(values));
    if (const auto at = own.position(declared.values[declared.default_index])) own.default_index = *at;
    return own;
  }

  /// With the role that the file gives the tunable, which counts where no space is declared.
  Tunable with_role(Tunable tunable) const {
    for (const auto& [name, role] : raw_.roles)
      if (name == tunable.name) tunable.role = role;
    return tunable;
  }

  /// A declared constraint over the recording's tunables; the others have one value each.
  Constraint over_recorded(const Constraint& constraint) const {
    std::vector<std::string> names;
    std::vector<std::optional<Value>> fixed;
    for (const std::string& name : constraint.names()) {
      const bool recorded = std::find(raw_.names.begin(), raw_.names.end(), name) != raw_.names.end();
      fixed.push_back(recorded ? std::nullopt
                               : std::optional(declared_->tunable(*declared_->find(name)).values.front()));
      if (recorded) names.push_back(name);
    }
    if (names.size() == fixed.size()) return constraint;
    auto test = [constraint, fixed](std::span<const Value> given) {
      std::vector<Value> values;
      auto next = given.begin();
      for (const std::optional<Value>& value : fixed) values.push_back(value ? *value : *next++);
      return constraint.holds(values);
    };
    return Constraint(std::move(names), std::move(test), constraint.text());
  }

  /// How many records a constraint does not hold for.
  std::size_t violations(const Constraint& constraint) const {
    std::vector<std::size_t> reads;
    for (const std::string& name : constraint.names())
      reads.push_back(static_cast<std::size_t>(std::find(raw_.names.begin(), raw_.names.end(), name) -
                                               raw_.names.begin()));
    std::size_t count = 0;
    std::vector<Value> values(reads.size());
    for (const RawTrial& trial : raw_.trials) {
      for (std::size_t i = 0; i < reads.size(); ++i) values[i] = trial.values[reads[i]];
      count += constraint.holds(values) ? 0 : 1;
    }
    return count;
  }

  /// All that was declared, over the tunables as the recording has them. What was asked for decides which
  /// records are used; of what merely lies next to the recording, only what holds for the records is used,
  /// since it may be of another version of the kernel.
  std::optional<Space> declared_space(bool asked) {
    if (!declared_) return std::nullopt;
    std::vector<Constraint> constraints;
    for (const Constraint& declared : declared_->constraints()) {
      Constraint constraint = over_recorded(declared);
      const std::size_t violated = asked ? 0 : violations(constraint);
      if (violated > 0)
        note("`" + constraint.text() + "`, declared next to the recording, does not hold for " +
             counted(violated, "record") + ": not used");
      else
        constraints.push_back(std::move(constraint));
    }
    const auto same = [](const Tunable& a, const Tunable& b) {
      return a.name == b.name && a.values == b.values;
    };
    if (constraints.size() == declared_->constraints().size() &&
        std::equal(tunables_.begin(), tunables_.end(), declared_->tunables().begin(),
                   declared_->tunables().end(), same))
      return declared_;
    return Space::build(tunables_, std::move(constraints));
  }

  void take_trials(const std::optional<Space>& whole) {
    std::vector<Positions> positions;
    for (const Tunable& t : tunables_) positions.emplace_back(t);
    std::unordered_map<Config, std::size_t> seen;
    seen.reserve(raw_.trials.size());
    trials_.reserve(raw_.trials.size());
    std::size_t unknown = 0, invalid = 0, repeated = 0;
    for (RawTrial& raw : raw_.trials) {
      Config config;
      config.indices.assign(tunables_.size(), 0);
      bool known = true;
      for (std::size_t i = 0; known && i < raw.values.size(); ++i) {
        const std::optional<std::uint32_t> at = positions[i].of(raw.values[i]);
        known = at.has_value();
        if (known) config.indices[i] = *at;
      }
      if (!known || (whole && !whole->contains(config))) {
        ++(known ? invalid : unknown);
        continue;
      }
      RecordedTrial trial{std::move(config), std::move(raw.evaluation), std::move(raw.time_stamp),
                          raw.framework_seconds};
      const auto [slot, fresh] = seen.emplace(trial.config, trials_.size());
      if (fresh) {
        trials_.push_back(std::move(trial));
      } else {
        trials_[slot->second] = std::move(trial);
        ++repeated;
      }
    }
    if (unknown > 0) note(counted(unknown, "record") + " with values that the space does not have: left out");
    if (invalid > 0) note(counted(invalid, "record") + " outside the declared constraints: left out");
    if (repeated > 0)
      note(counted(repeated, "record") + " of a configuration recorded before: the later one counts");
    if (trials_.empty())
      detail::raise<ConfigError>("no record meets the declared space", file_.string(),
                                 "give the space that was tuned when it was recorded");
  }

  Space space_of(const std::optional<Space>& whole) {
    if (whole && whole->count() == BigCount(trials_.size())) return *whole;
    std::vector<Config> configs;
    configs.reserve(trials_.size());
    for (const RecordedTrial& trial : trials_) configs.push_back(trial.config);
    std::vector<Constraint> constraints;
    if (whole) {
      constraints.assign(whole->constraints().begin(), whole->constraints().end());
      note(counted(trials_.size(), "configuration") + " recorded of " + whole->count().to_string() +
           " declared: the others are outside the space");
    }
    return Space::listed(tunables_, std::move(configs), std::move(constraints), "recorded configurations");
  }

  RawRecording raw_;
  const std::filesystem::path& file_;
  std::string name_;
  std::optional<Space> declared_;
  std::vector<Tunable> tunables_;
  std::vector<RecordedTrial> trials_;
};

}  // namespace

std::string add_named(RawRecording& raw, const NamedValues& values, RawTrial trial) {
  if (raw.names.empty()) {
    for (const auto& [name, value] : values) {
      if (std::find(raw.names.begin(), raw.names.end(), name) != raw.names.end())
        return "it has " + name + " twice";
      raw.names.push_back(name);
    }
    raw.values.resize(raw.names.size());
  }
  if (values.empty()) return "it has no tunables";
  trial.values.assign(raw.names.size(), Value());
  std::vector<bool> given(raw.names.size(), false);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [name, value] = values[i];
    std::size_t at = i;
    if (at >= raw.names.size() || raw.names[at] != name)
      at = static_cast<std::size_t>(std::find(raw.names.begin(), raw.names.end(), name) - raw.names.begin());
    if (at == raw.names.size()) return "it has " + name + ", which the results before lack";
    if (given[at]) return "it has " + name + " twice";
    given[at] = true;
    trial.values[at] = value;
  }
  if (const auto lacking = std::find(given.begin(), given.end(), false); lacking != given.end())
    return "it lacks " + raw.names[static_cast<std::size_t>(lacking - given.begin())] +
           ", which the results before have";
  raw.trials.push_back(std::move(trial));
  return "";
}

std::string counted(std::size_t count, const std::string& noun) {
  if (count == 1) return "1 " + noun;
  return std::to_string(count) + " " +
         (noun.ends_with("y") ? noun.substr(0, noun.size() - 1) + "ies" : noun + "s");
}

Recording assemble(RawRecording raw, const std::filesystem::path& file, std::string name,
                   const ReadRecordingOptions& options) {
  return Assembly(std::move(raw), file, std::move(name)).make(options);
}

}  // namespace kernelsearch::recorded
