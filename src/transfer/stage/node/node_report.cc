#include "stage/node/node_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "comm/parcel.h"

namespace sabath {

std::string NodeReport::bytes() const {
  return Parcel()
      .add(failure)
      .add(std::uint64_t{incomplete})
      .add(from_shared)
      .add(from_origin)
      .add(received)
      .add(sent)
      .add(present)
      .add(std::uint64_t{node})
      .add(host)
      .take();
}

NodeReport NodeReport::parse(const std::string& bytes) {
  Parcel::Reader parcel(bytes);
  NodeReport report;
  report.failure = parcel.failure();
  report.incomplete = parcel.flag();
  report.from_shared = parcel.number();
  report.from_origin = parcel.number();
  report.received = parcel.number();
  report.sent = parcel.number();
  report.present = parcel.number();
  report.node = static_cast<unsigned>(parcel.number());
  report.host = parcel.text();
  return report;
}

std::optional<Failure> judge(StagedAsset& asset, const std::vector<NodeReport>& reports, unsigned allowed) {
  std::vector<FailedNode> failed, incomplete;
  for (const NodeReport& report : reports) {
    asset.bytes_from_shared += report.from_shared;
    asset.bytes_from_origin += report.from_origin;
    asset.bytes_from_peers += report.received;
    asset.bytes_sent += report.sent;
    asset.bytes_present += report.present;
    if (report.failure) {
      failed.push_back({report.node, report.host, *report.failure});
    } else if (report.incomplete) {
      const Failure unfinished{FailureKind::nodes, "it did not get all of it from the others", "stage again", {}};
      incomplete.push_back({report.node, report.host, unfinished});
    }
  }
  const std::size_t count = failed.size() + incomplete.size();
  if (count == 0) return std::nullopt;
  asset.failed_nodes = failed.empty() ? incomplete : failed;
  const auto grave = std::ranges::find_if(asset.failed_nodes, [](const FailedNode& node) {
    return node.failure.kind == FailureKind::space || node.failure.kind == FailureKind::interrupted;
  });
  const FailedNode& first = grave == asset.failed_nodes.end() ? asset.failed_nodes.front() : *grave;
  Failure failure = first.failure;
  if (asset.nodes > 1) failure.message = fmt::format("node {} ({}): {}", first.node, first.host, failure.message);
  if (asset.failed_nodes.size() > 1) {
    failure.message += fmt::format(" (and {} other nodes failed)", asset.failed_nodes.size() - 1);
  }
  const bool one_kind = std::ranges::all_of(
      asset.failed_nodes, [&](const FailedNode& node) { return node.failure.kind == first.failure.kind; });
  const bool of_the_node = failure.kind == FailureKind::storage || failure.kind == FailureKind::internal;
  if (count <= allowed || !one_kind || (of_the_node && asset.nodes > 1)) failure.kind = FailureKind::nodes;
  return failure;
}

void describe(StagedAsset& asset, const Manifest& manifest, const std::vector<std::string>& selection) {
  const Totals totals = manifest.totals();
  asset.manifest = manifest.root().prefixed();
  asset.files = totals.files;
  asset.bytes = totals.bytes;
  asset.selection = selection;
}

}  // namespace sabath
