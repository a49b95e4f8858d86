// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/child.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelsearch::detail {

Child::Child(Launch launch, Kept kept) {
  PipeEnds in = kept.input ? make_pipe() : PipeEnds(), out = make_pipe(), err = make_pipe();
  if (kept.input) launch.descriptors.emplace_back(0, in.read.number());
  launch.descriptors.emplace_back(1, out.write.number());
  launch.descriptors.emplace_back(2, err.write.number());
  process_ = Process(launch);
  input_ = std::move(in.write);
  output_end_ = std::move(out.read);
  errors_end_ = std::move(err.read);
  for (const Descriptor* end : {&input_, &output_end_, &errors_end_}) do_not_block(end->number());
  output_ = Inflow(output_end_.number(), kept.output, kept.keeps);
  errors_ = Inflow(errors_end_.number(), kept.errors, kept.keeps);
}

Child::Child(Descriptor output, Descriptor input)
    : input_(std::move(input)), output_end_(std::move(output)), output_(output_end_.number()) {
  for (const Descriptor* end : {&input_, &output_end_}) do_not_block(end->number());
}

Sent Child::write(std::string_view bytes, double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  return write_all(input_.number(), bytes, [&](std::size_t) {
    const double left = deadline - monotonic_seconds();
    if (left > 0) listen(left, true);
    return left > 0;
  });
}

bool Child::listen(double seconds, bool writing) {
  std::array<pollfd, 3> waiting{pollfd{output_.descriptor(), POLLIN, 0},
                                pollfd{errors_.descriptor(), POLLIN, 0},
                                pollfd{writing ? input_.number() : -1, POLLOUT, 0}};
  if (!wait_ready(waiting, seconds)) return false;
  if (waiting[0].revents != 0) output_.read();
  if (waiting[1].revents != 0) errors_.read();
  return true;
}

std::optional<std::string> Child::line(double seconds, std::size_t longest) {
  const double deadline = monotonic_seconds() + seconds;
  while (true) {
    if (auto line = output_.line()) return line;
    const double left = deadline - monotonic_seconds();
    if (output_.text().size() > longest || !output_.open() || left <= 0) return std::nullopt;
    listen(left);
  }
}

std::string Child::last_errors(double seconds) {
  const double until = monotonic_seconds() + seconds;
  for (double left = seconds; errors_.open() && left > 0; left = until - monotonic_seconds())
    errors_.read_within(left);
  std::string text = errors_.text();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

bool Child::end(double seconds) {
  input_.reset();
  int status = 0;
  if (!process_.running() || process_.wait(seconds, status)) return true;
  process_.kill();
  return false;
}

}  // namespace kernelsearch::detail
