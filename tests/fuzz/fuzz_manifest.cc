// Manifests from anywhere. Hashes stop a fuzzer at the first byte it changes, so the same input is tried as a manifest
// file, and as the nodes of a manifest whose table and hashes are made right.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/hash.h"
#include "manifest/manifest.h"
#include "manifest/node_file.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t entries_walked_max = 100'000;  // a small input may state many: then it is not worth the time

void read_all(const std::string& bytes) {
  const Manifest manifest = Manifest::parse(bytes);
  const Totals totals = manifest.totals();
  if (totals.files + totals.directories + totals.symlinks > entries_walked_max) return;
  manifest.for_each([&](const Entry& entry) {
    const auto found = manifest.find(entry.path);
    if (!found || found->digest != entry.digest || found->target != entry.target) std::abort();
  });
  manifest.check();
  ManifestBuilder builder;
  builder.add_all(manifest, nullptr);
  if (const std::string note = manifest.note(); !note.empty()) builder.set_note(note);
  if (builder.bytes() != bytes) std::abort();  // what passes the check is what a builder writes
  diff(manifest, Manifest::parse(ManifestBuilder().bytes()), [](const Difference& difference) {
    if (difference.kind != Difference::Kind::removed) std::abort();
  });
}

template <typename Act>
void refusing(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) std::abort();
  }
}

// Nodes: u16 length, bytes. 32 bytes that are 0xff 29 times, then a number, stand for the hash of an earlier node.
std::string repaired(std::string_view input) {
  std::string bytes;
  NodeFileWriter pack([&](std::string_view more) { bytes += more; });
  const std::string mark(29, '\xff');
  std::vector<Sha256> hashes{Sha256()};
  for (wire::Reader in(input); in.left() >= 2;) {
    const std::size_t length = in.get<std::uint16_t>();
    std::string node(in.take(std::min(length, in.left())));
    for (std::size_t at = 0; (at = node.find(mark, at)) != std::string::npos && at + Sha256::size <= node.size();) {
      std::string hash;
      wire::put_hash(hash, hashes[static_cast<std::uint8_t>(node[at + 31]) % hashes.size()]);
      at = node.replace(at, hash.size(), hash).find(hash, at) + hash.size();
    }
    hashes.push_back(pack.put(node));
  }
  pack.finish(hashes.back(), {});
  return bytes;
}

}  // namespace
}  // namespace sabath

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  sabath::refusing([&] { sabath::read_all(std::string(input)); });
  sabath::refusing([&] { sabath::read_all(sabath::repaired(input)); });
  return 0;
}
