#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/sha256/sha256_choice.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

void require(bool ok, std::string_view what) {
  if (!ok)
    throw Error(FailureKind::internal, fmt::format("OpenSSL: {} failed", what), "check the OpenSSL installation");
}

EVP_MD_CTX* as_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

// What OPENSSL_ia32cap hides of the processor; OpenSSL 1.1.1 does not say.
const char* cpu_settings() {
#ifdef OPENSSL_INFO_CPU_SETTINGS
  return OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
#else
  return nullptr;
#endif
}

Sha256Candidates candidates_here() {
  const Sha256Cpu cpu = sha256_cpu(sha256_features_shown(cpu_settings()));
  return {.stream = [](std::span<const std::byte> bytes, Sha256& hash) { hash = sha256(bytes); },
          .kernels = sha256_kernels(cpu),
          .alongs = sha256_alongs(cpu)};
}

// "avx2": that kernel for all messages; "avx2+stream": also for a stream with its pieces; "openssl": none.
Sha256Choice forced_choice(const Sha256Candidates& candidates, std::string_view name) {
  if (name == candidates.stream_name) return {};
  const auto along = std::ranges::find(candidates.alongs, name, &Sha256Along::name);
  const auto kernel = std::ranges::find(candidates.kernels, name.substr(0, name.find('+')), &Sha256Kernel::name);
  const bool known = kernel != candidates.kernels.end() && (kernel->name == name || along != candidates.alongs.end());
  if (known) return {*kernel, along == candidates.alongs.end() ? Sha256Along{} : *along};
  std::string names = fmt::format("auto, {}", candidates.stream_name);
  for (const auto& each : candidates.kernels) names += fmt::format(", {}", each.name);
  for (const auto& each : candidates.alongs) names += fmt::format(", {}", each.name);
  throw Error(FailureKind::usage, fmt::format("this processor has no hash kernel '{}'", printable(name)),
              fmt::format("it has {}", names));
}

