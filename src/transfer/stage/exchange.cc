#include "stage/exchange.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/agree.h"
#include "stage/attention.h"
#include "stage/moving_pieces.h"
#include "stage/node/workers.h"

namespace sabath {
namespace {

class Exchange : MovingPieces {
 public:
  Exchange(Comm& comm, Beat& beat, const Plan& plan, const Tape& tape, const ExchangeWork& work,
           const ExchangeThreads& threads, const std::stop_token& stop);
  ExchangeResult run();

 private:
  bool begin_reads();
  bool receive();
  bool send();
  bool take_done();
  void read(const std::shared_ptr<Reading>& reading, std::size_t part, unsigned worker);
  void note_read(Reading& reading, std::optional<Failure> failure);
  void finish_read(const std::shared_ptr<Reading>& reading);
  void take_read(Reading& reading);
  void take_part(Reading& reading, std::size_t part);
  void pass_on(const Held& buffer, unsigned here, unsigned of);
  bool ask_for_more(Receiving& in, unsigned channel);
  void accept(const Message& part, unsigned channel) const;
  void keep(const Held& buffer, bool verified);
  void begin_write(const Held& buffer, bool verified);
  void fail(Failure failure);
  [[nodiscard]] Beat::Words words();
  [[nodiscard]] bool idle() const;

  Comm& comm_;
  Beat& beat_;
  const Plan& plan_;
  const Tape& tape_;
  const ExchangeWork& work_;
  const std::stop_token stop_;
  const ExchangeRules rules_;

  std::vector<std::size_t> gives_;        // what I read, for others or for me, in order
  std::size_t next_give_ = 0, busy_ = 0;  // tasks that workers have
  PieceBuffers read_pool_;
  std::array<Receiving, Plan::channels> receiving_;
  std::map<Hop, Sending> sending_;
  std::atomic<bool> stopping_ = false;
  ExchangeResult result_;
  std::uint64_t wanted_ = 0;            // bytes that are not here yet
  std::uint64_t to_do_ = 0, done_ = 0;  // bytes to write and to read

