// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/impl/marked_loops_impl.hpp"
#include "kernelsearch/generator/impl/source_edits_impl.hpp"
#include "kernelsearch/generator/impl/source_moves_impl.hpp"
#include "kernelsearch/generator/impl/space_moves_impl.hpp"
#include "kernelsearch/generator/impl/template_generator_impl.hpp"
