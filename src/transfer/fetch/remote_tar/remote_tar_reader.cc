#include "fetch/remote_tar/remote_tar_reader.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/threads.h"
#include "fetch/decide/retry.h"
#include "fetch/hosts/guarded_sink.h"
#include "fetch/remote_tar/remote_tar_header.h"

namespace sabath {
namespace {

constexpr std::size_t first_window = 16 * 1024;
constexpr std::size_t header_window = 4 * 1024;  // a header, and a pax header before it
constexpr std::size_t dense_window_max = 1 << 20;
constexpr std::size_t stream_window_max = 4 << 20;
constexpr std::size_t growth = 4;
constexpr std::uint64_t small_stride = 512 * 1024;  // members up to here are rather read than jumped over ...
constexpr std::uint64_t dense_stride = 64 * 1024;   // ... and up to here even if they are not wanted
constexpr std::uint64_t kept_max = 32ULL << 20;
constexpr unsigned readers_default = 8;  // where the number of lanes is left to us
constexpr unsigned ahead_max = 64;

std::uint64_t product(std::uint64_t a, std::uint64_t b) {  // or the most there is
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

}  // namespace

WindowPlan next_window(const WalkState& s) noexcept {
  if (s.last_length == 0) return {s.position, first_window};
  const bool near = s.position >= s.read_to && s.position - s.read_to <= small_stride;
  if (s.stream && s.stride <= small_stride) {
    // No more than what is wanted, as far as one can tell, but enough to grow by.
    const std::uint64_t begin = near ? s.read_to : s.position;
    const std::uint64_t need = product(s.stride, s.wanted);
    const std::uint64_t wanted = need == UINT64_MAX ? need : need + (s.position - begin) + header_window;
    const std::uint64_t grown = std::clamp<std::uint64_t>(growth * s.last_length, first_window, stream_window_max);
    return {begin, static_cast<std::size_t>(std::min(wanted, grown))};
  }
  const bool dense = s.stride <= (s.even ? header_window : dense_stride);
  if (dense) return {s.position, std::clamp(growth * s.last_length, first_window, dense_window_max)};
  return {s.position, header_window};
}

RemoteTarReader::RemoteTarReader(FetchContext& context, std::string name, const Url& url)
    : context_(context), name_(std::move(name)), url_(url), line_(context.ledger.line(url.display())) {}

void RemoteTarReader::open(std::optional<std::uint64_t> size_expected) {
  size_expected_ = size_expected;
  const WindowPlan plan = next_window(state_);
  auto bytes = read_range(0, plan.length, attempts_max);
  opened_ = true;
  if (const char* packed = packed_as(bytes)) {
    throw Error(FailureKind::usage,
                fmt::format("{} is packed ({}): only of a plain tar can members be fetched one by one", name_, packed),
                fetch_it_whole());
  }
  state_.last_length = plan.length;
  state_.read_to = bytes.size();
  ahead_windows_[0] = std::move(bytes);
}

void RemoteTarReader::open(std::uint64_t size_bytes, const Validators& version) {
  size_ = size_bytes;
  version_ = version;
  opened_ = true;
}

// One range, asked for again while that may help. The first answer says what the source is; all others must agree.
std::vector<std::byte> RemoteTarReader::read_range(std::uint64_t offset, std::size_t length, unsigned attempts) {
  for (unsigned failures = 0;;) {
    std::vector<std::byte> bytes;
    bytes.reserve(length);
    GuardedSink sink(
        context_, line_, url_, std::nullopt,
        [&](const ContentInfo& info) {
          if (opened_ && info.size_bytes && *info.size_bytes != size_)
            throw Error(FailureKind::changed, fmt::format("{} has another length than before", name_));
          if (opened_) return;
          if (!info.ranges || !info.size_bytes) {
            throw Error(FailureKind::unavailable,
                        fmt::format("{} gives no byte ranges: members of {} cannot be fetched one by one",
                                    url_.display(), name_),
                        fetch_it_whole());
          }
          if (size_expected_ && *size_expected_ != *info.size_bytes) {
            throw Error(FailureKind::content,
                        fmt::format("{} is {} bytes long, and {} were expected", url_.display(), *info.size_bytes,
                                    *size_expected_),
                        "the recipe is out of date or the source is another file: compare them, then mend the recipe");
          }
          size_ = *info.size_bytes;
          version_ = info.validators;
        },
        [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
    try {
      read_source(context_, {url_, offset, length, opened_ ? version_ : Validators{}}, line_, sink);
      const std::uint64_t whole = std::min<std::uint64_t>(length, size_ - std::min(size_, offset));
      if (bytes.size() < whole) throw Error(FailureKind::network, fmt::format("{} ended early", url_.display()));
      line_.succeeded();
      return bytes;
    } catch (const Error& error) {
      const Failure& failure = error.failure();
      const bool again =
          verdict(failure.kind) == Verdict::again && failure.kind != FailureKind::changed && !asks_for_later(failure);
      if (verdict(failure.kind) != Verdict::fatal) line_.failed(failure, failure.kind == FailureKind::content);
      if (!again || ++failures >= attempts) throw;
      line_.tell_pause(url_.host(), failure);
      if (!sleep_unless_stopped(pause_after(failures, failure.retry_after, 0.5), context_.stop))
        throw Error(FailureKind::interrupted, "stopped");
    }
  }
}

void RemoteTarReader::expect(std::uint64_t position, std::uint64_t wanted, bool stream) {
  if (position > state_.position) {
    const std::uint64_t stride = position - state_.position;
    state_.even = stride == state_.stride;
    state_.stride = stride;
  }
  state_.position = position;
  state_.wanted = wanted;
  state_.stream = stream && kept_ < kept_max;
  pass_windows(stream);
}

// Windows behind the walk are of use only where their content is wanted.
void RemoteTarReader::pass_windows(bool keep) {
  while (!ahead_windows_.empty()) {
    auto node = ahead_windows_.extract(ahead_windows_.begin());
    const std::size_t length = node.mapped().size();
    if (node.key() + length > state_.position) {
      ahead_windows_.insert(std::move(node));
      return;
    }
    if (!keep || length <= header_window || kept_ + length > kept_max + stream_window_max) continue;
    kept_ += length;
    kept_windows_.insert(std::move(node));
  }
}

std::span<const std::byte> RemoteTarReader::at(std::uint64_t offset, std::size_t length) {
  if (auto bytes = try_copy(offset, length)) {
    joined_ = std::move(*bytes);
    return joined_;
  }
  WindowPlan plan = next_window(state_);
  // Only the way to the next header is planned; what belongs to it, and did not fit, is read as it is asked for.
  if (offset != state_.position) plan.begin = offset;
  if (plan.length == header_window && offset == state_.position && read_ahead(offset)) {
    if (auto bytes = try_copy(offset, length)) {
      joined_ = std::move(*bytes);
      return joined_;
    }
  }
  const std::uint64_t skip = offset - plan.begin;
  const std::uint64_t most = size_ - plan.begin;
  const auto window = static_cast<std::size_t>(std::min(most, std::max<std::uint64_t>(plan.length, skip + length)));
  auto bytes = read_range(plan.begin, window, attempts_max);
  state_.last_length = plan.length;
  state_.read_to = plan.begin + window;
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(skip);
  joined_.assign(from, from + static_cast<std::ptrdiff_t>(length));
  ahead_windows_[plan.begin] = std::move(bytes);
  return joined_;
}

// Members of one size have their headers at one distance. What is wrong about that costs small reads; more are made
// each time that it was right. A read that fails is made again when its bytes are asked for.
bool RemoteTarReader::read_ahead(std::uint64_t position) {
  ahead_ = state_.even ? std::min(2 * ahead_, ahead_max) : 1;
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(ahead_, state_.wanted));
  if (count < 2) return false;
  const std::uint64_t stride = state_.stride;
  std::mutex mutex;
  std::uint64_t next = position;
  unsigned left = count;
  const auto read = [&] {
    for (;;) {
      std::uint64_t offset = 0;
      {
        const std::lock_guard lock(mutex);
        if (left == 0 || next >= size_) return;
        --left;
        offset = std::exchange(next, next > UINT64_MAX - stride ? UINT64_MAX : next + stride);
      }
      try {
        auto bytes = read_range(offset, header_window, 1);
        const std::lock_guard lock(mutex);
        ahead_windows_[offset] = std::move(bytes);
      } catch (const Error&) {
        return;
      }
    }
  };
  {
    std::vector<std::jthread> readers;
    const auto most = std::min(count, context_.lanes == 0 ? readers_default : context_.lanes);
    for (unsigned i = 1; i < most && try_add_thread(readers, read); ++i) {}
    read();
  }
  state_.last_length = header_window;
  state_.read_to = position + header_window;
  return true;
}

std::optional<std::vector<std::byte>> RemoteTarReader::try_copy(std::uint64_t offset, std::uint64_t length) const {
  std::vector<std::byte> bytes;
  while (bytes.size() < length) {
    const std::uint64_t at = offset + bytes.size();
    bool found = false;
    for (const auto* windows : {&ahead_windows_, &kept_windows_}) {
      auto window = windows->upper_bound(at);
      if (window == windows->begin()) continue;
      --window;
      const std::uint64_t skip = at - window->first;
      if (skip >= window->second.size()) continue;
      const auto take = std::min<std::uint64_t>(length - bytes.size(), window->second.size() - skip);
      const auto from = window->second.begin() + static_cast<std::ptrdiff_t>(skip);
      bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(take));
      found = true;
      break;
    }
    if (!found) return std::nullopt;
  }
  return bytes;
}

}  // namespace sabath