  std::mutex mutex_;  // of what workers tell
  std::vector<Read> read_;
  std::vector<Written> written_;
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
      rules_(ExchangeRules::for_pieces(plan.size())),
      read_pool_(threads.readers + rules_.spare_reads),
      readers_(threads.readers),
      writers_(threads.writers) {
  result_.kept = PieceSet(plan.size());
  for (unsigned channel = 0; channel < Plan::channels; ++channel) {
    receiving_[channel].from = plan.sender(channel, comm.rank()).value_or(Comm::any_rank);
    receiving_[channel].messages = rules_.messages(plan, channel, comm.rank());
  }
  for (std::size_t p = 0; p < plan.size(); ++p) {
    if (plan.wants(p) && !plan.has(p)) wanted_ += tape.pieces()[p].bytes;
    if (plan.receives(p)) {
      ++receiving_[plan.channel(p)].to_come;
    } else if (plan.reads(p) || (plan.has(p) && !plan.hops(p).empty())) {
      gives_.push_back(p);
      to_do_ += tape.pieces()[p].bytes;
    }
  }
  to_do_ += wanted_;
}

void Exchange::fail(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (failure.kind == FailureKind::space || failure.kind == FailureKind::storage) refuses_ = true;
  if (!failure_) failure_ = std::move(failure);
}

// --- workers' side -------------------------------------------------------------------------------------------------

void Exchange::read(const std::shared_ptr<Reading>& reading, std::size_t part, unsigned worker) {
  const PiecePart& its = reading->parts[part];
  const auto& read_part = plan_.reads(reading->piece) ? work_.read_shared : work_.read_own;
  const auto room = reading->buffer->payload(its.offset + its.bytes).subspan(its.offset);
  if (stopping_) reading->lost = true;
  if (!reading->lost) {
    note_read(*reading, failure_of([&] { read_part(reading->piece, its, room, worker); }));
  }
  if (!reading->lost) {
    const std::lock_guard lock(mutex_);
    read_.push_back({reading, part});
  }
  if (--reading->left == 0) finish_read(reading);
}

void Exchange::note_read(Reading& reading, std::optional<Failure> failure) {
  if (!failure) return;
  reading.lost = true;
  const std::lock_guard lock(mutex_);
  if (plan_.reads(reading.piece) && !unreadable_) unreadable_ = reading.piece;
  if (!failure_) failure_ = std::move(failure);
}

void Exchange::finish_read(const std::shared_ptr<Reading>& reading) {
  const std::uint32_t length = tape_.pieces()[reading->piece].bytes;
  if (!reading->lost) {
    note_read(*reading, failure_of([&] { work_.check(reading->piece, reading->buffer->payload(length)); }));
  }
  const std::lock_guard lock(mutex_);
  if (plan_.reads(reading->piece) && !reading->lost) shared_bytes_ += length;
  read_.push_back({reading, std::nullopt});
}

void Exchange::begin_write(const Held& buffer, bool verified) {
  ++busy_;
  writers_.add([this, buffer, verified](unsigned worker) {
    const auto header = buffer->header();
    std::optional<Failure> failure;
    const bool asked = !stopping_;  // a slow disk must not hold up the end
    if (asked) {
      failure = failure_of([&] { work_.write(header.piece, buffer->payload(header.length), verified, worker); });
    }
    const bool kept = asked && !failure;
    if (failure) fail(std::move(*failure));
    const std::lock_guard lock(mutex_);
    written_.push_back({buffer, kept});
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
    begun = true;
    buffer->set({piece, tape_.pieces()[piece].bytes});
    const auto reading =
        std::make_shared<Reading>(buffer, piece, tape_.parts(tape_.pieces()[piece], rules_.part_bytes()));
    if (stopping_) {
      reading->lost = true;
      finish_read(reading);
      continue;
    }
    for (std::size_t part = 0; part < reading->parts.size(); ++part) {
      readers_.add([this, reading, part](unsigned worker) { read(reading, part, worker); });
    }
  }
  return begun;
}

// `here` of the `of` equal parts of a piece are here: sends them on to the others, one piece after the other.
void Exchange::pass_on(const Held& buffer, unsigned here, unsigned of) {
  for (const Hop& hop : plan_.hops(buffer->header().piece)) {
    Sending& out = sending_[hop];
    if (out.messages == 0) out.messages = rules_.messages(plan_, hop.channel, hop.member);
    const unsigned messages = out.messages * here / of;
    if (messages == 0) continue;
    auto waiting = std::ranges::find(out.waiting, buffer, &Waiting::buffer);
    if (waiting == out.waiting.end()) waiting = out.waiting.insert(waiting, {buffer});
    waiting->here = messages;
  }
}

void Exchange::take_part(Reading& reading, std::size_t part) {
  reading.here[part] = true;
  while (reading.front < reading.here.size() && reading.here[reading.front]) ++reading.front;
  if (reading.front == 0 || !plan_.gives_alone(reading.piece)) return;
  const PiecePart& last = reading.parts[reading.front - 1];
  const auto filled = PieceBuffer::filled(last.offset + last.bytes, reading.buffer->header().length, rules_.parts);
  pass_on(reading.buffer, filled, rules_.parts);
}

void Exchange::take_read(Reading& reading) {
  --busy_;
  done_ += reading.buffer->header().length;
  reading.buffer->set_lost(reading.lost);
  pass_on(reading.buffer, 1, 1);
  keep(reading.buffer, true);
}

// All of it is: to this member's disk.
void Exchange::keep(const Held& buffer, bool verified) {
  const auto header = buffer->header();
  if (buffer->lost() || stopping_ || !plan_.wants(header.piece) || plan_.has(header.piece)) return;
  {
    const std::lock_guard lock(mutex_);
    if (refuses_) return;
  }
  begin_write(buffer, verified);
}

bool Exchange::take_done() {
  std::vector<Read> read;
  std::vector<Written> written;
  {
    const std::lock_guard lock(mutex_);
    read.swap(read_);
    written.swap(written_);
  }
  for (const auto& [reading, part] : read) part ? take_part(*reading, *part) : take_read(*reading);
  for (const auto& [buffer, kept] : written) {
    --busy_;
    if (!kept) continue;
    result_.kept.add(buffer->header().piece);
    done_ += buffer->header().length;
  }
  return !read.empty() || !written.empty();
}

// Throws unless the message is what was due, or says that the piece is lost.
void Exchange::accept(const Message& part, unsigned channel) const {
  const std::size_t size = part.moving->length(), lost_size = PieceBuffer::lost_message_size(part.number);
  const auto header = part.buffer->header();
  const bool sane = size >= lost_size && header.piece < plan_.size() && plan_.channel(header.piece) == channel &&
                    header.length == tape_.pieces()[header.piece].bytes;
  if (sane && size == part.buffer->message(part.number, receiving_[channel].messages).size()) return;
  if (!sane || size != lost_size) {
    throw Error(FailureKind::nodes, "a node sent a malformed piece", "are all ranks of one version?");
  }
  part.buffer->set_lost(true);
}

// False: there is nothing to ask for, or no room for it.
bool Exchange::ask_for_more(Receiving& in, unsigned channel) {
  if (!in.next.buffer) {
    if (in.to_come == 0) return false;
    in.next = {in.pool.try_take(), 0, nullptr};
    if (!in.next.buffer) return false;
    --in.to_come;
  }
  auto message = comm_.begin_receive(in.next.buffer->room(in.next.number, in.messages), in.from, channel);
  in.under_way.push_back({in.next.buffer, in.next.number, std::move(message)});
  if (++in.next.number == in.messages) in.next = {};
  return true;
}

bool Exchange::receive() {
  bool moved = false;
  for (unsigned channel = 0; channel < Plan::channels; ++channel) {
    Receiving& in = receiving_[channel];
    while (!in.under_way.empty() && in.under_way.front().moving->done()) {
      const Message part = std::move(in.under_way.front());
      in.under_way.pop_front();
      accept(part, channel);
      result_.received_bytes += PieceBuffer::bytes_in(part.number, part.moving->length());
      pass_on(part.buffer, part.number + 1, in.messages);
      if (part.number + 1 == in.messages) keep(part.buffer, false);
      moved = true;
    }
    while (in.under_way.size() < rules_.receives_at_once && ask_for_more(in, channel)) moved = true;
  }
  return moved;
}

bool Exchange::send() {
  bool moved = false;
  for (auto& [hop, out] : sending_) {
    while (!out.under_way.empty() && out.under_way.front().moving->done()) {
      result_.sent_bytes += out.under_way.front().bytes;
      out.under_way.pop_front();
      moved = true;
    }
    while (!out.waiting.empty() && out.under_way.size() < rules_.sends_at_once) {
      Waiting& next = out.waiting.front();
      if (next.begun == next.here) break;
      const auto bytes = next.buffer->message(next.begun, out.messages);
      auto message = comm_.begin_send(bytes, hop.member, hop.channel);
      out.under_way.push_back(
          {next.buffer, next.begun, std::move(message), PieceBuffer::bytes_in(next.begun, bytes.size())});
      ++next.begun;
      if (next.begun == out.messages) out.waiting.pop_front();
      moved = true;
    }
  }
  return moved;
}

bool Exchange::idle() const {
  const bool receives = std::ranges::any_of(
      receiving_, [](const Receiving& in) { return in.to_come > 0 || in.next.buffer || !in.under_way.empty(); });
  const bool sends = std::ranges::any_of(sending_, [](const auto& hop_and_out) {
    return !hop_and_out.second.waiting.empty() || !hop_and_out.second.under_way.empty();
  });
  return busy_ == 0 && next_give_ == gives_.size() && !receives && !sends;
}

// A member is late if it has done less than the others by more than some pieces that are on their way.
Beat::Words Exchange::words() {
  constexpr std::uint64_t pieces_on_their_way = 4;
  Beat::Words mine;
  mine.done = idle() ? 1 : 0;
  mine.stopped = stop_.stop_requested() ? 1 : 0;
  mine.received = result_.received_bytes;
  mine.wanted = wanted_;
  if (to_do_ > 0) {
    const auto share_of = [&](std::uint64_t bytes) {
      return static_cast<std::uint64_t>(static_cast<double>(bytes) / static_cast<double>(to_do_) * Straggler::all);
    };
    mine.busy = 1;
    mine.share = mine.done != 0 ? Straggler::all : share_of(done_);
    mine.slack = share_of(pieces_on_their_way * chunk_size_bytes);
  }
  const std::lock_guard lock(mutex_);
  mine.read = shared_bytes_;
  return mine;
}

// Linux lets a thread's sleep be 50 us too long, so that the processor wakes less often: prctl(2), PR_SET_TIMERSLACK.
class PunctualSleep {
 public:
  PunctualSleep() : before_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1000L); }
  ~PunctualSleep() {
    if (before_ > 0) ::prctl(PR_SET_TIMERSLACK, static_cast<long>(before_));
  }
  PunctualSleep(const PunctualSleep&) = delete;
  PunctualSleep& operator=(const PunctualSleep&) = delete;

 private:
  const int before_;  // nanoseconds
};

ExchangeResult Exchange::run() {
  const PunctualSleep punctual;
  Attention attention(Attention::Clock::now());
  for (;;) {
    bool moved = take_done();
    moved = receive() || moved;
    moved = send() || moved;
    moved = begin_reads() || moved;
    if (beat_.poll(words())) {
      if (beat_.sums().stopped > 0) stopping_ = true;
      if (work_.on_beat) work_.on_beat(beat_.sums());
      if (beat_.sums().done == comm_.size()) break;
    }
    const auto pause = attention.pause(moved, Attention::Clock::now());
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
