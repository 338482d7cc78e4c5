#include "stage/exchange.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/agree.h"
#include "stage/workers.h"

namespace sabath {
namespace {

constexpr ExchangeRules rules;

struct Header {  // before the bytes of every message
  std::uint64_t piece;
  std::uint32_t length, missing;
};
constexpr std::size_t header_size = 64;  // what follows stands on a cache line
static_assert(sizeof(Header) <= header_size);

class Buffer {
 public:
  Buffer() : memory_(std::make_unique_for_overwrite<std::byte[]>(header_size + chunk_size_bytes)) {}
  [[nodiscard]] Header header() const {
    Header header;
    std::memcpy(&header, memory_.get(), sizeof header);
    return header;
  }
  void set(const Header& header) { std::memcpy(memory_.get(), &header, sizeof header); }
  [[nodiscard]] std::span<std::byte> room() { return {memory_.get(), header_size + chunk_size_bytes}; }
  [[nodiscard]] std::span<std::byte> payload(std::size_t length) { return {memory_.get() + header_size, length}; }
  [[nodiscard]] std::span<const std::byte> message() const { return {memory_.get(), header_size + header().length}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

// So many buffers, made when first wanted. One returns when the last who uses it lets it go.
class Pool {
 public:
  explicit Pool(std::size_t count) : left_(count) {}
  [[nodiscard]] std::shared_ptr<Buffer> try_take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty() && left_ == 0) return nullptr;
    std::unique_ptr<Buffer> buffer;
    if (free_.empty()) {
      buffer = std::make_unique<Buffer>();
      --left_;
    } else {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
    return {buffer.release(), [this](Buffer* back) {
              const std::lock_guard again(mutex_);
              free_.emplace_back(back);
            }};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> free_;
  std::size_t left_;
};

using Held = std::shared_ptr<Buffer>;

class Exchange {
 public:
  Exchange(Comm& comm, Beat& beat, const Plan& plan, const Tape& tape, const ExchangeWork& work,
           const ExchangeThreads& threads, const std::stop_token& stop);
  ExchangeResult run();

 private:
  struct Sending {
    std::deque<Held> waiting;
    std::deque<std::pair<Held, std::unique_ptr<Comm::Message>>> under_way;
  };
  struct Receiving {
    Pool pool{rules.channel_buffers};
    unsigned from = Comm::any_rank;
    std::size_t to_come = 0;  // not yet asked for
    std::deque<std::pair<Held, std::unique_ptr<Comm::Message>>> under_way;
  };

  bool begin_reads();
  bool receive();
  bool send();
  bool take_done();
  void read(std::size_t piece, const Held& buffer, unsigned worker);
  void got(const Held& buffer, bool verified);
  void begin_write(const Held& buffer, bool verified);
  void fail(Failure failure);
  [[nodiscard]] bool idle() const;

  Comm& comm_;
  Beat& beat_;
  const Plan& plan_;
  const Tape& tape_;
  const ExchangeWork& work_;
  const std::stop_token stop_;

  std::vector<std::size_t> gives_;        // what I read, for others or for me, in order
  std::size_t next_give_ = 0, busy_ = 0;  // tasks that workers have
  Pool read_pool_;
  std::array<Receiving, Plan::channels> receiving_;
  std::map<Hop, Sending> sending_;
  std::atomic<bool> stopping_ = false;
  ExchangeResult result_;

  std::mutex mutex_;  // of what workers tell
  struct Done {
    Held buffer;
    bool read = false, kept = false;
  };
  std::vector<Done> done_;
  std::optional<Failure> failure_;
  std::optional<std::size_t> unreadable_;
  std::uint64_t shared_bytes_ = 0;
  bool refuses_ = false;  // the disk does not take more

  Workers readers_, writers_;  // last: they use all the others
};

Exchange::Exchange(Comm& comm, Beat& beat, const Plan& plan, const Tape& tape, const ExchangeWork& work,
                   const ExchangeThreads& threads, const std::stop_token& stop)
    : comm_(comm),
      beat_(beat),
      plan_(plan),
      tape_(tape),
      work_(work),
      stop_(stop),
      read_pool_(threads.readers + rules.spare_reads),
      readers_(threads.readers),
      writers_(threads.writers) {
  result_.kept = PieceSet(plan.size());
  for (unsigned channel = 0; channel < Plan::channels; ++channel) {
    receiving_[channel].from = plan.sender(channel).value_or(Comm::any_rank);
  }
  for (std::size_t p = 0; p < plan.size(); ++p) {
    if (plan.receives(p)) {
      ++receiving_[plan.channel(p)].to_come;
    } else if (plan.reads(p) || (plan.has(p) && !plan.hops(p).empty())) {
      gives_.push_back(p);
    }
  }
}

void Exchange::fail(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (failure.kind == FailureKind::space || failure.kind == FailureKind::storage) refuses_ = true;
  if (!failure_) failure_ = std::move(failure);
}

// --- workers' side -------------------------------------------------------------------------------------------------

void Exchange::read(std::size_t piece, const Held& buffer, unsigned worker) {
  const std::uint32_t length = tape_.pieces()[piece].bytes;
  const bool shared = plan_.reads(piece);
  auto failure =
      stopping_
          ? std::optional(Failure{FailureKind::interrupted, "stopped", "", std::nullopt})
          : failure_of([&] { (shared ? work_.read_shared : work_.read_own)(piece, buffer->payload(length), worker); });
  buffer->set({piece, failure ? 0 : length, failure ? 1U : 0U});
  const std::lock_guard lock(mutex_);
  if (shared && !failure) shared_bytes_ += length;
  if (failure && !stopping_) {
    if (shared && !unreadable_) unreadable_ = piece;
    if (!failure_) failure_ = std::move(failure);
  }
  done_.push_back({buffer, true, false});
}

void Exchange::begin_write(const Held& buffer, bool verified) {
  ++busy_;
  writers_.add([this, buffer, verified](unsigned worker) {
    const Header header = buffer->header();
    std::optional<Failure> failure;
    const bool asked = !stopping_;  // a slow disk must not hold up the end
    if (asked) {
      failure = failure_of([&] { work_.write(header.piece, buffer->payload(header.length), verified, worker); });
    }
    const bool kept = asked && !failure;
    if (failure) fail(std::move(*failure));
    const std::lock_guard lock(mutex_);
    done_.push_back({buffer, false, kept});
  });
}

// --- the main thread -----------------------------------------------------------------------------------------------

bool Exchange::begin_reads() {
  bool begun = false;
  while (next_give_ < gives_.size()) {
    auto buffer = read_pool_.try_take();
    if (!buffer) break;
    const std::size_t piece = gives_[next_give_++];
    ++busy_;
    if (stopping_) {
      read(piece, buffer, 0);
    } else {
      readers_.add([this, piece, buffer](unsigned worker) { read(piece, buffer, worker); });
    }
    begun = true;
  }
  return begun;
}

// A piece is here: on to the others first, then to this member's disk.
void Exchange::got(const Held& buffer, bool verified) {
  const Header header = buffer->header();
  for (const Hop& hop : plan_.hops(header.piece)) sending_[hop].waiting.push_back(buffer);
  if (header.missing != 0 || stopping_ || !plan_.wants(header.piece) || plan_.has(header.piece)) return;
  {
    const std::lock_guard lock(mutex_);
    if (refuses_) return;
  }
  begin_write(buffer, verified);
}

bool Exchange::take_done() {
  std::vector<Done> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Done& one : done) {
    --busy_;
    if (one.read) got(one.buffer, true);
    if (one.kept) result_.kept.add(one.buffer->header().piece);
  }
  return !done.empty();
}

bool Exchange::receive() {
  bool moved = false;
  for (unsigned channel = 0; channel < Plan::channels; ++channel) {
    Receiving& in = receiving_[channel];
    while (!in.under_way.empty() && in.under_way.front().second->done()) {
      auto [buffer, message] = std::move(in.under_way.front());
      in.under_way.pop_front();
      const Header header = buffer->header();
      const bool fits = message->length() == header_size + header.length && header.piece < plan_.size() &&
                        (header.missing != 0 || header.length == tape_.pieces()[header.piece].bytes);
      if (!fits) throw Error(FailureKind::nodes, "a node sent a malformed piece", "are all ranks of one version?");
      result_.received_bytes += header.length;
      got(buffer, false);
      moved = true;
    }
    while (in.to_come > 0 && in.under_way.size() < rules.receives_at_once) {
      auto buffer = in.pool.try_take();
      if (!buffer) break;
      auto message = comm_.begin_receive(buffer->room(), in.from, channel);
      in.under_way.emplace_back(std::move(buffer), std::move(message));
      --in.to_come;
      moved = true;
    }
  }
  return moved;
}

bool Exchange::send() {
  bool moved = false;
  for (auto& [hop, out] : sending_) {
    while (!out.under_way.empty() && out.under_way.front().second->done()) {
      result_.sent_bytes += out.under_way.front().first->header().length;
      out.under_way.pop_front();
      moved = true;
    }
    while (!out.waiting.empty() && out.under_way.size() < rules.sends_at_once) {
      Held buffer = std::move(out.waiting.front());
      out.waiting.pop_front();
      auto message = comm_.begin_send(buffer->message(), hop.member, hop.channel);
      out.under_way.emplace_back(std::move(buffer), std::move(message));
      moved = true;
    }
  }
  return moved;
}

bool Exchange::idle() const {
  const bool receives =
      std::ranges::any_of(receiving_, [](const Receiving& in) { return in.to_come > 0 || !in.under_way.empty(); });
  const bool sends = std::ranges::any_of(sending_, [](const auto& hop_and_out) {
    return !hop_and_out.second.waiting.empty() || !hop_and_out.second.under_way.empty();
  });
  return busy_ == 0 && next_give_ == gives_.size() && !receives && !sends;
}

ExchangeResult Exchange::run() {
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    bool moved = take_done();
    moved = receive() || moved;
    moved = send() || moved;
    moved = begin_reads() || moved;
    Beat::Words mine;
    mine.done = idle() ? 1 : 0;
    mine.stopped = stop_.stop_requested() ? 1 : 0;
    {
      const std::lock_guard lock(mutex_);
      mine.read = shared_bytes_;
    }
    mine.received = result_.received_bytes;
    if (beat_.poll(mine)) {
      if (beat_.sums().stopped > 0) stopping_ = true;
      if (work_.on_beat) work_.on_beat(beat_.sums());
      if (beat_.sums().done == comm_.size()) break;
    }
    pause = moved ? std::chrono::microseconds(20) : std::min(pause * 2, std::chrono::microseconds(1000));
    if (!moved) std::this_thread::sleep_for(pause);
  }
  result_.stopped = stopping_;
  result_.shared_bytes = shared_bytes_;
  result_.failure = failure_;
  result_.unreadable = unreadable_;
  return std::move(result_);
}

}  // namespace

ExchangeResult exchange(Comm& comm, Beat& beat, const Plan& plan, const Tape& tape, const ExchangeWork& work,
                        const ExchangeThreads& threads, const std::stop_token& stop) {
  return Exchange(comm, beat, plan, tape, work, threads, stop).run();
}

}  // namespace sabath
