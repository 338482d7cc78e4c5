// Comm over an MPI communicator of its own, so that it meets no other code's messages. MPI is the table that it is
// given, which outlives it: this file and mpi_comm.cc know no <mpi.h>. Main thread only.
#pragma once

#include "mpi/plugin/mpi_table.h"
#include "sabath/comm.h"

namespace sabath {

class MpiComm final : public Comm {
 public:
  MpiComm(const sabath_mpi_calls& mpi, sabath_mpi_comm own);  // takes it, and frees it unless it is the world
  // A part of another job, in which this rank is on `node`. Its collectives throw Error{nodes} after silence_max.
  MpiComm(const sabath_mpi_calls& mpi, sabath_mpi_comm own, unsigned node);
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
  void check(int result, const char* what) const;
  void find_rank();
  void number_nodes(unsigned mine);
  void wait(sabath_mpi_request request) const;
  void wait_all(std::span<sabath_mpi_request> requests) const;

  const sabath_mpi_calls& mpi_;
  sabath_mpi_comm comm_;
  unsigned rank_ = 0, size_ = 1, node_ = 0, nodes_ = 1;
  bool leader_ = true;
  const bool quick_;
};

}  // namespace sabath
