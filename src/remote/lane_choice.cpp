// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who gets which worker.
#include <algorithm>
#include <chrono>
#include <limits>

#include "kernelsearch/core/error.hpp"
#include "remote/remote_lanes.hpp"

namespace kernelsearch::remote {

bool RemoteLanes::any_hope() const {
  return std::any_of(slots.begin(), slots.end(),
                     [](const auto& slot) { return !slot->builds_only && slot->state != State::aside; });
}

std::string RemoteLanes::reasons_of_all() const {
  std::string reasons;
  for (const auto& slot : slots) reasons += "\n  " + name_of(*slot) + ": " + slot->reason;
  return reasons;
}

void RemoteLanes::raise_none_left() const {
  detail::raise<DeviceError>("no lane is left that could measure", reasons_of_all(),
                             "see docs/scale.md, repair one, and go on with the run");
}

RemoteLanes::Use RemoteLanes::take(std::uint64_t builder, Place place, const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (true) {
    if (stop.stop_requested()) return {};
    if (!any_hope()) raise_none_left();
    Slot* chosen = nullptr;
    if (place == Place::home && home) {
      if (slots[*home]->state == State::aside || slots[*home]->state == State::waiting) home = ready_slot();
      if (home && usable(*slots[*home])) chosen = slots[*home].get();
    } else {
      for (const auto& slot : slots) {
        if (!usable(*slot)) continue;
        if (place == Place::home_first && home == slot->index) {
          chosen = slot.get();
          break;
        }
        if (slot->worker == builder) chosen = slot.get();
        // Among the others the one that has done least, so that none is left out.
        if (chosen == nullptr || (chosen->worker != builder && slot->measured < chosen->measured))
          chosen = slot.get();
      }
    }
    if (chosen != nullptr) {
      chosen->measuring = true;
      return {chosen, chosen->lane, chosen->worker, chosen->calibrated, false};
    }
    // In slices where none may come any more without a notice.
    changed.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

RemoteLanes::Use RemoteLanes::take_builder(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (true) {
    if (stop.stop_requested()) return {};
    if (!any_hope()) raise_none_left();
    Slot* chosen = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& slot : slots) {
      if (slot->state != State::ready || slot->lane == nullptr) continue;
      const double load = static_cast<double>(slot->building) / static_cast<double>(slot->facts.jobs) +
                          (slot->builds_only ? 0 : 0.5);
      if (load >= least) continue;
      least = load;
      chosen = slot.get();
    }
    if (chosen != nullptr) {
      ++chosen->building;
      return {chosen, chosen->lane, chosen->worker, true, true};
    }
    changed.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

bool RemoteLanes::usable(const Slot& slot) {
  return !slot.builds_only && slot.state == State::ready && !slot.measuring && slot.lane != nullptr;
}

std::optional<std::size_t> RemoteLanes::ready_slot() const {
  for (const auto& slot : slots)
    if (!slot->builds_only && slot->state == State::ready) return slot->index;
  return home;
}

void RemoteLanes::give_back(const Use& use, bool answered) {
  {
    const std::lock_guard lock(mutex);
    if (use.slot->worker == use.worker) {
      if (use.builds) {
        use.slot->building -= use.slot->building > 0 ? 1 : 0;
        if (answered) ++use.slot->built;
      } else {
        use.slot->measuring = false;
      }
      if (answered) use.slot->worked = true, use.slot->vain = 0;
    }
  }
  changed.notify_all();
}

}  // namespace kernelsearch::remote
