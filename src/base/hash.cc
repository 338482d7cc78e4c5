#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "base/sha256_lanes.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

void require(bool ok, std::string_view what) {
  if (!ok)
    throw Error(FailureKind::internal, fmt::format("OpenSSL: {} failed", what), "check the OpenSSL installation");
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

// Looking an algorithm up takes longer than hashing a small node, so it is done once, and each thread keeps a context.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(algorithm != nullptr, "fetch of SHA256");
  return algorithm;
}

void sha256_into(EVP_MD_CTX* context, std::span<const std::byte> bytes, Sha256& hash) {
  std::array<std::uint8_t, Sha256::size> result{};
  require(EVP_DigestInit_ex2(context, sha256_algorithm(), nullptr) == 1 &&
              EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
              EVP_DigestFinal_ex(context, result.data(), nullptr) == 1,
          "SHA-256");
  hash = Sha256(result);
}

EVP_MD_CTX* thread_context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  require(context != nullptr, "EVP_MD_CTX_new");
  return context.get();
}

EVP_MD_CTX* as_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

using Messages = std::array<const std::byte*, 64>;

void hash_side_by_side(std::span<const std::byte* const> messages, std::size_t size_bytes, std::span<Sha256> hashes) {
  static const Sha256Plan plan = sha256_plan(sha256_cpu());
  const std::size_t done = sha256_in_lanes(plan, messages, size_bytes, hashes);
  if (done == messages.size()) return;
  EVP_MD_CTX* const context = thread_context();
  for (std::size_t i = done; i < messages.size(); ++i) sha256_into(context, {messages[i], size_bytes}, hashes[i]);
}

std::unique_ptr<StreamHash> make_if(bool wanted, const char* algorithm) {
  return wanted ? std::make_unique<StreamHash>(algorithm) : nullptr;
}

}  // namespace

Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  sha256_into(thread_context(), bytes, hash);
  return hash;
}

void sha256_pieces(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes) {
  if (hashes.empty()) return;
  const std::size_t whole = bytes.size() / piece_size;
  for (std::size_t done = 0; done < whole;) {
    Messages messages;
    const std::size_t count = std::min(messages.size(), whole - done);
    for (std::size_t i = 0; i < count; ++i) messages[i] = bytes.data() + (done + i) * piece_size;
    hash_side_by_side(std::span(messages).first(count), piece_size, hashes.subspan(done, count));
    done += count;
  }
  if (whole < hashes.size()) sha256_into(thread_context(), bytes.subspan(whole * piece_size), hashes.back());
}

void sha256_each(std::span<const std::span<const std::byte>> messages, std::span<Sha256> hashes) {
  for (std::size_t done = 0; done < messages.size();) {
    Messages equal;
    const std::size_t size_bytes = messages[done].size();
    std::size_t count = 0;
    while (count < equal.size() && done + count < messages.size() && messages[done + count].size() == size_bytes) {
      equal[count] = messages[done + count].data();
      ++count;
    }
    hash_side_by_side(std::span(equal).first(count), size_bytes, hashes.subspan(done, count));
    done += count;
  }
}

void StreamHash::Free::operator()(void* context) const noexcept { EVP_MD_CTX_free(as_context(context)); }

StreamHash::StreamHash(const char* algorithm) : context_(EVP_MD_CTX_new()) {
  EVP_MD* const found = EVP_MD_fetch(nullptr, algorithm, nullptr);
  const bool ok = context_ && found && EVP_DigestInit_ex2(as_context(context_.get()), found, nullptr) == 1;
  EVP_MD_free(found);  // the context holds its own reference
  if (!ok) {
    throw Error(FailureKind::internal, fmt::format("OpenSSL offers no {}", algorithm),
                "a FIPS configuration may forbid it; allow it, or use a recipe that publishes sha256");
  }
}

void StreamHash::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(as_context(context_.get()), bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

std::string StreamHash::finish_hex() {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> result{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(as_context(context_.get()), result.data(), &size) == 1, "EVP_DigestFinal_ex");
  return to_hex(std::span(result).first(size));
}

Sha256 StreamHash::finish_sha256() {
  require(EVP_MD_CTX_get_size(as_context(context_.get())) == static_cast<int>(Sha256::size), "a 32-byte hash");
  std::array<std::uint8_t, Sha256::size> result{};
  require(EVP_DigestFinal_ex(as_context(context_.get()), result.data(), nullptr) == 1, "EVP_DigestFinal_ex");
  return Sha256(result);
}

ChecksumSet::ChecksumSet(const Checksums& expected)
    : expected_(expected),
      md5_(make_if(!expected.md5.empty(), "md5")),
      sha1_(make_if(!expected.sha1.empty(), "sha1")),
      sha256_(make_if(!expected.sha256.empty(), "sha256")) {}

void ChecksumSet::update(std::span<const std::byte> bytes) {
  for (StreamHash* hash : {md5_.get(), sha1_.get(), sha256_.get()}) {
    if (hash) hash->update(bytes);
  }
}

Checksums ChecksumSet::finish_and_compare(std::string_view what) {
  const auto finish = [&](StreamHash* hash, std::string_view algorithm, const std::string& expected) {
    std::string computed = hash ? hash->finish_hex() : std::string();
    if (computed == expected) return computed;
    throw Error(FailureKind::content,
                fmt::format("{}: its {} is {}, published is {}", what, algorithm, computed, expected),
                "the source serves other bytes than the recipe describes: try another mirror, or ask the publisher");
  };
  Checksums computed;  // the strongest first: it is the one to tell of
  computed.sha256 = finish(sha256_.get(), "sha256", expected_.sha256);
  computed.sha1 = finish(sha1_.get(), "sha1", expected_.sha1);
  computed.md5 = finish(md5_.get(), "md5", expected_.md5);
  return computed;
}

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace sabath
