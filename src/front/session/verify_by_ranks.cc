#include "session/verify_by_ranks.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "comm/agree.h"
#include "comm/parcel.h"

namespace sabath {
namespace {

std::string packed(const VerifyReport& report) {
  Parcel parcel;
  for (const auto number :
       {report.files, report.copies, report.bytes_read, report.missing, report.quick, report.remembered}) {
    parcel.add(number);
  }
  parcel.add(std::uint64_t{report.missing_paths.size()});
  for (const auto& path : report.missing_paths) parcel.add(path);
  parcel.add(std::uint64_t{report.strays.size()});
  for (const auto& stray : report.strays) parcel.add(stray.path).add(std::uint64_t{stray.owner});
  for (const auto& bad : report.bad) {
    parcel.add(static_cast<std::uint64_t>(bad.file.kind)).add(bad.file.size_bytes).add(bad.file.hash.hex());
    parcel.add(bad.path).add(bad.index).add(bad.offset).add(bad.what).add(std::uint64_t{bad.removed_link});
  }
  return parcel.take();
}

void add_packed(VerifyReport& report, const std::string& bytes) {
  Parcel::Reader parcel(bytes);
  for (auto* number :
       {&report.files, &report.copies, &report.bytes_read, &report.missing, &report.quick, &report.remembered}) {
    *number += parcel.number();
  }
  for (auto paths = parcel.number(); paths > 0; --paths) report.missing_paths.push_back(parcel.text());
  for (auto strays = parcel.number(); strays > 0; --strays) {
    std::string path = parcel.text();
    report.strays.push_back({std::move(path), static_cast<std::uint32_t>(parcel.number())});
  }
  while (!parcel.at_end()) {
    BadChunk bad;
    bad.file.kind = static_cast<ContentKind>(parcel.number());
    bad.file.size_bytes = parcel.number();
    bad.file.hash = Sha256::parse(parcel.text());
    bad.path = parcel.text();
    bad.index = parcel.number();
    bad.offset = parcel.number();
    bad.what = parcel.text();
    bad.removed_link = parcel.flag();
    report.bad.push_back(std::move(bad));
  }
}

// The ranks that have the same directory see a name that rank 0 has just made there; other ranks do not.
void check_shared(Comm& comm, Store& store, const Manifest* manifest) {
  std::string mark, root = manifest == nullptr ? "" : manifest->root().hex();
  const std::string ours = root;
  run_agreed(comm, [&] {
    if (comm.rank() == 0) mark = store.make_temporary_directory().lexically_relative(store.directory()).native();
  });
  comm.broadcast(mark, 0);
  comm.broadcast(root, 0);
  run_agreed(comm, [&] {
    if (!try_lstat(store.directory() / mark)) {
      throw Error(
          FailureKind::usage,
          fmt::format("{} is not the store that rank 0 has under this name", store.directory().native()),
          fmt::format("stores that each node has for itself are verified by themselves: with {}, one rank a node",
                      option_text("alone")));
    }
    if (root != ours) {
      throw Error(FailureKind::storage, "the asset became another while the ranks began", "run it again");
    }
  });
}

}  // namespace

VerifyReport verify_by_ranks(Comm& comm, Store& store, const Manifest* manifest, VerifyOptions how) {
  check_shared(comm, store, manifest);
  how.part = comm.rank();
  how.parts = comm.size();
  VerifyReport report;
  run_agreed(comm, [&] { report = verify(store, manifest, how); });
  const auto reports = comm.gather(packed(report));
  run_agreed(comm, [&] {
    if (comm.rank() != 0) return;
    report = {};
    for (const auto& one : reports) add_packed(report, one);
    if (manifest == nullptr && how.parts > 1) add_lacks(store, report);
  });
  return report;
}

}  // namespace sabath
