// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/model/feature_matrix.hpp"

/// The tables of a file that tests/model/make_sklearn_fixtures.py wrote.
class FixtureTables {
 public:
  explicit FixtureTables(const std::string& name) {
    std::ifstream in(KERNELSEARCH_SOURCE_DIR "/tests/model/fixtures/" + name + ".csv");
    REQUIRE_MESSAGE(in, "the fixture " << name << " is missing");
    std::string line, hash, key;
    std::getline(in, line);  // where it came from
    while (std::getline(in, line)) {
      std::istringstream head(line);
      std::size_t rows = 0, columns = 0;
      head >> hash >> key >> rows >> columns;
      REQUIRE(hash == "#");
      std::vector<double> values;
      for (std::size_t i = 0; i < rows; ++i) {
        REQUIRE(std::getline(in, line));
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');)
          values.push_back(std::strtod(field.c_str(), nullptr));
      }
      REQUIRE(values.size() == rows * columns);
      tables_.emplace(key, kernelsearch::FeatureMatrix(columns, values));
    }
  }

  const kernelsearch::FeatureMatrix& matrix(const std::string& key) const { return tables_.at(key); }
  std::vector<double> numbers(const std::string& key) const {
    const auto values = tables_.at(key).values();
    return {values.begin(), values.end()};
  }
  std::vector<bool> labels(const std::string& key) const {
    std::vector<bool> found;
    for (const double value : tables_.at(key).values()) found.push_back(value > 0.5);
    return found;
  }

 private:
  std::map<std::string, kernelsearch::FeatureMatrix> tables_;
};

/// Rows [from, to) of a matrix, elements of a list.
inline kernelsearch::FeatureMatrix part(const kernelsearch::FeatureMatrix& rows, std::size_t from,
                                        std::size_t to) {
  kernelsearch::FeatureMatrix found(rows.columns());
  for (std::size_t i = from; i < to; ++i) found.add_row(rows.row(i));
  return found;
}
template <class T>
std::vector<T> part(const std::vector<T>& list, std::size_t from, std::size_t to) {
  return {list.begin() + static_cast<std::ptrdiff_t>(from), list.begin() + static_cast<std::ptrdiff_t>(to)};
}
