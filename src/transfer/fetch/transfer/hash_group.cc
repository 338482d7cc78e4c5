#include "fetch/transfer/hash_group.h"

#include <span>
#include <utility>

namespace sabath {
namespace {

constexpr std::size_t contents_enough = 16;  // as many as the widest registers have lanes
constexpr std::uint64_t bytes_enough = contents_enough * leaf_size_bytes;
constexpr auto wait_max = std::chrono::milliseconds(100);

}  // namespace

void HashGroup::expect() {
  if (contents_.empty()) first_ = Clock::now();
}

void HashGroup::add(std::size_t index, std::vector<std::byte> bytes) {
  bytes_ += bytes.size();
  contents_.push_back({index, std::move(bytes)});
}

bool HashGroup::due() const {
  if (contents_.size() >= contents_enough || bytes_ >= bytes_enough) return true;
  return !contents_.empty() && Clock::now() - first_ >= wait_max;
}

HashGroup::Hashed HashGroup::hash() {
  bytes_ = 0;
  Hashed hashed{std::exchange(contents_, {}), {}};
  std::vector<std::span<const std::byte>> all;
  for (const auto& content : hashed.contents) all.emplace_back(content.bytes);
  hashed.digests = hash_contents(all);
  return hashed;
}

void HashGroup::done_with(std::vector<Content> contents) {
  for (auto& content : contents) spares_.push_back(std::move(content.bytes));
}

std::vector<std::byte> HashGroup::spare() {
  if (spares_.empty()) return {};
  auto memory = std::move(spares_.back());
  spares_.pop_back();
  memory.clear();
  return memory;
}

}  // namespace sabath
