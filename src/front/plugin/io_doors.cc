// The functions of libsabath_io.so, as the program calls them.
#include <nlohmann/json.hpp>
#include <utility>

#include "plugin/load.h"

#pragma GCC visibility push(hidden)  // the plugin has functions of these names, and means its own
namespace sabath {

std::unique_ptr<FetcherSet> make_fetchers(const FetcherSettings& settings) { return io_plugin().fetchers(settings); }

std::unique_ptr<Server> make_server(Store& store, const ServeSettings& settings, Server::OnAccess on_access) {
  return io_plugin().server(store, settings, std::move(on_access));
}

Unpacked unpack_archive(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space,
                        std::stop_token stop) {
  return io_plugin().unpack(name, read, store, space, std::move(stop));
}

BundleHead write_bundle(Store& store, const std::vector<BundledAsset>& assets, const WantList* filter, int fd,
                        const OnBytes& on_bytes, const std::stop_token& stop) {
  return io_plugin().bundle_write(store, assets, filter, fd, on_bytes, stop);
}

Imported read_bundle(Store& store, int fd, const OnBytes& on_bytes, const std::stop_token& stop) {
  return io_plugin().bundle_read(store, fd, on_bytes, stop);
}

std::string hdf5_library() { return io_plugin().hdf5_version(); }

nlohmann::ordered_json inspect_hdf5(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  return io_plugin().hdf5_inspect(file, on_progress);
}

LogicalHash logical_hash(const std::filesystem::path& file, std::stop_token stop,
                         const std::function<void()>& on_progress) {
  return io_plugin().hdf5_hash(file, std::move(stop), on_progress);
}

SelectedFile select_into(const std::filesystem::path& source, const Selections& selections,
                         const std::filesystem::path& out, const SelectOptions& options) {
  return io_plugin().hdf5_select(source, selections, out, options);
}

Extracted extract_into(const std::filesystem::path& source, const Hyperslab& selection,
                       const std::filesystem::path& out, std::uint64_t offset,
                       const std::function<void()>& on_progress) {
  return io_plugin().hdf5_extract(source, selection, out, offset, on_progress);
}

std::unique_ptr<PackedStream> unpack_stream(ByteSource& from, Packing packing, const std::string& name) {
  return io_plugin().unpacked(from, packing, name);
}

void visit_archive(const std::string& name, const ReadAt& read, ArchiveVisitor& visitor) {
  io_plugin().visited(name, read, visitor);
}

void write_hdf5(const std::filesystem::path& file, const Hdf5Arrays& content) { io_plugin().hdf5_write(file, content); }

}  // namespace sabath
#pragma GCC visibility pop
