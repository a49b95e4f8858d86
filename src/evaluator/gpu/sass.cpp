// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/evaluator/code_loops.hpp"

namespace kernelsearch {
namespace {

struct SassLine : CodeLine {
  std::string opcode;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The hexadecimal digits at the begin of `text`.
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && std::isxdigit(static_cast<unsigned char>(text[digits])) != 0; ++digits) {
    const char c = text[digits];
    value = 16 * value + static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  if (digits == 0 || digits > 15) return std::nullopt;
  return value;
}

/// How much the instructions do, roughly; waiting and control flow do nothing.
std::size_t work_of(const SassCounts& counts) {
  constexpr std::size_t tensor = 32;
  std::size_t work = 0;
  for (const auto& [opcode, count] : counts.by_opcode()) {
    const std::string_view root = std::string_view(opcode).substr(0, opcode.find('.'));
    if (has_signature(opcode, SassSignature::tensor_core)) {
      work += tensor * count;
    } else if (has_signature(opcode, SassSignature::tma) || has_signature(opcode, SassSignature::atomics) ||
               has_signature(opcode, SassSignature::ldmatrix) ||
               is_one_of(root,
                         {"FFMA",  "FFMA2",  "FADD", "FADD2", "FMUL", "FMUL2", "FMNMX", "HFMA2", "HADD2",
                          "HMUL2", "HMNMX2", "DFMA", "DADD",  "DMUL", "MUFU",  "IDP",   "LDG",   "STG",
                          "LDS",   "STS",    "LDL",  "STL",   "LD",   "ST",    "SHFL",  "LDGSTS"})) {
      work += count;
    }
  }
  return work;
}

/// Constants are made by instructions of the tensor cores' or other pipes where those are idle; a plain
/// address is what tells shared memory of another block of the cluster from generic memory; a factor of
/// log2(e) what tells that an exponential follows; and a number over 0 that a wait leaves matrix instructions
/// under way. Said by the opcode, so that counts tell the one from the other.
std::string full_opcode(std::string_view opcode, std::string_view operands) {
  const std::string_view root = opcode.substr(0, opcode.find('.'));
  if (root == "HFMA2" && operands.find("-RZ, RZ,") != std::string_view::npos)
    return "MOV." + std::string(opcode);
  if ((root == "LD" || root == "ST") && operands.find(".64") == std::string_view::npos)
    return std::string(opcode) + ".CLUSTER";
  if (root == "FMUL" && operands.find("1.4426950") != std::string_view::npos)
    return std::string(opcode) + ".LOG2E";
  if (has_signature(opcode, SassSignature::warpgroup_wait) &&
      operands.find(", 0x0") == std::string_view::npos)
    return std::string(opcode) + ".PENDING";
  return std::string(opcode);
}

/// Collects the lines of a function until the next one begins.
class Reader {
 public:
  void line(std::string_view text) {
    text = detail::trimmed(text);
    if (text.substr(0, 2) == "/*") return instruction(text);
    if (constexpr std::string_view word = "Function :"; text.substr(0, word.size()) == word)
      return begin(detail::trimmed(text.substr(word.size())));
    if (constexpr std::string_view word = ".section"; text.substr(0, word.size()) == word) {
      std::string_view name = detail::trimmed(text.substr(word.size()));
      name = name.substr(0, name.find(','));
      constexpr std::string_view code = ".text.";
      return begin(name.substr(0, code.size()) == code ? name.substr(code.size()) : std::string_view());
    }
    if (text.substr(0, 9) == "Function " && text.back() == ':') {  // of `cuobjdump -res-usage`
      described_ = text.substr(9, text.size() - 10);
      return;
    }
    if (!described_.empty() && text.substr(0, 4) == "REG:") return resources(text);
    if (text.size() > 1 && text.back() == ':' && text.find_first_of(" \t") == std::string_view::npos)
      waiting_.emplace_back(text.substr(0, text.size() - 1));
  }

  std::vector<SassFunction> finish() {
    end();
    return std::move(functions_);
  }

