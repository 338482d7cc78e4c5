#include "base/sha256/sha256_choice.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace sabath {
namespace {

// The last and longest rounds measure a kernel's speed; the first ones tell whether to go on with it: a kernel of 6
// MB/s needs 3 ms for the first.
constexpr std::array<std::size_t, 4> round_sizes{512, 2048, 8192, 8192};  // bytes of a message
constexpr std::size_t messages = 32;                                      // the widest kernel's
constexpr int tries = 2;                                                  // in a round; the better one counts
constexpr double hopeless = 4;                                            // times slower than the quickest

// Times everything in turn, so that all meet the same machine.
class Trial {
 public:
  explicit Trial(const Sha256Candidates& candidates) : candidates_(candidates), bytes_(messages * leaf_size_bytes) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(i * 2'654'435'761U >> 24);
    timings_.stream.name = Sha256Candidates::stream_name;
    for (const auto& kernel : candidates.kernels) timings_.kernels.push_back({kernel.name});
    for (const auto& along : candidates.alongs) timings_.alongs.push_back({along.name});
  }

  Sha256Timings run() {
    std::vector<bool> given_up(timings_.kernels.size()), along_given_up(timings_.alongs.size());
    for (const std::size_t size : round_sizes) {
      size_ = size;
      // As the leaves of a chunk lie, or one after the other.
      for (std::size_t i = 0; i < messages; ++i) {
        at_[i] = bytes_.data() + i * leaf_size_bytes;
        in_a_row_[i] = bytes_.data() + i * size;
      }
      const double stream = time_stream();
      double best = stream;
      for (std::size_t i = 0; i < given_up.size(); ++i) {
        if (given_up[i]) continue;
        const double passed = time_kernel(i);
        best = std::min(best, passed);
        given_up[i] = passed > hopeless * best;
      }
      for (std::size_t i = 0; i < along_given_up.size(); ++i) {
        if (!along_given_up[i]) along_given_up[i] = time_along(i) > hopeless * stream;
      }
    }
    return std::move(timings_);
  }

 private:
  // The time for each byte of all messages.
  template <class Work>
  double time(Sha256Timing& timing, const Work& work) const {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tries; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      best = std::min(best, passed.count() / static_cast<double>(messages * size_));
    }
    if (timing.seconds_per_byte == 0 || best < timing.seconds_per_byte) timing.seconds_per_byte = best;
    return best;
  }

  double time_stream() {
    for (std::size_t i = 0; i < messages; ++i) candidates_.stream({in_a_row_[i], size_}, expected_in_a_row_[i]);
    return time(timings_.stream, [this] {
      for (std::size_t i = 0; i < messages; ++i) candidates_.stream({at_[i], size_}, expected_[i]);
    });
  }

  double time_kernel(std::size_t number) {
    const Sha256Kernel& kernel = candidates_.kernels[number];
    Results results{};
    const double passed = time(timings_.kernels[number], [&] {
      for (std::size_t i = 0; i < messages; i += kernel.lanes) kernel.hash(&at_[i], size_, results[i].data());
    });
    timings_.kernels[number].wrong |= !std::ranges::equal(results, expected_, {}, as_hash);
    return passed;
  }

  double time_along(std::size_t number) {
    const Sha256Along& along = candidates_.alongs[number];
    Results results{};
    const double passed = time(timings_.alongs[number], [&] {
      std::array<std::uint32_t, 8> words{};
      for (std::size_t i = 0; i < messages; i += along.pieces) {
        along.hash(words.data(), in_a_row_[i], size_, results[i].data());
      }
    });
    timings_.alongs[number].wrong |= !std::ranges::equal(results, expected_in_a_row_, {}, as_hash);
    return passed;
  }

  using Result = std::array<std::uint8_t, Sha256::size>;
  using Results = std::array<Result, messages>;
  static Sha256 as_hash(const Result& result) { return Sha256(result); }

