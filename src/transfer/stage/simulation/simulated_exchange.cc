#include "stage/simulation/simulated_exchange.h"

#include <algorithm>
#include <array>
#include <deque>
#include <queue>
#include <tuple>
#include <utility>

#include "sabath/error.h"
#include "stage/node/piece_buffers.h"
#include "stage/simulation/simulated_state.h"

namespace sabath {
namespace {

using namespace simulated;

class Simulation {
 public:
  explicit Simulation(const SimulatedExchange& given) : given_(given), nodes_(given.plans.size()) {}
  ExchangeForecast run();

 private:
  enum class Event { read_on, read, sent, written };
  struct Happening {
    double at;
    std::uint64_t order;
    Event event;
    Index what;
    bool operator<(const Happening& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };

  void prepare(Index node);
  [[nodiscard]] double bytes_of(const Message& message);
  void at(double when, Event event, Index what) { agenda_.push({when, ++order_, event, what}); }
  void happen(const Happening& happening);
  void begin_reads(Index node);
  void start_readers(Index node);
  void read_on(Index buffer);
  void read_part(Index reading);
  void read(Index buffer);
  void take_part(Index buffer);
  void pass_on(Index buffer, unsigned here, unsigned of);
  void keep(Index buffer);
  void send(Index node, Index out);
  void receive(Index node, unsigned channel);
  void meet(Index node, unsigned channel);
  void sent(Index message);
  void start_writers(Index node);
  void written(Index buffer);
  void release(Index buffer);
  Index out_of(Index node, const Hop& hop);
  const std::vector<Index>& outs_of(Index buffer);
  void check_all_there() const;
  [[nodiscard]] std::uint32_t length_of(Index piece) const { return given_.tape.pieces()[piece].bytes; }
  [[nodiscard]] Index files_opened(Index piece) const {
    const Piece& one = given_.tape.pieces()[piece];
    return given_.tape.is_chunk(one) ? 0 : one.files;
  }

