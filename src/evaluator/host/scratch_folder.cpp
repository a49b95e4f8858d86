// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/scratch_folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "evaluator/host/process.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

ScratchFolder::ScratchFolder(bool for_nobody) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = ((error ? std::filesystem::path("/tmp") : parent) / "kernelsearch-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr || (for_nobody && chown(name.c_str(), nobody, nobody) != 0))
    raise<DeviceError>("a folder for temporary files cannot be made", name, "set TMPDIR to one with room");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace kernelsearch::detail
