#include "infer/text_samples.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/bytes.h"
#include "infer/numbers.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t line_bytes_max = 64 << 20, json_bytes_max = 64 << 20;
constexpr int json_depth_max = 16;
constexpr std::string_view separators = ",; \t\r";

[[noreturn]] void refuse(const fs::path& file, std::uint64_t line, const std::string& why) {
  throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", printable(file.native(), 4096), line, why));
}

std::string_view next_word(std::string_view& rest) {
  const auto begin = rest.find_first_not_of(separators);
  rest.remove_prefix(std::min(begin, rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(separators));
  rest.remove_prefix(word.size());
  return word;
}

// Numbers of one sample, and the shape that the model wants; -1 can be told from the count if it is the only one.
std::vector<std::int64_t> sample_shape(const TensorSlot& wanted, std::uint64_t numbers, const fs::path& file) {
  std::vector<std::int64_t> shape(wanted.shape.begin() + 1, wanted.shape.end());
  std::uint64_t known = 1;
  std::int64_t* open = nullptr;
  bool fits = true;
  for (std::int64_t& length : shape) {
    fits = fits && (length >= 0 || open == nullptr);
    if (length < 0)
      open = &length;
    else
      fits = !__builtin_mul_overflow(known, static_cast<std::uint64_t>(length), &known) && fits;
  }
  if (open != nullptr && fits && known > 0 && numbers % known == 0) *open = static_cast<std::int64_t>(numbers / known);
  if (!fits || (open == nullptr ? known != numbers : *open <= 0)) {
    throw Error(FailureKind::usage, fmt::format("{} has {} numbers a sample, and the model takes {}",
                                                printable(file.native(), 4096), numbers, text_of(wanted)));
  }
  return shape;
}

class LineReader : public SampleReader {
 public:
  LineReader(const fs::path& file, const TensorSlot& wanted) : file_(file), stream_(file) {
    if (!stream_) throw Error(FailureKind::not_found, "cannot read " + printable(file.native(), 4096));
    if (wanted.type == TensorType::float16)
      throw Error(FailureKind::usage, "the model takes float16, which has no text", "give the samples as .npy");
    std::uint64_t samples = 0, numbers = 0;
    std::vector<std::byte> unused;
    while (next_line()) {
      const std::uint64_t came = count(wanted.type, samples == 0 && !header_);
      if (came == 0) continue;
      if (samples++ == 0) numbers = came;
      if (came != numbers) refuse(file_, line_, fmt::format("{} numbers, and {} in the first sample", came, numbers));
    }
    slot_ = {file.filename(), wanted.type, sample_shape(wanted, numbers, file), {}};
    slot_.shape.insert(slot_.shape.begin(), static_cast<std::int64_t>(samples));
    stream_.clear();
    stream_.seekg(0);
    line_ = 0;
  }
  [[nodiscard]] const TensorSlot& slot() const override { return slot_; }
  [[nodiscard]] Tensor read(std::uint64_t count) override {
    Tensor tensor{slot_.type, slot_.shape, {}};
    tensor.shape[0] = static_cast<std::int64_t>(count);
    const std::size_t wanted = bytes_of(slot_.type, tensor.shape, std::size_t{1} << 32U);
    while (tensor.bytes.size() < wanted) {
      if (!next_line())
        throw Error(FailureKind::content, printable(file_.native(), 4096) + " became shorter while it was read");
      if (header_ == line_) continue;
      std::string_view rest = text_;
      for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        if (!try_append_number(slot_.type, word, tensor.bytes)) refuse(file_, line_, "it changed while it was read");
      }
    }
    return tensor;
  }

 private:
  bool next_line() {
    if (!std::getline(stream_, text_)) return false;
    ++line_;
    if (text_.size() > line_bytes_max) refuse(file_, line_, fmt::format("more than {} bytes", line_bytes_max));
    return true;
  }
  // The numbers of the line; of a first line of words: 0.
  std::uint64_t count(TensorType type, bool may_be_header) {
    std::vector<std::byte> bytes;
    std::uint64_t numbers = 0;
    std::string_view rest = text_;
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest), ++numbers) {
      if (try_append_number(type, word, bytes)) continue;
      if (may_be_header && numbers == 0 && !try_append_number(TensorType::float64, word, bytes)) {
        header_ = line_;
        return 0;
      }
      refuse(file_, line_, fmt::format("\"{}\" is no {}", printable(word, 40), name(type)));
    }
    return numbers;
  }

  const fs::path file_;
  std::ifstream stream_;
  std::string text_;
  std::uint64_t line_ = 0;
  std::optional<std::uint64_t> header_;
  TensorSlot slot_;
};

