// The second half of FragmentFetch: what became of each fragment goes into the asset, or into the failures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "base/file.h"
#include "fetch/at_hand.h"
#include "fetch/fragments.h"
#include "fetch/retry.h"
#include "fetch/selection.h"
#include "fetch/source_key.h"
#include "fetch/swarm.h"
#include "recipe/file_list.h"

namespace sabath {
namespace {

// From the strongest to the weakest reason to believe.
constexpr std::array<std::string_view, 5> trust_order = {"pinned", "checksum", "local copy", "first use over TLS",
                                                         "first use"};

// What a publisher states and nobody compares is said: it is not what "verified" means.
void tell_of_unchecked(EventSink& events, const Fragment& fragment, const std::vector<ListedFile>& listed) {
  std::set<std::string> algorithms;
  for (const auto& file : listed) {
    if (!file.unchecked.empty() && algorithms.size() < 10) algorithms.insert(printable(file.unchecked, 40));
  }
  if (algorithms.empty()) return;
  events.on(event::Warning{fmt::format("{}: {} publishes hashes that are not computed here and not checked: {}",
                                       fragment.id, fragment.urls.front().display(), fmt::join(algorithms, ", "))});
}

}  // namespace

std::string weaker_trust(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& t) {
    return std::find(trust_order.begin(), trust_order.end(), t) - trust_order.begin();
  };
  if (a.empty()) return b;
  return rank(a) >= rank(b) ? a : b;
}

// Where the list itself stands in the view: beside its files, unchanged.
RelativePath list_path(const Fragment& fragment) {
  const RelativePath name = RelativePath::parse(fragment.urls.front().file_name());
  return fragment.path ? *fragment.path / name : name;
}

// What became of one fragment goes into the asset, or into the failures.
void FragmentFetch::settle(Part& part, ManifestBuilder& builder) {
  if (part.unpacker.joinable()) part.unpacker.join();
  const Fragment& fragment = *part.fragment;
  try {
    if (part.outcome.failure) throw Error(*part.outcome.failure);
    if (part.outcome.unchanged) {
      const auto manifest = context_.store.manifest(part.unless_changed.root);
      if (!manifest || !all_present(context_.store, *manifest)) {
        throw Error(FailureKind::content,
                    fmt::format("{} has not changed at its source, but is damaged here", fragment.id),
                    "fetch it with --force");
      }
      builder.add_all(*manifest, nullptr);
      trusted_by_ = weaker_trust(trusted_by_, part.unless_changed.trusted_by);
      return;
    }
    remember_aliases(part.outcome);
    note_trust(part, part.outcome);
    note_giver(part, part.job, part.outcome);
    switch (fragment.type) {
      case FragmentType::file:
        part.entries.add_file(*fragment.path, part.outcome.tree.digest, part.outcome.tree.chunks);
        part.entries.add_checksums(*fragment.path, part.outcome.computed);
        ++files_done_;
        break;
      case FragmentType::archive:
        if (!in_part(fragment)) take_unpacked(part);
        break;
      case FragmentType::file_list:
        take_list(part);
        break;
    }
    learn(part, part.outcome, builder);
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    failures_.push_back({part.job.name, error.failure()});
    const auto spool = part.follower ? part.follower->take() : nullptr;
    if (spool) spool->discard();  // whole, and refused all the same
  }
}

void FragmentFetch::take_unpacked(Part& part) {
  if (part.unpack_failure) std::rethrow_exception(part.unpack_failure);
  const Fragment& fragment = *part.fragment;
  const auto place = [&](const RelativePath& path) { return fragment.path ? *fragment.path / path : path; };
  for (const auto& entry : part.unpacked.entries) {
    const RelativePath path = place(entry.path);
    switch (entry.type) {
      case EntryType::directory:
        part.entries.add_directory(path);
        break;
      case EntryType::symlink:
        part.entries.add_symlink(path, entry.target);
        break;
      default:
        part.entries.add_file(path, entry.tree.digest, entry.tree.chunks, entry.type == EntryType::executable);
    }
  }
  if (fragment.path) part.entries.add_directory(*fragment.path);
}

void FragmentFetch::publish_unpacked(Part& part) {
  context_.events.on(event::PhaseChanged{"publish"});
  files_done_ += part.unpacked.files;
  context_.store.publish(std::move(part.unpacked.objects), part.unpacked.files);
  if (part.unpacked.packs) part.unpacked.packs->publish_all();
  const auto spool = part.follower ? part.follower->take() : nullptr;
  if (!spool) return;
  if (!request_.keep_archives) return spool->discard();
  FileOutcome kept;
  kept.tree = spool->publish();
  kept.computed = part.outcome.computed;
  remember_aliases(kept);  // so that others can ask this store for it
}