 private:
  struct Pending {
    std::size_t line;
    std::string label;
  };
  struct Resources {
    std::size_t registers = 0, local_bytes = 0;
  };

  void begin(std::string_view name) {
    end();
    name_ = name;
  }

  /// `REG:32 STACK:8 SHARED:0 LOCAL:0 ...` of the function named before.
  void resources(std::string_view text) {
    Resources found;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      const std::string_view word = text.substr(0, end);
      text = detail::trimmed(text.substr(end));
      const std::size_t colon = word.find(':');
      if (colon == std::string_view::npos) continue;
      std::size_t value = 0;
      const char* const last = word.data() + word.size();
      if (const auto read = std::from_chars(word.data() + colon + 1, last, value);
          read.ec != std::errc() || read.ptr != last)
        continue;
      const std::string_view name = word.substr(0, colon);
      if (name == "REG") found.registers = value;
      if (name == "STACK" || name == "LOCAL") found.local_bytes += value;
    }
    resources_[std::exchange(described_, {})] = found;
  }

  void instruction(std::string_view text) {
    if (name_.empty()) return;
    const std::size_t close = text.find("*/");
    if (close == std::string_view::npos) return;
    const auto address = hexadecimal(text.substr(2));
    if (!address || text.find_first_not_of("0123456789abcdefABCDEF", 2) != close) return;
    text = detail::trimmed(text.substr(close + 2));
    text = detail::trimmed(text.substr(0, text.find(';')));
    while (!text.empty() && text.front() == '{') text = detail::trimmed(text.substr(1));
    bool conditional = false;
    if (!text.empty() && text.front() == '@') {
      const std::size_t blank = std::min(text.find(' '), text.size());
      conditional = text.substr(0, blank) != "@PT" && text.substr(0, blank) != "@UPT";
      text = detail::trimmed(text.substr(blank));
    }
    std::size_t length = 0;
    while (length < text.size() && (detail::in_word(text[length]) || text[length] == '.')) ++length;
    if (length == 0 || std::isupper(static_cast<unsigned char>(text.front())) == 0) return;
    // Addresses only grow within a function; what does not is not code of it.
    if (!lines_.empty() && *address <= lines_.back().address) return;
    SassLine line;
    line.address = *address;
    const std::string_view operands = detail::trimmed(text.substr(length));
    line.opcode = full_opcode(text.substr(0, length), operands);
    for (const std::string& label : waiting_) labels_[label] = *address;
    waiting_.clear();
    flow(line, operands, conditional);
    lines_.push_back(std::move(line));
  }

  void flow(SassLine& line, std::string_view operands, bool conditional) {
    const std::string_view root = std::string_view(line.opcode).substr(0, line.opcode.find('.'));
    if (is_one_of(root, {"EXIT", "RET", "KILL", "BPT"})) {
      if (root != "BPT") line.flow = conditional ? CodeFlow::either : CodeFlow::end;
      return;
    }
    if (is_one_of(root, {"BRX", "BRXU", "JMX", "JMXU"})) {
      line.flow = conditional ? CodeFlow::either : CodeFlow::end;
      computed_jump(operands);
      return;
    }
    // Threads of a warp that must do something one after another, such as starting a copy: no loop of theirs.
    if (line.opcode == "BRA.U.ANY") return;
    if (root == "CALL") return call(line, operands);
    if (root != "BRA" && root != "JMP") return;
    // `BRA P1, there` and `BRA.DIV UR4, there` have their condition among the operands.
    conditional = conditional || operands.find(',') != std::string_view::npos;
    line.flow = conditional ? CodeFlow::either : CodeFlow::branch;
    if (const std::size_t label = operands.rfind(".L"); label != std::string_view::npos) {
      const std::size_t end = operands.find_first_of(") ,", label);
      pending_.push_back({lines_.size(), std::string(operands.substr(label, end - label))});
    } else if (const std::size_t number = operands.rfind("0x"); number != std::string_view::npos) {
      if (const auto target = hexadecimal(operands.substr(number + 2))) line.targets.push_back(*target);
    }
  }

