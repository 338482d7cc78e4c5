#include "infer/samples.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "formats/bytes.h"
#include "formats/npy.h"
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

class NpyReader : public SampleReader {
 public:
  explicit NpyReader(const fs::path& file) : file_(file), fd_(open_file(file, O_RDONLY)) {
    const Npy header = read_npy_header(file);
    const std::string name = printable(file.native(), 4096);
    refuse_objects(header, name);
    refuse_fortran(header, name);
    const auto type = try_npy_type(header.descr);
    if (!type) {
      throw Error(FailureKind::usage, fmt::format("{} has elements {}", name, printable(header.descr, 200)),
                  "models take plain numbers in little-endian order: convert it with x.astype('float32')");
    }
    if (header.shape.empty()) throw Error(FailureKind::usage, name + " is one number, not an array of samples");
    slot_ = {fs::path(file).filename(), *type, {header.shape.begin(), header.shape.end()}, {}};
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
