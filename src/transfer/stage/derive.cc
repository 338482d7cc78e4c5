#include "stage/derive.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"
#include "base/wording.h"
#include "comm/parcel.h"
#include "hdf5/own_process.h"
#include "sabath/error.h"
#include "stage/knowledge.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

constexpr std::uint64_t manifest_size_max = std::uint64_t{4} << 30;
constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

bool is_hdf5(const std::filesystem::path& file) {
  const Fd fd = open_file(file, O_RDONLY);
  std::array<std::byte, 8> begin{};
  return read_at(fd.get(), begin, 0, file) == begin.size() &&
         std::memcmp(begin.data(), signature.data(), begin.size()) == 0;
}

SelectOptions::Filter filter_named(const std::string& name) {
  using Filter = SelectOptions::Filter;
  if (name.empty() || name == "none") return Filter::none;
  if (name == "gzip") return Filter::gzip;
  if (name == "zstd") return Filter::zstd;
  if (name == "keep") return Filter::keep;
  throw Error(FailureKind::usage, fmt::format("there is no filter {}", printable(name)), "none, gzip, zstd or keep");
}

Selections selections_of(const StageRequest& request) {
  Selections all;
  for (const auto& text : request.select) all.push_back(parse_selection(text));
  return all;
}

// HDF5 reads files by name; a small one that is packed has none.
std::filesystem::path unpack_into(Store& shared, const Entry& entry, const std::filesystem::path& workplace) {
  const auto text = shared.text_of(entry.digest, entry.digest.size_bytes);
  if (!text) throw_errno("open", shared.object_path(entry.digest), ENOENT);
  auto file = workplace / ".unpacked";
  const Fd fd = open_file(file, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(fd.get(), std::as_bytes(std::span(*text)), file);
  return file;
}

}  // namespace

void check_selections(const StageRequest& request) {
  static_cast<void>(selections_of(request));
  static_cast<void>(filter_named(request.filter));
  if (!request.blocks.empty()) static_cast<void>(parse_block_shape(request.blocks));
}

Derivation::Derivation(const StageRequest& request, const Manifest& asset, Store* shared, Store& own, Hdf5 hdf5)
    : request_(request), asset_(asset), shared_(shared), own_(own), hdf5_(std::move(hdf5)) {}

Sha256 Derivation::key() const {
  std::string text =
      fmt::format("hdf5 selection 1\n{}\n{}\n{}\n", asset_.root().hex(), request_.filter, request_.blocks);
  for (const Hyperslab& selection : selections_of(request_)) text += format_selection(selection) + "\n";
  return sha256(text);
}

std::string Derivation::recall(Comm& members) const {
  const auto ref = own_.ref(key());
  const bool known = ref && own_.manifest(ref->root).has_value();
  std::array<std::uint64_t, 1> first{known ? members.rank() : UINT64_MAX};
  members.all_reduce(first, Reduction::minimum);
  if (first[0] == UINT64_MAX) return "";
  std::string bytes;
  if (members.rank() == first[0]) {
    bytes = try_read_text(Layout(own_.directory()).manifest(ref->root), manifest_size_max).value_or("");
  }
  members.broadcast(bytes, static_cast<unsigned>(first[0]));
  return bytes;
}

void Derivation::remember(const Sha256& root) const {
  own_.put_ref(key(), {root, "selection", {}, 0, "", "of " + asset_.root().prefixed()});
}

