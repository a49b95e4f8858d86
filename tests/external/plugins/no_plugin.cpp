// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library that knows nothing of policies.
extern "C" int seven() {
  return 7;
}
