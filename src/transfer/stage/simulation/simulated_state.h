// The state of each member in the simulated exchange: that of stage/exchange.cc, without bytes. Values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "stage/plan/plan.h"

namespace sabath::simulated {

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
  unsigned unread = 0;        // parts
  std::uint64_t here = 0;     // bytes of the parts that are read
  bool routed = false;        // `outs` are there
  std::vector<Index> outs{};  // its node's, by which it goes on
};
constexpr unsigned read_room = Plan::channels;

struct Reading {  // of a part, by one thread
  Index buffer;
  std::uint64_t bytes, unread;
  Index files;  // to open
};

struct Message {
  Index from, out, buffer;  // at the sender; `out` in Node::outs
  unsigned number, count;   // of a piece's
  Index to_buffer = 0;      // at the receiver
  Hop hop{};
};

struct Waiting {  // a piece to be sent
  Index buffer;
  unsigned here = 0, begun = 0;  // of its messages
};

struct Out {
  Hop hop;
  unsigned messages;  // of each piece
  std::deque<Waiting> waiting{};
  unsigned under_way = 0;
};

struct In {
  std::size_t to_come = 0;
  unsigned messages = 1, asked = 0;              // of each piece; of the one that is asked for
  unsigned room = 0, under_way = 0, posted = 0;  // `posted`: of those under way, the ones to which no node sends yet
  std::deque<Index> arriving;                    // messages that wait for a receive
  Index open = 0;                                // the buffer of the piece that comes
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

}  // namespace sabath::simulated
