// Comm over an MPI communicator of its own, so that it meets no other code's messages. Main thread only.
#pragma once

#ifdef SABATH_WITH_MPI
#include <mpi.h>

#include "sabath/comm.h"

namespace sabath {

class MpiComm final : public Comm {
 public:
  explicit MpiComm(MPI_Comm own);  // takes it, and frees it unless it is the world
  // A part of another job, in which this rank is on `node`. Its collectives throw Error{nodes} after silence_max.
  MpiComm(MPI_Comm own, unsigned node);
  ~MpiComm() override;
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  unsigned node() const override { return node_; }
  unsigned nodes() const override { return nodes_; }
  bool node_leader() const override { return leader_; }
  std::string host() const override;

  void barrier() override;
  void broadcast(std::string& bytes, unsigned root) override;
  std::vector<std::string> gather(const std::string& mine) override;
  std::string scatter(const std::vector<std::string>& each) override;
  void all_reduce(std::span<std::uint64_t> values, Reduction how) override;
  std::unique_ptr<Pending> begin_all_reduce(std::span<std::uint64_t> values, Reduction how) override;
  std::unique_ptr<Message> begin_send(std::span<const std::byte> bytes, unsigned to, unsigned channel) override;
  std::unique_ptr<Message> begin_receive(std::span<std::byte> room, unsigned from, unsigned channel) override;
  std::unique_ptr<Comm> split(bool joins) override;
  void abort(int exit_code) override;

 private:
  void find_rank();
  void number_nodes(unsigned mine);
  void wait(MPI_Request request) const;
  void wait_all(std::vector<MPI_Request>& requests) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  unsigned rank_ = 0, size_ = 1, node_ = 0, nodes_ = 1;
  bool leader_ = true;
  const bool quick_;
};

}  // namespace sabath
#endif
