// NAME.npy -> NAME.tfrecord: the array as the feature x of one tf.train.Example, or each of its rows as one of its own;
// and with `label_ending` the array beside it, as the feature y. Records of rows have places that are known beforehand,
// so several threads write one file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "base/threads.h"
#include "builtin/call.h"
#include "builtin/stripe.h"
#include "formats/gzip.h"
#include "formats/npy.h"
#include "formats/tfrecord.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using conversion::Stripe;

constexpr std::uint64_t label_row_bytes_max = 8'000'000;

constexpr std::array<BuiltinArgument, 8> npy_arguments{{
    {"per", BuiltinArgument::Type::text, "file", "one record of the whole array, or one of each row", "file|row"},
    {"as", BuiltinArgument::Type::text, "bytes", "how the feature holds the array; floats: of float32 only",
     "bytes|floats"},
    {"x_name", BuiltinArgument::Type::text, "x", "the name of the first feature"},
    {"y_name", BuiltinArgument::Type::text, "y", "the name of the second feature"},
    {"data_ending", BuiltinArgument::Type::text, ".npy", "what the names of the arrays end with"},
    {"label_ending", BuiltinArgument::Type::text, "",
     "what the names of their labels end with instead; labels become floats; empty: there are none"},
    {"gzip", BuiltinArgument::Type::flag, "false", "pack the file by gzip; its name stays"},
    {"level", BuiltinArgument::Type::number, "6", "of gzip: from 1, fast, to 9, small", {}, 1, 9},
}};

// An array whose rows are read from several threads.
struct ArrayFile {
  std::filesystem::path path;
  Npy array;
  std::uint64_t rows = 1, row_bytes = 0;

  ArrayFile(std::filesystem::path file, bool by_rows) : path(std::move(file)), array(read_npy_header(path)) {
    refuse_objects(array, path.native());
    refuse_fortran(array, path.native());
    if (by_rows && array.shape.empty()) {
      throw Error(FailureKind::usage,
                  fmt::format("cannot make records of the rows of {}: it has none", printable(path.native(), 4096)),
                  "make one record of it: per=file");
    }
    if (by_rows) rows = array.shape[0];
    row_bytes = rows == 0 ? 0 : array.data_bytes / rows;
  }
  [[nodiscard]] FileBytes read_rows(std::uint64_t first, std::uint64_t count) const {
    return {path, array.data_offset + first * row_bytes, count * row_bytes};
  }
};

class ArrayRecords {
 public:
  explicit ArrayRecords(const BuiltinCall& call)
      : call_(call),
        by_rows_(conversion::text_of(call, "per") == "row"),
        bulk_(conversion::text_of(call, "as") == "floats" ? ExampleFrame::Bulk::floats : ExampleFrame::Bulk::bytes),
        data_(call.input, by_rows_) {
    if (data_.array.descr.starts_with('>'))
      refuse("its numbers are big-endian", "array.astype(array.dtype.newbyteorder('<'))");
    if (bulk_ == ExampleFrame::Bulk::floats && data_.array.descr != "<f4")
      refuse(fmt::format("its type is {}, and floats are <f4", printable(data_.array.descr)), "array.astype('<f4')");
    if (const std::string& ending = conversion::text_of(call, "label_ending"); !ending.empty()) find_labels(ending);
    record_bytes_ = frame(labels_ ? std::vector<float>(label_count()) : std::vector<float>()).record_bytes();
  }

  BuiltinResult write() {
    const std::string& ending = conversion::text_of(call_, "data_ending");
    BuiltinResult result{{conversion::stem_of(call_, ending) + ".tfrecord"}, data_.array.data_bytes, 0};
    NewFile output(call_.output / result.files[0]);
    if (conversion::flag_of(call_, "gzip")) {
      GzipSink packed(output, conversion::number_of(call_, "level"));
      write_rows(0, data_.rows, [&](std::string_view bytes) { packed.write(bytes); });
      packed.finish();
    } else {
      write_by_threads(output);
    }
    result.bytes_written = output.finish();
    return result;
  }

 private:
  [[noreturn]] void refuse(std::string_view why, std::string_view remedy) const {
    throw Error(FailureKind::usage, fmt::format("cannot convert {}: {}", conversion::input_text(call_), why),
                fmt::format("save it by numpy as {}", remedy));
  }

