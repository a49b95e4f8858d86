// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/object_code.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>

#include "evaluator/host/object_kinds.hpp"
#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

using detail::ObjectKind;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

/// Takes the hexadecimal digits at the begin of `text`.
std::optional<std::uint64_t> take_hexadecimal(std::string_view& text) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && std::isxdigit(static_cast<unsigned char>(text[digits])) != 0; ++digits) {
    const char c = text[digits];
    value = 16 * value + static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  if (digits == 0 || digits > 16) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = detail::trimmed(text.substr(end));
  return word;
}

struct Line : CodeLine {
  ObjectKind kind;
  std::size_t function = 0;
  std::size_t source_line = 0;
  std::string linked;  ///< what it calls, or goes to as the last thing that it does, by name
  bool calls = false;
};

struct Function {
  std::string name;
  std::uint64_t address = 0;
  std::size_t first = 0, last = 0;        ///< its lines
  std::vector<std::uint64_t> references;  ///< addresses that it goes to or takes
  std::vector<std::string> names;         ///< what it goes to through the table of linkage
  bool framed = false;
  bool computed_jump = false, computed_call = false;
};

/// What the linker and the compiler's run-time library add to every shared library.
bool is_startup(std::string_view name) {
  return is_one_of(name, {"_init", "_fini", "_start", "deregister_tm_clones", "register_tm_clones",
                          "__do_global_dtors_aux", "frame_dummy"});
}

/// Where an operand goes to: an address, or what the dynamic linker is to find by its name.
struct Destination {
  std::optional<std::uint64_t> address{};
  std::string linked{};
};

/// The name before its version, as in `exp@GLIBC_2.29`; empty with an offset, which is of what happens to lie
/// before.
std::string linked_name(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || text.find_first_of("+-", at) != std::string_view::npos) return {};
  return std::string(text.substr(0, at));
}

/// `1040 <exp@plt>`
Destination destination_of(std::string_view text) {
  Destination to;
  to.address = take_hexadecimal(text);
  text = detail::trimmed(text);
  if (to.address && text.size() > 2 && text.front() == '<' && text.back() == '>')
    to.linked = linked_name(text.substr(1, text.size() - 2));
  return to;
}

/// `/work/device:14` or `/work/device:14 (discriminator 3)`, as `-l` writes before instructions: the number,
/// 0 of a region that is not the device's; nothing for other lines and for the system's headers, from which
/// functions are inlined.
std::optional<std::size_t> source_line_of(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.find('\t') != std::string_view::npos) return std::nullopt;
  if (const std::size_t more = text.find(" (discriminator "); more != std::string_view::npos)
    text = text.substr(0, more);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  std::size_t number = 0;
  for (const char c : text.substr(colon + 1)) {
    if (c < '0' || c > '9' || number > 100'000'000) return std::nullopt;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  const std::string_view file = text.substr(0, colon);
  if (begins_with(file, "/usr/") || file.find("/include/") != std::string_view::npos) return std::nullopt;
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return is_one_of(name, {"macros", "host", "kernelsearch_entry", "<stdin>", "<built-in>"}) ? 0 : number;
}

/// A function's name without its scope, its parameters and what the compiler adds: `gate` of `_ZL4gatef`.
std::string plain_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> read(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 && read ? std::string(read.get()) : symbol;
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
    name.erase(at, unnamed.size());
  name = name.substr(0, name.find_first_of("(<[.@"));
  if (const std::size_t blank = name.rfind(' '); blank != std::string::npos) name.erase(0, blank + 1);
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  constexpr std::size_t longest = 40;
  const bool plain =
      !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), detail::in_word);
  return plain ? name : std::string();
}

class Reader {
 public:
  void line(std::string_view text) {
    if (const auto place = source_line_of(text)) {
      source_line_ = *place;
      return;
    }
    text = detail::trimmed(text);
    if (constexpr std::string_view word = "file format "; text.find(word) != std::string_view::npos) {
      const std::string_view format = text.substr(text.find(word) + word.size());
      foreign_ = foreign_ || format.find("x86-64") == std::string_view::npos;
      return;
    }
    if (begins_with(text, "DYNAMIC RELOCATION RECORDS")) relocated_ = true;
    if (constexpr std::string_view word = "Disassembly of section "; begins_with(text, word)) {
      text.remove_prefix(word.size());
      in_text_ = begins_with(text, ".text");
      open_ = false;
      return;
    }
    if (!in_text_ || foreign_) return;
    const auto address = take_hexadecimal(text);
    if (!address) return;
    if (const std::string_view entry = detail::trimmed(text); begins_with(entry, "R_"))
      return relocation(*address, entry);
    if (begins_with(text, " <") && text.size() > 4 && text.substr(text.size() - 2) == ">:")
      return begin(*address, text.substr(2, text.size() - 4));
    if (open_ && !text.empty() && text.front() == ':') instruction(*address, detail::trimmed(text.substr(1)));
  }

