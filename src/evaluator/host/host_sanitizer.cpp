// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_sanitizer.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "evaluator/host/sanitizer_text.hpp"
#include "evaluator/host/shape_inputs.hpp"
#include "judge/arena.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

using detail::raise;

constexpr const char* array_mark = "kernelsearch-array";
// Around every array, in bytes: the largest that AddressSanitizer has. Farther away may be anything.
constexpr std::uint64_t red_zone = 2048;

// Reads the arguments from descriptor 3, says where it put the arrays, and calls the kernel. It stands before
// the tunables' macros and includes nothing, so that it neither meets the kernel's names nor lends headers.
constexpr const char* program_text = R"cpp(#                                           line 1 "kernelsearch_program"
                                           extern "C" {
                                           long read(int, void*, decltype(sizeof 0));
                                           int dprintf(int, const char*, ...);
                                           int posix_memalign(void**, decltype(sizeof 0), decltype(sizeof 0)) noexcept;
                                           void _exit(int) __attribute__((noreturn));
                                           void kernelsearch_entry(void* const*);
                                           }
                                           namespace kernelsearch_program {
                                           using Size = unsigned long long;
                                           inline void fill(void* to, Size bytes) {
                                             for (Size done = 0; done < bytes;) {
                                               const long got = read(3, static_cast<char*>(to) + done, static_cast<decltype(sizeof 0)>(bytes - done));
                                               if (got <= 0) _exit(3);
                                               done += static_cast<Size>(got);
                                             }
                                           }
                                           }  // namespace kernelsearch_program
                                           int main() {
                                             using kernelsearch_program::Size;
                                             static void* arguments[64];
                                             Size count = 0;
                                             kernelsearch_program::fill(&count, sizeof count);
                                             for (Size i = 0; i < count && i < 64; ++i) {
                                               Size header[3];  // bytes, whether an array, whether it has contents
                                               kernelsearch_program::fill(header, sizeof header);
                                               if (posix_memalign(&arguments[i], 64, static_cast<decltype(sizeof 0)>(header[0])) != 0) _exit(4);
                                               for (Size b = 0; b < header[0]; ++b) static_cast<unsigned char*>(arguments[i])[b] = 0xa5;
                                               if (header[2] != 0) kernelsearch_program::fill(arguments[i], header[0]);
                                               if (header[1] != 0)
                                                 dprintf(1, "kernelsearch-array %llu %llu %llu\n", i, reinterpret_cast<Size>(arguments[i]), header[0]);
                                             }
                                             kernelsearch_entry(arguments);
                                             _exit(0);
                                           }
)cpp";

/// Where the program put an argument's array.
struct Block {
  std::size_t argument = 0;
  std::uint64_t begin = 0, bytes = 0;
};

std::vector<Block> read_blocks(const std::string& output, std::size_t arguments) {
  std::vector<Block> blocks;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark;
    Block block;
    if (words >> mark >> block.argument >> block.begin >> block.bytes && mark == array_mark &&
        block.argument < arguments)
      blocks.push_back(block);
  }
  return blocks;
}

/// How far `address` is from the block; 0 inside of it.
std::uint64_t distance(const Block& block, std::uint64_t address) {
  if (address < block.begin) return block.begin - address;
  return address >= block.begin + block.bytes ? address - (block.begin + block.bytes) + 1 : 0;
}

/// The line of a compiler's message that says what is wrong.
std::string error_line(const std::string& message) {
  const auto error = message.find("error");
  const auto begin = error == std::string::npos ? 0 : message.rfind('\n', error) + 1;
  return message.substr(begin, message.find('\n', begin) - begin);
}

class Sanitizer {
 public:
  Sanitizer(Problem problem, const HostOptions& host, const HostSanitizerOptions& options)
      : problem_(std::move(problem)),
        host_(host),
        options_(options),
        machine_(host_machine()),
        candidate_(problem_.default_candidate()),
        generator_(problem_, host),
        deadline_(detail::monotonic_seconds() + options.seconds) {}