  void find_labels(const std::string& ending) {
    const std::string stem = conversion::stem_of(call_, conversion::text_of(call_, "data_ending"));
    labels_.emplace(call_.input.parent_path() / (stem + ending), by_rows_);
    const std::string name = printable(labels_->path.native(), 4096);
    if (labels_->rows != data_.rows) {
      throw Error(FailureKind::usage, fmt::format("{} has {} rows, and {} has {}", name, labels_->rows,
                                                  conversion::input_text(call_), data_.rows));
    }
    if (labels_->row_bytes > label_row_bytes_max) {
      throw Error(FailureKind::usage, fmt::format("{} has labels of {} bytes", name, labels_->row_bytes),
                  "labels are at most a million numbers");
    }
    static_cast<void>(as_floats(labels_->array.descr, "", name));  // refuses its type before anything is written
  }

  [[nodiscard]] std::size_t label_count() const {
    return labels_->array.element_bytes == 0 ? 0 : labels_->row_bytes / labels_->array.element_bytes;
  }

  [[nodiscard]] ExampleFrame frame(const std::vector<float>& labels) const {
    ExampleFrame frame(conversion::text_of(call_, "x_name"), bulk_, data_.row_bytes);
    if (labels_) frame.add_floats(conversion::text_of(call_, "y_name"), labels);
    frame.finish();
    return frame;
  }

  void write_rows(std::uint64_t first, std::uint64_t count, const Stripe::Pass& pass) const {
    Stripe stripe([&](std::string_view bytes) {
      conversion::heed(call_);
      pass(bytes);
    });
    FileBytes rows = data_.read_rows(first, count);
    std::optional<FileBytes> labels;
    if (labels_) labels = labels_->read_rows(first, count);
    std::string label_bytes(labels_ ? labels_->row_bytes : 0, '\0');
    std::optional<ExampleFrame> same;
    if (!labels_) same = frame({});
    for (std::uint64_t row = 0; row < count; ++row) {
      if (labels) {
        if (read_full(*labels, label_bytes) < label_bytes.size())
          throw Error(FailureKind::content, fmt::format("{} ends early", printable(labels_->path.native(), 4096)));
        same = frame(as_floats(labels_->array.descr, label_bytes, labels_->path.native()));
      }
      stripe.add(same->head());
      const std::uint32_t crc = stripe.add_from(rows, data_.row_bytes, same->crc_before(), call_.input.native());
      stripe.add(same->tail(crc));
    }
    stripe.flush();
  }

  // Each thread has a part of the rows. The first failure is the one that is told.
  void write_by_threads(NewFile& output) {
    const auto parts =
        static_cast<std::uint64_t>(std::clamp<std::uint64_t>(call_.threads, 1, std::max<std::uint64_t>(data_.rows, 1)));
    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<std::uint64_t> next{0};
    const auto work = [&] {
      for (std::uint64_t part = next++; part < parts; part = next++) {
        try {
          const std::uint64_t first = data_.rows / parts * part + std::min(part, data_.rows % parts);
          const std::uint64_t count = data_.rows / parts + (part < data_.rows % parts ? 1 : 0);
          std::uint64_t offset = first * record_bytes_;
          write_rows(first, count, [&](std::string_view bytes) {
            output.write_at(bytes, offset);
            offset += bytes.size();
          });
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::uint64_t i = 1; i < parts && try_add_thread(others, work); ++i) continue;
      work();
    }
    if (failure) std::rethrow_exception(failure);
  }

  const BuiltinCall& call_;
  bool by_rows_;
  ExampleFrame::Bulk bulk_;
  ArrayFile data_;
  std::optional<ArrayFile> labels_;
  std::uint64_t record_bytes_ = 0;
};

BuiltinResult npy_to_tfrecord(const BuiltinCall& call, Workbench&) { return ArrayRecords(call).write(); }

bool is_data(std::string_view name, const BuiltinArguments& arguments) {
  const std::string &data = arguments.find("data_ending")->second, &label = arguments.find("label_ending")->second;
  const bool is_label =
      !label.empty() && name.ends_with(label) && (label.size() > data.size() || !name.ends_with(data));
  return name.ends_with(data) && !is_label;
}

}  // namespace

const Builtin npy_to_tfrecord_builtin{"npy-to-tfrecord",
                                      "write each NumPy array as a TFRecord file of tf.train.Example",
                                      "**/*.npy",
                                      1,
                                      npy_arguments,
                                      npy_to_tfrecord,
                                      is_data};

}  // namespace sabath
