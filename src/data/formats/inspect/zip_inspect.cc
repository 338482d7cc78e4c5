// An archive of arrays, as numpy.savez() writes it, under any names; or another zip.
#include <fmt/format.h>

#include <algorithm>

#include "formats/inspect/inspect_format.h"
#include "formats/inspect/npy_array.h"
#include "formats/zip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool is_archive(const DataFile& file) { return is_zip(file.begin()); }

Npy header_of(const ZipArchive& archive, const ZipMember& member, std::string begin, const std::string& file) {
  begin.resize(std::min<std::uint64_t>(npy_header_bytes(begin), member.bytes));
  begin.resize(read_full(*archive.open(member), begin));
  Npy npy = parse_npy_header(begin, file + ":" + member.name);
  if (!npy.objects && npy.data_offset + npy.data_bytes != member.bytes) {
    throw Error(
        FailureKind::invalid,
        fmt::format("cannot read {}:{}: its header promises {} bytes of data, and there are {}", printable(file, 4096),
                    printable(member.name), npy.data_bytes, member.bytes - npy.data_offset));
  }
  return npy;
}

void read_archive(const DataFile& file, InspectRecord& record) {
  constexpr std::uint64_t look_bytes = 16;
  const ZipArchive archive(file.path());
  for (const ZipMember& member : archive.members()) {
    std::string begin(std::min(look_bytes, member.bytes), '\0');
    begin.resize(read_full(*archive.open(member), begin));
    if (!is_npy(begin)) continue;  // NumPy, too, goes by the first bytes
    record.format = "npz";
    std::string_view name = member.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    add_array(record, array_of(header_of(archive, member, std::move(begin), file.path().native()), name));
  }
}

}  // namespace

extern constexpr InspectFormat zip_inspected{
    .name = "zip",
    .endings = ".npz",
    .is = is_archive,
    .read = read_archive,
};

}  // namespace sabath
