// How bytes are packed, by their first ones, and the bytes that come out. One thread at a time. Throws Error{invalid}
// where the packed bytes are damaged, {content} where they end early, and what the source throws.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/bytes.h"
#include "formats/unpack_stream.h"

namespace sabath {

inline constexpr std::size_t packing_look_bytes = 24;

// `begin`: packing_look_bytes, or all there are. By the marks that Python's readers and joblib go by.
[[nodiscard]] Packing packing_of(std::string_view begin);
// Under a name that says so: lzma's old form with any properties that liblzma takes.
[[nodiscard]] bool may_be_lzma(std::string_view begin);
// `from` outlives it; `name`, printable, is for messages. `packing` is not none.
[[nodiscard]] std::unique_ptr<ByteSource> make_unpacked(ByteSource& from, Packing packing, const std::string& name);

}  // namespace sabath
