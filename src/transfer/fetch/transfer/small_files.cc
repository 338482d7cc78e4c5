#include "fetch/transfer/small_files.h"

#include <fmt/format.h>

#include <utility>

#include "fetch/hosts/source_key.h"
#include "fetch/transfer/follow.h"

namespace sabath {
void compare_digest(const FileJob& job, const Digest& digest, const std::string& source) {
  if (!job.known || digest == job.known->digest) return;
  throw Error(FailureKind::content,
              fmt::format("{}: {} has the hash {}, and the manifest says {}", source, job.name, digest.hash.hex(),
                          job.known->digest.hash.hex()),
              "the source holds another version, or it lies: try another mirror");
}

void note_arrival(const FetchContext& context, const FileJob& job, const FileOutcome& outcome) {
  if (job.known) return;
  const Arrival arrival{outcome.tree.digest, outcome.over_tls, outcome.reach};
  const Sha256 asked = source_key(job);
  const auto given = outcome.giver ? std::optional(given_key(job, *outcome.giver)) : std::nullopt;
  // A follower waits for the name that it and its leader ask by.
  const bool followed = has_leader(context, arrival.digest.size_bytes);
  if (given && *given != asked) context.store.note_arrival(*given, arrival);
  if (!given || followed || *given == asked) context.store.note_arrival(asked, arrival);
}

void SmallFiles::add(std::size_t index, SmallFile file) {
  group_.add(index, std::move(file.content));
  origins_.push_back({file.mirror, std::move(file.source)});
}

std::vector<SmallFiles::Refused> SmallFiles::settle(Publisher& publisher, std::vector<FileOutcome>& outcomes) {
  auto [contents, digests] = group_.hash();
  const auto origins = std::exchange(origins_, {});
  std::vector<Refused> refused;
  std::vector<HashedContent> whole;
  std::vector<std::size_t> settled;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::size_t index = contents[i].index;
    FileOutcome& outcome = outcomes[index];
    try {
      compare_digest(jobs_[index], digests[i], origins[i].source);
    } catch (const Error& error) {
      refused.push_back({index, origins[i].mirror, error.failure()});
      continue;
    }
    outcome.tree = one_chunk_tree(digests[i]);
    note_arrival(context_, jobs_[index], outcome);
    whole.push_back({outcome.tree, contents[i].bytes});
    settled.push_back(index);
  }
  publisher.add(whole);
  for (const std::size_t index : settled) {
    context_.events.on(event::FileDone{jobs_[index].name, outcomes[index].tree.digest.size_bytes});
  }
  group_.done_with(std::move(contents));
  return refused;
}

}  // namespace sabath