  ObjectCode code(std::string_view entry);

 private:
  void begin(std::uint64_t address, std::string_view name) {
    // Addresses only grow; what does not is not part of the same library.
    open_ = lines_.empty() || address > lines_.back().address;
    if (!open_) return;
    std::string plain = linked_name(name);  // without a table of symbols the dynamic linker's names are left
    if (plain.empty()) plain = name;
    functions_.push_back({std::move(plain), address, lines_.size(), lines_.size(), {}, {}});
    source_line_ = 0;
  }

  /// `3fd8 R_X86_64_GLOB_DAT  row@@Base` or `3e10 R_X86_64_RELATIVE  *ABS*+0x10f0`
  void relocation(std::uint64_t slot, std::string_view text) {
    const std::string_view type = take_word(text);
    constexpr std::string_view absolute = "*ABS*+0x";
    Destination to;
    if (begins_with(text, absolute)) {
      text.remove_prefix(absolute.size());
      to.address = take_hexadecimal(text);
    } else {
      to.linked = linked_name(text);
    }
    if (!is_one_of(type, {"R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT"})) in_data_.push_back(to);
    slots_.emplace(slot, std::move(to));
  }

  /// What is behind `#`: an address, or what its slot of a table of linkage will hold.
  Destination slot_of(std::string_view comment) const {
    Destination to = destination_of(comment);
    if (!to.address || !to.linked.empty()) return to;
    const auto slot = slots_.find(*to.address);
    return slot != slots_.end() ? slot->second : Destination{};
  }

  void refer(Function& function, const Destination& to) const {
    if (!to.linked.empty())
      function.names.push_back(to.linked);
    else if (to.address)
      function.references.push_back(*to.address);
  }

  void instruction(std::uint64_t address, std::string_view text) {
    if (!lines_.empty() && address <= lines_.back().address) return;
    Function& function = functions_.back();
    if (address < function.address) return;
    std::string_view comment;
    if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
      comment = detail::trimmed(text.substr(hash + 1));
      text = detail::trimmed(text.substr(0, hash));
    }
    std::string_view mnemonic = take_word(text);
    while (is_one_of(mnemonic, {"lock",    "rep",    "repz",     "repnz",    "repe",  "repne", "bnd",
                                "notrack", "data16", "cs",       "ds",       "es",    "ss",    "fs",
                                "gs",      "addr32", "xacquire", "xrelease", "{vex}", "{evex}"}) &&
           !text.empty())
      mnemonic = take_word(text);
    if (mnemonic.empty() || mnemonic == "(bad)" || mnemonic.front() == '.') return;
    if (mnemonic == "mov" && text == "%rsp,%rbp") function.framed = true;
    Line line;
    line.address = address;
    line.function = functions_.size() - 1;
    line.source_line = source_line_;
    line.kind = detail::object_kind(mnemonic, text, function.framed);
    flow(line, function, mnemonic, text, comment);
    lines_.push_back(std::move(line));
    function.last = lines_.size();
  }

  void flow(Line& line, Function& function, std::string_view mnemonic, std::string_view operands,
            std::string_view comment) {
    if (begins_with(mnemonic, "ret") || begins_with(mnemonic, "iret") ||
        is_one_of(mnemonic, {"hlt", "ud2", "ud1"})) {
      line.flow = CodeFlow::end;
      return;
    }
    if (begins_with(mnemonic, "lea")) {  // the address of what another thread, say, will call
      if (const Destination to = destination_of(comment); to.address)
        function.references.push_back(*to.address);
      return;
    }
    const bool call = begins_with(mnemonic, "call"), jump = begins_with(mnemonic, "jmp");
    const bool conditional =
        !jump && (mnemonic.front() == 'j' || begins_with(mnemonic, "loop") || mnemonic == "xbegin");
    if (!call && !jump && !conditional) {
      if (operands.find("(%rip)") != std::string_view::npos) refer(function, slot_of(comment));
      return;
    }
    if (call) line.kind.set(ObjectSignature::call);
    if (conditional) line.kind.set(ObjectSignature::branch);
    line.flow = call ? CodeFlow::call : jump ? CodeFlow::branch : CodeFlow::either;
    const bool computed = !operands.empty() && operands.front() == '*';
    const Destination to = computed ? slot_of(comment) : destination_of(operands);
    if (computed && to.linked.empty() && !to.address) {
      (call ? function.computed_call : function.computed_jump) = true;
      if (jump) line.flow = CodeFlow::end;
      return;
    }
    refer(function, to);
    if (jump && !to.linked.empty()) line.kind.set(ObjectSignature::call);  // the last thing that it does
    line.calls = call || (jump && !to.linked.empty());
    line.linked = to.linked;
    if (!to.linked.empty())
      linked_.emplace_back(lines_.size(), to.linked);
    else if (to.address)
      line.targets.push_back(*to.address);
  }

  std::optional<std::size_t> function_at(std::uint64_t address) const {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                  [](std::uint64_t a, const Function& f) { return a < f.address; });
    if (after == functions_.begin()) return std::nullopt;
    --after;
    // Beyond its last line lies what is not code.
    if (after->first == after->last || address > lines_[after->last - 1].address) return std::nullopt;
    return static_cast<std::size_t>(after - functions_.begin());
  }

  std::vector<bool> reached_from(std::size_t entry) const;
  ObjectCall call_of(std::size_t line) const;

  std::vector<Function> functions_;                          // by address
  std::vector<Line> lines_;                                  // by address
  std::vector<std::pair<std::size_t, std::string>> linked_;  // line, and what it goes to by name
  std::map<std::string, std::size_t, std::less<>> names_;
  std::map<std::uint64_t, Destination> slots_;  // of tables of linkage, by address
  std::vector<Destination> in_data_;            // what other data hold addresses of
  std::size_t source_line_ = 0;                 // of the instructions that follow
  bool in_text_ = true, foreign_ = false, open_ = false, relocated_ = false;
};