  HostSanitized run() {
    if (!build()) return std::move(result_);
    for (const std::size_t shape : by_size()) {
      const std::string& name = problem_.shapes[shape].name;
      const double left = deadline_ - detail::monotonic_seconds();
      const auto plan = detail::plan_shape(problem_, candidate_, shape);
      if (detail::array_bytes(plan) > options_.max_bytes)
        leave_out("shape " + name + ": it needs " + std::to_string(detail::array_bytes(plan) >> 20) + " MiB");
      else if (left <= 0)
        leave_out("shape " + name + ": the time for it was used up");
      else
        run(plan, left);
    }
    return std::move(result_);
  }

 private:
  std::vector<std::size_t> by_size() const {
    std::vector<std::pair<std::uint64_t, std::size_t>> sizes;
    for (std::size_t s = 0; s < problem_.shapes.size(); ++s)
      if (is_valid(problem_, problem_.shapes[s], candidate_))
        sizes.emplace_back(detail::array_bytes(detail::plan_shape(problem_, candidate_, s)), s);
    std::sort(sizes.begin(), sizes.end());
    std::vector<std::size_t> shapes;
    for (const auto& [bytes, shape] : sizes) shapes.push_back(shape);
    return shapes;
  }

  void leave_out(std::string why) { result_.left_out.push_back(std::move(why)); }

  bool build() {
    if (!problem_.build.command.empty()) {
      leave_out(
          "every shape: the sanitizers are the compiler's, and a build command makes this kernel; finalists "
          "run between guard pages all the same");
      return false;
    }
    if (resolved(host_.sandbox) == Sandbox::landlock) {
      leave_out(
          "every shape: AddressSanitizer reads /proc, which the sandbox landlock keeps closed; it runs "
          "in bubblewrap, or with `--sandbox none`");
      return false;
    }
    CompileJob job = candidate_job(problem_, candidate_);
    job.source = program_text + job.source;
    // -O1, as the last of them counts: at -O3 lines are less sure. Warnings that instrumented code causes are
    // not the kernel's.
    for (const char* flag : {"-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-omit-frame-pointer",
                             "-g", "-O1", "-Wno-error"})
      job.command.emplace_back(flag);
    detail::CompileCache compiler(host_, machine_.id(), machine_.cores);
    const detail::Compiled compiled = compiler.compile(job, detail::Product::program);
    program_ = compiled.library;
    if (compiled.verdict == Verdict::ok) return true;
    leave_out("every shape: the kernel does not build with -fsanitize=address,undefined: " +
              error_line(compiled.reason));
    return false;
  }

  void run(const detail::ShapePlan& plan, double seconds) {
    const Shape& shape = problem_.shapes[plan.shape];
    const detail::Finished finished = call(plan, seconds);
    const auto fault = detail::read_memory_fault(finished.errors);
    for (const auto& behaviour : detail::read_undefined_behaviour(finished.errors))
      find(LintFinding::Severity::warning, behaviour.place,
           "the default has undefined behaviour at " + behaviour.place + " (shape " + shape.name +
               "): " + behaviour.what,
           "fix it: compilers may turn it into anything, differently for each configuration");
    const bool ended = WIFEXITED(finished.status) && WEXITSTATUS(finished.status) == 0;
    if (fault) {
      ++result_.shapes;
      report(*fault, read_blocks(finished.output, plan.arguments.size()), plan);
    } else if (finished.timed_out) {
      leave_out("shape " + shape.name + ": it had not ended when the time for it was used up");
    } else if (!ended) {
      leave_out("shape " + shape.name + ": the program with the sanitizers failed: " +
                (WIFSIGNALED(finished.status) ? detail::signal_text(WTERMSIG(finished.status))
                 : finished.errors.empty()    ? "exit code " + std::to_string(WEXITSTATUS(finished.status))
                                              : finished.errors.substr(0, finished.errors.find('\n'))));
    } else {
      ++result_.shapes;
    }
  }

