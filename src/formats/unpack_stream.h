// Bytes unpacked as they pass, by libarchive, which reads bzip2, xz, lzma, lzip, zstd and lz4. Several streams behind
// each other are one. No program is started for a packing that libarchive was built without. One thread at a time.
// Throws Error{invalid} where the bytes are damaged, end early, or are not packed so; what `from` throws passes
// unchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/bytes.h"

namespace sabath {

enum class Packing : std::uint8_t { none, gzip, zlib, zfile, bzip2, xz, lzma, lzip, zstd, lz4 };  // zfile: joblib's old

// `from` outlives it; `name`, printable, is for messages. Not of gzip, zlib and zfile: packing.h.
[[nodiscard]] std::unique_ptr<ByteSource> unpack_stream(ByteSource& from, Packing packing, const std::string& name);

}  // namespace sabath
