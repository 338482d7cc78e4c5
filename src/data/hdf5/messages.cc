#include "hdf5/messages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "comm/parcel.h"
#include "sabath/error.h"

namespace sabath {
namespace {

void add_hash(Parcel& parcel, const Sha256& hash) {
  parcel.add_raw({reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size});
}

Sha256 hash_in(Parcel::Reader& parcel) {
  std::array<std::uint8_t, Sha256::size> bytes{};
  std::memcpy(bytes.data(), parcel.raw(Sha256::size).data(), bytes.size());
  return Sha256(bytes);
}

// Reads a value of an enumeration that counts from 0 to `last`.
template <typename Enum>
Enum choice_in(Parcel::Reader& parcel, Enum last) {
  const std::uint64_t number = parcel.number();
  if (number > static_cast<std::uint64_t>(last)) throw Error(FailureKind::internal, "a message says what is unknown");
  return static_cast<Enum>(number);
}

void add_options(Parcel& parcel, const SelectOptions& options) {
  parcel.add(static_cast<std::uint64_t>(options.filter)).add(std::uint64_t{options.blocks.size()});
  for (const std::uint64_t extent : options.blocks) parcel.add(extent);
  parcel.add(std::uint64_t{options.blocks_as_groups}).add(options.part).add(options.parts);
  parcel.add(std::uint64_t{options.rest}).add(std::uint64_t{options.source_digest.has_value()});
  if (options.source_digest) {
    parcel.add(options.source_digest->size_bytes);
    add_hash(parcel, options.source_digest->hash);
  }
  parcel.add(std::uint64_t{options.sync}).add(options.unfinished.native()).add(options.buffer_bytes);
}

SelectOptions options_in(Parcel::Reader& parcel) {
  SelectOptions options;
  options.filter = choice_in(parcel, SelectOptions::Filter::keep);
  for (std::uint64_t left = parcel.number(); left > 0; --left) options.blocks.push_back(parcel.number());
  options.blocks_as_groups = parcel.flag();
  options.part = parcel.number();
  options.parts = parcel.number();
  options.rest = parcel.flag();
  if (parcel.flag()) {
    const std::uint64_t size_bytes = parcel.number();
    options.source_digest = Digest{ContentKind::file, size_bytes, hash_in(parcel)};
  }
  options.sync = parcel.flag();
  options.unfinished = parcel.text();
  options.buffer_bytes = parcel.number();
  return options;
}

}  // namespace

std::string Hdf5Request::encode() const {
  Parcel parcel;
  parcel.add(static_cast<std::uint64_t>(what)).add(file.native()).add(std::uint64_t{objects});
  parcel.add(std::uint64_t{selections.size()});
  for (const Hyperslab& selection : selections) parcel.add(format_selection(selection));
  parcel.add(out.native()).add(offset);
  add_options(parcel, options);
  return parcel.take();
}

Hdf5Request Hdf5Request::parse(std::string_view bytes) {
  Parcel::Reader parcel(bytes);
  Hdf5Request request;
  request.what = choice_in(parcel, What::extract);
  request.file = parcel.text();
  request.objects = parcel.flag();
  for (std::uint64_t left = parcel.number(); left > 0; --left) {
    request.selections.push_back(parse_selection(parcel.text()));
  }
  request.out = parcel.text();
  request.offset = parcel.number();
  request.options = options_in(parcel);
  return request;
}

std::string encode_hash(const LogicalHash& hash) {
  Parcel parcel;
  add_hash(parcel, hash.hash);
  parcel.add(hash.bytes);
  for (const ObjectHash& object : hash.objects) {
    parcel.add(object.path).add(static_cast<std::uint64_t>(object.kind)).add(object.bytes);
    add_hash(parcel, object.hash);
  }
  return parcel.take();
}

LogicalHash parse_hash(std::string_view bytes) {
  Parcel::Reader parcel(bytes);
  LogicalHash hash;
  hash.hash = hash_in(parcel);
  hash.bytes = parcel.number();
  while (!parcel.at_end()) {
    ObjectHash object;
    object.path = parcel.text();
    object.kind = static_cast<char>(parcel.number());
    object.bytes = parcel.number();
    object.hash = hash_in(parcel);
    hash.objects.push_back(std::move(object));
  }
  return hash;
}

std::string encode_selected(const SelectedFile& made) {
  Parcel parcel;
  parcel.add(made.bytes_read).add(made.bytes_selected).add(made.bytes_written);
  parcel.add(std::bit_cast<std::uint64_t>(made.seconds)).add(std::uint64_t{made.files.size()});
  for (const auto& file : made.files) parcel.add(file.native());
  for (const std::string& left : made.left_out) parcel.add(left);
  return parcel.take();
}

SelectedFile parse_selected(std::string_view bytes) {
  Parcel::Reader parcel(bytes);
  SelectedFile made;
  made.bytes_read = parcel.number();
  made.bytes_selected = parcel.number();
  made.bytes_written = parcel.number();
  made.seconds = std::bit_cast<double>(parcel.number());
  for (std::uint64_t left = parcel.number(); left > 0; --left) made.files.emplace_back(parcel.text());
  while (!parcel.at_end()) made.left_out.push_back(parcel.text());
  return made;
}

std::string encode_extracted(const Extracted& made) {
  Parcel parcel;
  parcel.add(made.descr).add(made.bytes);
  for (const std::uint64_t extent : made.shape) parcel.add(extent);
  return parcel.take();
}

Extracted parse_extracted(std::string_view bytes) {
  Parcel::Reader parcel(bytes);
  Extracted made;
  made.descr = parcel.text();
  made.bytes = parcel.number();
  while (!parcel.at_end()) made.shape.push_back(parcel.number());
  return made;
}

}  // namespace sabath
