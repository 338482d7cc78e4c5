// Bytes unpacked as they pass, by libarchive, which reads bzip2, xz, lzma, lzip, zstd and lz4. One layer comes off.
// Several streams behind each other are one, but for lzma. No program is started for a packing that libarchive was
// built without. One thread at a time. Throws Error{invalid} where the bytes are damaged, end early, or are not packed
// so; what `from` throws passes unchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/bytes.h"

namespace sabath {

// zfile: joblib's old form; zfile_wide: it has a blank more.
enum class Packing : std::uint8_t { none, gzip, zlib, zfile, zfile_wide, bzip2, xz, lzma, lzip, zstd, lz4 };

class PackedStream : public ByteSource {
 public:
  // At the end: what was read of `from`, and stands behind the packed bytes.
  [[nodiscard]] virtual std::string rest() const = 0;
};

// `from` outlives it; `name`, printable, is for messages. Not of gzip, zlib and zfile: packing.h.
[[nodiscard]] std::unique_ptr<PackedStream> unpack_stream(ByteSource& from, Packing packing, const std::string& name);

}  // namespace sabath
