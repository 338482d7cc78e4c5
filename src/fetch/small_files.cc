#include "fetch/small_files.h"

#include <fmt/format.h>

#include <utility>

#include "fetch/source_key.h"

namespace sabath {
namespace {

constexpr std::size_t files_enough = 16;  // as many as the widest registers have lanes
constexpr std::uint64_t bytes_enough = files_enough * leaf_size_bytes;
constexpr auto wait_max = std::chrono::milliseconds(100);

}  // namespace

void compare_digest(const FileJob& job, const Digest& digest, const std::string& source) {
  if (!job.known || digest == job.known->digest) return;
  throw Error(FailureKind::content,
              fmt::format("{}: {} has the hash {}, and the manifest says {}", source, job.name, digest.hash.hex(),
                          job.known->digest.hash.hex()),
              "the source holds another version, or it lies: try another mirror");
}

void note_arrival(const FetchContext& context, const FileJob& job, const FileOutcome& outcome) {
  if (!job.known) context.store.note_arrival(source_key(job), {outcome.tree.digest, outcome.over_tls});
}

void SmallFiles::add(std::size_t index, SmallFile file) {
  if (files_.empty()) first_ = Clock::now();
  bytes_ += file.content.size();
  files_.emplace_back(index, std::move(file));
}

bool SmallFiles::due() const {
  return files_.size() >= files_enough || bytes_ >= bytes_enough ||
         (!files_.empty() && Clock::now() - first_ >= wait_max);
}

std::vector<SmallFiles::Refused> SmallFiles::settle(Publisher& publisher, std::vector<FileOutcome>& outcomes) {
  bytes_ = 0;
  auto files = std::exchange(files_, {});
  std::vector<std::span<const std::byte>> contents;
  for (const auto& [index, file] : files) contents.emplace_back(file.content);
  const auto digests = hash_contents(contents);

  std::vector<Refused> refused;
  std::vector<HashedContent> whole;
  std::vector<std::size_t> settled;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [index, file] = files[i];
    try {
      compare_digest(jobs_[index], digests[i], file.source);
    } catch (const Error& error) {
      refused.push_back({index, file.mirror, error.failure()});
      continue;
    }
    outcomes[index].tree = one_chunk_tree(digests[i]);
    note_arrival(context_, jobs_[index], outcomes[index]);
    whole.push_back({outcomes[index].tree, contents[i]});
    settled.push_back(index);
  }
  publisher.add(whole);
  for (const std::size_t index : settled) {
    context_.events.on(event::FileDone{jobs_[index].name, outcomes[index].tree.digest.size_bytes});
  }
  for (auto& [index, file] : files) spares_.push_back(std::move(file.content));
  return refused;
}

std::vector<std::byte> SmallFiles::spare() {
  if (spares_.empty()) return {};
  auto memory = std::move(spares_.back());
  spares_.pop_back();
  memory.clear();
  return memory;
}

}  // namespace sabath