  const SimulatedExchange& given_;
  std::vector<Node> nodes_;
  Pool<Buffer> buffers_;
  Pool<Reading> readings_;
  Pool<Message> messages_;
  std::priority_queue<Happening> agenda_;
  std::uint64_t order_ = 0, expected_ = 0, kept_ = 0;
  double now_ = 0;
  Resource shared_;
  ExchangeForecast forecast_;
};

void Simulation::prepare(Index node) {
  const Plan& plan = given_.plans[node];
  Node& one = nodes_[node];
  one.readers = given_.threads.readers;
  one.writers = given_.threads.writers;
  one.read_room = given_.threads.readers + given_.rules.spare_reads;
  for (unsigned channel = 0; channel < Plan::channels; ++channel) {
    one.in[channel].room = given_.rules.channel_buffers;
    one.in[channel].messages = given_.rules.messages(plan, channel, node);
  }
  for (Index p = 0; p < plan.size(); ++p) {
    if (plan.wants(p) && !plan.has(p)) ++expected_;
    if (plan.receives(p)) {
      ++one.in[plan.channel(p)].to_come;
    } else if (plan.reads(p) || (plan.has(p) && !plan.hops(p).empty())) {
      one.gives.push_back(p);
    }
  }
}

// --- reading -------------------------------------------------------------------------------------------------------

void Simulation::begin_reads(Index node) {
  Node& one = nodes_[node];
  while (one.next_give < one.gives.size() && one.read_room > 0) {
    --one.read_room;
    const Index piece = one.gives[one.next_give++];
    const Piece& its = given_.tape.pieces()[piece];
    const auto parts = given_.tape.parts(its, given_.rules.part_bytes());
    const Index buffer = buffers_.add({node, piece, read_room, 1, static_cast<unsigned>(parts.size())});
    for (const PiecePart& part : parts) {
      one.to_read.push_back(
          readings_.add({buffer, part.bytes, part.bytes, given_.tape.is_chunk(its) ? 0 : part.files}));
    }
  }
  start_readers(node);
}

void Simulation::start_readers(Index node) {
  Node& one = nodes_[node];
  while (one.readers > 0 && !one.to_read.empty()) {
    --one.readers;
    const Index index = one.to_read.front();
    one.to_read.pop_front();
    Reading& reading = readings_[index];
    const bool shared = given_.plans[node].reads(buffers_[reading.buffer].piece);
    if (!shared) reading.unread = 0;  // the node's own disk is taken to be fast
    at(now_ + (shared ? given_.cluster.open * reading.files : 0), Event::read_on, index);
  }
}

void Simulation::read_on(Index index) {
  Reading& reading = readings_[index];
  const Buffer& buffer = buffers_[reading.buffer];
  if (reading.unread == 0) return read_part(index);
  const std::uint64_t size = std::min(reading.unread, given_.read_size);
  reading.unread -= size;
  forecast_.shared_bytes += size;
  const auto bytes = static_cast<double>(size);
  const double all = shared_.take(now_, bytes / given_.cluster.shared_rate);
  const double own = nodes_[buffer.node].shared.take(now_, bytes / given_.cluster.shared_node_rate);
  at(std::max(all, own), Event::read_on, index);
}

// The reader of the last part checks the piece.
void Simulation::read_part(Index index) {
  const Index its = readings_[index].buffer;
  Buffer& buffer = buffers_[its];
  buffer.here += readings_[index].bytes;
  readings_.drop(index);
  take_part(its);
  if (--buffer.unread == 0) return at(now_ + length_of(buffer.piece) / given_.cluster.hash_rate, Event::read, its);
  ++nodes_[buffer.node].readers;
  start_readers(buffer.node);
}

void Simulation::read(Index buffer) {
  const Index node = buffers_[buffer].node;
  ++nodes_[node].readers;
  pass_on(buffer, 1, 1);
  keep(buffer);
  start_readers(node);
}

// --- passing on ----------------------------------------------------------------------------------------------------

Index Simulation::out_of(Index node, const Hop& hop) {
  auto& outs = nodes_[node].outs;
  const auto index = static_cast<Index>(std::ranges::find(outs, hop, &Out::hop) - outs.begin());
  if (index == outs.size()) outs.push_back({hop, given_.rules.messages(given_.plans[node], hop.channel, hop.member)});
  return index;
}

const std::vector<Index>& Simulation::outs_of(Index index) {
  Buffer& buffer = buffers_[index];
  if (!std::exchange(buffer.routed, true)) {
    for (const Hop& hop : given_.hops(given_.plans[buffer.node], buffer.node, buffer.piece)) {
      buffer.outs.push_back(out_of(buffer.node, hop));
    }
  }
  return buffer.outs;
}

// `here` of the `of` equal parts of a piece are here: sends them on to the others.
void Simulation::pass_on(Index index, unsigned here, unsigned of) {
  const Index node = buffers_[index].node;
  for (const Index out_index : outs_of(index)) {
    auto& out = nodes_[node].outs[out_index];
    const unsigned messages = out.messages * here / of;
    if (messages == 0) continue;
    auto waiting = std::ranges::find(out.waiting, index, &Waiting::buffer);
    if (waiting == out.waiting.end()) {
      waiting = out.waiting.insert(waiting, {index});
      ++buffers_[index].users;
    }
    waiting->here = messages;
    send(node, out_index);
  }
}

// As if the parts were read in their order.
void Simulation::take_part(Index index) {
  const Buffer& buffer = buffers_[index];
  if (!given_.plans[buffer.node].gives_alone(buffer.piece)) return;
  const auto filled = PieceBuffer::filled(buffer.here, length_of(buffer.piece), given_.rules.parts);
  pass_on(index, filled, given_.rules.parts);
}

// All of it is: to this member's disk.
void Simulation::keep(Index index) {
  Buffer& buffer = buffers_[index];
  const Plan& plan = given_.plans[buffer.node];
  if (plan.wants(buffer.piece) && !plan.has(buffer.piece)) {
    ++buffer.users;
    nodes_[buffer.node].to_write.push_back(index);
    start_writers(buffer.node);
  }
  release(index);
}

void Simulation::send(Index node, Index out_index) {
  Out& out = nodes_[node].outs[out_index];
  while (!out.waiting.empty() && out.under_way < given_.rules.sends_at_once) {
    Waiting& next = out.waiting.front();
    if (next.begun == next.here) break;
    ++out.under_way;
    const Index message = messages_.add({node, out_index, next.buffer, next.begun++, out.messages, 0, out.hop});
    if (next.begun == out.messages) out.waiting.pop_front();
    nodes_[out.hop.member].in[out.hop.channel].arriving.push_back(message);
    meet(out.hop.member, out.hop.channel);
  }
}

void Simulation::receive(Index node, unsigned channel) {
  In& in = nodes_[node].in[channel];
  while (in.under_way < given_.rules.receives_at_once) {
    if (in.asked == 0) {  // for another piece
      if (in.to_come == 0 || in.room == 0) break;
      --in.to_come;
      --in.room;
    }
    in.asked = (in.asked + 1) % in.messages;
    ++in.under_way;
    ++in.posted;
  }
  meet(node, channel);
}

// A message moves once its receiver is ready for it: it asks, hears that it may, and comes.
void Simulation::meet(Index node, unsigned channel) {
  Node& to = nodes_[node];
  In& in = to.in[channel];
  constexpr int trips = 3;
  while (in.posted > 0 && !in.arriving.empty()) {
    --in.posted;
    const Index index = in.arriving.front();
    in.arriving.pop_front();
    Message& message = messages_[index];
    if (message.number == 0) in.open = buffers_.add({node, buffers_[message.buffer].piece, channel});
    message.to_buffer = in.open;
    const double bytes = bytes_of(message);
    const double out = nodes_[message.from].link_out.take(now_, bytes / given_.cluster.link_out_rate);
    const double arrived = to.link_in.take(now_, bytes / given_.cluster.link_in_rate);
    at(std::max(out, arrived) + trips * given_.cluster.latency, Event::sent, index);
  }
}

double Simulation::bytes_of(const Message& message) {
  const std::uint64_t length = length_of(buffers_[message.buffer].piece), each = chunk_size_bytes / message.count;
  const auto upto = [&](unsigned i) { return std::min(length, i * each); };
  return static_cast<double>(upto(message.number + 1) - upto(message.number));
}

void Simulation::sent(Index index) {
  const Message message = messages_[index];
  messages_.drop(index);
  --nodes_[message.hop.member].in[message.hop.channel].under_way;
  pass_on(message.to_buffer, message.number + 1, message.count);
  if (message.number + 1 == message.count) {
    forecast_.peer_bytes += length_of(buffers_[message.buffer].piece);
    keep(message.to_buffer);
  }
  receive(message.hop.member, message.hop.channel);
  --nodes_[message.from].outs[message.out].under_way;
  if (message.number + 1 == message.count) release(message.buffer);
  send(message.from, message.out);
}

// --- writing -------------------------------------------------------------------------------------------------------

void Simulation::start_writers(Index node) {
  Node& one = nodes_[node];
  while (one.writers > 0 && !one.to_write.empty()) {
    --one.writers;
    const Index index = one.to_write.front();
    one.to_write.pop_front();
    const Buffer& buffer = buffers_[index];
    const double bytes = length_of(buffer.piece);
    const bool verified = buffer.channel == read_room;
    const double checked =
        now_ + (verified ? 0 : bytes / given_.cluster.hash_rate) + given_.cluster.create * files_opened(buffer.piece);
    at(one.disk.take(checked, bytes / given_.cluster.disk_rate), Event::written, index);
  }
}

void Simulation::written(Index buffer) {
  const Index node = buffers_[buffer].node;
  ++kept_;
  ++nodes_[node].writers;
  release(buffer);
  start_writers(node);
}

void Simulation::release(Index index) {
  if (--buffers_[index].users > 0) return;
  const Index node = buffers_[index].node;
  const unsigned channel = buffers_[index].channel;
  buffers_.drop(index);
  if (channel == read_room) {
    ++nodes_[node].read_room;
    begin_reads(node);
  } else {
    ++nodes_[node].in[channel].room;
    receive(node, channel);
  }
}

// --- all of it -----------------------------------------------------------------------------------------------------

void Simulation::happen(const Happening& happening) {
  switch (happening.event) {
    case Event::read_on:
      return read_on(happening.what);
    case Event::read:
      return read(happening.what);
    case Event::sent:
      return sent(happening.what);
    case Event::written:
      return written(happening.what);
  }
}

void Simulation::check_all_there() const {
  if (kept_ == expected_) return;
  throw Error(FailureKind::internal, "a simulated staging does not end: not every node gets every piece");
}

ExchangeForecast Simulation::run() {
  for (Index node = 0; node < nodes_.size(); ++node) prepare(node);
  for (Index node = 0; node < nodes_.size(); ++node) {
    for (unsigned channel = 0; channel < Plan::channels; ++channel) receive(node, channel);
    begin_reads(node);
  }
  while (!agenda_.empty()) {
    const Happening next = agenda_.top();
    agenda_.pop();
    now_ = next.at;
    happen(next);
  }
  check_all_there();
  forecast_.seconds = now_;
  return forecast_;
}

}  // namespace

ExchangeForecast simulate_exchange(const SimulatedExchange& exchange) { return Simulation(exchange).run(); }

}  // namespace sabath
