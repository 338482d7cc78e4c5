#include "mpi/mpi_comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t piece_max = std::size_t{256} << 20;  // MPI counts in int
constexpr std::chrono::seconds silence_max{10};
constexpr std::chrono::milliseconds short_wait{50};  // a collective goes by several ranks, and each looks now and then
constexpr int tag = 1, first_channel_tag = 2;

void check_result(const sabath_mpi_calls& mpi, int result, std::string_view what) {
  if (result == 0) return;
  std::array<char, 1024> text{};
  mpi.error_text(result, text.data(), static_cast<int>(text.size()));
  throw Error(FailureKind::nodes, fmt::format("MPI cannot {}: {}", what, text.data()),
              fmt::format("`{}` shows which MPI this is; the launcher should be of the same", verb_text("doctor")));
}

// MPI's own waiting takes a whole core, which lanes need. The first looks find a short message.
class Patience {
 public:
  explicit Patience(bool quick) : quick_(quick) {}
  void pass() {
    if (looks_++ < 32) return std::this_thread::yield();
    std::this_thread::sleep_for(pause_);
    waited_ += pause_;
    if (quick_ && waited_ > silence_max) {
      throw Error(FailureKind::nodes, "another rank has not answered for 10 s",
                  "a process or a node is gone: run the same command again, what is verified is kept");
    }
    pause_ = std::min(pause_ * 2, std::chrono::microseconds(waited_ < short_wait ? 250 : 2000));
  }

 private:
  const bool quick_;
  unsigned looks_ = 0;
  std::chrono::microseconds pause_{50}, waited_{0};  // slept, at least
};

template <typename Transfer>
void in_pieces(std::size_t length, const Transfer& transfer) {
  for (std::size_t at = 0; at < length; at += piece_max) {
    transfer(at, static_cast<int>(std::min(piece_max, length - at)));
  }
}

sabath_mpi_operation operation(Reduction how) {
  switch (how) {
    case Reduction::minimum:
      return SABATH_MPI_MINIMUM;
    case Reduction::maximum:
      return SABATH_MPI_MAXIMUM;
    case Reduction::bit_and:
      return SABATH_MPI_BIT_AND;
    case Reduction::bit_or:
      return SABATH_MPI_BIT_OR;
    default:
      return SABATH_MPI_SUM;
  }
}

// MPI compares signed numbers (mpi_table.h): these are in the same order.
constexpr bool is_order(Reduction how) { return how == Reduction::minimum || how == Reduction::maximum; }
void turn_sign(std::span<std::uint64_t> values) {
  for (auto& value : values) value ^= std::uint64_t{1} << 63U;
}

class PendingReduction final : public Comm::Pending {
 public:
  PendingReduction(const sabath_mpi_calls& mpi, std::span<std::uint64_t> values, Reduction how, sabath_mpi_comm comm)
      : mpi_(mpi), values_(values), how_(how) {
    if (is_order(how)) turn_sign(values);
    check_result(mpi, mpi.reduce(comm, values.data(), static_cast<int>(values.size()), operation(how), &request_),
                 "begin a reduction");
  }
  bool done() override {
    if (done_) return true;
    int done = 0;
    check_result(mpi_, mpi_.test(&request_, &done, nullptr), "finish a reduction");
    if (done == 0) return false;
    if (is_order(how_)) turn_sign(values_);
    return done_ = true;
  }

 private:
  const sabath_mpi_calls& mpi_;
  const std::span<std::uint64_t> values_;
  const Reduction how_;
  sabath_mpi_request request_{};
  bool done_ = false;
};

class MpiMessage final : public Comm::Message {
 public:
  MpiMessage(const sabath_mpi_calls& mpi, bool receives) : mpi_(mpi), receives_(receives) {}
  ~MpiMessage() override {
    if (request.handle != 0 && receives_) mpi_.cancel(&request);
  }
  bool done() override {
    if (request.handle == 0) return true;
    int done = 0, received = 0;
    check_result(mpi_, mpi_.test(&request, &done, receives_ ? &received : nullptr),
                 receives_ ? "receive a message" : "send a message");
    if (done != 0) length_ = static_cast<std::size_t>(received);
    return done != 0;
  }
  std::size_t length() const override { return length_; }

