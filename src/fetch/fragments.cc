#include "fetch/fragments.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/metalink.h"
#include "base/threads.h"
#include "fetch/at_hand.h"
#include "fetch/guarded_sink.h"
#include "fetch/resolve.h"
#include "fetch/retry.h"
#include "fetch/source_key.h"
#include "fetch/team.h"
#include "store/footprint.h"

namespace sabath {

namespace {

constexpr std::size_t questions_max = 64;  // for lengths, of one list of files

std::string owners_of(const std::vector<ForeignRef>& refs) {
  std::set<std::uint32_t> owners;
  for (const auto& ref : refs) owners.insert(ref.owner);
  return fmt::format("{}", fmt::join(owners, ", "));
}

std::vector<ListedFile> parse_list_document(const std::string& text, const Fragment& fragment) {
  const Url& source = fragment.urls.front();
  if (!is_metalink(text)) return parse_file_list(text, source, fragment.limit);
  auto files = parse_metalink(text, source);
  check_listing(files, source);
  keep_first(files, fragment.limit);
  return files;
}

}  // namespace

std::string others_hint(const Store& store, const Sha256& key) {
  const auto refs = store.foreign_refs(key);
  if (refs.empty()) return "";
  return fmt::format("; user {} of this store has it: name the owner in trusted_owners to believe that",
                     owners_of(refs));
}

Reuse level_of_known(const Store& store, const Recipe& recipe, const AssetRequest& request, const Sha256& root) {
  const bool pinned = request.pin || recipe.manifest || !request.manifest_file.empty();
  return !pinned || store.ref(pinned_key(recipe, root)) ? Reuse::source : Reuse::content;
}

FragmentFetch::FragmentFetch(FetchContext& context, const Recipe& recipe, const Manifest* expected,
                             AssetRequest& request)
    : context_(context),
      recipe_(recipe),
      expected_(expected),
      lookup_(expected == nullptr ? std::nullopt : std::optional<ManifestLookup>(std::in_place, *expected)),
      request_(request),
      learnt_(expected && level_of_known(context.store, recipe, request, expected->root()) == Reuse::source) {}

FragmentFetch::~FragmentFetch() {
  for (auto& part : parts_) {
    if (part->follower) part->follower->abandon();
  }
}

void FragmentFetch::run(ManifestBuilder& builder) {
  std::uint64_t single_files = 0;
  for (const auto& fragment : recipe_.fragments) {
    if (!chosen_file(fragment, single_files)) continue;
    auto part = std::make_unique<Part>();
    part->fragment = &fragment;
    if (!request_.locals.empty()) {
      part->local = request_.locals.front();
      request_.locals.pop_front();
    } else if (reuse_learnt(*part, builder)) {
      continue;
    }
    prepare(*part);
    parts_.push_back(std::move(part));
  }
  fetch_parts();
  for (auto& part : parts_) settle(*part, builder);
}

// Fills in the job; what is here already, or comes from a local file, is settled at once.
void FragmentFetch::prepare(Part& part) {
  const Fragment& fragment = *part.fragment;
  FileJob& job = part.job;
  job.name = fragment.type == FragmentType::file && fragment.path ? fragment.path->text() : fragment.id;
  set_sources(job, fragment.urls);
  job.size_bytes = fragment.size_bytes;
  job.checksum = fragment.checksum;
  if (in_part(fragment)) return prepare_part(part);
  if (fragment.type == FragmentType::file_list && !part.local &&
      context_.fetchers.resolver_for(fragment.urls.front()) != nullptr)
    return prepare_resolved(part);
  if (fragment.type != FragmentType::archive) {
    expect(job, fragment.type == FragmentType::file ? fragment.path->text() : list_path(fragment).text());
  }
  if (request_.refresh && !part.local && !expected_) {
    ask_whether_changed(part);
  }
  if (fragment.type == FragmentType::file_list) {
    job.inspect = [&part](const std::string& text, const std::string&) {
      part.listed = parse_list_document(text, *part.fragment);
      return true;
    };
    if (!job.size_bytes) job.inspect_size_max = list_size_max;
  }
  if (part.local) {
    adopt_local(part);
  } else if (fragment.type != FragmentType::archive && at_hand(context_, job, request_.refresh, part.outcome)) {
    part.settled = true;
  } else if (fragment.type == FragmentType::archive) {
    start_unpacker(part);
  }
}

// A fragment whose tree was learnt before, by this or another asset, and whose objects are all here.
bool FragmentFetch::reuse_learnt(Part& part, ManifestBuilder& builder) {
  if (expected_ || context_.force || request_.refresh) return false;
  const auto ref = learnt_of(*part.fragment);
  if (!ref) {
    name_those_who_know(*part.fragment);
    return false;
  }
  const auto manifest = context_.store.manifest(ref->root);
  if (!manifest || !all_present(context_.store, *manifest)) return false;
  builder.add_all(*manifest, nullptr);
  context_.events.on(event::BytesReused{manifest->totals().bytes, Reuse::source});
  files_done_ += manifest->totals().files;
  trusted_by_ = weaker_trust(trusted_by_, ref->trusted_by);
  return true;
}

// By the name of all its mirrors, or by that of one that gave it to this or another recipe.
std::optional<Ref> FragmentFetch::learnt_of(const Fragment& fragment) const {
  const Store& store = context_.store;
  if (auto ref = store.ref(source_key(fragment, store.source_names(), request_.selection))) return ref;
  if (!fragment.checksum.empty() || fragment.size_bytes) return std::nullopt;  // what is stated has to be compared
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) {
    if (auto ref = store.ref(given_key(fragment, i, store.source_names(), request_.selection))) return ref;
  }
  return std::nullopt;
}

