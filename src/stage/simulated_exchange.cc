#include "stage/simulated_exchange.h"

#include <algorithm>
#include <array>
#include <deque>
#include <queue>

#include "sabath/error.h"

namespace sabath {
namespace {

using Index = std::uint32_t;

// Something that is used by one after another, in the order of asking.
struct Resource {
  double free_at = 0;
  double take(double from, double seconds) {
    free_at = std::max(free_at, from) + seconds;
    return free_at;
  }
};

// Objects by index, used again.
template <class T>
class Pool {
 public:
  Index add(T value) {
    if (free_.empty()) {
      all_.push_back(value);
      return static_cast<Index>(all_.size() - 1);
    }
    const Index index = free_.back();
    free_.pop_back();
    all_[index] = value;
    return index;
  }
  void drop(Index index) { free_.push_back(index); }
  T& operator[](Index index) { return all_[index]; }

 private:
  std::deque<T> all_;  // references stay good
  std::vector<Index> free_;
};

struct Buffer {
  Index node, piece;
  unsigned channel;  // or `read_room`
  unsigned users = 1;
  std::uint64_t unread = 0;
};
constexpr unsigned read_room = Plan::channels;

struct Message {
  Index from, out, buffer;  // at the sender; `out` in Node::outs
  Index to_buffer = 0;      // at the receiver
  Hop hop;
};

struct Out {
  Hop hop;
  std::deque<Index> waiting;
  unsigned under_way = 0;
};

struct In {
  std::size_t to_come = 0;
  unsigned room = 0, under_way = 0, posted = 0;  // `posted`: of those under way, the ones that nobody sends to yet
  std::deque<Index> arriving;                    // messages that wait for a receive
};

struct Node {
  std::vector<Index> gives;
  std::size_t next_give = 0;
  unsigned read_room = 0, readers = 0, writers = 0;  // free
  std::deque<Index> to_read, to_write;
  std::array<In, Plan::channels> in;
  std::vector<Out> outs;
  Resource shared, link_in, link_out, disk;
};

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
  void at(double when, Event event, Index what) { agenda_.push({when, ++order_, event, what}); }
  void happen(const Happening& happening);
  void begin_reads(Index node);
  void start_readers(Index node);
  void read_on(Index buffer);
  void read(Index buffer);
  void got(Index buffer);
  void send(Index node, Index out);
  void receive(Index node, unsigned channel);
  void meet(Index node, unsigned channel);
  void sent(Index message);
  void start_writers(Index node);
  void written(Index buffer);
  void release(Index buffer);
  Out& out_of(Node& node, const Hop& hop);
  void check_all_there() const;
  [[nodiscard]] double bytes_of(Index piece) const { return given_.tape.pieces()[piece].bytes; }
  [[nodiscard]] Index files_opened(Index piece) const {
    const Piece& one = given_.tape.pieces()[piece];
    return given_.tape.is_chunk(one) ? 0 : one.files;
  }

  const SimulatedExchange& given_;
  std::vector<Node> nodes_;
  Pool<Buffer> buffers_;
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
  for (In& in : one.in) in.room = given_.rules.channel_buffers;
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
    one.to_read.push_back(buffers_.add({node, piece, read_room, 1, given_.tape.pieces()[piece].bytes}));
  }
  start_readers(node);
}

void Simulation::start_readers(Index node) {
  Node& one = nodes_[node];
  while (one.readers > 0 && !one.to_read.empty()) {
    --one.readers;
    const Index buffer = one.to_read.front();
    one.to_read.pop_front();
    const Index piece = buffers_[buffer].piece;
    const bool shared = given_.plans[node].reads(piece);
    if (!shared) buffers_[buffer].unread = 0;  // the node's own disk is taken to be fast
    at(now_ + (shared ? given_.cluster.open * files_opened(piece) : 0), Event::read_on, buffer);
  }
}

