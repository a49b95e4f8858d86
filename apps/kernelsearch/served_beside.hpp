// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <thread>

#include "kernelsearch/serve/store_server.hpp"

namespace kernelsearch::app {

/// Shows a store to browsers of this machine while it lives, and says on stderr where. `exchanges`: as
/// report_extras has it.
class ServedBeside {
 public:
  ServedBeside(const std::filesystem::path& store, const std::filesystem::path& exchanges);

 private:
  std::unique_ptr<StoreServer> server_;
  std::jthread thread_;  // ends before what it serves
};

}  // namespace kernelsearch::app