void FragmentFetch::take_list(Part& part) {
  const Fragment& fragment = *part.fragment;
  if (part.listed.empty() && !part.resolved) {  // the list was here already
    const Digest& digest = part.outcome.tree.digest;
    part.job.inspect(context_.store.text_of(digest, document_size_max).value_or(""), digest.hash.prefixed());
  }
  choose_listed(fragment, part.listed);
  const auto& listed = part.listed;
  tell_of_unchecked(context_.events, fragment, listed);
  // Where patterns choose, the list itself is there if they choose it, too; a sample has nothing but data.
  const bool keep_list =
      !part.resolved && (request_.selection.empty() ||
                         (!request_.selection.select.empty() && selects(request_.selection, list_path(fragment))));
  if (keep_list) part.entries.add_file(list_path(fragment), part.outcome.tree.digest, part.outcome.tree.chunks);
  std::vector<FileJob> jobs;
  std::vector<RelativePath> paths;
  std::vector<FileOutcome> outcomes(listed.size());
  std::vector<std::size_t> owners;
  const Standing standing(context_.force ? nullptr : &context_.store, listed.size());
  for (const auto& file : listed) {
    FileJob job;
    const RelativePath path = fragment.path ? *fragment.path / file.path : file.path;
    job.name = path.text();
    set_sources(job, file.urls);
    job.listed = true;
    job.size_bytes = file.size_bytes;
    job.checksum = file.checksum;
    job.pieces = file.pieces;
    expect(job, path.text());
    if (!at_hand(context_, job, request_.refresh, outcomes[paths.size()], &standing)) {
      owners.push_back(paths.size());
      jobs.push_back(std::move(job));
    }
    paths.push_back(path);
  }
  context_.events.on(event::TotalKnown{std::nullopt, listed.size()});
  auto fetched = fetch_jobs(jobs);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    note_giver(part, jobs[i], fetched[i]);
    outcomes[owners[i]] = std::move(fetched[i]);
  }
  const std::size_t failed_before = failures_.size();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (outcomes[i].failure) {
      failures_.push_back({paths[i].text(), *outcomes[i].failure});
      continue;
    }
    // By one protocol from one source, the file came as its listing did.
    if (part.resolved && part.outcome.over_tls && listed[i].urls.size() == 1)
      outcomes[i].over_tls |= listed[i].urls.front().scheme() == fragment.urls.front().scheme();
    note_trust(part, outcomes[i]);
    remember_aliases(outcomes[i]);
    part.entries.add_file(paths[i], outcomes[i].tree.digest, outcomes[i].tree.chunks);
    part.entries.add_checksums(paths[i], outcomes[i].computed);
    ++files_done_;
  }
  part.outcome.validators = {};  // those of the list say nothing about its files
  part.settled = failures_.size() == failed_before;
  if (keep_list) ++files_done_;
}

std::string FragmentFetch::trust_in(const Part& part, const FileOutcome& outcome) const {
  if (expected_) return "pinned";
  if (!outcome.computed.empty() ||
      (!part.fragment->checksum.empty() && part.fragment->type != FragmentType::file_list && !in_part(*part.fragment)))
    return "checksum";
  if (part.local) return "local copy";
  return outcome.over_tls ? "first use over TLS" : "first use";
}

// The record names the mirror whose word is all there is.
void FragmentFetch::note_giver(const Part& part, const FileJob& job, const FileOutcome& outcome) {
  if (!outcome.giver || outcome.failure || !trust_in(part, outcome).starts_with("first use")) return;
  context_.ledger.believe(source_label(job, job.urls[*outcome.giver]));
}

void FragmentFetch::note_trust(Part& part, const FileOutcome& outcome) {
  const std::string by = trust_in(part, outcome);
  part.trusted_by = weaker_trust(part.trusted_by, by);
  trusted_by_ = weaker_trust(trusted_by_, by);
}

// Keeps what this fragment turned out to be, so that it is not asked for again.
void FragmentFetch::learn(Part& part, const FileOutcome& outcome, ManifestBuilder& builder) {
  if (part.fragment->type == FragmentType::file_list && !part.settled) return;  // some of its files failed
  const Sha256 root = context_.store.put_manifest(part.entries);                // refuses what no tree can hold
  if (part.fragment->type == FragmentType::archive && !in_part(*part.fragment)) publish_unpacked(part);
  const auto manifest = context_.store.manifest(root);
  if (!manifest) throw Error(FailureKind::internal, "a manifest vanished as it was written");
  builder.add_all(*manifest, nullptr);
  const Fragment& fragment = *part.fragment;
  if (fragment.urls.empty()) return;
  const SourceNames& names = context_.store.source_names();
  const Sha256 asked = source_key(fragment, names, request_.selection);
  const Ref ref{root,
                part.trusted_by,
                outcome.validators,
                std::time(nullptr),
                fragment.urls[outcome.giver.value_or(0)].display(),
                fragment.type == FragmentType::file ? "" : to_text(request_.selection)};
  context_.store.put_ref(asked, ref);
  if (!outcome.giver || part.local) return;
  // A single file has a note of its own in the arrivals; here it is for its version, where there are others'.
  if (fragment.type == FragmentType::file && (fragment.urls.size() == 1 || !fragment.checksum.empty())) return;
  const Sha256 given = given_key(fragment, *outcome.giver, names, request_.selection);
  if (given != asked) context_.store.put_ref(given, ref);
}

void FragmentFetch::remember_aliases(const FileOutcome& outcome) {
  if (outcome.tree.digest.hash == Sha256{}) return;  // an archive: it is not kept
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = outcome.computed.*algorithm.value;
    if (algorithm.finds && !hex.empty()) context_.store.put_alias(algorithm.name, hex, outcome.tree.digest);
  }
}

}  // namespace sabath
