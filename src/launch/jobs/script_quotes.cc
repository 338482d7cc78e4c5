#include "jobs/script_quotes.h"

#include <algorithm>
#include <utility>

namespace sabath {
namespace {

bool begins_word(std::string_view line, std::size_t at) {
  return at == 0 || std::string_view(" \t;&|()").find(line[at - 1]) != std::string_view::npos;
}

}  // namespace

bool ScriptQuotes::begin_line(std::string_view line) {
  if (!reads_document_) return false;
  const HereDocument& document = documents_.front();
  if (document.tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  if (line == document.end) documents_.pop_front();
  reads_document_ = !documents_.empty();
  return true;
}

void ScriptQuotes::end_line() {
  comment_ = false;
  reads_document_ = !documents_.empty();
}

std::size_t ScriptQuotes::open(char mark, std::size_t next) {
  open_ += mark;
  return next;
}

std::size_t ScriptQuotes::close(std::size_t next) {
  open_.pop_back();
  return next;
}

std::size_t ScriptQuotes::read(std::string_view line, std::size_t at) {
  if (comment_) return at + 1;
  const char inner = open_.empty() ? '(' : open_.back();
  return inner == '(' || inner == '+' ? read_command(line, at) : read_quoted(line, at);
}

// Inside of '...', $'...', "...", `...` and ${...}.
std::size_t ScriptQuotes::read_quoted(std::string_view line, std::size_t at) {
  const char inner = open_.back(), c = line[at], next = at + 1 < line.size() ? line[at + 1] : '\0';
  if (c == '\\' && inner != '\'') return std::min(at + 2, line.size());
  if (c == (inner == '$' ? '\'' : inner == '{' ? '}' : inner)) return close(at + 1);
  if (inner == '\'' || inner == '$') return at + 1;
  if (c == '$' && next == '(') return open('(', at + 2);
  if (c == '$' && next == '{') return open('{', at + 2);
  if (c == '`' || c == '"') return open(c, at + 1);
  const bool in_double = open_.find('"') != std::string::npos;
  if (c == '\'' && inner != '"' && !in_double) return open(c, at + 1);
  return at + 1;
}

std::size_t ScriptQuotes::read_command(std::string_view line, std::size_t at) {
  const char c = line[at], next = at + 1 < line.size() ? line[at + 1] : '\0';
  const bool arithmetic = !open_.empty() && open_.back() == '+';
  if (c == '\\') return std::min(at + 2, line.size());
  if (c == '$' && next == '\'') return open('$', at + 2);
  if (c == '$' && next == '{') return open('{', at + 2);
  if (c == '\'' || c == '"' || c == '`') return open(c, at + 1);
  if (c == '(') return next == '(' && !arithmetic ? open('+', at + 2) : open('(', at + 1);
  if (c == ')') {
    if (arithmetic) return next == ')' ? close(at + 2) : at + 1;
    return open_.empty() ? at + 1 : close(at + 1);  // of a pattern of `case`
  }
  if (arithmetic) return at + 1;
  if (c == '#' && begins_word(line, at)) comment_ = true;
  if (c == '<' && next == '<') return read_document(line, at + 2);
  return at + 1;
}

// Behind <<: the word that ends the document.
std::size_t ScriptQuotes::read_document(std::string_view line, std::size_t at) {
  if (at < line.size() && line[at] == '<') return at + 1;  // a here-string
  HereDocument document;
  if (at < line.size() && line[at] == '-') document.tabs = true, ++at;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  char quote = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && std::string_view(" \t;&|()<>").find(c) != std::string_view::npos) break;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c != '\\' || quote == '\'') {
      document.end += c;
    }
  }
  documents_.push_back(std::move(document));
  return at;
}

}  // namespace sabath