// The choice of this process: forced, or measured once there is enough to hash that it pays. Thread-safe.
class ChoiceHere {
 public:
  void force(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (name != "auto") make({forced_choice(candidates_here(), name), std::nullopt});
  }
  struct Made {
    Sha256Choice choice;
    std::optional<Sha256Timings> timings;  // none: it was forced
  };
  const Made& made() {
    if (const Made* made = last_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (last_ == nullptr) {
      const Sha256Candidates candidates = candidates_here();
      Sha256Timings timings = time_sha256(candidates);
      const Sha256Choice choice(candidates, timings, std::thread::hardware_concurrency());
      make({choice, std::move(timings)});
    }
    return *last_;
  }
  // For a job of `bytes` bytes.
  const Sha256Choice& at_hand(std::size_t bytes) {
    constexpr std::size_t worth_it = std::size_t{1} << 20;  // the measuring takes as long as hashing ten of these
    static const Sha256Choice stream_only;
    if (last_.load(std::memory_order_acquire) == nullptr && (seen_ += bytes) < worth_it) return stream_only;
    return made().choice;
  }

 private:
  void make(Made made) {
    all_.push_back(std::make_unique<const Made>(std::move(made)));
    last_.store(all_.back().get(), std::memory_order_release);
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Made>> all_;  // another thread may still use an earlier one
  std::atomic<const Made*> last_ = nullptr;
  std::atomic<std::size_t> seen_ = 0;
};

ChoiceHere& choice_here() {
  static ChoiceHere here;
  return here;
}

using Messages = std::array<const std::byte*, 64>;

void hash_side_by_side(std::span<const std::byte* const> messages, std::size_t size_bytes, std::span<Sha256> hashes) {
  const std::size_t done = choice_here().at_hand(messages.size() * size_bytes).hash(messages, size_bytes, hashes);
  for (std::size_t i = done; i < messages.size(); ++i) hashes[i] = sha256({messages[i], size_bytes});
}

SHA256_CTX* as_sha256(void* context) { return static_cast<SHA256_CTX*>(context); }

}  // namespace

void force_hash_kernel(std::string_view name) { choice_here().force(name); }

HashKernels hash_kernels() {
  const auto& [choice, measured] = choice_here().made();
  const Sha256Timings timings = measured ? *measured : time_sha256(candidates_here());
  HashKernels result;
  const auto& widest = choice.kernel_for(leaves_per_chunk);
  result.pieces = widest.lanes == 0 ? Sha256Candidates::stream_name : widest.name;
  result.with_stream = choice.along().name;
  const auto add = [&](const Sha256Timing& timing) {
    if (!timing.wrong) result.bytes_per_second.emplace_back(timing.name, 1 / timing.seconds_per_byte);
    if (timing.wrong) result.wrong.emplace_back(timing.name);
  };
  add(timings.stream);
  for (const auto& timing : timings.kernels) add(timing);
  for (const auto& timing : timings.alongs) add(timing);
  return result;
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
  if (whole < hashes.size()) hashes.back() = sha256(bytes.subspan(whole * piece_size));
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
  const EVP_MD* const found = EVP_get_digestbyname(algorithm);
  if (!context_ || !found || EVP_DigestInit_ex(as_context(context_.get()), found, nullptr) != 1) {
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
  require(EVP_MD_CTX_size(as_context(context_.get())) == static_cast<int>(Sha256::size), "a 32-byte hash");
  std::array<std::uint8_t, Sha256::size> result{};
  require(EVP_DigestFinal_ex(as_context(context_.get()), result.data(), nullptr) == 1, "EVP_DigestFinal_ex");
  return Sha256(result);
}

// OpenSSL's older functions. Behind EVP the state, which goes to and fro between its code and ours, is out of reach.
// And EVP first reads OpenSSL's tables and configuration, which takes half of the time that a look-up in a store needs.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Sha256 sha256(std::span<const std::byte> bytes) {
  std::array<std::uint8_t, Sha256::size> result{};
  SHA256_CTX context;
  require(SHA256_Init(&context) == 1 && SHA256_Update(&context, bytes.data(), bytes.size()) == 1 &&
              SHA256_Final(result.data(), &context) == 1,
          "SHA-256");
  return Sha256(result);
}

StreamSha256::StreamSha256() : context_(new SHA256_CTX) {
  require(SHA256_Init(as_sha256(context_.get())) == 1, "SHA256_Init");
}

void StreamSha256::Free::operator()(void* context) const noexcept { delete as_sha256(context); }

bool StreamSha256::takes_pieces_along() { return choice_here().made().choice.along().pieces != 0; }

void StreamSha256::update(std::span<const std::byte> bytes) {
  require(SHA256_Update(as_sha256(context_.get()), bytes.data(), bytes.size()) == 1, "SHA256_Update");
}

void StreamSha256::update(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes) {
  SHA256_CTX& context = *as_sha256(context_.get());
  if (context.num == 0) {  // between two blocks
    const std::size_t done = choice_here().at_hand(bytes.size()).hash_along(context.h, bytes, piece_size, hashes);
    const std::uint64_t bits = (std::uint64_t{context.Nh} << 32 | context.Nl) + done * piece_size * 8;
    context.Nl = static_cast<SHA_LONG>(bits);
    context.Nh = static_cast<SHA_LONG>(bits >> 32);
    bytes = bytes.subspan(done * piece_size);
    hashes = hashes.subspan(done);
  }
  sha256_pieces(bytes, piece_size, hashes);
  update(bytes);
}

Sha256 StreamSha256::finish() {
  std::array<std::uint8_t, Sha256::size> result{};
  require(SHA256_Final(result.data(), as_sha256(context_.get())) == 1, "SHA256_Final");
  return Sha256(result);
}
#pragma GCC diagnostic pop

StreamHash git_blob_hash(std::uint64_t size_bytes) {
  StreamHash hash("sha1");
  const std::string head = fmt::format("blob {}", size_bytes) + '\0';
  hash.update(std::as_bytes(std::span(head)));
  return hash;
}

ChecksumSet::ChecksumSet(const Checksums& expected, std::optional<std::uint64_t> size_bytes)
    : expected_(expected), sha256_(expected.sha256.empty() ? nullptr : std::make_unique<StreamSha256>()) {
  for (const ChecksumAlgorithm& each : checksum_algorithms) {
    const bool other = each.value != &Checksums::sha256 && !(expected.*each.value).empty();
    if (other) others_.emplace_back(&each, StreamHash(each.name.data()));
  }
  if (size_bytes && !expected.git.empty()) others_.emplace_back(&git_blob, git_blob_hash(*size_bytes));
}

void ChecksumSet::update(std::span<const std::byte> bytes) {
  update_others(bytes);
  if (sha256_) sha256_->update(bytes);
}

void ChecksumSet::update(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes) {
  update_others(bytes);
  sha256_ ? sha256_->update(bytes, piece_size, hashes) : sha256_pieces(bytes, piece_size, hashes);
}

void ChecksumSet::update_others(std::span<const std::byte> bytes) {
  for (auto& [algorithm, hash] : others_) hash.update(bytes);
}

Checksums ChecksumSet::finish_and_compare(std::string_view what, SaidBy by) {
  const auto compare = [&](std::string_view algorithm, std::string computed, const std::string& expected) {
    if (computed == expected) return computed;
    if (by == SaidBy::source) {
      throw Error(FailureKind::content,
                  fmt::format("{}: its {} is {}, its source says {}", what, algorithm, computed, expected),
                  "the bytes were changed on their way or at the source: try again, or use another mirror");
    }
    throw Error(FailureKind::content,
                fmt::format("{}: its {} is {}, published is {}", what, algorithm, computed, expected),
                "the source serves other bytes than the recipe describes: try another mirror, or ask the publisher");
  };
  Checksums computed;  // the strongest first: a failure names that one
  if (sha256_) computed.sha256 = compare("sha256", sha256_->finish().hex(), expected_.sha256);
  for (auto& [algorithm, hash] : others_)
    computed.*algorithm->value = compare(algorithm->name, hash.finish_hex(), expected_.*algorithm->value);
  return computed;
}

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace sabath
