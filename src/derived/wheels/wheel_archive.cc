#include "wheels/wheel_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "environments/package_name.h"
#include "packing/installed_record.h"
#include "packing/mend_packages.h"
#include "packing/rewritten_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr unsigned utf8_flag = 1U << 11, encrypted_flag = 1U;
constexpr std::array<std::string_view, 3> record_hashes{"sha256", "sha384", "sha512"};
// What an installer writes itself: a wheel's own counts for nothing.
constexpr std::array<std::string_view, 6> installers_notes{"RECORD",    "RECORD.jws", "RECORD.p7s",
                                                           "INSTALLER", "REQUESTED",  "direct_url.json"};

WheelName name_of(const std::string& file_name) {
  auto name = try_wheel_name(file_name);
  if (!name) throw Error(FailureKind::invalid, fmt::format("{} is no wheel's name", printable(file_name)));
  return std::move(*name);
}

bool is_cached_module(std::string_view name) {
  return name.starts_with("__pycache__/") || name.find("/__pycache__/") != std::string_view::npos;
}

std::string top_folder(std::string_view name) { return std::string(name.substr(0, name.find('/'))); }

}  // namespace

WheelArchive::WheelArchive(WheelOrder order)
    : order_(std::move(order)), name_(name_of(order_.file_name)), archive_(order_.file) {
  layout_.label = fmt::format("{} {}", name_.name, public_text(name_.version));
  layout_.python = order_.python;
  layout_.accepted = order_.accepted;
  judge_members();
  find_info();
  check_self();
  read_record();
  for (const ZipMember& member : archive_.members())
    if (!member.name.ends_with('/')) want(member);
  add_programs();
  for (const Wanted& each : wanted_) places_.push_back(each.place);
  for (const EntryPoint& each : programs_) places_.push_back("bin/" + each.name);
  for (const char* note : {"RECORD", "INSTALLER", "REQUESTED"})
    places_.push_back(fmt::format("{}/{}/{}", layout_.packages(), layout_.info(), note));
  if (!order_.origin_note.empty())
    places_.push_back(fmt::format("{}/{}/direct_url.json", layout_.packages(), layout_.info()));
  std::ranges::sort(places_);
  const auto twice = std::ranges::adjacent_find(places_, {}, place_key);
  if (twice != places_.end()) refuse(fmt::format("brings {} twice", printable(*twice)));
}

void WheelArchive::refuse(const std::string& why) const {
  throw Error(FailureKind::invalid, fmt::format("{}: {} {}", layout_.label, printable(order_.file_name), why),
              "take another version of the package, and tell its publisher");
}

void WheelArchive::judge_members() {
  std::set<std::string> seen;
  std::uint64_t packed = 0;
  for (const ZipMember& member : archive_.members()) {
    std::string_view name = member.name;
    const bool is_folder = name.ends_with('/');
    if (is_folder) name.remove_suffix(1);
    check_wheel_name(layout_.label, name, (member.flags & utf8_flag) != 0);
    const auto refuse_it = [&](const char* why) { refuse(fmt::format("has {}, {}", printable(name), why)); };
    const unsigned type = member.mode & S_IFMT;
    if (type != 0 && type != (is_folder ? S_IFDIR : S_IFREG))
      refuse_it(S_ISLNK(member.mode) ? "a symlink" : "which is neither a file nor a folder");
    if ((member.flags & encrypted_flag) != 0) refuse_it("which is encrypted");
    if (is_folder && member.bytes > 0) refuse_it("a folder with content");
    if (!is_folder && !seen.insert(place_key(name)).second) refuse_it("which is there twice");
    if (member.bytes > bytes_max - bytes_) refuse("unpacks to too many bytes");
    bytes_ += member.bytes;
    packed += std::min(member.packed_bytes, bytes_max);
  }
  if (packed > archive_.size_bytes()) refuse("has members that share their bytes");
  if (bytes_ > ratio_free_bytes && bytes_ / ratio_max > packed)
    refuse(fmt::format("unpacks to {} from {}", format_bytes(bytes_), format_bytes(packed)));
}

void WheelArchive::find_info() {
  std::set<std::string> found;
  for (const ZipMember& member : archive_.members())
    if (const std::string top = top_folder(member.name); top.ends_with(".dist-info")) found.insert(top);
  if (found.empty()) refuse("has no .dist-info");
  if (found.size() > 1) refuse(fmt::format("has {} and {}", printable(*found.begin()), printable(*found.rbegin())));
  const auto stem = info_stem(*found.begin(), name_);
  if (!stem) refuse(fmt::format("has {}, which is another package's or version's", printable(*found.begin())));
  layout_.stem = *stem;
}

std::string WheelArchive::text_of(const std::string& name) const {
  const ZipMember* const member = archive_.find(layout_.info() + "/" + name);
  if (member == nullptr) refuse(fmt::format("has no {}", name));
  if (member->bytes > note_bytes_max) refuse(fmt::format("has {} of {}", name, format_bytes(member->bytes)));
  std::string text(member->bytes, '\0');
  const auto bytes = archive_.open(*member);
  if (read_full(*bytes, text) != text.size()) refuse(fmt::format("has {} cut off", name));
  return text;
}