std::vector<bool> Reader::reached_from(std::size_t entry) const {
  std::vector<bool> reached(functions_.size(), false);
  std::vector<std::size_t> open{entry};
  const auto go = [&](const Destination& to) {
    if (!to.linked.empty()) {
      if (const auto f = names_.find(to.linked); f != names_.end()) open.push_back(f->second);
    } else if (to.address) {
      if (const auto f = function_at(*to.address); f && !is_startup(functions_[*f].name)) open.push_back(*f);
    }
  };
  bool anything_in_data = false;  // may be called
  while (!open.empty()) {
    const std::size_t f = open.back();
    open.pop_back();
    if (reached[f]) continue;
    reached[f] = true;
    for (const std::uint64_t address : functions_[f].references) go({address, {}});
    for (const std::string& name : functions_[f].names) go({{}, name});
    if (!functions_[f].computed_call || anything_in_data) continue;
    anything_in_data = true;
    for (const Destination& to : in_data_) go(to);
  }
  return reached;
}

ObjectCall Reader::call_of(std::size_t at) const {
  const Line& line = lines_[at];
  ObjectCall call;
  call.source_line = line.source_line;
  if (line.flow == CodeFlow::call && at + 1 < lines_.size()) call.returns_to = lines_[at + 1].address;
  std::string symbol = line.linked;
  if (!line.targets.empty())
    if (const auto f = function_at(line.targets.front())) {
      symbol = functions_[*f].name;
      call.target = functions_[*f].address;
    }
  call.function = plain_name(symbol);
  return call;
}

