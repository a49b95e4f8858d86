// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator_session.hpp"

#include <utility>

namespace kernelsearch::external {

EvaluatorSession::EvaluatorSession(const Problem& problem, const HostOptions& options,
                                   const detail::Arena& inputs, const detail::Arena& outputs)
    : problem_(problem),
      inputs_(inputs),
      outputs_(outputs),
      scratch_(sandbox_status(resolved(options.sandbox)).as_nobody),
      program_(program_launch(*problem.external, options, scratch_.path(),
                              {.descriptors = {{inputs_descriptor, inputs.descriptor()},
                                               {outputs_descriptor, outputs.descriptor()}}}),
               {"docs/external_evaluators.md", "external.answer_seconds", longest_evaluator_reply},
               problem.external->answer_seconds, "the external evaluator") {}

EvaluatorSession::~EvaluatorSession() {
  program_.end(evaluator_end_message());
}

Answer EvaluatorSession::ask(const std::string& message, const std::string& id, EvaluatorReplyKind wanted,
                             const char* during, double& wall) {
  const FrozenProgram::Line line = program_.ask(message, during, wall);
  if (!line) return line.error();
  const std::string when = std::string(" ") + during;
  Result<EvaluatorReply> reply = try_parse_evaluator_reply(*line);
  if (!reply)
    return program_.broken(Verdict::crashed, program_.who() + " " + reply.error().what + when + ": " +
                                                 reply.error().given + "; " + reply.error().todo);
  if (reply->id != id || reply->kind != wanted)
    return program_.broken(Verdict::cheated, program_.who() +
                                                 " gave a reply that does not belong to its request" + when +
                                                 ": " + line->substr(0, 200));
  return *std::move(reply);
}

Answer EvaluatorSession::describe() {
  const std::string id = secret_name();
  double wall = 0;
  return ask(describe_message(problem_, id), id, EvaluatorReplyKind::described,
             "when asked to describe itself", wall);
}

Answer EvaluatorSession::build(const Candidate& candidate) {
  const std::string id = secret_name();
  double wall = 0;
  return ask(build_message(candidate, id), id, EvaluatorReplyKind::built, "while it built", wall);
}

Answer EvaluatorSession::load(const detail::Slots& slots) {
  const std::string id = secret_name();
  double wall = 0;
  return ask(load_message(problem_, slots, inputs_, outputs_, id), id, EvaluatorReplyKind::loaded,
             "while it loaded", wall);
}

Answer EvaluatorSession::run(std::span<const std::uint32_t> slots, double& wall) {
  const std::string id = secret_name();
  Answer answer = ask(run_message(slots, id), id, EvaluatorReplyKind::ran, "while it ran", wall);
  if (answer && answer->ok && !answer->seconds.empty() && answer->seconds.size() != slots.size())
    return program_.broken(Verdict::crashed, "the external evaluator gave " +
                                                 std::to_string(answer->seconds.size()) + " times for " +
                                                 std::to_string(slots.size()) + " calls");
  return answer;
}

Answer EvaluatorSession::nothing(double& wall) {
  const std::string id = secret_name();
  return ask(nothing_message(id), id, EvaluatorReplyKind::nothing, "when asked to do nothing", wall);
}

}  // namespace kernelsearch::external