// A mirror is asked for the version that this very mirror gave: others' ETags say nothing of it.
void FragmentFetch::ask_whether_changed(Part& part) {
  const Fragment& fragment = *part.fragment;
  const Store& store = context_.store;
  const auto ask = [&](const Sha256& key, std::size_t mirror) {
    const auto ref = store.ref(key);
    if (!ref || ref->validators.empty()) return false;
    part.unless_changed = *ref;
    part.job.unless = ref->validators;
    part.job.unless_of = mirror;
    return true;
  };
  const Sha256 whole = source_key(fragment, store.source_names(), request_.selection);
  if (fragment.urls.size() == 1 && ask(whole, 0)) return;
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) {
    if (ask(given_key(fragment, i, store.source_names(), request_.selection), i)) return;
  }
}

// What nothing proves is not taken from another member of a shared store unless this user says so.
void FragmentFetch::name_those_who_know(const Fragment& fragment) {
  const Store& store = context_.store;
  std::vector<Sha256> keys = {source_key(fragment, store.source_names(), request_.selection)};
  for (std::size_t i = 0; i < fragment.urls.size(); ++i)
    keys.push_back(given_key(fragment, i, store.source_names(), request_.selection));
  std::vector<ForeignRef> others;
  for (const auto& key : keys) std::ranges::copy(store.foreign_refs(key), std::back_inserter(others));
  if (others.empty()) return;
  context_.events.on(event::Warning{fmt::format(
      "{}: user {} of this store has it, and nothing proves it: it is asked for again (to believe what that user "
      "learnt, name the owner in trusted_owners)",
      fragment.id, owners_of(others))});
}

void FragmentFetch::set_sources(FileJob& job, const std::vector<Url>& urls) const {
  job.urls = rewritten_all(urls);
  job.source = urls.front();
  const SourceNames& names = context_.store.source_names();
  if (!names) return;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    std::string name = names(urls[i]);
    if (job.names.empty() && name == job.urls[i].text()) continue;
    while (job.names.size() < i) job.names.push_back(job.urls[job.names.size()].text());
    job.names.push_back(std::move(name));
  }
}

void FragmentFetch::expect(FileJob& job, const std::string& path) {
  if (expected_ == nullptr) return;
  const auto entry = lookup_->find(RelativePath::parse(path));
  if (!entry || !entry->is_file()) return;  // the roots will differ, and that is told
  job.known = FileTree{entry->digest, expected_->chunks(*entry)};
  job.learnt = learnt_;
  job.size_bytes = entry->digest.size_bytes;
}

