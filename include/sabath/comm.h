// The ranks of one job: all that SABATH asks of MPI. One process (solo_comm.h), MPI (src/transfer/mpi) and the tests'
// threads implement it.
//
// Main thread only, as MPI_THREAD_FUNNELED wants it; never from a lane. Every function that says "Collective." is
// called by all ranks in the same order. Waiting is polite: a rank that waits lets the processor go. A rank that dies
// is the launcher's to notice, or a watchdog's (abort()). Throws Error{nodes} for what MPI refuses.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sabath {

enum class Reduction { sum, minimum, maximum, bit_and, bit_or };

class Comm {
 public:
  virtual ~Comm() = default;
  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual unsigned size() const = 0;
  [[nodiscard]] virtual unsigned node() const = 0;     // 0 .. nodes() - 1, of this rank: ranks that share memory
  [[nodiscard]] virtual unsigned nodes() const = 0;    // of the job
  [[nodiscard]] virtual bool node_leader() const = 0;  // the lowest rank of its node
  [[nodiscard]] virtual std::string host() const = 0;  // this node's name, for people

  // Collective. All of them return when this rank's part is done.
  virtual void barrier() = 0;
  virtual void broadcast(std::string& bytes, unsigned root) = 0;                        // any length
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;   // at rank 0; elsewhere empty
  [[nodiscard]] virtual std::string scatter(const std::vector<std::string>& each) = 0;  // from rank 0: one for each
  virtual void all_reduce(std::span<std::uint64_t> values, Reduction how) = 0;

  // A collective on its way. One at a time; it is polled to its end before the next collective begins.
  class Pending {
   public:
    virtual ~Pending() = default;
    [[nodiscard]] virtual bool done() = 0;  // polls; once true, the values are there
  };
  // Collective. As all_reduce(), but returns at once; `values` must live, untouched, until it is done.
  [[nodiscard]] virtual std::unique_ptr<Pending> begin_all_reduce(std::span<std::uint64_t> values, Reduction how) = 0;

  // --- messages between two ranks ------------------------------------------------------------------------------------
  // Of one pair and channel they arrive in order. Any number may be on their way, beside a collective. The bytes must
  // live until the message is done; one that is given up before (only a receiver may) is cancelled.
  static constexpr unsigned any_rank = UINT_MAX;
  static constexpr unsigned channel_count = 16;
  class Message : public Pending {
   public:
    [[nodiscard]] virtual std::size_t length() const = 0;  // received bytes; once done
  };
  // At most 1 GiB. A large message may wait for its receiver: this is what holds a fast sender back.
  [[nodiscard]] virtual std::unique_ptr<Message> begin_send(std::span<const std::byte> bytes, unsigned to,
                                                            unsigned channel) = 0;
  // `from` may be any_rank. A message longer than `room` is an error.
  [[nodiscard]] virtual std::unique_ptr<Message> begin_receive(std::span<std::byte> room, unsigned from,
                                                               unsigned channel) = 0;

  // Collective. A job of those ranks that join, in the same order; nullptr for the others. It must not outlive this.
  // Its collectives are to be short: one that is not over after 10 s throws Error{nodes}.
  [[nodiscard]] virtual std::unique_ptr<Comm> split(bool joins) = 0;

  // Ends all ranks now, where the launcher can: for a job whose ranks no longer agree on what they do.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace sabath
