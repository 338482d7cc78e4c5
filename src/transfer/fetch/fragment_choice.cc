#include "fetch/fragment_choice.h"

#include <utility>

#include "base/checksum_list.h"
#include "base/metalink.h"
#include "base/named_checksum.h"
#include "fetch/decide/selection.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "fetch/resolve.h"
#include "recipe/file_list.h"

namespace sabath {

RelativePath list_path(const Fragment& fragment) {
  const RelativePath name = RelativePath::parse(fragment.urls.front().file_name());
  return place_in(fragment, name);
}

RelativePath place_in(const Fragment& fragment, const RelativePath& path) {
  return fragment.path ? *fragment.path / path : path;
}

std::vector<ListedFile> parse_list(const std::string& text, const Fragment& fragment) {
  const Url& source = fragment.urls.front();
  const bool sums = is_checksum_list(text), plain = !sums && !is_metalink(text);
  auto files = plain  ? parse_file_list(text, source, fragment.limit)
               : sums ? parse_checksum_list(text, source, source.resolve("."))
                      : parse_metalink(text, source);
  if (!plain) check_listing(files, source);
  for (ListedFile& file : files) add_named_checksums(file.urls, file.checksum);
  keep_first(files, fragment.limit);
  return files;
}

FragmentChoices::FragmentChoices(const Recipe& recipe, const AssetRequest& request, const Given& given)
    : recipe_(recipe),
      request_(request),
      given_(given),
      names_(given.store == nullptr ? SourceNames() : given.store->source_names()),
      lookup_(given.expected == nullptr ? std::nullopt : std::optional<ManifestLookup>(std::in_place, *given.expected)),
      learnt_(given.expected != nullptr && given.store != nullptr &&
              level_of_known(*given.store, recipe, request, given.expected->root()) == Reuse::source) {}

std::vector<const Fragment*> FragmentChoices::chosen() const {
  std::vector<const Fragment*> chosen;
  std::uint64_t files = 0;
  for (const auto& fragment : recipe_.fragments) {
    const bool by_name = !request_.selection.empty() && fragment.type == FragmentType::file;
    if (by_name && !selects(request_.selection, *fragment.path)) continue;
    if (by_name && ++files > request_.selection.sample.value_or(UINT64_MAX)) continue;
    chosen.push_back(&fragment);
  }
  return chosen;
}

FragmentWay FragmentChoices::way_of(const Fragment& fragment, bool local) const {
  switch (fragment.type) {
    case FragmentType::file:
      return FragmentWay::file;
    case FragmentType::archive:
      return request_.selection.empty() ? FragmentWay::archive : FragmentWay::members;
    case FragmentType::file_list:
      break;
  }
  const bool resolved =
      !local && given_.fetchers != nullptr && given_.fetchers->resolver_for(fragment.urls.front()) != nullptr;
  return resolved ? FragmentWay::resolver : FragmentWay::list;
}

FragmentChoice FragmentChoices::of(const Fragment& fragment, bool local) const {
  FragmentChoice choice;
  choice.fragment = &fragment;
  choice.way = way_of(fragment, local);
  const bool whole = choice.way == FragmentWay::archive && given_.expected != nullptr && !given_.force;
  if (!local && (believes_learnt() || whole) && given_.store != nullptr) {
    choice.learnt = learnt_of(fragment);
    if (choice.learnt) choice.tree = given_.store->manifest(choice.learnt->root);
    if (choice.tree && whole && !is_expected(*choice.tree)) choice.tree.reset();
  }
  FileJob& job = choice.job;
  job.name = choice.way == FragmentWay::file ? fragment.path->text() : fragment.id;
  set_sources(job, fragment.urls);
  job.size_bytes = fragment.size_bytes;
  job.checksum = fragment.checksum;
  if (choice.way == FragmentWay::members || choice.way == FragmentWay::resolver) return choice;
  if (given_.expected != nullptr) {
    if (choice.way == FragmentWay::file) expect(job, fragment.path->text());
    if (choice.way == FragmentWay::list) expect(job, list_path(fragment).text());
  } else if (request_.refresh && !local && given_.store != nullptr) {
    ask_whether_changed(choice);
  }
  return choice;
}

// By the name of all its mirrors, or by that of one that gave it to this or another recipe.
std::optional<Ref> FragmentChoices::learnt_of(const Fragment& fragment) const {
  const Store& store = *given_.store;
  if (auto ref = store.ref(source_key(fragment, names_, request_.selection)); ref && fits(*ref, fragment)) return ref;
  if (!fragment.checksum.empty() || fragment.size_bytes) return std::nullopt;  // what is stated has to be compared
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) {
    if (auto ref = store.ref(given_key(fragment, i, names_, request_.selection))) return ref;
  }
  return std::nullopt;
}