void FragmentFetch::adopt_local(Part& part) {
  const Fragment& fragment = *part.fragment;
  part.settled = true;
  try {
    const auto size = try_stat(part.local->path);
    if (!size)
      throw Error(FailureKind::usage, fmt::format("there is no file {}", part.local->path),
                  "--path and --link take local copies of the fragments, in order");
    if (fragment.size_bytes && *fragment.size_bytes != static_cast<std::uint64_t>(size->st_size)) {
      throw Error(FailureKind::content, fmt::format("{} has {} bytes, and the recipe says {}", part.local->path,
                                                    size->st_size, *fragment.size_bytes));
    }
    if (part.job.inspect)
      part.job.inspect(try_read_text(part.local->path, document_size_max).value_or(""), part.local->path);
    ChecksumSet sums(fragment.checksum);
    auto left = static_cast<std::uint64_t>(size->st_size);
    const auto tee = [&](std::span<const std::byte> bytes) {
      sums.update(bytes);
      if (left == 0) return;  // it grew, and is refused for that
      left -= std::min<std::uint64_t>(left, bytes.size());
      if (left == 0) part.outcome.computed = sums.finish_and_compare(part.local->path);  // before it is published
    };
    if (fragment.type == FragmentType::archive) {
      const Fd fd = open_file(part.local->path, O_RDONLY);
      const std::filesystem::path name = part.local->path;
      std::uint64_t summed = 0;
      const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> bytes) {
        const std::size_t n = read_at(fd.get(), bytes, offset, name);
        if (offset <= summed && offset + n > summed) {  // each byte once, however often it is read
          sums.update(bytes.first(n).subspan(summed - offset));
          summed = offset + n;
        }
        return n;
      };
      part.unpacked = unpack_archive(part.job.name, read, context_.store, context_.space, context_.stop);
      part.outcome.computed = sums.finish_and_compare(part.local->path);
    } else {
      part.outcome.tree = context_.store.adopt(part.local->path, part.local->link, tee);
      if (size->st_size == 0) part.outcome.computed = sums.finish_and_compare(part.local->path);
    }
    if (part.job.known && part.outcome.tree.digest != part.job.known->digest) {
      throw Error(FailureKind::content, fmt::format("{} is not what the manifest names", part.local->path));
    }
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    part.outcome.failure = error.failure();
  }
}

// What the URL stands for is asked first: its files are fetched with those of the lists.
void FragmentFetch::prepare_resolved(Part& part) {
  const Fragment& fragment = *part.fragment;
  part.settled = part.resolved = true;
  part.job.listed = true;  // its sources are counted with those of its files
  if (request_.offline) refuse_offline(part.job.name, 1);
  try {
    context_.events.on(event::PhaseChanged{"resolve"});
    Listing listing = resolve(context_, fragment.urls, fragment.limit, listing_time_max, &part.outcome.giver);
    part.outcome.over_tls = listing.over_tls;
    part.listed = std::move(listing.files);
    resolved_.push_back({fragment.urls.front().display(), std::move(listing.version)});
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    part.outcome.failure = error.failure();
  }
}

void FragmentFetch::start_unpacker(Part& part) {
  part.follower = std::make_unique<SpoolFollower>();
  part.job.follower = part.follower.get();
  part.unpacker = start_thread([this, &part] { unpack(part); });
}

// Runs in the part's own thread, once more if the archive was fetched anew meanwhile.
void FragmentFetch::unpack(Part& part) {
  const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    return part.follower->read(offset, bytes);
  };
  for (;;) {
    part.follower->begin();
    try {
      part.unpack_failure = nullptr;
      part.unpacked = unpack_archive(part.job.name, read, context_.store, context_.space, context_.stop);
      return;
    } catch (const Error& error) {
      part.unpacked = {};
      if (error.failure().kind == FailureKind::changed) continue;
      part.unpack_failure = std::current_exception();
      // The source that gave it may turn out to be wrong, and another to be right.
      if (error.failure().kind != FailureKind::invalid || !part.follower->comes_anew()) return;
    } catch (...) {
      part.unpack_failure = std::current_exception();
      return;
    }
  }
}

