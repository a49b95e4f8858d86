// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/spirv_module.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace kernelsearch::detail::gpu {
namespace spirv {
namespace {

constexpr std::uint32_t magic_number = 0x07230203, swapped_magic = 0x03022307;
/// Ids of one module: what drivers take (SPIR-V's own limit), so that no file makes us reserve gigabytes.
constexpr std::uint32_t most_ids = 0x3fffff;
constexpr int most_nested = 32;

enum Op : std::uint32_t {
  op_name = 5,
  op_member_name = 6,
  op_entry_point = 15,
  op_execution_mode = 16,
  op_capability = 17,
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_matrix = 24,
  op_type_array = 28,
  op_type_runtime_array = 29,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_constant_true = 41,
  op_constant_false = 42,
  op_constant = 43,
  op_constant_composite = 44,
  op_spec_constant_true = 48,
  op_spec_constant_false = 49,
  op_spec_constant = 50,
  op_spec_constant_composite = 51,
  op_spec_constant_op = 52,
  op_variable = 59,
  op_array_length = 68,
  op_decorate = 71,
  op_member_decorate = 72,
  op_execution_mode_id = 331,
};

enum Decoration : std::uint32_t {
  decoration_spec_id = 1,
  decoration_buffer_block = 3,
  decoration_built_in = 11,
  decoration_binding = 33,
  decoration_set = 34,
  decoration_offset = 35,
};

enum Storage : std::uint32_t {
  storage_uniform_constant = 0,
  storage_uniform = 2,
  storage_workgroup = 4,
  storage_push_constant = 9,
  storage_buffer = 12,
};

struct Type {
  enum Kind : std::uint8_t {
    other,
    boolean,
    integer,
    floating,
    vector,
    matrix,
    array,
    runtime_array,
    structure,
    pointer
  };
  Kind kind = other;
  std::uint32_t width = 0;  ///< bits of a number; components of a vector, columns of a matrix
  bool is_signed = false;
  std::uint32_t element = 0;  ///< type of elements, or of what is pointed to
  std::uint32_t length = 0;   ///< id of an array's length
  std::uint32_t storage = 0;
  std::vector<std::uint32_t> members{};
};

struct Constant {
  std::uint32_t type = 0;
  std::uint64_t bits = 0;
  bool is_boolean = false;
};

struct Decorations {
  std::optional<std::uint32_t> spec_id, binding, set, built_in;
  bool buffer_block = false;
  std::map<std::uint32_t, std::uint32_t> offsets;  ///< of members
};

struct Variable {
  std::uint32_t id = 0, type = 0, storage = 0;
};

kernelsearch::Fault bad(std::string given) {
  return kernelsearch::Fault{"this is no compute shader that can be launched", std::move(given),
                             "compile it by glslangValidator -V, or check it by spirv-val"};
}

/// A text of an instruction's words from `at` on, and how many words it takes; nothing where it does not end.
std::optional<std::pair<std::string, std::size_t>> text_at(std::span<const std::uint32_t> words,
                                                           std::size_t at) {
  std::string text;
  for (std::size_t i = at; i < words.size(); ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      const char c = static_cast<char>(words[i] >> (8 * byte) & 0xff);
      if (c == '\0') return std::pair{std::move(text), i + 1 - at};
      text += c;
    }
  }
  return std::nullopt;
}

class ModuleReader {
 public:
  ModuleReader(const std::string& entry, std::span<const std::pair<std::string, Value>> values)
      : wanted_(entry), values_(values) {}

  Result<SpirvKernel> read(std::span<const std::uint32_t> words) {
    if (words.size() < 5 || words[0] != magic_number) return bad("it does not begin as SPIR-V does");
    if (words[3] == 0 || words[3] > most_ids) return bad("its bound of ids is " + std::to_string(words[3]));
    find_named_defaults(words);
    for (std::size_t at = 5; at < words.size();) {
      const std::uint32_t count = words[at] >> 16;
      if (count == 0 || count > words.size() - at)
        return bad("it is cut short at word " + std::to_string(at));
      if (auto fault = take(words[at] & 0xffff, words.subspan(at, count)))
        return bad(*fault + " at word " + std::to_string(at));
      at += count;
    }
    return finish();
  }