  /// nvdisasm says where a jump through a table may go: (*"BRANCH_TARGETS .L_x_1,.L_x_2"*).
  void computed_jump(std::string_view operands) {
    constexpr std::string_view word = "BRANCH_TARGETS ";
    const std::size_t begin = operands.find(word);
    if (begin == std::string_view::npos) {
      complete_ = false;
      return;
    }
    operands.remove_prefix(begin + word.size());
    operands = operands.substr(0, operands.find('"'));
    while (!operands.empty()) {
      const std::size_t end = std::min(operands.find(','), operands.size());
      pending_.push_back({lines_.size(), std::string(detail::trimmed(operands.substr(0, end)))});
      operands.remove_prefix(std::min(end + 1, operands.size()));
    }
  }

  /// For a function by its label or address in this one, of another by name, or of whatever a register holds.
  void call(SassLine& line, std::string_view operands) {
    line.flow = CodeFlow::call;
    const std::size_t quote = operands.find("`(");
    if (quote != 0 && operands.substr(0, 2) != "0x") {
      complete_ = false;
    } else if (quote == 0) {
      std::string name(operands.substr(2, operands.find(')') - 2));
      if (name.empty()) return;
      // For the compiler's own, for rare cases such as division of denormals: not the loop's work.
      if (name.rfind("$__internal_", 0) == 0) line.flow = CodeFlow::either;
      if (name.front() != '$' && name.front() != '.') calls_.insert(name);
      pending_.push_back({lines_.size(), std::move(name)});
    } else if (const auto target = hexadecimal(operands.substr(2))) {
      line.targets.push_back(*target);
    }
  }

  void end() {
    if (!name_.empty() && !lines_.empty()) {
      for (const Pending& one : pending_)
        if (const auto at = labels_.find(one.label); at != labels_.end())
          lines_[one.line].targets.push_back(at->second);
      SassFunction function;
      function.name = name_;
      function.complete = complete_;
      for (const SassLine& line : lines_) function.counts.add(line.opcode);
      function.calls.assign(calls_.begin(), calls_.end());
      if (const auto known = resources_.find(name_); known != resources_.end()) {
        function.registers = known->second.registers;
        function.local_bytes = known->second.local_bytes;
      }
      add_loops(function);
      functions_.push_back(std::move(function));
    }
    name_.clear();
    lines_.clear();
    pending_.clear();
    labels_.clear();
    waiting_.clear();
    calls_.clear();
    complete_ = true;
  }

  void add_loops(SassFunction& function) const {
    const std::vector<CodeLine> lines(lines_.begin(), lines_.end());
    std::vector<SassLoop>& loops = function.loops;
    std::vector<bool> in_loop(lines_.size()), with_products(lines_.size());
    std::vector<std::vector<std::size_t>> lines_of;
    const auto visit = [&](std::size_t loop, std::size_t line, bool own) {
      if (loops.size() <= loop) {
        loops.resize(loop + 1);
        lines_of.resize(loop + 1);
      }
      loops[loop].counts.add(lines_[line].opcode);
      if (own) loops[loop].own.add(lines_[line].opcode);
      lines_of[loop].push_back(line);
      in_loop[line] = true;
    };
    const std::vector<CodeLoop> found = code_loops(lines, visit);
    std::vector<std::size_t> work;
    for (std::size_t i = 0; i < found.size(); ++i) {
      loops[i].begin = found[i].begin;
      loops[i].end = found[i].end;
      loops[i].depth = found[i].depth;
      work.push_back(work_of(loops[i].own));
    }
    function.hot = hottest_loop(found, work);
    for (std::size_t i = 0; i < loops.size(); ++i)
      if (loops[i].counts.of(SassSignature::tensor_core) > 0)
        for (const std::size_t line : lines_of[i]) with_products[line] = true;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (in_loop[line]) function.in_loops.add(lines_[line].opcode);
      if (with_products[line]) function.in_product_loops.add(lines_[line].opcode);
    }
  }

