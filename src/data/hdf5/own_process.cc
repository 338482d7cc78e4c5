#include "hdf5/own_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "comm/parcel.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t answer_bytes_max = std::uint64_t{256} << 20;

[[noreturn]] void throw_end(std::optional<int> status, const std::string& what, const std::string& complaint) {
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) != SIGKILL) {
    throw Error(FailureKind::invalid,
                fmt::format("cannot read {}: HDF5 died of it ({})", what, ::strsignal(WTERMSIG(*status))),
                "the file is damaged or hostile: do not trust it");
  }
  if (status && WIFSIGNALED(*status)) {
    throw Error(FailureKind::internal, fmt::format("the process that read {} was killed", what),
                "the machine may be out of memory: see the system's log");
  }
  throw Error(FailureKind::internal, fmt::format("the process that read {} ended without an answer", what),
              complaint.empty() ? "" : fmt::format("it wrote: {}", printable(complaint, 4096)));
}

}  // namespace

std::optional<std::string> Hdf5::answer_to(const Hdf5Request& request, const std::string& what,
                                           const std::stop_token& stop) {
  if (!process_) process_ = std::make_unique<Companion>(find_companion(program_), "hdf5", Companion::Streams{}, stop);
  try {
    send_message(process_->channel(), request.encode());
    return receive_message(process_->channel(), answer_bytes_max, stop);
  } catch (const Error& error) {
    process_->kill();
    process_.reset();
    switch (error.failure().kind) {
      case FailureKind::interrupted:
        throw Error(FailureKind::interrupted, fmt::format("interrupted while reading {}", what));
      case FailureKind::invalid:
        throw Error(FailureKind::invalid, fmt::format("cannot tell of {}: the answer is too long", what));
      default:
        throw;
    }
  }
}

// An answer has a failure or none, then the result.
std::string Hdf5::ask(const Hdf5Request& request, const std::stop_token& stop) {
  const std::string what = printable(request.file.native(), 4096);
  const auto answer = answer_to(request, what, stop);
  if (!answer) {
    const auto status = process_->wait();
    const std::string complaint = process_->complaint();
    process_.reset();
    throw_end(status, what, complaint);
  }
  Parcel::Reader parcel(*answer);
  if (const auto failure = parcel.failure()) {
    process_.reset();  // the file may have damaged it
    throw Error(*failure);
  }
  return parcel.text();
}

nlohmann::ordered_json Hdf5::inspect(const std::filesystem::path& file, const std::stop_token& stop) {
  Hdf5Request request;
  request.file = file;
  return nlohmann::ordered_json::parse(ask(request, stop));
}

LogicalHash Hdf5::hash(const std::filesystem::path& file, bool objects, const std::stop_token& stop) {
  Hdf5Request request;
  request.what = Hdf5Request::What::hash;
  request.file = file;
  request.objects = objects;
  return parse_hash(ask(request, stop));
}

SelectedFile Hdf5::select(const std::filesystem::path& source, const Selections& selections,
                          const std::filesystem::path& out, const SelectOptions& options, const std::stop_token& stop) {
  Hdf5Request request{Hdf5Request::What::select, source, false, selections, out, 0, options};
  if (request.options.unfinished.empty()) request.options.unfinished = out.native() + ".new";
  try {
    return parse_selected(ask(request, stop));
  } catch (const Error&) {
    remove_tree(request.options.unfinished);
    throw;
  }
}

Extracted Hdf5::extract(const std::filesystem::path& file, const Hyperslab& selection, const std::filesystem::path& out,
                        std::uint64_t offset, const std::stop_token& stop) {
  return parse_extracted(ask({Hdf5Request::What::extract, file, false, {selection}, out, offset, {}}, stop));
}

}  // namespace sabath
