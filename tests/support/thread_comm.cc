#include "support/thread_comm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace sabath::test {

void ThreadRanks::give(unsigned rank, std::uint64_t number, const std::string& kind, std::string text) {
  const std::lock_guard lock(mutex_);
  Exchange& exchange = exchanges_[number];
  if (exchange.given++ == 0) {
    exchange.kind = kind;
    exchange.texts.resize(size_);
  }
  if (exchange.kind != kind) throw std::logic_error("ranks disagree: " + kind + " and " + exchange.kind);
  exchange.texts[rank] = std::move(text);
  changed_.notify_all();
}

bool ThreadRanks::complete(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return exchanges_[number].given == size_;
}

std::vector<std::string> ThreadRanks::take(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return exchanges_[number].given == size_; });
  std::vector<std::string> texts = exchanges_[number].texts;
  if (++exchanges_[number].taken == size_) exchanges_.erase(number);
  return texts;
}

class ThreadRanks::Rank final : public Comm {
 public:
  Rank(ThreadRanks& ranks, unsigned rank) : ranks_(ranks), rank_(rank) {}
  Rank(std::shared_ptr<ThreadRanks> part, unsigned rank) : kept_(std::move(part)), ranks_(*kept_), rank_(rank) {}
  unsigned rank() const override { return rank_; }
  unsigned size() const override { return ranks_.size_; }
  unsigned node() const override { return rank_ / ranks_.on_node_; }
  unsigned nodes() const override { return (size() + ranks_.on_node_ - 1) / ranks_.on_node_; }
  bool node_leader() const override { return rank_ % ranks_.on_node_ == 0; }
  std::string host() const override { return "node" + std::to_string(node()); }

