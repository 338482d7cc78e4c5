// The store: the cache on disk. It holds verified, immutable content and nothing else. Format and invariants:
// docs/store.md. Every on-disk name is made and parsed in layout.h.
//
// A Store object may be used by many threads; any number of processes on any number of nodes may use one directory.
// No correctness rests on locks. Throws Error{space}, Error{storage}, Error{invalid} (not a store, newer version).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manifest/file_tree.h"
#include "manifest/manifest.h"
#include "sabath/digest.h"
#include "sabath/fetcher.h"
#include "store/content.h"
#include "store/disk/store_values.h"
#include "store/leases/lease.h"
#include "store/objects/object_writer.h"
#include "store/partials/partial.h"

namespace sabath {

class LeaderWatch;

// The small files of an asset of at least this many files are packed, and a packed asset has no view unless a user asks
// for one. A few hundred files are as comfortable as ever.
inline constexpr std::uint64_t pack_files_min = 1000;

class Store {
 public:
  struct State;  // of src/storage/store alone
  // Opens, and makes it if `create` and the directory is absent or empty. create = false on an absent one:
  // Error{not_found}.
  [[nodiscard]] static std::unique_ptr<Store> open(const std::filesystem::path& directory, bool create);
  ~Store();
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;
  void name_sources(SourceNames names);  // before it is used, as look_also()
  [[nodiscard]] const SourceNames& source_names() const noexcept;
  [[nodiscard]] Space space() const;

  // --- objects -----------------------------------------------------------------------------------------------
  // Present: published, as a file or in a pack, and the verification record still matches inode, size, mtime and ctime.
  // Content without a matching record is read and hashed once; if wrong, it goes to quarantine, and this returns false.
  [[nodiscard]] bool present(const Digest& file);
  void distrust(const Digest& file);  // forget the record: the next present() reads the object
  // The content, from an object or a pack; nullopt if it is not here. The reader must check what it reads.
  [[nodiscard]] std::optional<Content> open_content(const Digest& file) const;
  [[nodiscard]] std::optional<std::string> text_of(const Digest& file, std::uint64_t size_max) const;  // of a small one
  // Of a file of the asset with this root; nullopt: not here, compressed, or under no name that its user alone may
  // change.
  [[nodiscard]] std::optional<ContentPlace> place_of(const Sha256& root, const Entry& entry) const;
  [[nodiscard]] bool has(const Digest& file) const;  // it stands there; its bytes are not checked
  [[nodiscard]] std::filesystem::path object_path(const Digest& file) const;  // present or not
  // Content whose digest is not known yet. `of_files`: how many files belong together, as far as is known.
  [[nodiscard]] std::unique_ptr<ObjectWriter> write_object(std::uint64_t of_files = 1);
  // Publishes finished writers: fsync, rename, fsync of directories; in one group. Small ones of many go into packs.
  void publish(std::vector<std::unique_ptr<ObjectWriter>> finished, std::uint64_t of_files = 1);
  // Whether the small files among `files` files go into packs.
  [[nodiscard]] bool packs(std::uint64_t files) const;
  [[nodiscard]] std::uint64_t pack_threshold() const;  // the largest small file, in bytes
  // Whether at least pack_files_min of its files are packed: then it has no view unless a user asks for one.
  [[nodiscard]] bool packed(const Manifest& manifest) const;
  // A local file of the user becomes an object: hashed; copied (reflink first) or, with `link`, by symlink to its
  // absolute path.
  FileTree adopt(const std::filesystem::path& file, bool link,
                 const std::function<void(std::span<const std::byte>)>& tee);

  // --- partials ----------------------------------------------------------------------------------------------
  // Known content: `chunks` are its chunk digests; shared by any number of writers.
  [[nodiscard]] std::unique_ptr<SharedPartial> open_partial(const Digest& digest, std::vector<Sha256> chunks);
  // Content whose digests are not known: named by its source key. Adopts the leftovers of a dead writer of this host.
  [[nodiscard]] std::unique_ptr<OwnPartial> open_partial(const Sha256& source_key);
  // Bytes of the disk that partials of this content hold already.
  [[nodiscard]] std::uint64_t held(const Digest& digest) const;
  [[nodiscard]] std::uint64_t held(const Sha256& source_key) const;
  [[nodiscard]] bool has_partial(const Sha256& source_key) const;  // something to adopt
  // Whether another writer is fetching this source, and when it is done: store/partials/leader_watch.h.
  [[nodiscard]] std::unique_ptr<LeaderWatch> watch_leader(const Sha256& source_key);