  sabath_mpi_request request{};

 private:
  const sabath_mpi_calls& mpi_;
  const bool receives_;
  std::size_t length_ = 0;
};

}  // namespace

MpiComm::MpiComm(const sabath_mpi_calls& mpi, sabath_mpi_comm own) : mpi_(mpi), comm_(own), quick_(false) {
  find_rank();
  sabath_mpi_comm here{};
  check(mpi_.split_by_node(comm_, static_cast<int>(rank_), &here), "find the ranks of this node");
  unsigned lowest = rank_;
  sabath_mpi_request request{};
  check(mpi_.broadcast(here, &lowest, sizeof lowest, 0, &request), "tell the ranks of this node");
  wait(request);
  check(mpi_.release(&here), "free the ranks of this node");
  number_nodes(lowest);
}

MpiComm::MpiComm(const sabath_mpi_calls& mpi, sabath_mpi_comm own, unsigned node)
    : mpi_(mpi), comm_(own), quick_(true) {
  find_rank();
  number_nodes(node);
}

void MpiComm::check(int result, const char* what) const { check_result(mpi_, result, what); }

void MpiComm::find_rank() {
  int rank = 0, size = 0;
  check(mpi_.look(comm_, &rank, &size), "say which rank this is");
  rank_ = static_cast<unsigned>(rank);
  size_ = static_cast<unsigned>(size);
}

void MpiComm::wait(sabath_mpi_request request) const { wait_all({&request, 1}); }

void MpiComm::wait_all(std::span<sabath_mpi_request> requests) const {
  Patience patience(quick_);
  for (auto& request : requests) {
    for (int done = 0;;) {
      check(mpi_.test(&request, &done, nullptr), "finish a message");
      if (done != 0) break;
      patience.pass();
    }
  }
}

MpiComm::~MpiComm() { mpi_.release(&comm_); }

// In the order of their lowest ranks. `mine` tells this rank's node from others. (Communicators for this cost much.)
void MpiComm::number_nodes(unsigned mine) {
  std::vector<unsigned> nodes(size_);
  sabath_mpi_request request{};
  check(mpi_.gather_to_all(comm_, &mine, sizeof mine, nodes.data(), &request), "tell the nodes");
  wait(request);
  std::map<unsigned, unsigned> numbers;
  for (unsigned rank = 0; rank < size_; ++rank) {
    const auto [known, fresh] = numbers.try_emplace(nodes[rank], static_cast<unsigned>(numbers.size()));
    if (rank != rank_) continue;
    leader_ = fresh;
    node_ = known->second;
  }
  nodes_ = static_cast<unsigned>(numbers.size());
}

std::string MpiComm::host() const {
  std::array<char, 1024> name{};
  mpi_.host(name.data(), static_cast<int>(name.size()));
  return name.data();
}

void MpiComm::barrier() {
  sabath_mpi_request request{};
  check(mpi_.barrier(comm_, &request), "begin a barrier");
  wait(request);
}

void MpiComm::broadcast(std::string& bytes, unsigned root) {
  std::uint64_t length = bytes.size();
  sabath_mpi_request request{};
  check(mpi_.broadcast(comm_, &length, sizeof length, static_cast<int>(root), &request), "begin a broadcast");
  wait(request);
  bytes.resize(length);
  in_pieces(length, [&](std::size_t at, int count) {
    check(mpi_.broadcast(comm_, bytes.data() + at, count, static_cast<int>(root), &request), "go on broadcasting");
    wait(request);
  });
}

