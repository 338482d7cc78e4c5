#include "hdf5/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "hdf5/output.h"
#include "hdf5/stream.h"
#include "hdf5/type.h"
#include "hdf5/wanted.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using namespace h5;

constexpr std::size_t select_cache_bytes = 64 << 20, provenance_kept_max = 16 << 10;

// The output while it is made: publish() gives it its name, otherwise it is removed.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) { remove_tree(path_); }
  ~Unfinished() {
    if (!published_) remove_tree(path_);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void publish(const fs::path& name, bool sync) {
    rename_path(path_, name);
    published_ = true;
    if (sync) sync_directory(name.has_parent_path() ? name.parent_path() : fs::path("."));
  }

 private:
  fs::path path_;
  bool published_ = false;
};

struct Picture {  // a dataset that is wanted, measured; it is open only while it is copied
  std::string path;
  std::vector<AxisRange> ranges;
  std::uint64_t bytes = 0;
};

class GroupPiece final : public Piece {
 public:
  explicit GroupPiece(Handle dataset) : dataset_(std::move(dataset)) {}
  [[nodiscard]] hid_t dataset() const override { return dataset_.get(); }
  void finish() override { dataset_.close("a block"); }

 private:
  Handle dataset_;
};

class FilePiece final : public Piece {
 public:
  FilePiece(std::unique_ptr<OutputFile> file, Handle dataset, std::function<void(OutputFile&)> finish)
      : file_(std::move(file)), dataset_(std::move(dataset)), finish_(std::move(finish)) {}
  [[nodiscard]] hid_t dataset() const override { return dataset_.get(); }
  void finish() override {
    dataset_.close(file_->path().string());
    finish_(*file_);
  }

 private:
  std::unique_ptr<OutputFile> file_;
  Handle dataset_;
  std::function<void(OutputFile&)> finish_;
};

class Selecting {
 public:
  Selecting(const fs::path& source, const Selections& selections, fs::path out, const SelectOptions& options)
      : source_(source), selections_(selections), out_(std::move(out)), options_(options) {
    WantedList wanted = match(source_, selections, options.rest);
    result_.left_out = std::move(wanted.left_out);
    for (const Wanted& one : wanted.datasets) measure(one);
    if (pictures_.empty()) throw Error(FailureKind::not_found, "cannot select: there is no dataset in what was named");
    if (!options.blocks.empty()) check_blocks();
    check_space();
  }

