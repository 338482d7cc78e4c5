#include "assembly/packed_part.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "packing/tree_copy.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using NoteJson = nlohmann::ordered_json;

constexpr std::uint64_t part_text_max = std::uint64_t{256} << 20;
constexpr int part_schema = 1;

NoteJson file_note(const PackedFile& file) {
  NoteJson chunks = NoteJson::array();
  if (file.tree.chunks.size() > 1)
    for (const Sha256& chunk : file.tree.chunks) chunks.push_back(chunk.hex());
  return {file.path, file.tree.digest.hash.hex(), file.tree.digest.size_bytes, file.executable, std::move(chunks)};
}

NoteJson library_note(const ElfView& view) {
  return {{"machine", view.machine}, {"wide", view.wide},         {"big_endian", view.big_endian},
          {"damaged", view.damaged}, {"soname", view.soname},     {"needed", view.needed},
          {"search", view.search},   {"is_rpath", view.is_rpath}, {"glibc", view.glibc}};
}

ElfView library_of_note(const NoteJson& note) {
  ElfView view;
  view.machine = note.at("machine").get<std::uint16_t>();
  view.wide = note.at("wide").get<bool>();
  view.big_endian = note.at("big_endian").get<bool>();
  view.damaged = note.at("damaged").get<bool>();
  view.soname = note.at("soname").get<std::string>();
  view.needed = note.at("needed").get<std::vector<std::string>>();
  view.search = note.at("search").get<std::vector<std::string>>();
  view.is_rpath = note.at("is_rpath").get<bool>();
  view.glibc = note.at("glibc").get<std::string>();
  return view;
}

// nullopt: it is no file that an environment can have.
std::optional<PackedFile> file_of_note(const NoteJson& note) {
  PackedFile file;
  file.path = note.at(0).get<std::string>();
  const auto hash = Sha256::try_parse(note.at(1).get<std::string>());
  file.tree.digest.size_bytes = note.at(2).get<std::uint64_t>();
  file.executable = note.at(3).get<bool>();
  for (const NoteJson& each : note.at(4))
    file.tree.chunks.push_back(Sha256::try_parse(each.get<std::string>()).value_or(Sha256{}));
  if (!hash || !RelativePath::try_parse(file.path) || file.tree.digest.size_bytes > packed_file_bytes_max)
    return std::nullopt;
  file.tree.digest.hash = *hash;
  const std::uint64_t chunks = chunk_count(file.tree.digest.size_bytes);
  if (chunks > 1 ? file.tree.chunks.size() != chunks : !file.tree.chunks.empty()) return std::nullopt;
  if (chunks > 1 && digest_of_chunks(file.tree.digest.size_bytes, file.tree.chunks) != file.tree.digest)
    return std::nullopt;
  if (chunks == 1) file.tree = one_chunk_tree(file.tree.digest);
  return file;
}

}  // namespace

std::string packed_part_text(const PackedPart& part) {
  NoteJson files = NoteJson::array(), libraries = NoteJson::object();
  for (const PackedFile& file : part.files) files.push_back(file_note(file));
  for (const auto& [path, view] : part.libraries) libraries[path] = library_note(view);
  const NoteJson note = {{"schema", part_schema},
                         {"label", part.label},
                         {"name", part.package.name},
                         {"version", part.package.version},
                         {"files", std::move(files)},
                         {"libraries", std::move(libraries)},
                         {"accepted", part.accepted},
                         {"remarks", part.remarks},
                         {"counts", {part.compiled, part.not_compiled, part.libraries_changed, part.scripts_changed}}};
  return note.dump(-1, ' ', false, NoteJson::error_handler_t::replace) + "\n";
}

std::optional<PackedPart> try_packed_part(std::string_view text) {
  try {
    const NoteJson note = NoteJson::parse(text);
    if (note.at("schema") != part_schema) return std::nullopt;
    PackedPart part;
    part.label = note.at("label").get<std::string>();
    part.package = {note.at("name").get<std::string>(), note.at("version").get<std::string>()};
    for (const NoteJson& each : note.at("files")) {
      auto file = file_of_note(each);
      if (!file) return std::nullopt;
      part.files.push_back(std::move(*file));
    }
    for (const auto& [path, view] : note.at("libraries").items()) part.libraries.emplace(path, library_of_note(view));
    part.accepted = note.at("accepted").get<std::set<std::string>>();
    part.remarks = note.at("remarks").get<std::vector<std::string>>();
    const NoteJson& counts = note.at("counts");
    part.compiled = counts.at(0).get<std::uint64_t>();
    part.not_compiled = counts.at(1).get<std::uint64_t>();
    part.libraries_changed = counts.at(2).get<std::uint64_t>();
    part.scripts_changed = counts.at(3).get<std::uint64_t>();
    return part;
  } catch (const NoteJson::exception&) {  // cut off, or of another SABATH: the part is made anew
    return std::nullopt;
  }
}

std::optional<PackedPart> find_part(Store& store, const Sha256& key) {
  const auto text = store.index(key, part_text_max);
  auto part = text ? try_packed_part(*text) : std::nullopt;
  if (!part) return std::nullopt;
  const auto is_here = [&](const PackedFile& file) { return store.present(file.tree.digest); };
  return std::ranges::all_of(part->files, is_here) ? std::move(part) : std::nullopt;
}

void keep_part(Store& store, const Sha256& key, const PackedPart& part) {
  const std::string text = packed_part_text(part);
  if (text.size() <= part_text_max) store.put_index(key, text);
}

void add_part(ManifestBuilder& builder, const PackedPart& part) {
  for (const PackedFile& file : part.files)
    builder.add_file(RelativePath::parse(file.path), file.tree.digest, file.tree.chunks, file.executable);
}

}  // namespace sabath