std::vector<std::string> MpiComm::gather(const std::string& mine) {
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(rank_ == 0 ? size_ : 0);
  sabath_mpi_request request{};
  check(mpi_.gather(comm_, &length, sizeof length, lengths.data(), 0, &request), "begin to gather");
  wait(request);
  std::vector<sabath_mpi_request> requests;
  std::vector<std::string> all(lengths.size());
  for (unsigned r = 1; r < all.size(); ++r) {
    all[r].resize(lengths[r]);
    in_pieces(lengths[r], [&](std::size_t at, int count) {
      check(mpi_.receive(comm_, all[r].data() + at, count, static_cast<int>(r), tag, &requests.emplace_back()),
            "receive from a rank");
    });
  }
  if (rank_ == 0) {
    all[0] = mine;
  } else {
    in_pieces(mine.size(), [&](std::size_t at, int count) {
      check(mpi_.send(comm_, mine.data() + at, count, 0, tag, &requests.emplace_back()), "send to rank 0");
    });
  }
  wait_all(requests);
  return all;
}

std::string MpiComm::scatter(const std::vector<std::string>& each) {
  std::vector<std::uint64_t> lengths;
  if (rank_ == 0) {
    for (unsigned r = 0; r < size_; ++r) lengths.push_back(each.at(r).size());
  }
  std::uint64_t length = 0;
  sabath_mpi_request request{};
  check(mpi_.scatter(comm_, lengths.data(), sizeof length, &length, 0, &request), "begin to scatter");
  wait(request);
  std::vector<sabath_mpi_request> requests;
  if (rank_ != 0) {
    std::string mine(length, '\0');
    in_pieces(length, [&](std::size_t at, int count) {
      check(mpi_.receive(comm_, mine.data() + at, count, 0, tag, &requests.emplace_back()), "receive from rank 0");
    });
    wait_all(requests);
    return mine;
  }
  for (unsigned r = 1; r < size_; ++r) {
    in_pieces(each[r].size(), [&](std::size_t at, int count) {
      check(mpi_.send(comm_, each[r].data() + at, count, static_cast<int>(r), tag, &requests.emplace_back()),
            "send to a rank");
    });
  }
  wait_all(requests);
  return each[0];
}

void MpiComm::all_reduce(std::span<std::uint64_t> values, Reduction how) {
  const auto pending = begin_all_reduce(values, how);
  for (Patience patience(quick_); !pending->done();) patience.pass();
}

std::unique_ptr<Comm::Pending> MpiComm::begin_all_reduce(std::span<std::uint64_t> values, Reduction how) {
  return std::make_unique<PendingReduction>(mpi_, values, how, comm_);
}

std::unique_ptr<Comm::Message> MpiComm::begin_send(std::span<const std::byte> bytes, unsigned to, unsigned channel) {
  auto message = std::make_unique<MpiMessage>(mpi_, false);
  check(mpi_.send(comm_, bytes.data(), static_cast<int>(bytes.size()), static_cast<int>(to),
                  first_channel_tag + static_cast<int>(channel), &message->request),
        "begin to send");
  return message;
}

std::unique_ptr<Comm::Message> MpiComm::begin_receive(std::span<std::byte> room, unsigned from, unsigned channel) {
  auto message = std::make_unique<MpiMessage>(mpi_, true);
  check(mpi_.receive(comm_, room.data(), static_cast<int>(room.size()),
                     from == any_rank ? SABATH_MPI_ANY_RANK : static_cast<int>(from),
                     first_channel_tag + static_cast<int>(channel), &message->request),
        "begin to receive");
  return message;
}

std::unique_ptr<Comm> MpiComm::split(bool joins) {
  sabath_mpi_comm part{};
  check(mpi_.split(comm_, joins ? 1 : 0, static_cast<int>(rank_), &part), "split its ranks");
  return joins ? std::make_unique<MpiComm>(mpi_, part, node_) : nullptr;
}

void MpiComm::abort(int exit_code) {
  mpi_.abort(comm_, exit_code);
  std::_Exit(exit_code);
}

}  // namespace sabath
