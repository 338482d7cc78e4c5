// Standard output: what other programs read. Buffered; a write that fails is an error, never silence.
// Main thread only. Throws Error{storage}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sabath::cli {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}                // -1: this process prints nothing
  void print(std::string_view text);                  // as it is; the caller has made it printable
  void record(const nlohmann::ordered_json& record);  // the one record of --json; the second one is a defect
  void record_text(std::string_view record);          // the same as text
  void begin_record(std::string_view text);           // ... or its beginning
  [[nodiscard]] bool has_record() const { return has_record_; }
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }  // `| head` has seen enough: no word about it
  void flush();

 private:
  int fd_;
  std::string buffer_;
  bool has_record_ = false;
  bool reader_gone_ = false;
};

// A record whose one list, the only `[]` in it, is printed element by element: a list of a million is not held as JSON.
class LongRecord {
 public:
  explicit LongRecord(Output& out) : out_(out) {}
  void add(const nlohmann::ordered_json& head, const nlohmann::ordered_json& element);  // head: the record as yet
  void end(const nlohmann::ordered_json& record);                                       // whole, but for the list

 private:
  void begin(const nlohmann::ordered_json& head);

  Output& out_;
  bool begun_ = false;
};

}  // namespace sabath::cli
