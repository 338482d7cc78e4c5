#include "fetch/fragment_part.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "fetch/archive_part.h"
#include "fetch/decide/retry.h"
#include "fetch/decide/selection.h"
#include "fetch/file_part.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "fetch/list_part.h"
#include "fetch/members_part.h"

namespace sabath {

void FragmentPart::settle_now(const std::function<void()>& work) {
  settled_ = true;
  try {
    work();
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    outcome_.failure = error.failure();
  }
}

void FragmentPart::adopt_local() {
  settle_now([&] {
    const auto size = try_stat(local_->path);
    if (!size)
      throw Error(FailureKind::usage, fmt::format("there is no file {}", local_->path),
                  fmt::format("{} and {} take local copies of the fragments, in order", option_text("path"),
                              option_text("link")));
    if (fragment().size_bytes && *fragment().size_bytes != static_cast<std::uint64_t>(size->st_size)) {
      throw Error(FailureKind::content, fmt::format("{} has {} bytes, and the recipe says {}", local_->path,
                                                    size->st_size, *fragment().size_bytes));
    }
    outcome_ = read_local(*local_, static_cast<std::uint64_t>(size->st_size));
    if (choice_.job.known && outcome_.tree.digest != choice_.job.known->digest)
      throw Error(FailureKind::content, fmt::format("{} is not what the manifest names", local_->path));
  });
}

FileOutcome FragmentPart::read_local(const LocalFile& file, std::uint64_t size_bytes) {
  FileOutcome outcome;
  ChecksumSet sums(fragment().checksum);
  std::uint64_t left = size_bytes;
  const auto tee = [&](std::span<const std::byte> bytes) {
    sums.update(bytes);
    if (left == 0) return;  // it grew, and is refused for that
    left -= std::min<std::uint64_t>(left, bytes.size());
    if (left == 0) outcome.computed = sums.finish_and_compare(file.path);  // before it is published
  };
  outcome.tree = store().adopt(file.path, file.link, tee);
  if (size_bytes == 0) outcome.computed = sums.finish_and_compare(file.path);
  return outcome;
}

void FragmentPart::settle(ManifestBuilder& asset) {
  try {
    if (outcome_.failure) throw Error(*outcome_.failure);
    if (outcome_.unchanged) return keep_unchanged(asset);
    remember_aliases(outcome_);
    note_trust(outcome_);
    note_giver(choice_.job, outcome_);
    if (enter()) learn(asset);
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    scope_.failures.push_back({choice_.job.name, error.failure()});
    discard();
  }
}

void FragmentPart::keep_unchanged(ManifestBuilder& asset) {
  const auto manifest = store().manifest(choice_.unchanged->root);
  if (!manifest || !all_present(store(), *manifest)) {
    throw Error(FailureKind::content,
                fmt::format("{} has not changed at its source, but is damaged here", fragment().id),
                "fetch it with " + option_text("force"));
  }
  asset.add_all(*manifest, nullptr);
  scope_.trust(choice_.unchanged->trusted_by);
}

std::string FragmentPart::trust_in(const FileOutcome& outcome) const {
  if (scope_.choices.expected() != nullptr) return "pinned";
  if (!outcome.computed.empty() || proven()) return "checksum";
  if (local_) return "local copy";
  return outcome.over_tls ? "first use over TLS" : "first use";
}

void FragmentPart::note_trust(const FileOutcome& outcome) {
  const std::string by = trust_in(outcome);
  trusted_by_ = weaker_trust(trusted_by_, by);
  scope_.trust(by);
}

// The record names the mirror whose word is all there is.
void FragmentPart::note_giver(const FileJob& job, const FileOutcome& outcome) {
  if (!outcome.giver || outcome.failure || !trust_in(outcome).starts_with("first use")) return;
  scope_.context.ledger.believe(source_label(job, job.urls[*outcome.giver]));
}

void FragmentPart::remember_aliases(const FileOutcome& outcome) {
  if (outcome.tree.digest.hash == Sha256{}) return;  // an archive: it is not kept
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = outcome.computed.*algorithm.value;
    if (algorithm.finds && !hex.empty()) store().put_alias(algorithm.name, hex, outcome.tree.digest);
  }
}

std::string FragmentPart::note() const {
  return fragment().type == FragmentType::file ? "" : to_text(scope_.request.selection);
}

// Keeps what this fragment turned out to be, so that it is not asked for again.
void FragmentPart::learn(ManifestBuilder& asset) {
  const Sha256 root = store().put_manifest(entries_);  // refuses what no tree can hold
  publish();
  const auto manifest = store().manifest(root);
  if (!manifest) throw Error(FailureKind::internal, "a manifest vanished as it was written");
  asset.add_all(*manifest, nullptr);
  if (fragment().urls.empty()) return;
  const SourceNames& names = store().source_names();
  const Selection& selection = scope_.request.selection;
  const Sha256 asked = source_key(fragment(), names, selection);
  const Ref ref{root,
                trusted_by_,
                outcome_.validators,
                std::time(nullptr),
                fragment().urls[outcome_.giver.value_or(0)].display(),
                note(),
                trusted_by_ == "checksum" ? proof_of(fragment()) : ""};
  store().put_ref(asked, ref);
  if (!note().empty()) store().put_ref(part_key(parts_key(fragment()), root), ref);
  if (!outcome_.giver || local_ || !given_key_tells()) return;
  const Sha256 given = given_key(fragment(), *outcome_.giver, names, selection);
  if (given != asked) store().put_ref(given, ref);
}

std::unique_ptr<FragmentPart> make_part(FragmentScope& scope, FragmentChoice choice, std::optional<LocalFile> local) {
  switch (choice.way) {
    case FragmentWay::file:
      return std::make_unique<FilePart>(scope, std::move(choice), std::move(local));
    case FragmentWay::list:
      return std::make_unique<ListPart>(scope, std::move(choice), std::move(local));
    case FragmentWay::resolver:
      return std::make_unique<ResolvedPart>(scope, std::move(choice), std::move(local));
    case FragmentWay::archive:
      return std::make_unique<ArchivePart>(scope, std::move(choice), std::move(local));
    case FragmentWay::members:
      return std::make_unique<MembersPart>(scope, std::move(choice), std::move(local));
  }
  throw Error(FailureKind::internal, "a fragment comes by no way");
}

}  // namespace sabath
