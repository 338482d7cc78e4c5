#include "companion/hdf5.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>

#include "base/companion.h"
#include "comm/parcel.h"
#include "hdf5/inspect.h"
#include "hdf5/messages.h"
#include "sabath/error.h"

namespace sabath::companion {
namespace {

constexpr std::uint64_t memory_bytes_more = std::uint64_t{2} << 30;  // than at the start
constexpr rlim_t stalled_s = 20;                                     // of processor time between two signs of life

std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_CORE) resource, std::uint64_t value) {
  rlimit bound{};
  ::getrlimit(resource, &bound);
  bound.rlim_max = std::min<rlim_t>(bound.rlim_max, value);
  bound.rlim_cur = std::min<rlim_t>(bound.rlim_cur, bound.rlim_max);
  ::setrlimit(resource, &bound);
}

// The soft limit of processor time, which ends the process by SIGXCPU, is moved on with each sign of life.
class Clock {
 public:
  void move_on() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto now = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    if (now < next_) return;
    next_ = now + 1;
    rlimit bound{};
    ::getrlimit(RLIMIT_CPU, &bound);
    bound.rlim_cur = std::min(bound.rlim_max, next_ + stalled_s);
    ::setrlimit(RLIMIT_CPU, &bound);
  }

 private:
  rlim_t next_ = 0;
};

bool has_gone(int channel) {
  char byte = 0;
  return ::recv(channel, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::string result_of(Hdf5Request request, const std::function<void()>& alive) {
  using Json = nlohmann::ordered_json;
  switch (request.what) {
    case Hdf5Request::What::inspect:
      return inspect_hdf5(request.file, alive).dump(-1, ' ', false, Json::error_handler_t::replace);
    case Hdf5Request::What::hash: {
      LogicalHash hash = logical_hash(request.file, {}, alive);
      if (!request.objects) hash.objects.clear();
      return encode_hash(hash);
    }
    case Hdf5Request::What::extract:
      if (request.selections.size() != 1) throw Error(FailureKind::usage, "one selection is extracted at a time");
      return encode_extracted(extract_into(request.file, request.selections[0], request.out, request.offset, alive));
    case Hdf5Request::What::select:
      break;
  }
  request.options.on_progress = alive;
  return encode_selected(select_into(request.file, request.selections, request.out, request.options));
}

std::string answer_to(std::string_view request) {
  Clock clock;
  const auto failed = [](Failure failure) { return Parcel().add(failure).add(std::string_view()).take(); };
  try {
    clock.move_on();
    const std::string result = result_of(Hdf5Request::parse(request), [&] { clock.move_on(); });
    return Parcel().add(std::optional<Failure>()).add(std::string_view(result)).take();
  } catch (const Error& error) {
    return failed(error.failure());
  } catch (const std::bad_alloc&) {
    return failed({FailureKind::invalid, "reading it takes more memory than a reader of HDF5 may have",
                   hdf5_memory_hint, std::nullopt});
  } catch (const std::exception& error) {
    return failed({FailureKind::internal, fmt::format("internal error: {}", error.what()), "", std::nullopt});
  }
}

}  // namespace

int read_hdf5(int channel, std::string_view request) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (has_gone(channel)) return 1;  // it ended before prctl
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, address_space_bytes() + memory_bytes_more);
  send_message(channel, answer_to(request));
  while (const auto next = receive_message(channel, request_bytes_max)) send_message(channel, answer_to(*next));
  ::_exit(0);  // HDF5's exit handlers must not run after it has read a damaged file
}

}  // namespace sabath::companion
