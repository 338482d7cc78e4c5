#include "store/survey.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/ref_file.h"
#include "store/small_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

// readdir(3) says what is a symlink without a stat of each.
template <class Visit>
void for_each_name(const fs::path& directory, Visit&& visit) {
  const std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (!open) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw_errno("list", directory, errno);
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name == "." || name == "..") continue;
    auto type = entry->d_type;
    if (type == DT_UNKNOWN) {
      const auto s = try_lstat(directory / name);
      if (!s) continue;
      type = S_ISDIR(s->st_mode) ? DT_DIR : S_ISLNK(s->st_mode) ? DT_LNK : DT_REG;
    }
    visit(name, type);
  }
  if (errno != 0) throw_errno("list", directory, errno);
}

auto by_content(const StoredObject& object) { return std::tie(object.hash, object.size_bytes); }

}  // namespace

void for_each_fanned(
    const fs::path& directory,
    const std::function<void(const std::string& fan, const std::string& name, const fs::path& path)>& visit) {
  for_each_name(directory, [&](std::string_view fan_name, unsigned char fan_type) {
    if (fan_type != DT_DIR) return;
    const std::string fan(fan_name);
    for_each_name(directory / fan, [&](std::string_view name, unsigned char type) {
      if (type != DT_DIR) visit(fan, std::string(name), directory / fan / name);
    });
  });
}

ObjectTable::ObjectTable(const Layout& layout, Packs* packs) {
  std::vector<std::pair<StoredObject, bool>> found;
  if (packs != nullptr) packs_ = packs->all();
  std::ranges::sort(packs_, {}, [](const auto& pack) { return pack->name; });
  for (std::uint32_t number = 0; number < packs_.size(); ++number) {
    for (const PackMember& member : packs->members_of(*packs_[number])) {
      found.push_back({{member.digest.hash, member.digest.size_bytes, number, member.stored_bytes}, false});
    }
  }
  for_each_name(layout.objects(), [&](std::string_view fan, unsigned char fan_type) {
    if (fan_type != DT_DIR) return;
    for_each_name(layout.objects() / fan, [&](std::string_view name, unsigned char type) {
      const auto digest = type == DT_DIR ? std::nullopt : try_parse_object_name(fan, name);
      if (digest) found.push_back({{digest->hash, digest->size_bytes, StoredObject::no_pack, 0}, type == DT_LNK});
    });
  });
  // A file has the greatest number of a pack: plus one it is the least.
  std::ranges::sort(found, {}, [](const auto& one) {
    return std::tuple(one.first.hash, one.first.size_bytes, static_cast<std::uint32_t>(one.first.pack + 1));
  });
  objects_.reserve(found.size());
  linked_.reserve(found.size());
  for (const auto& [object, linked] : found) {
    if (!objects_.empty() && by_content(objects_.back()) == by_content(object)) continue;
    objects_.push_back(object);
    linked_.push_back(linked);
    total_bytes_ += bytes(static_cast<std::uint32_t>(objects_.size() - 1));
  }
}

std::uint64_t ObjectTable::bytes(std::uint32_t index) const {
  if (linked_[index]) return 0;
  const StoredObject& object = objects_[index];
  return object.pack == StoredObject::no_pack ? object.size_bytes : object.stored_bytes;
}

fs::path ObjectTable::file(std::uint32_t index, const Layout& layout) const {
  const std::uint32_t pack = objects_[index].pack;
  return pack == StoredObject::no_pack ? layout.object(digest(index)) : packs_[pack]->file;
}

std::optional<std::uint32_t> ObjectTable::find(const Digest& object) const {
  const StoredObject wanted{object.hash, object.size_bytes, StoredObject::no_pack, 0};
  const auto at = std::ranges::lower_bound(objects_, by_content(wanted), {}, by_content);
  if (at == objects_.end() || by_content(*at) != by_content(wanted)) return std::nullopt;
  return static_cast<std::uint32_t>(at - objects_.begin());
}

Digest ObjectTable::digest(std::uint32_t index) const {
  return {ContentKind::file, objects_[index].size_bytes, objects_[index].hash};
}

bool is_restorable_from(const Ref& ref) {
  const auto colon = ref.source.find(':');
  if (ref.trusted_by == "local copy" || colon == std::string::npos || colon > ref.source.find('/')) return false;
  const std::string_view scheme(ref.source.data(), colon);
  return !scheme.empty() && scheme != "file" && !scheme.ends_with("+file");
}

std::optional<Sha256> try_parse_root_name(std::string_view name) {
  return name.size() == 2 * Sha256::size ? Sha256::try_parse(name) : std::nullopt;
}

std::map<Sha256, bool> roots_named(const Layout& layout) {
  std::map<Sha256, bool> roots;
  for_each_fanned(layout.refs(), [&](const std::string& fan, const std::string& name, const fs::path& file) {
    if (!try_parse_ref_name(fan, name)) return;
    if (const auto ref = try_decode_ref(try_read_small(file).value_or(""))) roots.try_emplace(ref->root, false);
  });
  const auto add = [&](std::string_view name, unsigned char) {
    if (const auto root = try_parse_root_name(name)) roots[*root] = true;
  };
  for (const auto& views : layout.all_views()) for_each_name(views, add);
  for_each_name(layout.pins(), add);
  return roots;
}

