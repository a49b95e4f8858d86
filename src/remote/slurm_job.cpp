// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/slurm_job.hpp"

#include <sstream>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "process/run_command.hpp"

namespace kernelsearch::remote {

std::string slurm_output(const std::string& command) {
  const detail::Finished done = detail::run_command(detail::shell_launch(command, ""), 60, 1 << 20);
  if (done.timed_out || done.status != 0)
    detail::raise<DeviceError>("a command of Slurm failed", command + ": " + clean_text(done.errors),
                               "run it by hand");
  return done.output;
}

std::vector<std::string> slurm_nodes(const std::string& list) {
  std::vector<std::string> nodes;
  std::istringstream names(slurm_output("scontrol show hostnames " + shell_word(list)));
  for (std::string name; names >> name;) nodes.push_back(name);
  if (nodes.empty())
    detail::raise<DeviceError>("Slurm's job has no nodes", list, "run scontrol show hostnames by hand");
  return nodes;
}

std::string slurm_place(const std::string& job, const std::string& node) {
  // No name has others; `{worker}` in one would be replaced in the launch command.
  constexpr const char* known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
  for (const std::string* name : {&job, &node})
    if (name->empty() || name->front() == '-' || name->find_first_not_of(known) != std::string::npos)
      detail::raise<DeviceError>(
          "the name of Slurm's job or node has characters that such a name cannot have", clean_text(*name),
          "look at SLURM_JOB_ID, SLURM_JOB_NODELIST and scontrol show hostnames");
  return "--jobid=" + shell_word(job) + " -w " + shell_word(node);
}

SlurmJob::SlurmJob(const SlurmRequest& request, std::size_t nodes, bool keeps,
                   const std::vector<std::string>& without) {
  std::string salloc = "salloc -J kernelsearch -N " + std::to_string(nodes);
  // For the command that holds it salloc awaits the end, even when the job is over, unless it may kill it.
  salloc += keeps ? " --no-kill" : " --kill-command=TERM";
  for (std::size_t i = 0; i < without.size(); ++i) salloc += (i == 0 ? " -x " : ",") + shell_word(without[i]);
  if (request.gpus > 0) salloc += " --gpus-per-node=" + std::to_string(request.gpus);
  for (const auto& [name, value] : request.others) salloc += " --" + name + "=" + shell_word(value);
  salloc += " /bin/sh -c 'echo \"$SLURM_JOB_ID $SLURM_JOB_NODELIST\"; exec cat >/dev/null'";
  // The shell waits for the end of our pipe, too: in the queue salloc does not look at it, and has to be
  // asked to leave. Our other pipe is salloc's alone, so that its end is salloc's.
  const std::string command =
      "exec 3<&0 4>&1 >/dev/null; " + salloc +
      " <&3 >&4 4>&- & held=$!; exec 4>&-; cat <&3; kill -TERM $held 2>/dev/null; wait";
  holder_.emplace(detail::shell_launch(command, ""));
}

bool SlurmJob::wait(const std::stop_token& stop, const std::function<void(const std::string&)>& say) {
  std::string said;  // on standard error
  std::optional<std::string> nodes;
  while (!(nodes = holder_->output().line())) {
    if (stop.stop_requested()) {
      give_back();
      return false;
    }
    holder_->listen(0.1);
    while (const auto line = holder_->errors().line()) {
      if (say) say(clean_text(*line));
      said += *line + "\n";
    }
    if (!holder_->output().open() && holder_->output().text().empty()) {
      said += holder_->last_errors(0.1);
      give_back();
      detail::raise<DeviceError>("Slurm gives no nodes", clean_text(said),
                                 "run salloc by hand, see docs/scale.md");
    }
  }
  std::istringstream words(*nodes);
  std::string list;
  words >> number_ >> list;
  nodes_ = slurm_nodes(list);
  return true;
}

bool SlurmJob::is_there() {
  holder_->listen(0.0);
  return holder_->process().running() && holder_->output().open();
}

void SlurmJob::give_back() {
  if (!holder_->end(10) && !number_.empty())
    (void)detail::run_command(detail::shell_launch("scancel " + shell_word(number_), ""), 10, 1 << 16);
}

std::string QueuedNode::place(const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (job_ && !node_.empty() && !job_->is_there()) {
    held_->remove(node_);
    node_.clear();
  }
  while (node_.empty()) {
    if (stop.stop_requested()) return "";  // others waited for it, too
    job_.emplace(request_, 1, false, held_->all());
    if (!job_->wait(stop, nullptr)) return "";
    // Several may have been given the same one at once: then the later ones ask again.
    if (!held_->add(job_->nodes().front())) {
      job_.reset();
      continue;
    }
    node_ = job_->nodes().front();
    if (say_) say_(clean_text("Slurm gives " + node_ + ", job " + job_->number()));
  }
  return slurm_place(job_->number(), node_);
}

}  // namespace kernelsearch::remote