void WheelArchive::check_self() {
  const std::string wheel = text_of("WHEEL"), metadata = text_of("METADATA");
  const std::string format = header_in(wheel, "Wheel-Version");
  if (!format.starts_with("1.")) refuse(fmt::format("is of the format {}, and 1 is read", printable(format)));
  const FoundPackage said = package_in(metadata);
  const auto version = try_python_version(said.version);
  if (normal_name(said.name) != name_.name || !version || compare(*version, name_.version) != 0)
    refuse(fmt::format("says that it is {} {}", printable(said.name), printable(said.version)));
  layout_.header_folder = said.name;
  const std::string wanted = header_in(metadata, "Requires-Python");
  if (wanted.empty()) return;
  const auto range = try_version_specifier(wanted);
  const auto python = try_python_version(order_.full_version);
  if (range && python && !meets(*python, *range))
    refuse(fmt::format("requires Python {}, and this is {}", printable(wanted), order_.full_version));
}

void WheelArchive::read_record() {
  const std::string origin = fmt::format("{}: RECORD", layout_.label);
  for (InstalledFile& each : parse_installed_record(text_of("RECORD"), origin)) {
    const std::size_t equals = std::min(each.hash.find('='), each.hash.size());
    Row row{each.hash.substr(0, equals), each.hash.substr(std::min(equals + 1, each.hash.size()))};
    while (row.digest.ends_with('=')) row.digest.pop_back();
    if (!record_.emplace(each.path, std::move(row)).second)
      refuse(fmt::format("names {} twice in RECORD", printable(each.path)));
  }
}

void WheelArchive::want(const ZipMember& member) {
  const std::string notes = layout_.info() + "/";
  if (member.name.starts_with(notes) && is_among(member.name.substr(notes.size()), installers_notes)) return;
  const auto row = record_.find(member.name);
  if (row == record_.end()) refuse(fmt::format("has {}, which RECORD does not name", printable(member.name)));
  if (!is_among(row->second.algorithm, record_hashes) || row->second.digest.empty())
    refuse(fmt::format("has {}, of which RECORD has no SHA-256", printable(member.name)));
  if (is_cached_module(member.name)) return;  // made anew
  wanted_.push_back({&member, wheel_place(layout_, member.name), &row->second});
}

void WheelArchive::add_programs() {
  if (archive_.find(layout_.info() + "/entry_points.txt") == nullptr) return;
  programs_ = parse_entry_points(text_of("entry_points.txt"), fmt::format("{}: entry_points.txt", layout_.label));
  for (const EntryPoint& each : programs_)
    if (place_key(each.name).starts_with("python") || each.name.starts_with("activate"))
      refuse(fmt::format("has a program {}, as the interpreter has", each.name));
}

void WheelArchive::write_member(const Wanted& wanted, const fs::path& file, const std::stop_token& stop) const {
  const auto bytes = archive_.open(*wanted.member);
  const Fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) throw_errno("create", file, errno);
  StreamHash hash(wanted.row->algorithm.c_str());
  std::vector<char> buffer(std::clamp<std::uint64_t>(wanted.member->bytes, 1, 1 << 18));
  for (std::size_t got = 0; (got = bytes->read(buffer)) > 0;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const auto piece = std::as_bytes(std::span(buffer).first(got));
    hash.update(piece);
    write_all(out.get(), piece, file);
  }
  if (record_digest(hash.finish_hex()) != wanted.row->digest)
    refuse(fmt::format("has {}, whose bytes are not those that RECORD names", printable(wanted.member->name)));
  const bool runs = (wanted.member->mode & 0111) != 0 || wanted.place.starts_with("bin/");
  if (::fchmod(out.get(), runs ? 0755 : 0644) != 0) throw_errno("chmod", file, errno);
}

void WheelArchive::unpack(const fs::path& top, const std::stop_token& stop) const {
  std::set<fs::path> folders;
  for (const std::string& place : places_)
    if (const fs::path folder = fs::path(place).parent_path(); folders.insert(folder).second)
      make_directories(top / folder);
  for (const Wanted& each : wanted_) write_member(each, top / each.place, stop);
  for (const EntryPoint& each : programs_) {
    const fs::path file = top / "bin" / each.name;
    write_new_file(file, entry_point_script(each));
    if (::chmod(file.c_str(), 0755) != 0) throw_errno("chmod", file, errno);
  }
  write_notes(top);
}

void WheelArchive::write_notes(const fs::path& top) const {
  const fs::path folder = top / layout_.packages() / layout_.info();
  write_new_file(folder / "INSTALLER", "sabath\n");
  write_new_file(folder / "REQUESTED", "");
  if (!order_.origin_note.empty()) write_new_file(folder / "direct_url.json", order_.origin_note);
  std::vector<InstalledFile> rows;
  const auto row_of = [&](const std::string& place) {
    return InstalledFile{fs::path(place).lexically_relative(layout_.packages()).native(), "", ""};
  };
  for (const Wanted& each : wanted_) {
    InstalledFile& row = rows.emplace_back(row_of(each.place));
    row.hash = fmt::format("{}={}", each.row->algorithm, each.row->digest);
    row.size = std::to_string(each.member->bytes);
  }
  std::vector<std::string> own{fmt::format("{}/{}/INSTALLER", layout_.packages(), layout_.info()),
                               fmt::format("{}/{}/REQUESTED", layout_.packages(), layout_.info())};
  if (!order_.origin_note.empty())
    own.push_back(fmt::format("{}/{}/direct_url.json", layout_.packages(), layout_.info()));
  for (const EntryPoint& each : programs_) own.push_back("bin/" + each.name);
  for (const std::string& place : own) describe_installed(rows.emplace_back(row_of(place)), top / place);
  rows.push_back({layout_.info() + "/RECORD", "", ""});
  write_new_file(folder / "RECORD", installed_record_text(rows));
}

}  // namespace sabath
