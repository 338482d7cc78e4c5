#include "memory_origin.h"

#include <algorithm>
#include <span>
#include <thread>

namespace sabath::test {

void MemoryOrigin::put(const std::string& url, Behaviour behaviour) {
  const std::lock_guard lock(mutex_);
  sources_[url].behaviour = std::move(behaviour);
}

std::vector<MemoryRead> MemoryOrigin::reads(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  return sources_.at(url).reads;
}

std::uint64_t MemoryOrigin::sent(const std::string& url) const {
  std::uint64_t sum = 0;
  for (const auto& read : reads(url)) sum += read.sent;
  return sum;
}

std::uint64_t MemoryOrigin::sent() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [url, source] : sources_) {
    for (const auto& read : source.reads) sum += read.sent;
  }
  return sum;
}

Fetcher* MemoryOrigin::find(std::string_view scheme) const {
  return scheme == "none" ? nullptr : const_cast<MemoryOrigin*>(this);
}

Behaviour MemoryOrigin::begin_read(const ReadRequest& request, std::size_t& number) {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(request.url.text());
  if (found == sources_.end()) throw Error(FailureKind::unavailable, "no such source: " + request.url.text());
  auto& [behaviour, reads] = found->second;
  number = reads.size();
  reads.push_back({request.offset, request.length, request.expected, 0});
  if (behaviour.on_read) behaviour.on_read(behaviour);
  Behaviour now = behaviour;
  now.on_read = nullptr;
  if (now.refusal && now.refusal_times == 0) now.refusal.reset();
  if (now.refusal && behaviour.refusal_times != UINT32_MAX) --behaviour.refusal_times;
  if (now.break_times == 0) now.break_after = Behaviour::never;
  if (now.break_after != Behaviour::never && behaviour.break_times != UINT32_MAX) --behaviour.break_times;
  return now;
}

void MemoryOrigin::read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) {
  std::size_t number = 0;
  ++traffic.requests;
  const Behaviour source = begin_read(request, number);
  if (source.refusal) throw Error(*source.refusal);
  const Validators validators{source.etag, ""};
  if (!request.expected.empty() && request.expected != validators) throw Error(FailureKind::changed, "another version");
  if (!source.ranges && request.offset > 0) throw Error(FailureKind::no_ranges, "the range was ignored");
  const std::uint64_t size = source.bytes.get().size();
  if (request.offset > size) throw Error(FailureKind::unavailable, "it ends before the offset");
  sink.begin({source.size_known ? std::optional(size) : std::nullopt, source.ranges, validators, source.content_type,
              request.url.text()});
  const std::uint64_t end = request.offset + std::min(request.length.value_or(size), size - request.offset);
  for (std::uint64_t at = request.offset, sent = 0; at < end;) {
    if (source.pause.count() > 0) std::this_thread::sleep_for(source.pause);
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    if (sent >= source.break_after) throw Error(FailureKind::network, "the connection broke");
    const auto length = std::min({end - at, std::uint64_t{source.piece_size}, source.break_after - sent});
    std::string piece = source.bytes.get().substr(at, length);
    if (source.flip_at >= at && source.flip_at < at + length) piece[source.flip_at - at] ^= 1;
    traffic.bytes += length;
    {
      const std::lock_guard lock(mutex_);
      sources_.at(request.url.text()).reads[number].sent += length;
    }
    sink.write(std::as_bytes(std::span(piece)));
    at += length;
    sent += length;
  }
}

}  // namespace sabath::test