ObjectCode Reader::code(std::string_view entry) {
  ObjectCode code;
  for (std::size_t f = 0; f < functions_.size(); ++f) names_.emplace(functions_[f].name, f);
  const auto first = names_.find(entry);
  if (first == names_.end() || functions_[first->second].first == functions_[first->second].last) return code;
  for (const auto& [line, name] : linked_)
    if (const auto to = names_.find(name); to != names_.end())
      lines_[line].targets.push_back(functions_[to->second].address);
  const std::vector<bool> reached = reached_from(first->second);

  // Control begins at the entry function and, in other threads, at each function whose address is taken: all
  // hang from a line of our own at address 0, so that those of the library are moved by one.
  std::vector<CodeLine> flow(1);
  flow[0].flow = CodeFlow::branch;
  std::vector<ObjectKind> kinds(1);
  std::vector<std::optional<std::size_t>> calls(1);  // by the place in `flow`
  bool unreached = false, computed_call = false;
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const Function& function = functions_[f];
    if (!reached[f]) {
      unreached = unreached || !is_startup(function.name);
      continue;
    }
    flow[0].targets.push_back(function.address + 1);
    computed_call = computed_call || function.computed_call;
    code.loops_complete = code.loops_complete && !function.computed_jump;
    bool packed_access = false;
    for (std::size_t i = function.first; i < function.last; ++i)
      packed_access = packed_access || lines_[i].kind.packed_access;
    code.functions.push_back({function.name, function.address, {}});
    for (std::size_t i = function.first; i < function.last; ++i) {
      ObjectKind kind = lines_[i].kind;
      // One number is turned into another, or the larger of two taken, by packed instructions too; who works
      // on many also loads or stores many.
      if (kind.doubtful_packed && !packed_access)
        kind.signatures &= ~(1u << static_cast<unsigned>(ObjectSignature::vector_128));
      flow.push_back(lines_[i]);
      ++flow.back().address;
      for (std::uint64_t& target : flow.back().targets) ++target;
      kinds.push_back(kind);
      code.places.push_back({lines_[i].address, lines_[i].source_line});
      calls.emplace_back();
      if (lines_[i].calls) {
        calls.back() = code.calls.size();
        code.calls.push_back(call_of(i));
      }
      for (std::size_t s = 0; s < object_signature_names.size(); ++s)
        if (kind.is(static_cast<ObjectSignature>(s))) {
          ++code.functions.back().counts.values[s];
          ++code.counts.values[s];
        }
    }
  }
  code.functions_complete = !computed_call || !unreached || relocated_;
  code.loops_complete = code.loops_complete && !computed_call;

  std::vector<std::size_t> work;
  const auto visit = [&](std::size_t loop, std::size_t line, bool own) {
    if (code.loops.size() <= loop) {
      code.loops.resize(loop + 1);
      work.resize(loop + 1);
    }
    for (std::size_t s = 0; s < object_signature_names.size(); ++s) {
      if (!kinds[line].is(static_cast<ObjectSignature>(s))) continue;
      ++code.loops[loop].counts.values[s];
      if (own) ++code.loops[loop].own.values[s];
    }
    if (calls[line]) code.calls[*calls[line]].loops.push_back(loop);
    if (!own) return;
    work[loop] += kinds[line].work;
    if (line > 0 && !code.places[line - 1].loop)
      code.places[line - 1].loop = loop;  // flow[0] is not an instruction
  };
  const std::vector<CodeLoop> found = code_loops(flow, visit);
  for (std::size_t i = 0; i < found.size(); ++i)
    static_cast<CodeLoop&>(code.loops[i]) = {found[i].begin - 1, found[i].end - 1, found[i].depth};
  code.hot = hottest_loop(found, work);
  return code;
}

/// The functions that the loop calls from most places, as features.
void set_calls(Features& features, const std::vector<ObjectCall>& calls, std::size_t loop) {
  constexpr std::size_t most = 4;
  struct Called {
    std::size_t places = 0, source_line = 0;
  };
  std::map<std::string, Called> called;
  for (const ObjectCall& call : calls) {
    if (call.function.empty() || std::find(call.loops.begin(), call.loops.end(), loop) == call.loops.end())
      continue;
    Called& one = called[call.function];
    ++one.places;
    if (one.source_line == 0) one.source_line = call.source_line;
  }
  std::vector<std::pair<std::string, Called>> list(called.begin(), called.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second.places > b.second.places; });
  list.resize(std::min(list.size(), most));
  for (const auto& [function, one] : list) {
    features.set("code.call." + function, static_cast<double>(one.places));
    if (one.source_line > 0)
      features.set("code.call." + function + ".line", static_cast<double>(one.source_line));
  }
}

}  // namespace

ObjectCode parse_object_code(std::string_view text, std::string_view entry) {
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.code(entry);
}

Features loop_features(const ObjectCode& code, std::size_t loop) {
  Features features;
  for (std::size_t s = 0; s < object_signature_names.size(); ++s)
    features.set("code.loop." + std::string(object_signature_names[s]),
                 static_cast<double>(code.loops[loop].counts.values[s]));
  set_calls(features, code.calls, loop);
  return features;
}

Features object_features(const ObjectCode& code) {
  Features features;
  if (code.functions.empty()) return features;
  features.set("code.complete", code.loops_complete && code.functions_complete ? 1 : 0);
  if (!code.functions_complete) return features;
  features.set("code.loops", static_cast<double>(code.loops.size()));
  for (std::size_t s = 0; s < object_signature_names.size(); ++s)
    features.set("code." + std::string(object_signature_names[s]),
                 static_cast<double>(code.counts.values[s]));
  if (code.loops_complete && code.hot)
    for (const auto& [name, value] : loop_features(code, *code.hot)) features.set(name, value);
  return features;
}

}  // namespace kernelsearch
