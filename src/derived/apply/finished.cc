#include "apply/finished.h"

#include <cstring>

#include "base/hash.h"
#include "comm/parcel.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view head = "sabath finished 1\n";

std::string_view raw(const Sha256& hash) { return {reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size}; }

Sha256 hash_in(Parcel::Reader& parcel) {
  std::array<std::uint8_t, Sha256::size> bytes{};
  std::memcpy(bytes.data(), parcel.raw(bytes.size()).data(), bytes.size());
  return Sha256(bytes);
}

Output output_in(Parcel::Reader& parcel) {
  RelativePath path = RelativePath::parse(parcel.text());
  const bool executable = parcel.flag();
  const std::uint64_t size = parcel.number();
  const Sha256 hash = hash_in(parcel);
  FileTree tree{{ContentKind::file, size, hash}, {}};
  for (std::uint64_t left = chunk_count(size); left > 0; --left) tree.chunks.push_back(hash_in(parcel));
  if (digest_of_chunks(size, tree.chunks) != tree.digest) throw Error(FailureKind::invalid, "its chunks are others'");
  return {std::move(path), std::move(tree), executable};
}

}  // namespace

std::string encode_note(const std::vector<Output>& outputs) {
  Parcel parcel;
  parcel.add(std::uint64_t{outputs.size()});
  for (const Output& output : outputs) {
    parcel.add(output.path.text()).add(std::uint64_t{output.executable}).add(output.tree.digest.size_bytes);
    parcel.add_raw(raw(output.tree.digest.hash));
    for (const Sha256& chunk : output.tree.chunks) parcel.add_raw(raw(chunk));
  }
  std::string body = parcel.take();
  const Sha256 sum = sha256(body);
  return std::string(head) + std::string(raw(sum)) + body;
}

std::optional<std::vector<Output>> try_decode_note(std::string_view bytes) {
  if (!bytes.starts_with(head) || bytes.size() < head.size() + Sha256::size) return std::nullopt;
  const std::string_view body = bytes.substr(head.size() + Sha256::size);
  const Sha256 sum = sha256(body);
  if (bytes.substr(head.size(), Sha256::size) != raw(sum)) return std::nullopt;
  try {
    Parcel::Reader parcel(body);
    std::vector<Output> outputs;
    for (std::uint64_t left = parcel.number(); left > 0; --left) outputs.push_back(output_in(parcel));
    if (!parcel.at_end()) return std::nullopt;
    return outputs;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sabath