class JsonReader : public SampleReader {
 public:
  JsonReader(const fs::path& file, const TensorSlot& wanted) : file_(file) {
    const auto text = try_read_text(file, json_bytes_max);
    if (!text) throw Error(FailureKind::not_found, "cannot read " + printable(file.native(), 4096));
    const auto document = nlohmann::json::parse(
        *text, [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= json_depth_max; },
        false);
    if (!document.is_array()) refuse(file, 1, "is no JSON array of samples");
    slot_ = {file.filename(), wanted.type, {}, {}};
    measure(document);
    take(document, 0);
  }
  [[nodiscard]] const TensorSlot& slot() const override { return slot_; }
  [[nodiscard]] Tensor read(std::uint64_t count) override {
    Tensor tensor{slot_.type, slot_.shape, {}};
    tensor.shape[0] = static_cast<std::int64_t>(count);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(given_);
    const std::size_t bytes = bytes_of(slot_.type, tensor.shape, bytes_.size() - given_);
    tensor.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    given_ += bytes;
    return tensor;
  }

 private:
  void measure(const nlohmann::json& value) {
    for (const nlohmann::json* at = &value; at->is_array(); at = &at->front()) {
      slot_.shape.push_back(static_cast<std::int64_t>(at->size()));
      if (at->empty()) break;
    }
  }
  void take(const nlohmann::json& value, std::size_t axis) {
    if (axis < slot_.shape.size()) {
      if (!value.is_array() || value.size() != static_cast<std::size_t>(slot_.shape[axis]))
        refuse(file_, 1,
               fmt::format("an array on axis {} has not the {} elements of the first", axis, slot_.shape[axis]));
      for (const auto& element : value) take(element, axis + 1);
    } else if (!value.is_primitive() || !try_append_number(slot_.type, value.dump(), bytes_)) {
      refuse(file_, 1, fmt::format("{} is no {}", printable(value.dump(), 40), name(slot_.type)));
    }
  }

  const fs::path file_;
  TensorSlot slot_;
  std::vector<std::byte> bytes_;
  std::size_t given_ = 0;
};

class TextWriter : public ResultWriter {
 public:
  TextWriter(const fs::path& file, const TensorSlot& slot)
      : file_(file),
        json_(file.extension() == ".json"),
        separator_(file.extension() == ".txt" ? " " : ","),
        slot_(slot) {}
  void write(const Tensor& results) override {
    const std::size_t element = size_bytes(results.type);
    const auto samples = static_cast<std::size_t>(results.shape.at(0));
    const std::size_t numbers = samples == 0 ? 0 : results.bytes.size() / element / samples;
    const std::byte* at = results.bytes.data();
    for (std::size_t i = 0; i < samples; ++i) {
      std::string line;
      if (json_) line = written_++ == 0 ? "[" : ",\n ";
      if (json_) {
        add_json(line, at, results, 1);
      } else {
        for (std::size_t k = 0; k < numbers; ++k, at += element)
          line += (k > 0 ? separator_ : "") + number_text(results.type, at);
        line += "\n";
      }
      file_.write(line);
    }
  }
  void finish() override {
    if (json_) file_.write(written_ == 0 ? "[]\n" : "]\n");
    sync_file(file_.fd(), file_.unfinished());
    file_.finish();
  }

 private:
  void add_json(std::string& line, const std::byte*& at, const Tensor& results, std::size_t axis) const {
    if (axis == results.shape.size()) {
      const std::string number = number_text(results.type, at);
      const bool finite = number.find_first_of("n") == number.npos;  // "nan", "inf": JSON has neither
      line += finite ? number : "null";
      at += size_bytes(results.type);
      return;
    }
    line += "[";
    for (std::int64_t i = 0; i < results.shape[axis]; ++i) {
      if (i > 0) line += ",";
      add_json(line, at, results, axis + 1);
    }
    line += "]";
  }

  NewFile file_;
  const bool json_;
  const std::string separator_;
  const TensorSlot slot_;
  std::uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> open_line_samples(const fs::path& file, const TensorSlot& wanted) {
  return std::make_unique<LineReader>(file, wanted);
}
std::unique_ptr<SampleReader> open_json_samples(const fs::path& file, const TensorSlot& wanted) {
  return std::make_unique<JsonReader>(file, wanted);
}
std::unique_ptr<ResultWriter> create_text_results(const fs::path& file, const TensorSlot& slot) {
  return std::make_unique<TextWriter>(file, slot);
}

}  // namespace sabath
