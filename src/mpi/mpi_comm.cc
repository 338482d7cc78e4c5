#include "mpi/mpi_comm.h"

#ifdef SABATH_WITH_MPI
#include <fmt/format.h>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t piece_max = std::size_t{256} << 20;  // MPI counts in int
constexpr std::chrono::seconds silence_max{10};
constexpr std::chrono::milliseconds short_wait{50};  // a collective goes by several ranks, and each looks now and then
constexpr int tag = 1, first_channel_tag = 2;

void check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(FailureKind::nodes, std::string("MPI cannot ") + what + ": " + text.data(),
              fmt::format("`{}` shows which MPI this is; the launcher should be of the same", verb_text("doctor")));
}

bool test(MPI_Request& request) {
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "finish a message");
  return done != 0;
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

MPI_Op operation(Reduction how) {
  switch (how) {
    case Reduction::minimum:
      return MPI_MIN;
    case Reduction::maximum:
      return MPI_MAX;
    case Reduction::bit_and:
      return MPI_BAND;
    case Reduction::bit_or:
      return MPI_BOR;
    default:
      return MPI_SUM;
  }
}

// MPICH 4.0.2 compares unsigned numbers as if they were signed: it gets signed numbers in the same order instead.
constexpr bool is_order(Reduction how) { return how == Reduction::minimum || how == Reduction::maximum; }
void turn_sign(std::span<std::uint64_t> values) {
  for (auto& value : values) value ^= std::uint64_t{1} << 63U;
}

class PendingReduction final : public Comm::Pending {
 public:
  PendingReduction(std::span<std::uint64_t> values, Reduction how, MPI_Comm comm) : values_(values), how_(how) {
    if (is_order(how)) turn_sign(values);
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                         is_order(how) ? MPI_INT64_T : MPI_UINT64_T, operation(how), comm, &request_),
          "begin a reduction");
  }
  bool done() override {
    if (done_ || !test(request_)) return done_;
    if (is_order(how_)) turn_sign(values_);
    return done_ = true;
  }

 private:
  const std::span<std::uint64_t> values_;
  const Reduction how_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool done_ = false;
};

class MpiMessage final : public Comm::Message {
 public:
  explicit MpiMessage(bool receives) : receives_(receives) {}
  ~MpiMessage() override {
    if (request == MPI_REQUEST_NULL || !receives_) return;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  bool done() override {
    if (request == MPI_REQUEST_NULL) return true;
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&request, &done, &status), receives_ ? "receive a message" : "send a message");
    if (done != 0 && receives_) {
      int count = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &count), "measure a message");
      length_ = static_cast<std::size_t>(count);
    }
    return done != 0;
  }
  std::size_t length() const override { return length_; }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  const bool receives_;
  std::size_t length_ = 0;
};

}  // namespace

MpiComm::MpiComm(MPI_Comm own) : comm_(own), quick_(false) {
  find_rank();
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, static_cast<int>(rank_), MPI_INFO_NULL, &here),
        "find the ranks of this node");
  unsigned lowest = rank_;
  check(MPI_Bcast(&lowest, 1, MPI_UNSIGNED, 0, here), "tell the ranks of this node");
  MPI_Comm_free(&here);
  number_nodes(lowest);
}

MpiComm::MpiComm(MPI_Comm own, unsigned node) : comm_(own), quick_(true) {
  find_rank();
  number_nodes(node);
}

void MpiComm::find_rank() {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "take an error handler");
  int rank = 0, size = 0;
  check(MPI_Comm_rank(comm_, &rank), "say which rank this is");
  check(MPI_Comm_size(comm_, &size), "count the ranks");
  rank_ = static_cast<unsigned>(rank);
  size_ = static_cast<unsigned>(size);
}

void MpiComm::wait(MPI_Request request) const {
  for (Patience patience(quick_); !test(request);) patience.pass();
}

void MpiComm::wait_all(std::vector<MPI_Request>& requests) const {
  for (Patience patience(quick_);;) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
          "finish its messages");
    if (done != 0) return;
    patience.pass();
  }
}

MpiComm::~MpiComm() {
  if (comm_ != MPI_COMM_WORLD) MPI_Comm_free(&comm_);
}

