// Where in a script of bash quotes, substitutions and here-documents are open, over lines: as much of its grammar as
// tells whether a place of a template stands outside of them. Pure; one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace sabath {

class ScriptQuotes {
 public:
  // Before each line, without its newline. True: the line belongs to a here-document, or ends one, and is not read.
  [[nodiscard]] bool begin_line(std::string_view line);
  // Reads what begins at `at`, and gives where it ends: one character, or some that belong together.
  [[nodiscard]] std::size_t read(std::string_view line, std::size_t at);
  void end_line();

  // A word that is read here stands by itself: at most parentheses are open around it.
  [[nodiscard]] bool is_plain() const { return !comment_ && open_.find_first_not_of('(') == std::string::npos; }
  [[nodiscard]] bool is_comment() const { return comment_; }
  [[nodiscard]] bool is_closed() const { return open_.empty() && documents_.empty(); }
  // What is open: the same text before and after what neither opens nor closes anything.
  [[nodiscard]] std::string what_is_open() const { return open_ + std::string(documents_.size(), '<'); }

 private:
  struct HereDocument {
    std::string end;
    bool tabs = false;  // may stand before its end
  };
  [[nodiscard]] std::size_t read_quoted(std::string_view line, std::size_t at);
  [[nodiscard]] std::size_t read_command(std::string_view line, std::size_t at);
  [[nodiscard]] std::size_t read_document(std::string_view line, std::size_t at);
  [[nodiscard]] std::size_t open(char mark, std::size_t next);
  [[nodiscard]] std::size_t close(std::size_t next);

  // From outside to inside: ' and " are quotes, $ is $'...', ` and { are substitutions, ( is a parenthesis, + is ((.
  std::string open_;
  std::deque<HereDocument> documents_;  // that begin behind this line, or are being read
  bool reads_document_ = false, comment_ = false;
};

}  // namespace sabath