void Derivation::make_file(const Entry& entry, std::uint64_t part, std::uint64_t parts,
                           const std::filesystem::path& workplace, std::vector<Made>& made, std::uint64_t& read_bytes,
                           const std::stop_token& stop) {
  if (!shared_->present(entry.digest)) {
    throw Error(FailureKind::offline, fmt::format("{} is not in the shared store", printable(entry.path.text())),
                fmt::format("`{}` brings it", verb_text("fetch")));
  }
  auto source = shared_->object_path(entry.digest);
  if (!try_lstat(source)) source = unpack_into(*shared_, entry, workplace);
  if (!is_hdf5(source)) {
    if (part > 0) return;
    made.push_back({entry.path.text(), {entry.digest, asset_.chunks(entry)}, entry.type == EntryType::executable});
    return;
  }
  SelectOptions options;
  options.filter = filter_named(request_.filter);
  if (!request_.blocks.empty()) options.blocks = parse_block_shape(request_.blocks);
  options.source_digest = entry.digest;
  options.part = part;
  options.parts = parts;
  options.sync = false;
  // Blocks are files in a directory, whose name is theirs, too.
  const std::filesystem::path out = workplace / std::filesystem::path(entry.path.text()).filename();
  const SelectedFile selected = hdf5_.select(source, selections_of(request_), out, options, stop);
  read_bytes += selected.bytes_read;
  for (const auto& file : selected.files) {
    const std::string below = file.lexically_relative(workplace).native();
    const std::string folder(entry.path.parent());
    made.push_back({folder.empty() ? below : folder + "/" + below, own_.adopt(file, false, {})});
  }
  remove_tree(out);
}

std::vector<Derivation::Made> Derivation::make_share(unsigned place, unsigned makers, std::uint64_t& read_bytes,
                                                     const std::stop_token& stop) {
  std::vector<Made> made;
  const auto workplace = own_.make_temporary_directory();
  const std::uint64_t files = asset_.totals().files;
  const std::uint64_t parts = request_.blocks.empty() || files == 0 ? 1 : (makers + files - 1) / files;
  std::uint64_t number = 0;
  asset_.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    for (std::uint64_t part = 0; part < parts; ++part) {
      if (number++ % makers == place) make_file(entry, part, parts, workplace, made, read_bytes, stop);
    }
  });
  return made;
}

std::string Derivation::encode(const std::vector<Made>& made) {
  Parcel parcel;
  for (const Made& file : made) {
    parcel.add(file.path).add(std::uint64_t{file.executable}).add(file.tree.digest.size_bytes);
    const auto raw = [&](const Sha256& hash) {
      parcel.add_raw({reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size});
    };
    raw(file.tree.digest.hash);
    parcel.add(std::uint64_t{file.tree.chunks.size()});
    for (const Sha256& chunk : file.tree.chunks) raw(chunk);
  }
  return parcel.take();
}

std::string Derivation::manifest_of(const std::vector<std::string>& shares) const {
  ManifestBuilder builder;
  asset_.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory) builder.add_directory(entry.path);
    if (entry.type == EntryType::symlink) builder.add_symlink(entry.path, entry.target);
  });
  for (const std::string& share : shares) {
    Parcel::Reader parcel(share);
    const auto hash = [&] {
      std::array<std::uint8_t, Sha256::size> bytes{};
      std::memcpy(bytes.data(), parcel.raw(Sha256::size).data(), bytes.size());
      return Sha256(bytes);
    };
    while (!parcel.at_end()) {
      const auto path = RelativePath::parse(parcel.text());
      const bool executable = parcel.flag();
      Digest digest{ContentKind::file, parcel.number(), {}};
      digest.hash = hash();
      std::vector<Sha256> chunks(parcel.number());
      for (Sha256& chunk : chunks) chunk = hash();
      builder.add_file(path, digest, std::move(chunks), executable);
    }
  }
  return builder.bytes();
}

Derived Derivation::make(Comm& members, Beat& beat, const std::stop_token& stop) {
  const auto makers = able_members(members, shared_ != nullptr);
  const auto me = std::ranges::find(makers, members.rank());
  Derived derived;
  derived.makers = static_cast<unsigned>(makers.size());
  std::vector<Made> made;
  derived.failure = beat.keep_while(
      [&] {
        if (makers.empty()) throw Error(FailureKind::usage, "no node sees the shared store");
        if (me == makers.end()) return;
        const auto place = static_cast<unsigned>(me - makers.begin());
        made = make_share(place, static_cast<unsigned>(makers.size()), derived.read_bytes, stop);
      },
      stop, [&](const Beat::Words& all) { return all.done == members.size(); });
  if (beat.sums().failed > 0 || beat.sums().stopped > 0) return derived;
  const auto shares = members.gather(encode(made));
  if (members.rank() == 0) derived.bytes = manifest_of(shares);
  members.broadcast(derived.bytes, 0);
  return derived;
}

}  // namespace sabath
