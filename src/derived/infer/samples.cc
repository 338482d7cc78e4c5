#include "infer/samples.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "formats/bytes.h"
#include "formats/npy.h"
#include "formats/zip.h"
#include "infer/text_samples.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t batch_bytes_max = 1ULL << 32U;

struct Descr {
  TensorType type;
  std::string_view text;
};
constexpr std::array descrs{
    Descr{TensorType::float32, "<f4"}, Descr{TensorType::float64, "<f8"}, Descr{TensorType::float16, "<f2"},
    Descr{TensorType::int8, "|i1"},    Descr{TensorType::int16, "<i2"},   Descr{TensorType::int32, "<i4"},
    Descr{TensorType::int64, "<i8"},   Descr{TensorType::uint8, "|u1"},   Descr{TensorType::uint16, "<u2"},
    Descr{TensorType::uint32, "<u4"},  Descr{TensorType::uint64, "<u8"},  Descr{TensorType::boolean, "|b1"},
};

// What an array holds. `name`: for messages. `shown`: the slot's own.
TensorSlot slot_of(const Npy& header, const std::string& name, const std::string& shown) {
  refuse_objects(header, name);
  refuse_fortran(header, name);
  const auto type = try_npy_type(header.descr);
  if (!type) {
    throw Error(FailureKind::usage, fmt::format("{} has elements {}", name, printable(header.descr, 200)),
                "models take plain numbers in little-endian order: convert it with x.astype('float32')");
  }
  if (header.shape.empty()) throw Error(FailureKind::usage, name + " is one number, not an array of samples");
  return {shown, *type, {header.shape.begin(), header.shape.end()}, {}};
}

class NpyReader : public SampleReader {
 public:
  explicit NpyReader(const fs::path& file) : file_(file), fd_(open_file(file, O_RDONLY)) {
    const Npy header = read_npy_header(file);
    slot_ = slot_of(header, printable(file.native(), 4096), file.filename());
    offset_ = header.data_offset;
  }
  [[nodiscard]] const TensorSlot& slot() const override { return slot_; }
  [[nodiscard]] Tensor read(std::uint64_t count) override {
    Tensor tensor{slot_.type, slot_.shape, {}};
    tensor.shape[0] = static_cast<std::int64_t>(count);
    tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, batch_bytes_max));
    if (read_at(fd_.get(), tensor.bytes, offset_, file_) != tensor.bytes.size())
      throw Error(FailureKind::content, printable(file_.native(), 4096) + " became shorter while it was read");
    offset_ += tensor.bytes.size();
    return tensor;
  }

 private:
  const fs::path file_;
  const Fd fd_;
  TensorSlot slot_;
  std::uint64_t offset_ = 0;
};

// One array of an archive: that of the input's name, else the only one.
class NpzReader : public SampleReader {
 public:
  NpzReader(const fs::path& file, const std::string& input) : archive_(file) {
    const auto& members = archive_.members();
    const ZipMember* member = archive_.find(input + ".npy");
    if (member == nullptr && members.size() == 1) member = &members.front();
    name_ = printable(file.native(), 4096);
    if (member == nullptr) {
      std::string all;
      for (std::size_t i = 0; i < members.size() && i < names_shown_max; ++i)
        all += (all.empty() ? "" : ", ") + printable(members[i].name);
      throw Error(FailureKind::usage, fmt::format("{} has no array {}", name_, printable(input)),
                  "it has " + (all.empty() ? "none" : all));
    }
    name_ += ":" + printable(member->name);
    std::string begin(std::min<std::uint64_t>(member->bytes, npy_header_bytes_max), '\0');
    begin.resize(read_full(*archive_.open(*member), begin));
    const Npy header = parse_npy_header(begin, name_);
    slot_ = slot_of(header, name_, printable(member->name));
    if (header.data_offset + header.data_bytes != member->bytes)
      throw Error(FailureKind::invalid, name_ + " is longer or shorter than its header says");
    source_ = archive_.open(*member);
    std::string head(header.data_offset, '\0');
    static_cast<void>(read_full(*source_, head));
  }
  [[nodiscard]] const TensorSlot& slot() const override { return slot_; }
  [[nodiscard]] Tensor read(std::uint64_t count) override {
    Tensor tensor{slot_.type, slot_.shape, {}};
    tensor.shape[0] = static_cast<std::int64_t>(count);
    tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, batch_bytes_max));
    const std::span<char> room(reinterpret_cast<char*>(tensor.bytes.data()), tensor.bytes.size());
    if (read_full(*source_, room) != room.size()) throw Error(FailureKind::content, name_ + " ends early");
    return tensor;
  }

 private:
  static constexpr std::size_t names_shown_max = 20;
  const ZipArchive archive_;
  std::string name_;
  std::unique_ptr<ByteSource> source_;
  TensorSlot slot_;
};

class NpyWriter : public ResultWriter {
 public:
  NpyWriter(const fs::path& file, const TensorSlot& slot) : file_(file) {
    file_.write(npy_header(npy_descr(slot.type), {slot.shape.begin(), slot.shape.end()}));
  }
  void write(const Tensor& results) override {
    file_.write({reinterpret_cast<const char*>(results.bytes.data()), results.bytes.size()});
  }
  void finish() override {
    sync_file(file_.fd(), file_.unfinished());
    file_.finish();
  }

 private:
  NewFile file_;
};

}  // namespace

std::string_view npy_descr(TensorType type) noexcept { return std::ranges::find(descrs, type, &Descr::type)->text; }

std::optional<TensorType> try_npy_type(std::string_view descr) noexcept {
  const auto* const found = std::ranges::find(descrs, descr, &Descr::text);
  return found == descrs.end() ? std::nullopt : std::optional(found->type);
}

void refuse_other_endings(const fs::path& file) {
  const std::string ending = file.extension();
  for (const std::string_view known : {".npy", ".csv", ".txt", ".json"}) {
    if (ending == known) return;
  }
  throw Error(FailureKind::usage,
              fmt::format("{}: its name ends with none of .npy, .csv, .txt and .json", printable(file.native(), 4096)));
}

std::unique_ptr<SampleReader> open_samples(const fs::path& file, const TensorSlot& wanted) {
  if (file.extension() == ".npz") return std::make_unique<NpzReader>(file, wanted.name);
  refuse_other_endings(file);
  if (file.extension() == ".npy") return std::make_unique<NpyReader>(file);
  if (file.extension() == ".json") return open_json_samples(file, wanted);
  return open_line_samples(file, wanted);
}

std::unique_ptr<ResultWriter> create_results(const fs::path& file, const TensorSlot& slot) {
  refuse_other_endings(file);
  if (file.extension() == ".npy") return std::make_unique<NpyWriter>(file, slot);
  return create_text_results(file, slot);
}

}  // namespace sabath
