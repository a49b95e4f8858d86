// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/impl/big_count_impl.hpp"
#include "kernelsearch/space/impl/constraint_impl.hpp"
#include "kernelsearch/space/impl/encoding_impl.hpp"
#include "kernelsearch/space/impl/guessed_role_impl.hpp"
#include "kernelsearch/space/impl/space_builder_impl.hpp"
#include "kernelsearch/space/impl/space_impl.hpp"
#include "kernelsearch/space/impl/tunable_impl.hpp"