 private:
  using Words = std::span<const std::uint32_t>;

  /// The values that named specialisation constants have in the module, by their SpecId.
  void find_named_defaults(Words words) {
    std::map<std::uint32_t, std::uint32_t> ids;  // SpecId of what has a name
    std::set<std::uint32_t> named;
    for (std::size_t at = 5; at < words.size();) {
      const std::uint32_t count = words[at] >> 16, op = words[at] & 0xffff;
      if (count == 0 || count > words.size() - at) return;
      const Words w = words.subspan(at, count);
      if (op == op_name && count > 2 && w[2] != 0) named.insert(w[1]);
      if (op == op_decorate && count > 3 && w[2] == decoration_spec_id && named.contains(w[1]))
        ids[w[1]] = w[3];
      if (op == op_spec_constant && count > 3)
        if (const auto known = ids.find(w[2]); known != ids.end()) named_defaults_[known->second] = w[3];
      at += count;
    }
  }

  std::optional<std::string> take(std::uint32_t op, Words w) {
    const auto shorter = [&](std::size_t least) { return w.size() < least; };
    const std::string cut = "an instruction (" + std::to_string(op) + ") is too short";
    switch (op) {
      case op_name: {
        if (shorter(3)) return cut;
        if (auto text = text_at(w, 2)) names_[w[1]] = std::move(text->first);
        return std::nullopt;
      }
      case op_member_name: {
        if (shorter(4)) return cut;
        if (auto text = text_at(w, 3)) member_names_[{w[1], w[2]}] = std::move(text->first);
        return std::nullopt;
      }
      case op_capability:
        if (shorter(2)) return cut;
        capabilities_.insert(w[1]);
        return std::nullopt;
      case op_entry_point: {
        if (shorter(4)) return cut;
        auto text = text_at(w, 3);
        if (!text) return "the name of an entry point does not end";
        constexpr std::uint32_t compute = 5;
        if (w[1] == compute) entries_.emplace_back(w[2], std::move(text->first));
        return std::nullopt;
      }
      case op_execution_mode:
      case op_execution_mode_id: {
        if (shorter(3)) return cut;
        const std::uint32_t local_size = op == op_execution_mode ? 17 : 38;
        if (w[2] != local_size) return std::nullopt;
        if (shorter(6)) return cut;
        sizes_[w[1]] = {op == op_execution_mode_id, {w[3], w[4], w[5]}};
        return std::nullopt;
      }
      case op_decorate: {
        if (shorter(3)) return cut;
        Decorations& d = decorations_[w[1]];
        if (w[2] == decoration_buffer_block) d.buffer_block = true;
        if (shorter(4)) return std::nullopt;
        if (w[2] == decoration_spec_id) d.spec_id = w[3];
        if (w[2] == decoration_built_in) d.built_in = w[3];
        if (w[2] == decoration_binding) d.binding = w[3];
        if (w[2] == decoration_set) d.set = w[3];
        return std::nullopt;
      }
      case op_member_decorate:
        if (shorter(4)) return cut;
        if (w[3] != decoration_offset) return std::nullopt;
        if (shorter(5)) return cut;
        decorations_[w[1]].offsets[w[2]] = w[4];
        return std::nullopt;
      case op_type_bool:
        if (shorter(2)) return cut;
        types_[w[1]] = {Type::boolean, 32};
        return std::nullopt;
      case op_type_int:
        if (shorter(4)) return cut;
        types_[w[1]] = {Type::integer, w[2], w[3] != 0};
        return std::nullopt;
      case op_type_float:
        if (shorter(3)) return cut;
        types_[w[1]] = {Type::floating, w[2], true};
        return std::nullopt;
      case op_type_vector:
      case op_type_matrix:
        if (shorter(4)) return cut;
        types_[w[1]] = {op == op_type_vector ? Type::vector : Type::matrix, w[3], false, w[2]};
        return std::nullopt;
      case op_type_array:
        if (shorter(4)) return cut;
        types_[w[1]] = {Type::array, 0, false, w[2], w[3]};
        return std::nullopt;
      case op_type_runtime_array:
        if (shorter(3)) return cut;
        types_[w[1]] = {Type::runtime_array, 0, false, w[2]};
        return std::nullopt;
      case op_type_struct: {
        if (shorter(2)) return cut;
        Type type{Type::structure};
        type.members.assign(w.begin() + 2, w.end());
        types_[w[1]] = std::move(type);
        return std::nullopt;
      }
      case op_type_pointer:
        if (shorter(4)) return cut;
        types_[w[1]] = {Type::pointer, 0, false, w[3], 0, w[2]};
        return std::nullopt;
      case op_constant:
      case op_spec_constant: {
        if (shorter(4)) return cut;
        Constant c{w[1], w[3], false};
        if (w.size() > 4) c.bits |= static_cast<std::uint64_t>(w[4]) << 32;
        return constant(w[2], c, op == op_spec_constant);
      }
      case op_constant_true:
      case op_constant_false:
      case op_spec_constant_true:
      case op_spec_constant_false: {
        if (shorter(3)) return cut;
        const bool holds = op == op_constant_true || op == op_spec_constant_true;
        return constant(w[2], {w[1], holds ? 1u : 0u, true},
                        op == op_spec_constant_true || op == op_spec_constant_false);
      }
      case op_constant_composite:
      case op_spec_constant_composite:
        if (shorter(3)) return cut;
        composites_[w[2]].assign(w.begin() + 3, w.end());
        return std::nullopt;
      case op_spec_constant_op:
        if (shorter(4)) return cut;
        operate(w);
        return std::nullopt;
      case op_variable:
        if (shorter(4)) return cut;
        variables_.push_back({w[2], w[1], w[3]});
        return std::nullopt;
      case op_array_length:
        if (shorter(5)) return cut;
        measured_.insert(w[3]);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  /// Decorations stand before constants, so a specialisation constant is known as one here.
  std::optional<std::string> constant(std::uint32_t id, Constant c, bool specialised) {
    const auto decorated = decorations_.find(id);
    if (specialised && decorated != decorations_.end() && decorated->second.spec_id) {
      SpirvConstant known;
      known.id = *decorated->second.spec_id;
      known.name = name(id).empty() ? name_of_spec(known.id) : name(id);
      const auto type = types_.find(c.type);
      if (type == types_.end()) return "a constant has no type";
      const Type& t = type->second;
      if (t.kind != Type::boolean && t.kind != Type::integer && t.kind != Type::floating)
        return "a specialisation constant is no number";
      known.kind = t.kind == Type::boolean    ? SpirvConstant::boolean
                   : t.kind == Type::floating ? SpirvConstant::floating
                   : t.is_signed              ? SpirvConstant::signed_integer
                                              : SpirvConstant::unsigned_integer;
      if (t.width != 8 && t.width != 16 && t.width != 32 && t.width != 64)
        return "a number has a strange width";
      known.bytes = t.width / 8;
      const auto given = std::find_if(values_.begin(), values_.end(),
                                      [&](const auto& value) { return value.first == known.name; });
      if (given != values_.end() && !known.name.empty()) {
        if (const auto problem = set(known, given->second)) return problem;
        c.bits = known.bits;
      }
      // `local_size_x_id = 0` beside `constant_id = 0`: both are what the source's constant is.
      const auto named_default = named_defaults_.find(known.id);
      if (given == values_.end() && name(id).empty() && named_default != named_defaults_.end())
        c.bits = named_default->second;
      known.bits = c.bits;
      constants_.push_back(known);
    }
    values_of_[id] = c;
    return std::nullopt;
  }

  /// The size of work groups has constants of its own, without names, that share their ids with the source's.
  [[nodiscard]] std::string name_of_spec(std::uint32_t spec_id) const {
    for (const auto& [id, decoration] : decorations_)
      if (decoration.spec_id == spec_id && !name(id).empty()) return name(id);
    return {};
  }

  /// Gives a specialisation constant a tunable's value, or says why it cannot have it.
  static std::optional<std::string> set(SpirvConstant& constant, const Value& value) {
    const auto wrong = [&](const char* what) {
      return "the specialisation constant " + constant.name + " cannot be " + to_string(value) + ": " + what;
    };
    if (std::holds_alternative<std::string>(value) || std::holds_alternative<Permutation>(value))
      return wrong("it is a number");
    const double number = to_number(value);
    switch (constant.kind) {
      case SpirvConstant::boolean:
        if (number != 0 && number != 1) return wrong("it is a bool");
        constant.bits = number != 0 ? 1 : 0;
        return std::nullopt;
      case SpirvConstant::floating:
        if (constant.bytes == 8) {
          constant.bits = std::bit_cast<std::uint64_t>(number);
        } else if (constant.bytes == 4) {
          constant.bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
        } else {
          return wrong("it has 16 bits; declare it as float");
        }
        return std::nullopt;
      default: {
        const unsigned bits = constant.bytes * 8;
        const bool is_signed = constant.kind == SpirvConstant::signed_integer;
        const double low = is_signed ? -std::ldexp(1.0, static_cast<int>(bits) - 1) : 0.0;
        const double high = std::ldexp(1.0, static_cast<int>(bits) - (is_signed ? 1 : 0));
        if (number != std::floor(number) || number < low || number >= high)
          return wrong("it is no whole number of its type");
        const auto* whole = std::get_if<std::int64_t>(&value);
        std::uint64_t pattern = whole != nullptr ? static_cast<std::uint64_t>(*whole)
                                : number < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                                             : static_cast<std::uint64_t>(number);
        if (bits < 64) pattern &= (std::uint64_t{1} << bits) - 1;
        constant.bits = pattern;
        return std::nullopt;
      }
    }
  }

  [[nodiscard]] std::optional<std::int64_t> whole(std::uint32_t id) const {
    const auto found = values_of_.find(id);
    if (found == values_of_.end()) return std::nullopt;
    const Constant& c = found->second;
    const auto type = types_.find(c.type);
    if (c.is_boolean) return static_cast<std::int64_t>(c.bits);
    if (type == types_.end() || type->second.kind != Type::integer) return std::nullopt;
    const std::uint32_t width = type->second.width;
    if (width >= 64) return static_cast<std::int64_t>(c.bits);
    if (width == 0) return std::nullopt;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    std::uint64_t bits = c.bits & mask;
    if (type->second.is_signed && (bits >> (width - 1) & 1) != 0) bits |= ~mask;
    return static_cast<std::int64_t>(bits);
  }

  /// Whole numbers that follow from specialisation constants, as far as sizes are made of them; others stay
  /// unknown.
  void operate(Words w) {
    std::vector<std::int64_t> a;
    for (std::size_t i = 4; i < w.size(); ++i) {
      const auto value = whole(w[i]);
      if (!value) return;
      a.push_back(*value);
    }
    const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    std::optional<std::uint64_t> result;
    if (a.size() == 2) {
      switch (w[3]) {
        case 128:
          result = u(a[0]) + u(a[1]);
          break;
        case 130:
          result = u(a[0]) - u(a[1]);
          break;
        case 132:
          result = u(a[0]) * u(a[1]);
          break;
        case 134:
          if (a[1] != 0) result = u(a[0]) / u(a[1]);
          break;
        case 135:
          if (a[1] != 0 && a[1] != -1) result = u(a[0] / a[1]);
          break;
        case 137:
          if (a[1] != 0) result = u(a[0]) % u(a[1]);
          break;
        case 138:
        case 139:
          if (a[1] != 0 && a[1] != -1) result = u(a[0] % a[1]);
          break;
        case 170:
          result = a[0] == a[1];
          break;
        case 171:
          result = a[0] != a[1];
          break;
        case 172:
          result = u(a[0]) > u(a[1]);
          break;
        case 173:
          result = a[0] > a[1];
          break;
        case 174:
          result = u(a[0]) >= u(a[1]);
          break;
        case 175:
          result = a[0] >= a[1];
          break;
        case 176:
          result = u(a[0]) < u(a[1]);
          break;
        case 177:
          result = a[0] < a[1];
          break;
        case 178:
          result = u(a[0]) <= u(a[1]);
          break;
        case 179:
          result = a[0] <= a[1];
          break;
        case 194:
          if (u(a[1]) < 64) result = u(a[0]) >> u(a[1]);
          break;
        case 195:
          if (u(a[1]) < 64) result = u(a[0] >> a[1]);
          break;
        case 196:
          if (u(a[1]) < 64) result = u(a[0]) << u(a[1]);
          break;
        case 197:
          result = u(a[0]) | u(a[1]);
          break;
        case 198:
          result = u(a[0]) ^ u(a[1]);
          break;
        case 199:
          result = u(a[0]) & u(a[1]);
          break;
        default:
          break;
      }
    } else if (a.size() == 1) {
      if (w[3] == 126) result = 0 - u(a[0]);                            // SNegate
      if (w[3] == 113 || w[3] == 114 || w[3] == 124) result = u(a[0]);  // UConvert, SConvert, Bitcast
    } else if (a.size() == 3 && w[3] == 169) {
      result = u(a[0] != 0 ? a[1] : a[2]);
    }
    if (!result) return;
    const auto type = types_.find(w[1]);
    values_of_[w[2]] = {w[1], *result, type != types_.end() && type->second.kind == Type::boolean};
  }

  /// Bytes of a type in memory of a work group; nothing where they are not known.
  [[nodiscard]] std::optional<std::uint64_t> bytes_of(std::uint32_t id, int depth = 0) const {
    const auto found = types_.find(id);
    if (found == types_.end() || depth > most_nested) return std::nullopt;
    const Type& type = found->second;
    std::uint64_t count = 1;
    switch (type.kind) {
      case Type::boolean:
      case Type::integer:
      case Type::floating:
        return (type.width + 7) / 8;
      case Type::vector:
      case Type::matrix:
        count = type.width;
        break;
      case Type::array: {
        const auto length = whole(type.length);
        if (!length || *length < 1) return std::nullopt;
        count = static_cast<std::uint64_t>(*length);
        break;
      }
      case Type::structure: {
        std::uint64_t sum = 0;
        for (const std::uint32_t member : type.members) {
          const auto bytes = bytes_of(member, depth + 1);
          if (!bytes || *bytes > limit_bytes - sum) return std::nullopt;
          sum += *bytes;
        }
        return sum;
      }
      default:
        return std::nullopt;
    }
    const auto each = bytes_of(type.element, depth + 1);
    if (!each || (*each != 0 && count > limit_bytes / *each)) return std::nullopt;
    return count * *each;
  }

  Result<SpirvKernel> finish() {
    SpirvKernel kernel;
    const auto chosen = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return wanted_.empty() || entry.second == wanted_;
    });
    if (chosen == entries_.end())
      return bad(entries_.empty() ? "it has no entry point for compute" : "it has no entry point " + wanted_);
    if (wanted_.empty() && entries_.size() > 1) return bad("it has several entry points for compute");
    kernel.entry = chosen->second;
    if (auto problem = find_local_size(chosen->first, kernel)) return bad(*problem);
    for (const Variable& variable : variables_)
      if (auto problem = take(variable, kernel)) return bad(*problem);
    std::sort(kernel.buffers.begin(), kernel.buffers.end(),
              [](const SpirvBuffer& a, const SpirvBuffer& b) { return a.binding < b.binding; });
    for (std::size_t i = 1; i < kernel.buffers.size(); ++i)
      if (kernel.buffers[i].binding == kernel.buffers[i - 1].binding)
        return bad("two arrays have the binding " + std::to_string(kernel.buffers[i].binding));
    std::sort(constants_.begin(), constants_.end(),
              [](const SpirvConstant& a, const SpirvConstant& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < constants_.size(); ++i)
      if (constants_[i].id == constants_[i - 1].id &&
          (constants_[i].bytes != constants_[i - 1].bytes || constants_[i].bits != constants_[i - 1].bits))
        return bad("two specialisation constants have the id " + std::to_string(constants_[i].id) +
                   " and different values");
    constants_.erase(std::unique(constants_.begin(), constants_.end(),
                                 [](const SpirvConstant& a, const SpirvConstant& b) { return a.id == b.id; }),
                     constants_.end());
    kernel.constants = std::move(constants_);
    for (const std::uint32_t capability : capabilities_)
      if (!is_supported(capability))
        return bad("it needs the capability " + std::to_string(capability) +
                   " of SPIR-V, which devices are not asked for");
    const auto can = [this](std::uint32_t capability) { return capabilities_.contains(capability); };
    kernel.needs = {
        can(10), can(9), can(11), can(22), can(39), can(4433) || can(4434), can(4448) || can(4449)};
    return kernel;
  }

  /// Matrix, Shader, widths of numbers and of what is stored, and operations of subgroups.
  static bool is_supported(std::uint32_t capability) {
    constexpr std::uint32_t known[] = {0, 1, 9, 10, 11, 22, 39, 4433, 4434, 4448, 4449};
    return std::find(std::begin(known), std::end(known), capability) != std::end(known) ||
           (capability >= 61 && capability <= 68);
  }

  std::optional<std::string> find_local_size(std::uint32_t entry, SpirvKernel& kernel) const {
    // A constant that is decorated as the size of work groups has precedence over the execution mode.
    for (const auto& [id, decoration] : decorations_) {
      constexpr std::uint32_t work_group_size = 25;
      const auto parts = composites_.find(id);
      if (decoration.built_in != work_group_size || parts == composites_.end()) continue;
      if (parts->second.size() != 3) return "the size of its work groups is no vector of three";
      return set_local_size(parts->second, kernel);
    }
    const auto size = sizes_.find(entry);
    if (size == sizes_.end()) return "it does not say how large its work groups are";
    if (size->second.first) return set_local_size(size->second.second, kernel);
    for (std::size_t i = 0; i < 3; ++i) kernel.local_size[i] = size->second.second[i];
    for (const std::uint32_t extent : kernel.local_size)
      if (extent == 0) return "its work groups are empty";
    return std::nullopt;
  }

  template <class Ids>
  std::optional<std::string> set_local_size(const Ids& ids, SpirvKernel& kernel) const {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = whole(ids[i]);
      if (!value || *value < 1 || *value > std::numeric_limits<std::uint32_t>::max())
        return "the size of its work groups is no whole number >= 1";
      kernel.local_size[i] = static_cast<std::uint32_t>(*value);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string name(std::uint32_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::string() : found->second;
  }

  std::optional<std::string> take(const Variable& variable, SpirvKernel& kernel) {
    const auto pointer = types_.find(variable.type);
    if (pointer == types_.end() || pointer->second.kind != Type::pointer)
      return std::optional<std::string>("a variable is no pointer");
    const std::uint32_t target = pointer->second.element;
    const auto found = types_.find(target);
    const Decorations decorated = decorations_[variable.id];
    const std::string called = name(variable.id).empty() ? name(target) : name(variable.id);
    const bool is_buffer = variable.storage == storage_buffer ||
                           (variable.storage == storage_uniform && decorations_[target].buffer_block);
    if (variable.storage == storage_workgroup) {
      const auto bytes = bytes_of(target);
      if (!bytes || *bytes > limit_bytes - kernel.shared_bytes)
        return "the size of its shared variable " + called + " is not known";
      kernel.shared_bytes += *bytes;
    } else if (variable.storage == storage_push_constant) {
      return take_push(target, kernel);
    } else if (is_buffer) {
      if (found == types_.end() || found->second.kind != Type::structure)
        return called + " is an array of buffers: declare one buffer for each array";
      if (decorated.set.value_or(0) != 0)
        return called + " is in descriptor set " + std::to_string(*decorated.set) + ": only set 0 is bound";
      if (!decorated.binding) return called + " has no binding";
      SpirvBuffer buffer;
      buffer.binding = *decorated.binding;
      buffer.asks_length = measured_.contains(variable.id);
      const auto add = [&](const std::string& text) {
        if (!text.empty() && std::find(buffer.names.begin(), buffer.names.end(), text) == buffer.names.end())
          buffer.names.push_back(text);
      };
      add(name(variable.id));
      add(name(target));
      if (!found->second.members.empty()) {
        const auto member =
            member_names_.find({target, static_cast<std::uint32_t>(found->second.members.size() - 1)});
        if (member != member_names_.end()) add(member->second);
      }
      kernel.buffers.push_back(std::move(buffer));
    } else if (variable.storage == storage_uniform || variable.storage == storage_uniform_constant) {
      return "it binds " + (called.empty() ? std::string("something") : called) +
             ", which is a uniform buffer, an image or a sampler: arrays are storage buffers, scalars push "
             "constants";
    }
    return std::nullopt;
  }

  std::optional<std::string> take_push(std::uint32_t target, SpirvKernel& kernel) {
    const auto found = types_.find(target);
    if (found == types_.end() || found->second.kind != Type::structure || !kernel.push.empty())
      return "its push constants are no single block";
    const Decorations& decorated = decorations_[target];
    for (std::size_t m = 0; m < found->second.members.size(); ++m) {
      const auto index = static_cast<std::uint32_t>(m);
      const auto offset = decorated.offsets.find(index);
      const auto bytes = bytes_of(found->second.members[m]);
      if (offset == decorated.offsets.end() || !bytes) return "a push constant has no place or size";
      SpirvPushMember member{offset->second, static_cast<std::uint32_t>(std::min(*bytes, limit_bytes)), ""};
      if (member.offset > limit_bytes || member.bytes > limit_bytes - member.offset)
        return "its push constants are too large";
      if (const auto named = member_names_.find({target, index}); named != member_names_.end())
        member.name = named->second;
      kernel.push_bytes = std::max(kernel.push_bytes, member.offset + member.bytes);
      kernel.push.push_back(std::move(member));
    }
    std::sort(kernel.push.begin(), kernel.push.end(),
              [](const SpirvPushMember& a, const SpirvPushMember& b) { return a.offset < b.offset; });
    return std::nullopt;
  }

  static constexpr std::uint64_t limit_bytes = std::uint64_t{1} << 31;

  const std::string& wanted_;
  std::span<const std::pair<std::string, Value>> values_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> member_names_;
  std::set<std::uint32_t> capabilities_;
  std::vector<std::pair<std::uint32_t, std::string>> entries_;
  /// Of an entry point: whether these are ids of constants, and the three of them.
  std::unordered_map<std::uint32_t, std::pair<bool, std::array<std::uint32_t, 3>>> sizes_;
  std::map<std::uint32_t, Decorations> decorations_;
  std::unordered_map<std::uint32_t, Type> types_;
  std::unordered_map<std::uint32_t, Constant> values_of_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> composites_;
  std::vector<Variable> variables_;
  std::set<std::uint32_t> measured_;
  std::vector<SpirvConstant> constants_;
  std::map<std::uint32_t, std::uint32_t> named_defaults_;
};

/// Calls `visit` with each instruction's code and words, up to the first that is cut short.
template <class Visit>
void for_each_instruction(std::span<std::uint32_t> words, Visit visit) {
  for (std::size_t at = 5; at < words.size();) {
    const std::uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return;
    visit(words[at] & 0xffff, words.subspan(at, count));
    at += count;
  }
}

}  // namespace
}  // namespace spirv

void make_bindings_distinct(std::vector<std::uint32_t>& words) {
  if (words.size() < 5) return;
  std::map<std::uint32_t, std::uint32_t*> bindings;  // of a variable
  std::vector<std::uint32_t> variables;
  spirv::for_each_instruction(words, [&](std::uint32_t op, std::span<std::uint32_t> w) {
    if (op == spirv::op_decorate && w.size() == 4 && w[2] == spirv::decoration_binding)
      bindings[w[1]] = &w[3];
    if (op == spirv::op_variable && w.size() >= 4 && bindings.contains(w[2])) variables.push_back(w[2]);
  });
  std::set<std::uint32_t> taken;
  bool twice = false;
  for (const std::uint32_t variable : variables) twice = !taken.insert(*bindings[variable]).second || twice;
  if (!twice) return;
  for (std::size_t v = 0; v < variables.size(); ++v) *bindings[variables[v]] = static_cast<std::uint32_t>(v);
}

Result<SpirvKernel> read_spirv(std::span<const std::uint32_t> words, const std::string& entry,
                               std::span<const std::pair<std::string, Value>> values) {
  return spirv::ModuleReader(entry, values).read(words);
}

Result<std::vector<std::uint32_t>> spirv_words(std::span<const std::byte> bytes) {
  if (bytes.size() < 20 || bytes.size() % 4 != 0)
    return spirv::bad("it has " + std::to_string(bytes.size()) + " bytes, which is no number of words");
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  if (words[0] == spirv::swapped_magic)
    for (std::uint32_t& word : words)
      word = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
  if (words[0] != spirv::magic_number) return spirv::bad("it does not begin as SPIR-V does");
  return words;
}

}  // namespace kernelsearch::detail::gpu
