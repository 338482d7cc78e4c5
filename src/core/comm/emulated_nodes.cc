#include "comm/emulated_nodes.h"

#include <fmt/format.h>

#include "sabath/error.h"

namespace sabath {
namespace {

class EmulatedNodes final : public Comm {
 public:
  EmulatedNodes(Comm& real, unsigned nodes) : real_(real), nodes_(nodes) {}
  unsigned rank() const override { return real_.rank(); }
  unsigned size() const override { return real_.size(); }
  unsigned node() const override { return node_of(rank()); }
  unsigned nodes() const override { return nodes_; }
  bool node_leader() const override { return rank() == 0 || node_of(rank() - 1) != node(); }
  std::string host() const override { return fmt::format("{}/{}", real_.host(), node()); }

  void barrier() override { real_.barrier(); }
  void broadcast(std::string& bytes, unsigned root) override { real_.broadcast(bytes, root); }
  std::vector<std::string> gather(const std::string& mine) override { return real_.gather(mine); }
  std::string scatter(const std::vector<std::string>& each) override { return real_.scatter(each); }
  void all_reduce(std::span<std::uint64_t> values, Reduction how) override { real_.all_reduce(values, how); }
  std::unique_ptr<Pending> begin_all_reduce(std::span<std::uint64_t> values, Reduction how) override {
    return real_.begin_all_reduce(values, how);
  }
  std::unique_ptr<Message> begin_send(std::span<const std::byte> bytes, unsigned to, unsigned channel) override {
    return real_.begin_send(bytes, to, channel);
  }
  std::unique_ptr<Message> begin_receive(std::span<std::byte> room, unsigned from, unsigned channel) override {
    return real_.begin_receive(room, from, channel);
  }
  std::unique_ptr<Comm> split(bool joins) override { return real_.split(joins); }
  void abort(int exit_code) override { real_.abort(exit_code); }

 private:
  unsigned node_of(unsigned rank) const { return static_cast<unsigned>(std::uint64_t{rank} * nodes_ / real_.size()); }
  Comm& real_;
  const unsigned nodes_;
};

}  // namespace

std::unique_ptr<Comm> emulate_nodes(Comm& comm, unsigned nodes) {
  if (nodes == 0 || nodes > comm.size()) {
    throw Error(FailureKind::usage, fmt::format("{} ranks cannot pretend to be {} nodes", comm.size(), nodes),
                "start as many ranks as nodes, or more: mpirun -n");
  }
  return std::make_unique<EmulatedNodes>(comm, nodes);
}

}  // namespace sabath