  // --- names -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::optional<Manifest> manifest(const Sha256& root) const;
  Sha256 put_manifest(ManifestBuilder& builder);
  // Checked wholly; throws Error{content}, Error{invalid}.
  Sha256 put_manifest(const std::string& bytes, const Sha256& expected_root);
  // This user's ref of a source; else the newest ref of an owner whom he trusts.
  [[nodiscard]] std::optional<Ref> ref(const Sha256& source_key) const;
  void put_ref(const Sha256& source_key, const Ref& ref);
  [[nodiscard]] std::vector<ForeignRef> foreign_refs(const Sha256& source_key) const;  // of all other owners
  [[nodiscard]] bool has_ref(const Sha256& source_key) const;                          // this user's, perhaps damaged
  // The index of a remote archive's members; the reader must check its bytes. nullopt: none, or too long.
  [[nodiscard]] std::optional<std::string> index(const Sha256& key, std::uint64_t size_max) const;
  void put_index(const Sha256& key, const std::string& bytes);
  // Published whole-file checksum -> digest; `algorithm` one of checksum_algorithms that finds, or "git". A hint is any
  // owner's word.
  [[nodiscard]] std::optional<Digest> alias(std::string_view algorithm, const std::string& hex) const;
  void put_alias(std::string_view algorithm, const std::string& hex, const Digest& digest);
  [[nodiscard]] std::optional<Digest> alias_hint(std::string_view algorithm, const std::string& hex) const;
  // A hint for an interrupted fetch: the file of this source was whole here once. Its object may be gone since.
  [[nodiscard]] std::optional<Arrival> arrival(const Sha256& source_key) const;
  void note_arrival(const Sha256& source_key, const Arrival& arrival);

  // --- views -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::filesystem::path view_path(const Sha256& root) const;
  // True if the view stands and each of its files is the present object. No byte is read when records match.
  [[nodiscard]] bool view_present(const Manifest& manifest);
  // Makes or mends the view; every file must be present. Returns its path.
  std::filesystem::path make_view(const Manifest& manifest);

  // --- care: see also store/collect/collect.h, store/pins.h, store/verify/scrub.h
  // -------------------------------------------------
  [[nodiscard]] const Members& members() const;  // who may read its files
  // Asked before the bytes of a local file go into the store unasked for: throws Error{access} if that would show them
  // to a user who cannot read the file itself. `name`: for people.
  void admit(const std::filesystem::path& file, const std::string& name) const;
  // The batch system's job that leases and reservations name from now on. Before several threads use the store.
  void work_for(std::string job);
  // Taken before anything is looked up; content that the roots name stays while the lease lives.
  [[nodiscard]] Lease lease(const std::vector<Sha256>& roots, const std::string& note,
                            const LeaseOptions& options = {});
  // Reads everything of the manifest (nullptr: every object and manifest of the store) with `threads` workers;
  // a wrong object goes to quarantine, its hard links in views go away. `on_bytes` may be empty; one call at a time.
  VerifyReport verify(const Manifest* manifest, unsigned threads, const std::function<void(std::uint64_t)>& on_bytes);
  struct Usage {
    std::uint64_t objects = 0, object_bytes = 0, partial_bytes = 0;  // blocks on the disk
    std::uint64_t manifests = 0, views = 0, quarantined = 0, inodes = 0;
    std::uint64_t packs = 0, packed_files = 0, pack_bytes = 0;
    std::uint64_t view_bytes = 0, trash_bytes = 0;  // of views: what they have for themselves
  };
  [[nodiscard]] Usage usage() const;
  void append_record(const std::string& json_line);  // the fetch log: records/<day>.<writer>.jsonl

  [[nodiscard]] std::filesystem::path git_directory(const Sha256& source_key) const;  // bare clones
  // Below tmp/, owned by this writer, removed with it.
  [[nodiscard]] std::filesystem::path make_temporary_directory();
  [[nodiscard]] State& state() { return *state_; }  // for src/storage/store alone

 private:
  explicit Store(std::unique_ptr<State> state);
  void pack_small(std::vector<std::unique_ptr<ObjectWriter>>& finished);
  std::unique_ptr<State> state_;
};

}  // namespace sabath
