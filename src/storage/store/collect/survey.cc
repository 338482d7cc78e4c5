#include "store/collect/survey.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/disk/listing.h"
#include "store/disk/note.h"
#include "store/disk/owners.h"
#include "store/disk/ref_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// All users' refs of sources; damaged ones, which `verify` puts aside, are passed over.
void for_each_ref(const Layout& layout, const std::function<void(const Sha256&, const Ref&, const fs::path&)>& visit) {
  for (const auto& room : note_rooms(layout, layout.refs())) {
    for_each_fanned(room, [&](const std::string& fan, const std::string& name, const fs::path& file) {
      const auto key = try_parse_ref_name(fan, name);
      const auto note = key ? try_read_any_note(layout, file) : std::nullopt;
      if (const auto ref = note ? try_decode_ref(*note) : std::nullopt) visit(key->source_key, *ref, file);
    });
  }
}

}  // namespace

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
  for_each_ref(layout, [&](const Sha256&, const Ref& ref, const fs::path&) { roots.try_emplace(ref.root, false); });
  const auto add = [&](std::string_view name, unsigned char) {
    if (const auto root = try_parse_root_name(name)) roots[*root] = true;
  };
  for (const auto& views : rooms_of_all(layout, layout.views())) for_each_name(views, add);
  for_each_name(layout.pins(), [&](std::string_view name, unsigned char) {
    if (const auto root = try_parse_pin_name(name)) roots[*root] = true;
  });
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
    if (const auto s = try_lstat(sign)) root.used_ns = std::max(root.used_ns, touched_ns(*s));
  }

  void read_refs() {
    for_each_ref(store_.layout, [this](const Sha256& key, const Ref& ref, const fs::path& file) {
      Root& root = survey_.roots[ref.root];
      if (std::ranges::find(root.keys, key) == root.keys.end()) root.keys.push_back(key);
      const auto other = other_of(file.parent_path().parent_path());
      if (other && store_.layout.of_several_users()) root.others.insert(*other);  // else all have one view
      use(root, file);
      const bool elsewhere = is_restorable_from(ref);
      if (root.source.empty() || (elsewhere && !root.restorable)) {
        root.source = ref.source;
        root.trusted_by = ref.trusted_by;
      }
      root.restorable = root.restorable || elsewhere;
    });
  }

  void read_views() {
    for (const auto& views : rooms_of_all(store_.layout, store_.layout.views())) {
      for_each_name(views, [&](std::string_view name, unsigned char type) {
        const auto id = try_parse_root_name(name);
        if (!id || type != DT_DIR) return;
        Root& root = survey_.roots[*id];
        root.view = true;
        const auto other = other_of(views);
        if (other) root.others.insert(*other);
        if (other && !may_remove_from(views))
          root.closed.insert(*other);
        else
          root.views.push_back(views / name);
        use(root, views / name);
      });
    }
  }

  void read_pinned() {
    for_each_name(store_.layout.pins(), [&](std::string_view name, unsigned char) {
      const auto id = try_parse_pin_name(name);
      if (id) survey_.roots[*id].pinned = true;
    });
  }

  void read_leased() {
    for (const auto& lease : survey_.leases) {
      if (!lease.live) continue;
      const bool own = !store_.layout.of_several_users() || lease.owner == ::geteuid();
      for (const auto& id : lease.text.roots) {
        Root& root = survey_.roots[id];
        root.in_use = describe(lease);
        root.in_own_use = root.in_own_use || own;
        if (!own) root.others.insert(lease.owner);
      }
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
      const std::int64_t made = touched_ns(*s);
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

std::int64_t kept_by_others_until(const Root& root, std::int64_t used_ns, std::int64_t now_ns, std::int64_t use_ns) {
  if (root.others.empty()) return 0;
  if (!root.in_use.empty() && !root.in_own_use) return INT64_MAX;
  return used_ns > now_ns - use_ns ? used_ns + use_ns : 0;
}

std::vector<fs::path> removable_refs(const Layout& layout, const Sha256& id, const Root& root) {
  std::vector<fs::path> files;
  for (const auto& key : root.keys) {
    for (const auto& file : ref_files(layout, key)) {
      const auto ref = try_decode_ref(try_read_any_note(layout, file).value_or(""));
      const fs::path room = file.parent_path().parent_path();
      const bool ours = ref && ref->root == id && ::access(file.parent_path().c_str(), W_OK) == 0;
      if (ours && may_remove_from(room)) files.push_back(file);
    }
  }
  return files;
}

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