  void barrier() override { static_cast<void>(exchange("barrier", "")); }
  void broadcast(std::string& bytes, unsigned root) override { bytes = exchange("broadcast", bytes)[root]; }
  std::vector<std::string> gather(const std::string& mine) override {
    auto all = exchange("gather", mine);
    return rank_ == 0 ? all : std::vector<std::string>();
  }
  std::string scatter(const std::vector<std::string>& each) override {
    if (rank_ == 0) parts_ = &each;
    std::string address(sizeof parts_, '\0');
    std::memcpy(address.data(), &parts_, sizeof parts_);
    const std::vector<std::string>* parts = nullptr;
    std::memcpy(&parts, exchange("scatter", address)[0].data(), sizeof parts);
    std::string mine = parts->at(rank_);
    barrier();  // rank 0's parts live until all have read
    return mine;
  }
  void all_reduce(std::span<std::uint64_t> values, Reduction how) override {
    const std::uint64_t number = begin("reduce", values);
    combine(values, how, ranks_.take(number));
  }
  std::unique_ptr<Pending> begin_all_reduce(std::span<std::uint64_t> values, Reduction how) override {
    return std::make_unique<Waiting>(*this, begin("reduce", values), values, how);
  }
  std::unique_ptr<Message> begin_send(std::span<const std::byte> bytes, unsigned to, unsigned channel) override {
    auto sent = std::make_unique<Sent>(ranks_);
    const std::lock_guard lock(ranks_.mutex_);
    ranks_.posts_[to].push_back({rank_, channel, bytes, sent->taken});
    return sent;
  }
  std::unique_ptr<Message> begin_receive(std::span<std::byte> room, unsigned from, unsigned channel) override {
    return std::make_unique<Received>(*this, room, from, channel, next_receive_++);
  }
  std::unique_ptr<Comm> split(bool joins) override {
    const std::uint64_t number = next_;
    const auto all = exchange("split", joins ? "1" : "0");
    if (!joins) return nullptr;
    unsigned size = 0, mine = 0;
    for (unsigned r = 0; r < all.size(); ++r) {
      if (all[r] != "1") continue;
      if (r == rank_) mine = size;
      ++size;
    }
    const std::lock_guard lock(ranks_.mutex_);
    auto& part = ranks_.parts_[number];
    if (!part) part = std::make_shared<ThreadRanks>(size, 1);
    return std::make_unique<Rank>(part, mine);
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  struct Sent final : Message {
    explicit Sent(ThreadRanks& of) : ranks(of) {}
    bool done() override {
      const std::lock_guard lock(ranks.mutex_);
      return *taken;
    }
    std::size_t length() const override { return 0; }
    ThreadRanks& ranks;
    std::shared_ptr<bool> taken = std::make_shared<bool>(false);
  };
  // As MPI has it: of receives that fit the same message, the one that was posted first gets it.
  struct Received final : Message {
    Received(Rank& of, std::span<std::byte> into, unsigned source, unsigned its_channel, std::uint64_t its_number)
        : rank(of), room(into), from(source), channel(its_channel), number(its_number) {
      rank.receives_[{channel, number}] = from;
    }
    ~Received() override { rank.receives_.erase({channel, number}); }
    bool done() override {
      if (over) return true;
      const auto fits = [this](unsigned other) { return other == from || other == any_rank || from == any_rank; };
      for (auto older = rank.receives_.lower_bound({channel, 0}); older->first.second != number; ++older) {
        if (fits(older->second)) return false;
      }
      const std::lock_guard lock(rank.ranks_.mutex_);
      auto& posts = rank.ranks_.posts_[rank.rank_];
      const auto post = std::ranges::find_if(
          posts, [&](const Post& p) { return p.channel == channel && (from == any_rank || from == p.from); });
      if (post == posts.end()) return false;
      if (post->bytes.size() > room.size()) throw std::logic_error("a message is longer than its room");
      std::memcpy(room.data(), post->bytes.data(), post->bytes.size());
      came = post->bytes.size();
      *post->taken = true;
      posts.erase(post);
      rank.receives_.erase({channel, number});
      return over = true;
    }
    std::size_t length() const override { return came; }
    Rank& rank;
    std::span<std::byte> room;
    const unsigned from, channel;
    const std::uint64_t number;
    std::size_t came = 0;
    bool over = false;
  };

  struct Waiting final : Pending {
    Waiting(Rank& of, std::uint64_t its, std::span<std::uint64_t> into, Reduction by)
        : rank(of), number(its), values(into), how(by) {}
    bool done() override {
      if (!over && rank.ranks_.complete(number)) {
        combine(values, how, rank.ranks_.take(number));
        over = true;
      }
      return over;
    }
    Rank& rank;
    std::uint64_t number;
    std::span<std::uint64_t> values;
    Reduction how;
    bool over = false;
  };

  std::vector<std::string> exchange(const std::string& kind, const std::string& text) {
    ranks_.give(rank_, next_, kind, text);
    return ranks_.take(next_++);
  }
  std::uint64_t begin(const std::string& kind, std::span<std::uint64_t> values) {
    ranks_.give(rank_, next_, kind, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    return next_++;
  }
  static void combine(std::span<std::uint64_t> values, Reduction how, const std::vector<std::string>& all) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t r = 0; r < all.size(); ++r) {
        std::uint64_t other = 0;
        std::memcpy(&other, all[r].data() + i * sizeof other, sizeof other);
        values[i] = r == 0 ? other : of_two(values[i], other, how);
      }
    }
  }
  static std::uint64_t of_two(std::uint64_t a, std::uint64_t b, Reduction how) {
    if (how == Reduction::minimum) return std::min(a, b);
    if (how == Reduction::maximum) return std::max(a, b);
    if (how == Reduction::bit_and) return a & b;
    return how == Reduction::bit_or ? a | b : a + b;
  }

  std::shared_ptr<ThreadRanks> kept_;  // of a split
  ThreadRanks& ranks_;
  const unsigned rank_;
  std::uint64_t next_ = 0, next_receive_ = 0;
  std::map<std::pair<unsigned, std::uint64_t>, unsigned> receives_;  // waiting, by channel and order
  const std::vector<std::string>* parts_ = nullptr;
};

void ThreadRanks::run(const std::function<void(Comm&)>& work) {
  std::exception_ptr thrown;
  {
    std::vector<std::jthread> threads;
    for (unsigned r = 0; r < size_; ++r) {
      threads.emplace_back([&, r] {
        try {
          Rank rank(*this, r);
          work(rank);
        } catch (...) {
          const std::lock_guard lock(mutex_);
          thrown = std::current_exception();
        }
      });
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sabath::test
