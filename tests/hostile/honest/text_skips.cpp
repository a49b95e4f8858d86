// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skips by what stands at the word's end; its table is made in each call.
// problem: text
#include <cstdint>
extern "C" void text(int n, int k, const std::uint8_t* text, const std::uint8_t* word, std::int32_t* count) {
  int skip[256];
  for (int& s : skip) s = k < 1 ? 1 : k;
  for (int j = 0; j + 1 < k; ++j) skip[word[j]] = k - 1 - j;
  *count = 0;
  for (int i = 0; i + k <= n;) {
    int j = k - 1;
    while (j >= 0 && text[i + j] == word[j]) --j;
    *count += j < 0;
    i += k < 1 ? 1 : skip[text[i + k - 1]];
  }
}