void Simulation::read_on(Index index) {
  Buffer& buffer = buffers_[index];
  if (buffer.unread == 0) return at(now_ + bytes_of(buffer.piece) / given_.cluster.hash_rate, Event::read, index);
  const std::uint64_t size = std::min(buffer.unread, given_.read_size);
  buffer.unread -= size;
  forecast_.shared_bytes += size;
  const auto bytes = static_cast<double>(size);
  const double all = shared_.take(now_, bytes / given_.cluster.shared_rate);
  const double own = nodes_[buffer.node].shared.take(now_, bytes / given_.cluster.shared_node_rate);
  at(std::max(all, own), Event::read_on, index);
}

void Simulation::read(Index buffer) {
  const Index node = buffers_[buffer].node;
  ++nodes_[node].readers;
  got(buffer);
  start_readers(node);
}

// --- passing on ----------------------------------------------------------------------------------------------------

Out& Simulation::out_of(Node& node, const Hop& hop) {
  const auto found = std::ranges::find(node.outs, hop, &Out::hop);
  if (found != node.outs.end()) return *found;
  return node.outs.emplace_back(Out{hop, {}, 0});
}

// On to the others first, then to this member's disk.
void Simulation::got(Index index) {
  Buffer& buffer = buffers_[index];
  Node& node = nodes_[buffer.node];
  const Plan& plan = given_.plans[buffer.node];
  for (const Hop& hop : given_.hops(plan, buffer.node, buffer.piece)) {
    Out& out = out_of(node, hop);
    ++buffer.users;
    out.waiting.push_back(index);
    send(buffer.node, static_cast<Index>(&out - node.outs.data()));
  }
  if (plan.wants(buffer.piece) && !plan.has(buffer.piece)) {
    ++buffer.users;
    node.to_write.push_back(index);
    start_writers(buffer.node);
  }
  release(index);
}

void Simulation::send(Index node, Index out_index) {
  Out& out = nodes_[node].outs[out_index];
  while (!out.waiting.empty() && out.under_way < given_.rules.sends_at_once) {
    ++out.under_way;
    const Index message = messages_.add({node, out_index, out.waiting.front(), 0, out.hop});
    out.waiting.pop_front();
    nodes_[out.hop.member].in[out.hop.channel].arriving.push_back(message);
    meet(out.hop.member, out.hop.channel);
  }
}

void Simulation::receive(Index node, unsigned channel) {
  In& in = nodes_[node].in[channel];
  while (in.to_come > 0 && in.under_way < given_.rules.receives_at_once && in.room > 0) {
    --in.to_come;
    --in.room;
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
    const Index piece = buffers_[message.buffer].piece;
    message.to_buffer = buffers_.add({node, piece, channel});
    const double out = nodes_[message.from].link_out.take(now_, bytes_of(piece) / given_.cluster.link_out_rate);
    const double arrived = to.link_in.take(now_, bytes_of(piece) / given_.cluster.link_in_rate);
    at(std::max(out, arrived) + trips * given_.cluster.latency, Event::sent, index);
  }
}

void Simulation::sent(Index index) {
  const Message message = messages_[index];
  messages_.drop(index);
  forecast_.peer_bytes += given_.tape.pieces()[buffers_[message.buffer].piece].bytes;
  --nodes_[message.hop.member].in[message.hop.channel].under_way;
  got(message.to_buffer);
  receive(message.hop.member, message.hop.channel);
  --nodes_[message.from].outs[message.out].under_way;
  release(message.buffer);
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
    const double bytes = bytes_of(buffer.piece);
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
  const Buffer buffer = buffers_[index];
  if (--buffers_[index].users > 0) return;
  buffers_.drop(index);
  if (buffer.channel == read_room) {
    ++nodes_[buffer.node].read_room;
    begin_reads(buffer.node);
  } else {
    ++nodes_[buffer.node].in[buffer.channel].room;
    receive(buffer.node, buffer.channel);
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
  throw Error(FailureKind::internal, "a simulated staging stands still: not every node gets every piece");
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
