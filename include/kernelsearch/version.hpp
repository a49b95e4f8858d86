// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The one place that holds the version; CMake reads it from here.
#define KERNELSEARCH_VERSION_MAJOR 0
#define KERNELSEARCH_VERSION_MINOR 2
#define KERNELSEARCH_VERSION_PATCH 0
#define KERNELSEARCH_VERSION "0.2.0"