// What the first source that answers says of a file's length.
std::optional<std::uint64_t> FragmentFetch::asked_size(const FileJob& job) {
  for (const Url& url : job.urls) {
    std::optional<std::uint64_t> size;
    SourceLine& line = context_.ledger.line(source_label(job, url));
    GuardedSink sink(
        context_, line, url, std::nullopt, [&](const ContentInfo& info) { size = info.size_bytes; }, [](auto) {});
    try {
      read_source(context_, {url, 0, 0, {}}, line, sink);
      return size;
    } catch (const Error& error) {  // the fetch itself tells of it
      if (verdict(error.failure().kind) == Verdict::fatal) throw;
    }
  }
  return std::nullopt;
}

// Room for all that is known to be missing, before byte one: also for what comes out of an archive, which stands
// beside it, and is as much at least. (Who unpacks, or learns a length, reserves for itself: that part is given back.)
void FragmentFetch::reserve(const std::vector<FileJob>& jobs) {
  std::uint64_t bytes = 0, unpacked = 0;
  Footprint footprint(&context_.store, jobs.size());
  for (const auto& job : jobs) {
    const std::uint64_t size = job.size_bytes.value_or(0);
    if (job.follower != nullptr) unpacked += size;
    footprint.add_file(size);
    if (size <= chunk_size_bytes) {
      bytes += size;
      continue;
    }
    const std::uint64_t held =
        job.known ? context_.store.held(job.known->digest) : context_.store.held(source_key(job));
    bytes += size - std::min(size, held);
  }
  context_.space.reserve(bytes + unpacked, footprint.inodes(), recipe_.name);
  context_.space.give_back(unpacked, 0);
  look_ahead(jobs);
}

// Where room is tight the sources are asked for lengths that nobody has stated.
void FragmentFetch::look_ahead(const std::vector<FileJob>& jobs) {
  std::uint64_t bytes = 0;
  std::size_t questions = 0;
  for (const auto& job : jobs) {
    if (job.size_bytes || job.inspect || job.unless) continue;
    if (questions == questions_max || (questions == 0 && !context_.space.tight())) break;
    ++questions;
    bytes += asked_size(job).value_or(0) * (job.follower != nullptr ? 2 : 1);
  }
  context_.space.reserve(bytes, 0, recipe_.name);
  context_.space.give_back(bytes, 0);
}

void FragmentFetch::refuse_offline(const std::string& first, std::size_t files) const {
  throw Error(FailureKind::offline,
              fmt::format("{} of {}{} not present, and the network may not be used", first, recipe_.name,
                          files > 1 ? fmt::format(" and {} more files are", files - 1) : " is"),
              "give a local copy of it, too, with --path or --link, or leave out --offline");
}

std::vector<FileOutcome> FragmentFetch::fetch_jobs(const std::vector<FileJob>& jobs) {
  if (request_.offline && !jobs.empty()) refuse_offline(jobs.front().name, jobs.size());
  reserve(jobs);
  return fetch_by_all_ranks(context_, jobs);
}

void FragmentFetch::fetch_parts() {
  std::vector<FileJob> jobs;
  std::vector<Part*> owners;
  for (auto& part : parts_) {
    if (part->settled) continue;
    jobs.push_back(part->job);
    owners.push_back(part.get());
  }
  if (jobs.empty()) return;
  auto outcomes = fetch_jobs(jobs);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    owners[i]->outcome = std::move(outcomes[i]);
    if (owners[i]->follower && (owners[i]->outcome.failure || owners[i]->outcome.unchanged))
      owners[i]->follower->abandon();
  }
}

std::vector<Url> FragmentFetch::rewritten_all(const std::vector<Url>& urls) const {
  std::vector<Url> result;
  for (const auto& url : urls) result.push_back(rewritten(url, context_.rewrites));
  return result;
}

}  // namespace sabath