  detail::Finished call(const detail::ShapePlan& plan, double seconds) {
    detail::ShapeInputs inputs(plan, generator_.contents(plan, InputFlavour::declared, options_.seed));
    const detail::Descriptor program = detail::open_for_reading(program_.string());
    detail::Boxed boxed;
    boxed.files = {{program.number(), "/kernel", program_.string(), true}};
    boxed.argv = {path_in(host_.sandbox, boxed)};
    boxed.descriptors = {{detail::inputs_fd, inputs.from_start()}};
    boxed.readable = host_.readable;
    boxed.cores = machine_.cores;
    boxed.processes = true;
    // Its shadow memory takes terabytes of addresses, so memory is limited by what is used.
    const std::uint64_t memory =
        (std::max(host_.limits.run_memory, problem_.memory.value_or(0)) + 4 * detail::array_bytes(plan)) >>
        20;
    boxed.environment = {"ASAN_OPTIONS=detect_leaks=0:color=never:redzone=" + std::to_string(red_zone) +
                             ":max_redzone=" + std::to_string(red_zone) +
                             ":hard_rss_limit_mb=" + std::to_string(memory),
                         "UBSAN_OPTIONS=color=never:print_stacktrace=0"};
    boxed.limits = {{RLIMIT_CORE, 0},
                    {RLIMIT_FSIZE, detail::max_program},
                    {RLIMIT_CPU, static_cast<std::uint64_t>(seconds) * machine_.cores.size() + 1}};
    return run_command(launch_in(host_.sandbox, boxed), seconds, 1 << 20);
  }

  void report(const detail::MemoryFault& fault, const std::vector<Block>& blocks,
              const detail::ShapePlan& plan) {
    const std::string where = " (shape " + problem_.shapes[plan.shape].name + ")" +
                              (fault.place.empty() ? "" : " at " + fault.place);
    const std::string access = fault.write ? "writes " : "reads ";
    const std::uint64_t address = fault.address.value_or(0);
    const auto nearest = std::min_element(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
      return distance(a, address) < distance(b, address);
    });
    std::string what, about;
    if (nearest != blocks.end() && distance(*nearest, address) <= red_zone) {
      const std::string& name = problem_.arguments[nearest->argument].name;
      const detail::PlannedArgument& argument = plan.arguments[nearest->argument];
      const auto element = static_cast<std::int64_t>(argument.element_bytes());
      const auto offset = static_cast<std::int64_t>(address - nearest->begin);
      const std::int64_t index = offset < 0 ? -((-offset + element - 1) / element) : offset / element;
      what = access + std::to_string(fault.bytes) + " bytes " +
             (offset < 0 ? "before the beginning of " : "past the end of ") + name + ", at element " +
             std::to_string(index) + " of " + std::to_string(argument.count) + where;
      about = access + name + fault.place;
    } else {
      what = access + "memory that it must not" + where + ": " + fault.kind;
      about = access + fault.kind + fault.place;
    }
    find(LintFinding::Severity::error, about, "the default " + what + " (AddressSanitizer)",
         "fix the index; searches catch such writes only where they hit a guard, and such reads never");
  }

  /// Adds a finding, unless one of an earlier shape says the same.
  void find(LintFinding::Severity severity, std::string about, std::string what, std::string todo) {
    if (std::find(found_.begin(), found_.end(), about) != found_.end()) return;
    found_.push_back(std::move(about));
    result_.findings.push_back({severity, std::move(what), std::move(todo)});
  }

  Problem problem_;
  const HostOptions& host_;
  const HostSanitizerOptions& options_;
  HostMachine machine_;
  Candidate candidate_;
  detail::InputGenerator generator_;
  double deadline_;
  std::filesystem::path program_;
  HostSanitized result_;
  std::vector<std::string> found_;
};

}  // namespace

HostSanitized sanitize_on_host(const Problem& problem, const HostOptions& host,
                               HostSanitizerOptions options) {
  if (problem.backend != Backend::host)
    raise<ConfigError>("the problem is not for the host", to_string(problem.backend),
                       "use ComputeSanitizer for CUDA kernels");
  Problem with_sizes = problem;
  fill_generated_sizes(with_sizes, host);
  return Sanitizer(std::move(with_sizes), host, options).run();
}

}  // namespace kernelsearch
