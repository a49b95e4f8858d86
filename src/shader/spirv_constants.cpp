// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constants of a module: what specialisation gives them, and the whole numbers that follow.
#include <algorithm>
#include <bit>
#include <cmath>

#include "shader/spirv_reader.hpp"

namespace kernelsearch::detail::spirv {

/// The values that named specialisation constants have in the module, by their SpecId.
void ModuleReader::find_named_defaults(Words words) {
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

/// Decorations stand before constants, so a specialisation constant is known as one here.
std::optional<std::string> ModuleReader::constant(std::uint32_t id, Constant c, bool specialised) {
  const auto decorated = decorations_.find(id);
  if (specialised && decorated != decorations_.end() && decorated->second.spec_id) {
    SpirvConstant known;
    known.id = *decorated->second.spec_id;
    known.name = name(id).empty() ? name_of_spec(known.id) : name(id);
    if (known.name.empty()) known.name = "constant_" + std::to_string(known.id);
    const auto type = types_.find(c.type);
    if (type == types_.end()) return "a constant has no type";
    const Type& t = type->second;
    if (t.kind != Type::boolean && t.kind != Type::integer && t.kind != Type::floating)
      return "a specialisation constant is not a number";
    known.kind = t.kind == Type::boolean    ? SpirvConstant::boolean
                 : t.kind == Type::floating ? SpirvConstant::floating
                 : t.is_signed              ? SpirvConstant::signed_integer
                                            : SpirvConstant::unsigned_integer;
    if (t.width != 8 && t.width != 16 && t.width != 32 && t.width != 64)
      return "a number has a strange width";
    known.bytes = t.width / 8;
    const auto given = std::find_if(values_.begin(), values_.end(),
                                    [&](const auto& value) { return value.first == known.name; });
    if (given != values_.end()) {
      if (const auto problem = set(known, given->second)) return problem;
      c.bits = known.bits;
    }
    // `local_size_x_id = 0` next to `constant_id = 0`: both are what the source's constant is.
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
std::string ModuleReader::name_of_spec(std::uint32_t spec_id) const {
  for (const auto& [id, decoration] : decorations_)
    if (decoration.spec_id == spec_id && !name(id).empty()) return name(id);
  return {};
}

/// Gives a specialisation constant a tunable's value, or says why it cannot have it.
std::optional<std::string> ModuleReader::set(SpirvConstant& constant, const Value& value) {
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
        return wrong("it is not a whole number of its type");
      const auto* whole = std::get_if<std::int64_t>(&value);
      std::uint64_t pattern = whole != nullptr ? static_cast<std::uint64_t>(*whole)
                              : number < 0     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                                               : static_cast<std::uint64_t>(number);
      if (bits < 64) pattern &= (std::uint64_t{1} << bits) - 1;
      constant.bits = pattern;
      return std::nullopt;
    }
  }
}

std::optional<std::int64_t> ModuleReader::whole(std::uint32_t id) const {
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
void ModuleReader::operate(Words w) {
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

}  // namespace kernelsearch::detail::spirv