// An archive comes whole or not at all: it is spared where all that came out of it before is expected now.
bool FragmentChoices::is_expected(const Manifest& tree) const {
  bool all = true;
  tree.for_each([&](const Entry& entry) {
    if (!all || entry.type == EntryType::directory) return;
    const auto named = lookup_->find(entry.path);
    all = named && named->type == entry.type && named->digest == entry.digest && named->target == entry.target;
  });
  return all;
}

// A mirror is asked for the version that this very mirror gave: others' ETags say nothing of it.
void FragmentChoices::ask_whether_changed(FragmentChoice& choice) const {
  const Fragment& fragment = *choice.fragment;
  const auto ask = [&](const Sha256& key, std::size_t mirror) {
    const auto ref = given_.store->ref(key);
    if (!ref || ref->validators.empty() || !fits(*ref, fragment)) return false;
    choice.before = given_.store->manifest(ref->root);
    if (!choice.before) return false;
    choice.unchanged = *ref;
    choice.job.unless = ref->validators;
    choice.job.unless_of = mirror;
    return true;
  };
  if (fragment.urls.size() == 1 && ask(source_key(fragment, names_, request_.selection), 0)) return;
  if (!fragment.checksum.empty() || fragment.size_bytes) return;  // what is stated has to be compared
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) {
    if (ask(given_key(fragment, i, names_, request_.selection), i)) return;
  }
}

void FragmentChoices::choose(const Fragment& fragment, std::vector<ListedFile>& listed) const {
  const Selection& selection = request_.selection;
  if (selection.empty()) return;
  std::erase_if(listed, [&](const ListedFile& file) { return !selects(selection, place_in(fragment, file.path)); });
  const std::uint64_t most = selection.sample.value_or(UINT64_MAX);
  if (listed.size() > most) listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(most), listed.end());
}

FileJob FragmentChoices::job_of(const Fragment& fragment, const ListedFile& listed) const {
  FileJob job = job_of(place_in(fragment, listed.path).text(), listed.urls);
  job.listed = true;
  job.size_bytes = listed.size_bytes;
  job.checksum = listed.checksum;
  job.pieces = listed.pieces;
  expect(job, job.name);
  return job;
}

FileJob FragmentChoices::job_of(const std::string& path, const std::vector<Url>& urls) const {
  FileJob job;
  job.name = path;
  set_sources(job, urls);
  return job;
}

void FragmentChoices::set_sources(FileJob& job, const std::vector<Url>& urls) const {
  job.urls.clear();
  for (const auto& url : urls) job.urls.push_back(rewritten(url, given_.rewrites));
  job.source = urls.front();
  if (!names_) return;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    std::string name = names_(urls[i]);
    if (job.names.empty() && name == job.urls[i].text()) continue;
    while (job.names.size() < i) job.names.push_back(job.urls[job.names.size()].text());
    job.names.push_back(std::move(name));
  }
}

void FragmentChoices::expect(FileJob& job, const std::string& path) const {
  if (given_.expected == nullptr) return;
  const auto entry = lookup_->find(RelativePath::parse(path));
  if (!entry || !entry->is_file()) return;  // the roots will differ, and that is reported
  job.known = FileTree{entry->digest, given_.expected->chunks(*entry)};
  job.learnt = learnt_;
  job.size_bytes = entry->digest.size_bytes;
}

}  // namespace sabath