  std::vector<SassFunction> functions_;
  std::string name_;
  std::vector<SassLine> lines_;
  std::vector<Pending> pending_;
  std::map<std::string, std::uint64_t> labels_;
  std::vector<std::string> waiting_;
  std::set<std::string> calls_;
  std::string described_;  ///< whose resources the next line says
  std::map<std::string, Resources> resources_;
  bool complete_ = true;
};

}  // namespace

std::vector<SassFunction> parse_sass(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

Features sass_features(const std::vector<SassFunction>& functions) {
  Features features;
  if (functions.empty()) return features;
  SassCounts all, in_loops, in_product_loops;
  const auto join = [](SassCounts& sum, const SassCounts& more) {
    for (const auto& [opcode, count] : more.by_opcode()) sum.add(opcode, count);
  };
  std::size_t loops = 0, most = 0;
  bool complete = true;
  const SassLoop* hot = nullptr;
  for (const SassFunction& function : functions) {
    join(all, function.counts);
    join(in_loops, function.in_loops);
    join(in_product_loops, function.in_product_loops);
    loops += function.loops.size();
    for (const auto& [name, value] :
         {std::pair("registers", function.registers), std::pair("local_bytes", function.local_bytes)})
      if (value) features.set(name, std::max(features.find(name).value_or(0), static_cast<double>(*value)));
    complete = complete && function.complete;
    const SassLoop* loop = function.hot_loop();
    if (loop == nullptr || work_of(loop->counts) <= most) continue;
    hot = loop;
    most = work_of(loop->counts);
  }
  if (!complete) hot = nullptr;               // another one may be hotter
  const bool looped = complete && loops > 0;  // without any, all may have been unrolled
  features.set("sass.complete", complete ? 1 : 0);
  features.set("sass.instructions", static_cast<double>(all.total()));
  features.set("sass.loops", static_cast<double>(loops));
  for (std::size_t s = 0; s < sass_signature_names.size(); ++s) {
    const auto signature = static_cast<SassSignature>(s);
    const std::string name(to_string(signature));
    features.set("sass." + name, static_cast<double>(all.of(signature)));
    if (looped) features.set("sass.loops." + name, static_cast<double>(in_loops.of(signature)));
    if (hot != nullptr) features.set("sass.loop." + name, static_cast<double>(hot->counts.of(signature)));
  }
  if (looped) {
    features.set("sass.loops.instructions", static_cast<double>(in_loops.total()));
    for (const SassSignature arrival : {SassSignature::barrier_arrive, SassSignature::mbarrier_arrive})
      features.set("sass.product_loops." + std::string(to_string(arrival)),
                   static_cast<double>(in_product_loops.of(arrival)));
  }
  if (hot != nullptr) features.set("sass.loop.instructions", static_cast<double>(hot->counts.total()));
  constexpr std::pair<std::string_view, std::string_view> accesses[] = {
      {"LDG", "sass.ldg_"}, {"STG", "sass.stg_"}, {"LDS", "sass.lds_"}, {"STS", "sass.sts_"}};
  for (const auto& [root, name] : accesses) {
    auto widths = all.widths(root);
    for (const unsigned bits : {8u, 16u, 32u, 64u, 128u}) widths.try_emplace(bits, 0);
    double sum = 0, number = 0;
    for (const auto& [bits, count] : widths) {
      features.set(std::string(name) + std::to_string(bits), static_cast<double>(count));
      sum += static_cast<double>(bits) * static_cast<double>(count);
      number += static_cast<double>(count);
    }
    if (number > 0 && (root == "LDG" || root == "STG"))
      features.set(std::string(name) + "bits", sum / number);
  }
  return features;
}

std::vector<SassFunction> reached_functions(std::vector<SassFunction> functions,
                                            const std::vector<std::string>& launched) {
  std::set<std::string> wanted(launched.begin(), launched.end());
  std::vector<SassFunction> reached;
  for (bool more = true; more;) {
    more = false;
    for (SassFunction& function : functions) {
      if (function.name.empty() || wanted.count(function.name) == 0) continue;
      wanted.insert(function.calls.begin(), function.calls.end());
      reached.push_back(std::move(function));
      function.name.clear();
      more = true;
    }
  }
  return reached;
}

}  // namespace kernelsearch