  const Sha256Candidates& candidates_;
  std::vector<std::byte> bytes_;
  std::array<const std::byte*, messages> at_{}, in_a_row_{};
  std::array<Sha256, messages> expected_, expected_in_a_row_;
  std::size_t size_ = 0;
  Sha256Timings timings_;
};

// For each byte of the first of `left` messages; a group takes as long with idle lanes.
double seconds_for(const Sha256Kernel& kernel, const Sha256Timing& timing, std::size_t left) {
  if (timing.wrong || timing.seconds_per_byte == 0) return std::numeric_limits<double>::infinity();
  return timing.seconds_per_byte * static_cast<double>(kernel.lanes) /
         static_cast<double>(std::min(left, kernel.lanes));
}

}  // namespace

Sha256Timings time_sha256(const Sha256Candidates& candidates) { return Trial(candidates).run(); }

Sha256Choice::Sha256Choice(const Sha256Candidates& candidates, const Sha256Timings& timings, unsigned cores) {
  double pieces = timings.stream.seconds_per_byte;  // the quickest for a row of them
  for (std::size_t left = 1; left < groups_.size(); ++left) {
    double best = timings.stream.seconds_per_byte;
    for (std::size_t i = 0; i < candidates.kernels.size(); ++i) {
      const double seconds = seconds_for(candidates.kernels[i], timings.kernels[i], left);
      if (seconds >= best) continue;
      best = seconds;
      groups_[left] = candidates.kernels[i];
    }
    pieces = std::min(pieces, best);
  }
  // All wait for the stream, and others can hash the pieces. So it takes them along where that saves a tenth of both,
  // and with more than two cores where it is not slower for it.
  const double stream = timings.stream.seconds_per_byte;
  double best = cores > 2 ? stream * 1.05 : (stream + pieces) * 0.9;
  for (std::size_t i = 0; i < candidates.alongs.size(); ++i) {
    const Sha256Timing& timing = timings.alongs[i];
    if (timing.wrong || timing.seconds_per_byte == 0 || timing.seconds_per_byte >= best) continue;
    best = timing.seconds_per_byte;
    along_ = candidates.alongs[i];
  }
}

Sha256Choice::Sha256Choice(const Sha256Kernel& kernel, const Sha256Along& along) : along_(along) {
  groups_.fill(kernel);
  groups_[0] = {};
}

std::size_t Sha256Choice::hash(std::span<const std::byte* const> messages_to_hash, std::size_t size_bytes,
                               std::span<Sha256> hashes) const noexcept {
  std::size_t done = 0;
  while (done < hashes.size()) {
    const std::size_t left = hashes.size() - done;
    const Sha256Kernel& kernel = kernel_for(left);
    if (kernel.lanes == 0) break;
    const std::size_t group = std::min(left, kernel.lanes);
    std::array<const std::byte*, widest> lanes;
    lanes.fill(messages_to_hash[done]);  // idle lanes repeat the first message
    std::ranges::copy(messages_to_hash.subspan(done, group), lanes.begin());
    std::array<std::array<std::uint8_t, Sha256::size>, widest> results;
    kernel.hash(lanes.data(), size_bytes, results.front().data());
    for (std::size_t i = 0; i < group; ++i) hashes[done + i] = Sha256(results[i]);
    done += group;
  }
  return done;
}

std::size_t Sha256Choice::hash_along(std::uint32_t* words, std::span<const std::byte> bytes, std::size_t piece_size,
                                     std::span<Sha256> hashes) const noexcept {
  constexpr std::size_t most = 16, block_size = 64;
  if (along_.pieces == 0 || piece_size % block_size != 0) return 0;
  std::size_t done = 0;
  for (; (done + along_.pieces) * piece_size <= bytes.size(); done += along_.pieces) {
    std::array<std::array<std::uint8_t, Sha256::size>, most> results;
    along_.hash(words, bytes.data() + done * piece_size, piece_size, results.front().data());
    for (std::size_t i = 0; i < along_.pieces; ++i) hashes[done + i] = Sha256(results[i]);
  }
  return done;
}

}  // namespace sabath
