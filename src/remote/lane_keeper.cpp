// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Workers that come and go.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "remote/remote_lanes.hpp"

namespace kernelsearch::remote {
namespace {

/// The command of a worker, where its place is there; waits for that.
std::string placed(const LaneLaunch& launch, const std::stop_token& stop) {
  std::string command = launch.command;
  if (launch.place) detail::replace_all(command, "{place}", launch.place(stop));
  return command;
}

}  // namespace

RemoteLanes::RemoteLanes(Problem given, RemoteOptions chosen)
    : problem(std::move(given)),
      options(std::move(chosen)),
      content(problem_content(problem)),
      texts(problem),
      wanted_device(options.device_id),
      wanted_toolchain(options.toolchain_id) {
  if (options.lanes.empty())
    detail::raise<ConfigError>("no lanes were given", "none", "say how a worker is started");
  for (std::size_t i = 0; i < options.lanes.size(); ++i) {
    slots.push_back(std::make_unique<Slot>());
    slots.back()->index = i;
    slots.back()->builds_only = options.lanes[i].builds_only;
    measurers += options.lanes[i].builds_only ? 0 : 1;
  }
  if (measurers == 0)
    detail::raise<ConfigError>("all lanes only build", std::to_string(slots.size()),
                               "say how a worker is started that measures");
  for (auto& slot : slots)
    slot->keeper = std::jthread([this, one = slot.get()](const std::stop_token& stop) { keep(*one, stop); });
  std::unique_lock lock(mutex);
  changed.wait(lock, options.stop, [this] { return first.has_value() || !any_hope(); });
  if (first) return;
  const std::string reasons = options.stop.stop_requested() ? "it was stopped before" : reasons_of_all();
  lock.unlock();
  end_all();  // no destructor does it for what was never made
  detail::raise<DeviceError>("no worker is ready that could measure", reasons,
                             "see docs/scale.md, repair one, and start again");
}

void RemoteLanes::end_all() {
  for (auto& slot : slots) slot->keeper.request_stop();
  changed.notify_all();
  for (auto& slot : slots) slot->keeper = std::jthread();
}

std::string RemoteLanes::name_of(const Slot& slot) const {
  return "lane " + std::to_string(slot.index) + " (" + options.lanes[slot.index].name + ")";
}

void RemoteLanes::keep(Slot& slot, const std::stop_token& stop) {
  std::string target;
  if (slot.builds_only) {  // for which device is only known when one is there
    std::unique_lock lock(mutex);
    if (!changed.wait(lock, stop, [this] { return first.has_value(); })) return;
    target = wanted_device;
  }
  while (!stop.stop_requested()) {
    LaneEnd end;
    std::shared_ptr<Lane> lane;
    std::optional<std::string> command;
    try {
      command = placed(options.lanes[slot.index], stop);
      if (stop.stop_requested()) return;
    } catch (const std::exception& error) {  // there is no place, and will be none
      end = {LaneEnd::Kind::refused, error.what()};
    }
    try {
      if (command) lane = std::make_shared<Lane>(options, slot.index, *command, target);
    } catch (const std::exception& error) {
      end = {LaneEnd::Kind::gone, error.what()};
    }
    if (lane) {
      {
        const std::lock_guard lock(mutex);
        slot.lane = lane;
        slot.state = State::starting;
        slot.worker = ++workers;
        slot.worked = false;
      }
      end = lane->pump(content, stop, [&](const LaneFacts& facts) { return welcome(slot, facts); });
    }
    if (stop.stop_requested()) return;
    if (!lost(slot, end)) return;
    const double pause = std::min(30.0, options.backoff_seconds * std::pow(2.0, slot.vain));
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::duration<double>(pause), [] { return false; });
  }
}

std::string RemoteLanes::welcome(Slot& slot, const LaneFacts& facts) {
  std::string message;
  {
    const std::lock_guard lock(mutex);
    slot.facts = facts;
    const auto differs = [](const char* what, const std::string& found, const std::string& wanted) {
      return std::string("it has another ") + what + ": found `" + found + "`, wanted `" + wanted + "`";
    };
    // For one that only builds it is what it builds for: the device that measures, or its own.
    if (wanted_device.empty()) wanted_device = facts.device_id;
    if (facts.device_id != wanted_device) return differs("device", facts.device_id, wanted_device);
    if (!wanted_toolchain.empty() && facts.toolchain_id != wanted_toolchain)
      return differs("toolchain", facts.toolchain_id, wanted_toolchain);
    if (!options.sandbox.empty() && facts.sandbox != options.sandbox)
      return differs("sandbox", facts.sandbox, options.sandbox);
    if (wanted_toolchain.empty()) wanted_toolchain = facts.toolchain_id;
    slot.state = State::ready;
    slot.calibrated = measurers < 2;
    slot.renewed = renewals;  // it has done nothing yet
    slot.failures = 0;
    if (!first && !slot.builds_only) first = facts;
    message = name_of(slot) + " is ready on " + facts.host + ", worker " + std::to_string(slot.worker);
  }
  changed.notify_all();
  say(message);
  return "";
}

bool RemoteLanes::lost(Slot& slot, const LaneEnd& end) {
  std::string message;
  bool again = true;
  {
    const std::lock_guard lock(mutex);
    slot.lane = nullptr;
    slot.measuring = false;
    slot.building = 0;
    if (slot.state == State::aside) return false;  // the one who set it aside has said why
    slot.reason = clean_text(end.reason);
    slot.vain = slot.worked || end.kind == LaneEnd::Kind::left ? 0 : slot.vain + 1;
    const bool hopeless = end.kind == LaneEnd::Kind::refused || end.kind == LaneEnd::Kind::garbage;
    again = !hopeless && slot.vain < options.vain_starts;
    slot.state = again ? State::waiting : State::aside;
    if (slot.worker != 0) ++slot.lost;
    message = name_of(slot) + (again ? " is lost: " : " is set aside: ") + slot.reason;
    if (!again && !hopeless)
      message += "; " + std::to_string(slot.vain) + " in a row were lost before they did anything";
  }
  changed.notify_all();
  say(message);
  return again;
}

void RemoteLanes::set_aside(Slot& slot, std::uint64_t worker, const std::string& reason, LaneEnd::Kind kind) {
  std::shared_ptr<Lane> lane;
  {
    const std::lock_guard lock(mutex);
    if (slot.worker != worker || slot.state == State::aside) return;
    slot.state = State::aside;
    slot.reason = reason;
    lane = slot.lane;
  }
  say(name_of(slot) + " is set aside: " + reason);
  if (lane) lane->give_up({kind, reason});
  changed.notify_all();
}

}  // namespace kernelsearch::remote