namespace {

class Surveyor {
 public:
  Surveyor(Store::State& store, Survey& survey, std::int64_t grace_ns)
      : store_(store), survey_(survey), grace_ns_(grace_ns) {}

  void run() {
    survey_.leases = read_leases(store_.layout, store_.writer.host, survey_.now_ns);
    read_refs();
    read_views();
    read_pinned();
    read_leased();
    read_manifests();
  }

 private:
  void use(Root& root, const fs::path& sign) {
    if (const auto s = try_lstat(sign)) root.used_ns = std::max(root.used_ns, nanoseconds(s->st_mtim));
  }

  void read_refs() {
    for_each_fanned(store_.layout.refs(), [&](const std::string& fan, const std::string& name, const fs::path& file) {
      const auto key = try_parse_ref_name(fan, name);
      const auto ref = key ? try_decode_ref(try_read_small(file).value_or("")) : std::nullopt;
      if (!ref) return;  // `verify` puts it aside
      Root& root = survey_.roots[ref->root];
      if (std::ranges::find(root.keys, key->source_key) == root.keys.end()) root.keys.push_back(key->source_key);
      use(root, file);
      const bool elsewhere = is_restorable_from(*ref);
      if (root.source.empty() || (elsewhere && !root.restorable)) {
        root.source = ref->source;
        root.trusted_by = ref->trusted_by;
      }
      root.restorable = root.restorable || elsewhere;
    });
  }

  void read_views() {
    for (const auto& views : store_.layout.all_views()) {
      for_each_name(views, [&](std::string_view name, unsigned char type) {
        const auto id = try_parse_root_name(name);
        if (!id || type != DT_DIR) return;
        Root& root = survey_.roots[*id];
        root.view = true;
        if (views != store_.layout.views()) root.in_use = "the view of another user";
        use(root, views / name);
      });
    }
  }

  void read_pinned() {
    for_each_name(store_.layout.pins(), [&](std::string_view name, unsigned char) {
      const auto id = try_parse_root_name(name);
      if (id) survey_.roots[*id].pinned = true;
    });
  }

  void read_leased() {
    for (const auto& lease : survey_.leases) {
      if (!lease.live) continue;
      for (const auto& id : lease.text.roots) survey_.roots[id].in_use = describe(lease);
      if (lease.text.open) survey_.open_since_ns = std::min(survey_.open_since_ns, lease.text.since_ns);
    }
  }

  void read_manifests() {
    for_each_fanned(store_.layout.manifests(),
                    [&](const std::string& fan, const std::string& name, const fs::path& file) {
                      const auto id = try_parse_hash_name(fan, name, "");
                      if (id) read_manifest(*id, file);
                    });
    for (auto& [id, root] : survey_.roots) {
      if (!root.has_manifest && (root.pinned || !root.in_use.empty())) survey_.blind = true;
      if (const auto mark = used_at(store_.layout, id)) root.used_ns = *mark;
    }
  }

  void read_manifest(const Sha256& id, const fs::path& file) {
    auto found = survey_.roots.find(id);
    if (found == survey_.roots.end()) {
      const auto s = try_lstat(file);
      if (!s) return;
      const std::int64_t made = nanoseconds(s->st_mtim);
      const bool young = made > std::min(survey_.now_ns - grace_ns_, survey_.open_since_ns - clock_margin_ns);
      if (!young) return survey_.loose.push_back(id);
      found = survey_.roots.emplace(id, Root{}).first;
      found->second.young = true;
    }
    Root& root = found->second;
    use(root, file);
    try {
      const auto manifest = Manifest::open(file);
      const Totals totals = manifest.totals();
      root.objects.reserve(std::min<std::uint64_t>(totals.files, survey_.objects.size()));
      manifest.for_each([&](const Entry& entry) {
        if (!entry.is_file()) return;
        if (const auto index = survey_.objects.find(entry.digest)) root.objects.push_back(*index);
      });
      root.files = totals.files;
      root.bytes = totals.bytes;
      root.has_manifest = true;
    } catch (const Error& error) {
      // `verify` puts a damaged one aside; another collection may have taken this one a moment ago.
      if (error.failure().kind != FailureKind::invalid && try_lstat(file)) throw;
      survey_.blind = true;
    }
  }

  Store::State& store_;
  Survey& survey_;
  const std::int64_t grace_ns_;
};

}  // namespace

std::string describe(const FoundLease& lease) {
  const auto writer = WriterId::try_parse(lease.writer);
  const std::string who = writer ? fmt::format("{} pid {}", writer->host.name, writer->pid) : lease.writer;
  const std::string job = lease.text.job.empty() ? "" : fmt::format(" job {}", lease.text.job);
  return printable(fmt::format("{}{}: {}", who, job, lease.text.note));
}

Survey make_survey(Store::State& store, std::int64_t now_ns, std::int64_t grace_ns) {
  Survey survey{ObjectTable(store.layout, &store.packs), {}, {}, {}, now_ns};
  Surveyor(store, survey, grace_ns).run();
  return survey;
}

}  // namespace sabath
