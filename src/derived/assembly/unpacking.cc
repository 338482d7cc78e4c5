#include "assembly/unpacking.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "assembly/content_copy.h"
#include "base/threads.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t wheels_told = 20;

// Of wheels that are refused all are named; any other failure ends it at once.
class Unpacking {
 public:
  Unpacking(Store& store, SpaceGuard& space, const fs::path& top, std::vector<WheelToUnpack>& wheels,
            PlaceClaims& claims, const std::stop_token& stop)
      : store_(store), space_(space), top_(top), wheels_(wheels), claims_(claims), stop_(stop) {}

  void run() {
    {
      std::vector<std::jthread> threads;
      const auto work = [this] { take_all(); };
      const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
      for (std::size_t i = 1; i < cores && i < wheels_.size() && try_add_thread(threads, work); ++i) {}
      take_all();
    }
    if (thrown_) std::rethrow_exception(thrown_);
    if (!refused_.empty()) refuse_all();
  }

 private:
  [[noreturn]] void refuse_all() {
    Failure first = refused_.begin()->second;
    std::vector<std::string> texts;
    for (const auto& [number, failure] : refused_)
      if (texts.size() < wheels_told) texts.push_back(failure.message);
    first.message = fmt::format("{}", fmt::join(texts, "; "));
    if (refused_.size() > texts.size()) first.message += fmt::format("; and {} more", refused_.size() - texts.size());
    throw Error(first);
  }

  void take_all() noexcept {
    for (std::size_t i = 0; (i = next_++) < wheels_.size();) try {
        if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
        unpack(i);
      } catch (const Error& error) {
        note(i, error.failure());
      } catch (...) {
        end(std::current_exception());
      }
  }

  void note(std::size_t i, const Failure& failure) {
    if (failure.kind != FailureKind::invalid) return end(std::make_exception_ptr(Error(failure)));
    const std::lock_guard lock(mutex_);
    refused_.emplace(i, failure);
  }

  void end(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::move(thrown);
    next_ = wheels_.size();
  }

  void unpack(std::size_t i) {
    WheelToUnpack& wheel = wheels_[i];
    const fs::path copy = top_.parent_path() / fmt::format("wheel-{}", i);
    copy_proven(store_, wheel.content, copy, wheel.order.file_name, stop_);
    wheel.order.file = copy;
    {
      const WheelArchive archive(wheel.order);
      wheel.label = archive.label();
      wheel.places = archive.places();
      claims_.claim(wheel.label, wheel.places);
      space_.reserve(archive.bytes(), archive.places().size(), wheel.label);
      archive.unpack(top_, stop_);
    }
    fs::remove(copy);
  }

  Store& store_;
  SpaceGuard& space_;
  const fs::path& top_;
  std::vector<WheelToUnpack>& wheels_;
  PlaceClaims& claims_;
  const std::stop_token& stop_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // of what follows
  std::exception_ptr thrown_;
  std::map<std::size_t, Failure> refused_;
};

}  // namespace

void unpack_wheels(Store& store, SpaceGuard& space, const fs::path& top, std::vector<WheelToUnpack>& wheels,
                   PlaceClaims& claims, const std::stop_token& stop) {
  Unpacking(store, space, top, wheels, claims, stop).run();
}

}  // namespace sabath