// In the order of their lowest ranks. `mine` tells this rank's node from others. (Communicators for this cost much.)
void MpiComm::number_nodes(unsigned mine) {
  std::vector<unsigned> nodes(size_);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&mine, 1, MPI_UNSIGNED, nodes.data(), 1, MPI_UNSIGNED, comm_, &request), "tell the nodes");
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
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

void MpiComm::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm_, &request), "begin a barrier");
  wait(request);
}

void MpiComm::broadcast(std::string& bytes, unsigned root) {
  std::uint64_t length = bytes.size();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(&length, 1, MPI_UINT64_T, static_cast<int>(root), comm_, &request), "begin a broadcast");
  wait(request);
  bytes.resize(length);
  in_pieces(length, [&](std::size_t at, int count) {
    check(MPI_Ibcast(bytes.data() + at, count, MPI_BYTE, static_cast<int>(root), comm_, &request),
          "go on broadcasting");
    wait(request);
  });
}

std::vector<std::string> MpiComm::gather(const std::string& mine) {
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(rank_ == 0 ? size_ : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, 0, comm_, &request), "begin to gather");
  wait(request);
  std::vector<MPI_Request> requests;
  std::vector<std::string> all(lengths.size());
  for (unsigned r = 1; r < all.size(); ++r) {
    all[r].resize(lengths[r]);
    in_pieces(lengths[r], [&](std::size_t at, int count) {
      check(MPI_Irecv(all[r].data() + at, count, MPI_BYTE, static_cast<int>(r), tag, comm_, &requests.emplace_back()),
            "receive from a rank");
    });
  }
  if (rank_ == 0) {
    all[0] = mine;
  } else {
    in_pieces(mine.size(), [&](std::size_t at, int count) {
      check(MPI_Isend(mine.data() + at, count, MPI_BYTE, 0, tag, comm_, &requests.emplace_back()), "send to rank 0");
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
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iscatter(lengths.data(), 1, MPI_UINT64_T, &length, 1, MPI_UINT64_T, 0, comm_, &request),
        "begin to scatter");
  wait(request);
  if (rank_ != 0) {
    std::string mine(length, '\0');
    std::vector<MPI_Request> requests;
    in_pieces(length, [&](std::size_t at, int count) {
      check(MPI_Irecv(mine.data() + at, count, MPI_BYTE, 0, tag, comm_, &requests.emplace_back()),
            "receive from rank 0");
    });
    wait_all(requests);
    return mine;
  }
  std::vector<MPI_Request> requests;
  for (unsigned r = 1; r < size_; ++r) {
    in_pieces(each[r].size(), [&](std::size_t at, int count) {
      check(MPI_Isend(each[r].data() + at, count, MPI_BYTE, static_cast<int>(r), tag, comm_, &requests.emplace_back()),
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
  return std::make_unique<PendingReduction>(values, how, comm_);
}

std::unique_ptr<Comm::Message> MpiComm::begin_send(std::span<const std::byte> bytes, unsigned to, unsigned channel) {
  auto message = std::make_unique<MpiMessage>(false);
  check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to),
                  first_channel_tag + static_cast<int>(channel), comm_, &message->request),
        "begin to send");
  return message;
}

std::unique_ptr<Comm::Message> MpiComm::begin_receive(std::span<std::byte> room, unsigned from, unsigned channel) {
  auto message = std::make_unique<MpiMessage>(true);
  check(MPI_Irecv(room.data(), static_cast<int>(room.size()), MPI_BYTE,
                  from == any_rank ? MPI_ANY_SOURCE : static_cast<int>(from),
                  first_channel_tag + static_cast<int>(channel), comm_, &message->request),
        "begin to receive");
  return message;
}

std::unique_ptr<Comm> MpiComm::split(bool joins) {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_, joins ? 0 : MPI_UNDEFINED, static_cast<int>(rank_), &part), "split its ranks");
  return joins ? std::make_unique<MpiComm>(part, node_) : nullptr;
}

void MpiComm::abort(int exit_code) {
  MPI_Abort(comm_, exit_code);
  std::_Exit(exit_code);
}

}  // namespace sabath
#endif