  SelectedFile run() {
    const auto begin = std::chrono::steady_clock::now();
    fs::path name = options_.unfinished;
    if (name.empty()) (name = out_) += ".new";
    Unfinished unfinished(name);
    if (blocks_in_files()) {
      make_directories(unfinished.path());
      write_block_files(unfinished.path());
      if (options_.sync) sync_directory(unfinished.path());
    } else {
      write_file(unfinished.path());
    }
    unfinished.publish(out_, options_.sync);
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool blocks_in_files() const { return !options_.blocks.empty() && !options_.blocks_as_groups; }

  [[nodiscard]] Dataset open(const std::string& path) const { return open_dataset(source_, path, select_cache_bytes); }

  void measure(const Wanted& wanted) {
    options_.on_progress();
    const Dataset dataset = open(wanted.selection.path);
    const Type type = parse_type(dataset.type.get(), dataset.name);
    if (type.has(Type::Kind::object) || type.has(Type::Kind::region)) {
      const std::string why = dataset.name + ": references mean nothing in another file";
      if (wanted.named) throw Error(FailureKind::invalid, "cannot select " + why);
      result_.left_out.push_back(why);
      return;
    }
    Picture picture{wanted.selection.path, resolve_hyperslab(wanted.selection, dataset.shape.dims), 0};
    picture.bytes = dataset.shape.kind == H5S_NULL ? 0 : H5Tget_size(dataset.type.get());
    for (const AxisRange& range : picture.ranges) picture.bytes *= range.count;
    pictures_.push_back(std::move(picture));
  }

  void check_blocks() const {
    const Grid grid(pictures_[0].ranges, options_.blocks);
    if (grid.count() == 0) throw Error(FailureKind::usage, "cannot cut into blocks: the first selection is empty");
    if (options_.blocks_as_groups) return;
    if (grid.open_max() > block_files_open_max) {
      throw Error(FailureKind::usage,
                  fmt::format("{} would hold {} files open, at most {}", option_text("blocks"), grid.open_max(),
                              block_files_open_max),
                  fmt::format("make larger blocks, or groups of one file ({} groups)", option_text("as")));
    }
    std::error_code error;
    if (!try_lstat(out_) || fs::is_empty(out_, error)) return;
    throw Error(FailureKind::usage, fmt::format("cannot make {}: it is there already", printable(out_.string(), 4096)),
                "name a directory that is absent or empty");
  }

  void check_space() const {
    if (options_.filter != SelectOptions::Filter::none) return;
    std::uint64_t bytes = 0;
    for (const Picture& picture : pictures_) bytes += picture.bytes;
    std::error_code error;
    const fs::path parent = out_.has_parent_path() ? out_.parent_path() : fs::path(".");
    const fs::space_info space = fs::space(parent, error);
    if (error || bytes <= space.available) return;
    throw Error(FailureKind::space,
                fmt::format("cannot select {} into {}: {} are free", format_bytes(bytes),
                            printable(parent.string(), 4096), format_bytes(space.available)),
                "select less, or use another filesystem");
  }

  // Deterministic: the selections, the source's digest and this version. No times, no paths, no machine.
  [[nodiscard]] std::string provenance(const Grid* grid, std::optional<std::uint64_t> block) const {
    nlohmann::ordered_json record{{"schema", 1}, {"tool", "sabath " SABATH_VERSION}, {"source", nullptr}};
    if (options_.source_digest) {
      record["source"] = {{"digest", options_.source_digest->hash.prefixed()},
                          {"bytes", options_.source_digest->size_bytes}};
    }
    record["selections"] = nlohmann::ordered_json::array();
    for (const Hyperslab& selection : selections_) record["selections"].push_back(format_selection(selection));
    if (options_.rest) record["rest"] = true;
    if (!options_.blocks.empty()) record["blocks"] = options_.blocks;
    if (block) {
      record["block"] = *block;
      record["origin"] = grid->box(*block).begin;
    }
    if (std::string before = provenance_of(source_); !before.empty()) {
      record["of"] = before.size() <= provenance_kept_max ? before : sha256(before).prefixed();
    }
    return record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  Handle make_dataset(OutputFile& file, const Dataset& dataset, const Picture& picture, const std::string& prefix,
                      const Dims& extents) const {
    Dims chunk;
    for (std::size_t a = 0; a < dataset.chunk.size(); ++a) {
      if (!picture.ranges[a].dropped) chunk.push_back(dataset.chunk[a]);
    }
    file.make_groups(source_, prefix, picture.path);
    return file.make_dataset(source_, dataset, prefix + picture.path, extents, chunk, options_.filter);
  }

  void add(const Streamed& streamed) {
    result_.bytes_read += streamed.bytes_read;
    result_.bytes_selected += streamed.bytes_selected;
  }

  void write_whole(OutputFile& file, const Picture& picture) {
    const Dataset from = open(picture.path);
    const Grid grid(picture.ranges, {});
    Handle dataset = make_dataset(file, from, picture, "", grid.extents(grid.box(0)));
    if (from.shape.kind == H5S_NULL || grid.count() == 0) return;
    add(stream(from, picture.ranges, grid, options_,
               [&](std::uint64_t) { return std::make_unique<GroupPiece>(std::move(dataset)); }));
  }

  void finish(OutputFile& file, const fs::path& published) {
    result_.bytes_written += file.finish(options_.sync);
    result_.files.push_back(published);
    for (const std::string& one : file.left_out()) {
      if (std::ranges::find(result_.left_out, one) == result_.left_out.end()) result_.left_out.push_back(one);
    }
  }

  void write_file(const fs::path& path) {
    OutputFile file(path);
    file.make_groups(source_, "", "/");
    file.set_provenance(provenance(nullptr, std::nullopt));
    std::size_t first = 0;
    if (!options_.blocks.empty()) write_groups(file, pictures_[first++]);
    for (; first < pictures_.size(); ++first) write_whole(file, pictures_[first]);
    finish(file, out_);
  }

  static std::string number(std::uint64_t block, std::uint64_t count) {
    const std::size_t digits = std::max<std::size_t>(3, fmt::formatted_size("{}", count - 1));
    return fmt::format("{:0{}}", block, digits);
  }

  void write_groups(OutputFile& file, const Picture& picture) {
    const Dataset from = open(picture.path);
    const Grid grid(picture.ranges, options_.blocks);
    add(stream(from, picture.ranges, grid, options_, [&](std::uint64_t block) {
      const std::string prefix = "/" + number(block, grid.count());
      return std::make_unique<GroupPiece>(make_dataset(file, from, picture, prefix, grid.extents(grid.box(block))));
    }));
  }

  // The rows of blocks of this part: the number of blocks before them, and their ranges; nullopt: it has none.
  struct Part {
    std::uint64_t blocks_before = 0;
    std::vector<AxisRange> ranges;
  };
  [[nodiscard]] std::optional<Part> part_of(const Grid& whole, std::vector<AxisRange> ranges) const {
    const std::uint64_t row = whole.open_max(), rows = whole.count() / row;
    const std::uint64_t first = rows * options_.part / options_.parts,
                        last = rows * (options_.part + 1) / options_.parts;
    if (first == last) return std::nullopt;
    const std::uint64_t thickness = whole.box(0).extent[0];
    AxisRange& axis = ranges[0];
    axis.begin += first * thickness * axis.step;
    axis.count = std::min(axis.count, last * thickness) - first * thickness;
    return Part{first * row, std::move(ranges)};
  }

  void write_block_files(const fs::path& directory) {
    const Picture& picture = pictures_[0];
    const Dataset from = open(picture.path);
    const Grid grid(picture.ranges, options_.blocks);
    const auto part = part_of(grid, picture.ranges);
    if (!part) return;
    const auto open_block = [&](std::uint64_t number_in_part) -> std::unique_ptr<Piece> {
      const std::uint64_t block = part->blocks_before + number_in_part;
      const std::string name = fmt::format("{}_{}.hdf5", out_.filename().string(), number(block, grid.count()));
      auto file = std::make_unique<OutputFile>(directory / name);
      file->make_groups(source_, "", "/");
      file->set_provenance(provenance(&grid, block));
      for (std::size_t i = 1; i < pictures_.size(); ++i) write_whole(*file, pictures_[i]);
      Handle dataset = make_dataset(*file, from, picture, "", grid.extents(grid.box(block)));
      return std::make_unique<FilePiece>(std::move(file), std::move(dataset),
                                         [this, name](OutputFile& done) { finish(done, out_ / name); });
    };
    add(stream(from, part->ranges, Grid(part->ranges, options_.blocks), options_, open_block));
    std::ranges::sort(result_.files);
  }

  Source source_;
  const Selections& selections_;
  fs::path out_;
  const SelectOptions& options_;
  std::vector<Picture> pictures_;
  SelectedFile result_;
};

}  // namespace

SelectedFile select_into(const fs::path& source, const Selections& selections, const fs::path& out,
                         const SelectOptions& options) {
  return Selecting(source, selections, out, options).run();
}

}  // namespace sabath
