// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "run_store_impl.hpp"

/// What runs learned from changes of kernels.
namespace kernelsearch {
namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return name.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

StoredChange change_at(const sqlite::Statement& row) {
  return {row.integer(0), change_from_text(row.text(1))};
}

}  // namespace

void RunStore::put_change(RememberedChange change) {
  if (change.at.empty()) change.at = utc_now();
  const std::string text = change_text(change);
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  // Not OR REPLACE, which would give it another number, and runs know what they began with by numbers.
  sqlite::Statement replace(impl_->database.handle(),
                            "UPDATE changes SET problem = ?, backend = ?, content = ? WHERE id = ? "
                            "RETURNING number");
  const bool known = replace.bind(change.problem, change.backend, text, change.id).step();
  replace.reset();
  if (!known) {
    sqlite::Statement add(impl_->database.handle(),
                          "INSERT INTO changes(id, problem, backend, content) VALUES(?, ?, ?, ?)");
    add.bind(change.id, change.problem, change.backend, text).run();
  }
  transaction.commit();
}

std::size_t RunStore::import_changes(std::span<const RememberedChange> changes) {
  std::vector<std::string> texts;
  for (const RememberedChange& change : changes) texts.push_back(change_text(change));
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  sqlite::Statement add(impl_->database.handle(),
                        "INSERT INTO changes(id, problem, backend, content) VALUES(?, ?, ?, ?) "
                        "ON CONFLICT(id) DO NOTHING RETURNING number");
  std::size_t added = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    add.bind(changes[i].id, changes[i].problem, changes[i].backend, texts[i]);
    while (add.step()) ++added;
    add.reset();
  }
  transaction.commit();
  return added;
}

std::vector<StoredChange> RunStore::changes(const ChangeFilter& filter) const {
  const auto wanted = [&filter](const RememberedChange& change) {
    return lists(change.strategies, filter.strategy) && lists(change.traits, filter.trait) &&
           (filter.device.empty() || same_device(change.device, filter.device));
  };
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(),
                          "SELECT number, content FROM changes WHERE (?1 = '' OR problem = ?1) AND "
                          "(?2 = '' OR backend = ?2) AND (?3 = 0 OR number <= ?3) ORDER BY number DESC");
  query.bind(filter.problem, filter.backend, filter.until);
  std::vector<StoredChange> found;
  while ((filter.limit == 0 || found.size() < filter.limit) && query.step())
    if (StoredChange one = change_at(query); wanted(one.change)) found.push_back(std::move(one));
  return found;
}

std::optional<StoredChange> RunStore::change(std::int64_t number) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(), "SELECT number, content FROM changes WHERE number = ?");
  if (!query.bind(number).step()) return std::nullopt;
  return change_at(query);
}

std::optional<StoredChange> RunStore::change_of_id(std::string_view id) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(), "SELECT number, content FROM changes WHERE id = ?");
  if (!query.bind(id).step()) return std::nullopt;
  return change_at(query);
}

std::int64_t RunStore::last_change() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->database.scalar("SELECT coalesce(max(number), 0) FROM changes");
}

std::size_t RunStore::forget_changes(std::span<const std::int64_t> numbers) {
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  sqlite::Statement remove(impl_->database.handle(), "DELETE FROM changes WHERE number = ? RETURNING number");
  std::size_t removed = 0;
  for (const std::int64_t number : numbers) {
    remove.bind(number);
    while (remove.step()) ++removed;
    remove.reset();
  }
  transaction.commit();
  return removed;
}

}  // namespace kernelsearch
