// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// KERNELSEARCH_HEADER_ONLY: 1 compiles the bodies in `impl/` into every user, 0 takes them from the library.
#ifndef KERNELSEARCH_HEADER_ONLY
#  define KERNELSEARCH_HEADER_ONLY 0
#endif

#if KERNELSEARCH_HEADER_ONLY
#  define KERNELSEARCH_INLINE inline
#else
#  define KERNELSEARCH_INLINE
#endif

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#  define KERNELSEARCH_EXCEPTIONS 1
#else
#  define KERNELSEARCH_EXCEPTIONS 0
#endif
