// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/store/stored_trial.hpp"

namespace kernelsearch {

/// How proposals of one type are stored: as JSON text. Specialise it for a proposal type of your own.
///
/// 1. `PointCodec<P>::encode(proposal)` returns the JSON text.
/// 2. `PointCodec<P>::decode(text)` returns the proposal that was encoded, equal to it.
template <class P>
struct PointCodec;

/// How candidates of one type are stored. Specialise it for a candidate type of your own; an object of it
/// lives as long as its recorder and may remember what it computed.
///
/// 1. `codec.encode(candidate)` returns a StoredCandidate.
/// 2. `codec.kernel(candidate)` returns the StoredKernel that the candidate's digest names, or nothing.
/// 3. `codec.decode(stored)` returns the candidate.
template <class C>
struct CandidateCodec;

template <class P>
concept StorablePoint = requires(const P& proposal, std::string_view text) {
  { PointCodec<P>::encode(proposal) } -> std::convertible_to<std::string>;
  { PointCodec<P>::decode(text) } -> std::same_as<P>;
};

template <class C>
concept StorableCandidate = requires(CandidateCodec<C>& codec, const C& candidate,
                                     const StoredCandidate& stored) {
  { codec.encode(candidate) } -> std::same_as<StoredCandidate>;
  { codec.kernel(candidate) } -> std::same_as<std::optional<StoredKernel>>;
  { codec.decode(stored) } -> std::same_as<C>;
};

template <>
struct PointCodec<Config> {
  static std::string encode(const Config& config) { return to_json_text(config); }
  static Config decode(std::string_view text) { return from_json_text<Config>(text); }
};

template <>
struct PointCodec<Move> {
  static std::string encode(const Move& move) { return to_json_text(move); }
  static Move decode(std::string_view text) { return from_json_text<Move>(text); }
};

template <std::integral P>
struct PointCodec<P> {
  static std::string encode(P point) { return std::to_string(point); }
  static P decode(std::string_view text) {
    P point{};
    const auto end = std::from_chars(text.data(), text.data() + text.size(), point);
    if (end.ec != std::errc{} || end.ptr != text.data() + text.size())
      detail::raise<ConfigError>("a stored point is not a whole number", text.substr(0, 80),
                                 "read the run with the proposal type that wrote it");
    return point;
  }
};

/// Candidates that are whole numbers, for searches over anything that the caller numbers.
template <std::integral C>
struct CandidateCodec<C> {
  StoredCandidate encode(C candidate) const {
    std::string text = PointCodec<C>::encode(candidate);
    return {{}, text, text};
  }
  std::optional<StoredKernel> kernel(C) const { return std::nullopt; }
  C decode(const StoredCandidate& stored) const { return PointCodec<C>::decode(stored.config); }
};

}  // namespace kernelsearch
