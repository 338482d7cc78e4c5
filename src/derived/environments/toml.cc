// https://toml.io/en/v1.0.0. By hand, since the system's library has one bound only, that of the depth, and no lines in
// its values' errors as our other readers have them.
#include "environments/toml.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "environments/toml_scalar.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// What a name stands for, beside its value: it decides who may add to it.
enum class TableKind {
  implied,  // "a" of [a.b]: [a] may come later
  header,   // of [a], and one of [[a]]
  dotted,   // of a.b = 1: only more dotted keys of the same table
  closed,   // {...}, [...] and plain values
};

// The tables while the text is read: by name, since an array of 10,000 members would be searched 10,000 times.
struct Table {
  TableKind kind = TableKind::implied;
  JsonValue plain;                                           // of a plain value
  std::vector<std::pair<std::string, std::size_t>> members;  // in the order of the text; of an array: without names
  std::map<std::string, std::size_t, std::less<>> places;    // of a member: its index
  std::vector<Table> values;
  bool is_plain = false, is_array = false;
  std::size_t line = 0;
};

class TomlReader {
 public:
  TomlReader(std::string_view text, std::string_view origin, const JsonLimits& limits)
      : scan_{text, origin}, limits_(limits) {}

  JsonValue read() {
    Table root;
    root.kind = TableKind::header;
    std::vector<std::string> header;
    for (scan_.skip_lines(); !scan_.at_end(); scan_.skip_lines()) {
      if (scan_.take('[')) {
        const bool is_array = scan_.take('[');
        header = read_key();
        if (!scan_.take(']') || (is_array && !scan_.take(']'))) fail("a table's name does not end with ]");
        open(root, header, is_array);
      } else {
        read_pair(table_of(root, header), 1 + header.size());
      }
      scan_.end_line();
    }
    return value_of(std::move(root), 0);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw_at(scan_.origin, scan_.line, why); }

  void count_value() {
    if (++values_ > limits_.values_max) fail(fmt::format("more than {} values", limits_.values_max));
  }

  std::vector<std::string> read_key() {
    std::vector<std::string> parts;
    do {
      scan_.skip_blanks();
      parts.push_back(scan_.key());
      if (parts.size() > limits_.depth_max) fail(fmt::format("a key of more than {} parts", limits_.depth_max));
      scan_.skip_blanks();
    } while (scan_.take('.'));
    return parts;
  }

  Table& add(Table& table, const std::string& name, TableKind kind) {
    count_value();
    table.places.emplace(name, table.values.size());
    table.members.emplace_back(name, scan_.line);
    Table& added = table.values.emplace_back();
    added.kind = kind;
    added.line = scan_.line;
    return added;
  }
  static Table* find(Table& table, const std::string& name) {
    const auto found = table.places.find(name);
    return found == table.places.end() ? nullptr : &table.values[found->second];
  }
  [[noreturn]] void fail_twice(const std::string& name, const Table& first) const {
    fail(fmt::format("\"{}\" appears twice, first in line {}", printable(name), first.line));
  }

  // The table that a header names, or its last member; it is there.
  static Table& table_of(Table& root, const std::vector<std::string>& header) {
    Table* at = &root;
    for (const std::string& name : header) {
      at = find(*at, name);
      if (at->is_array) at = &at->values.back();
    }
    return *at;
  }

  void open(Table& root, const std::vector<std::string>& header, bool is_array) {
    if (header.size() + 2 > limits_.depth_max) fail(fmt::format("nested deeper than {} levels", limits_.depth_max));
    Table* at = &root;
    for (std::size_t i = 0; i + 1 < header.size(); ++i) {
      Table* next = find(*at, header[i]);
      if (next == nullptr) next = &add(*at, header[i], TableKind::implied);
      if (next->kind == TableKind::closed) fail_twice(header[i], *next);
      at = next->is_array ? &next->values.back() : next;
    }
    const std::string& name = header.back();
    Table* last = find(*at, name);
    if (!is_array) {
      if (last == nullptr) last = &add(*at, name, TableKind::implied);
      if (last->kind != TableKind::implied || last->is_array) fail_twice(name, *last);
      last->kind = TableKind::header;
      return;
    }
    if (last == nullptr) {
      last = &add(*at, name, TableKind::header);
      last->is_array = true;
    }
    if (!last->is_array || last->kind == TableKind::closed) fail_twice(name, *last);
    count_value();
    Table& member = last->values.emplace_back();
    member.kind = TableKind::header;
    member.line = scan_.line;
  }

  void read_pair(Table& table, std::size_t depth) {
    const std::vector<std::string> key = read_key();
    Table* at = &table;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      Table* next = find(*at, key[i]);
      if (next == nullptr) next = &add(*at, key[i], TableKind::dotted);
      if (next->kind != TableKind::dotted) fail_twice(key[i], *next);
      at = next;
    }
    if (const Table* there = find(*at, key.back())) fail_twice(key.back(), *there);
    if (!scan_.take('=')) fail(fmt::format("\"{}\" is followed by no =", printable(key.back())));
    scan_.skip_blanks();
    Table& value = add(*at, key.back(), TableKind::closed);
    read_value(value, depth + key.size());
  }

  void read_value(Table& value, std::size_t depth) {
    if (depth > limits_.depth_max) fail(fmt::format("nested deeper than {} levels", limits_.depth_max));
    value.kind = TableKind::closed;
    value.line = scan_.line;
    if (scan_.take('[')) {
      read_array(value, depth);
    } else if (scan_.take('{')) {
      read_inline(value, depth);
    } else {
      value.is_plain = true;
      value.plain = scan_.scalar();
    }
  }

  void read_array(Table& array, std::size_t depth) {
    array.is_array = true;
    for (;;) {
      scan_.skip_lines();
      if (scan_.take(']')) return;
      count_value();
      read_value(array.values.emplace_back(), depth + 1);
      scan_.skip_lines();
      if (scan_.take(',')) continue;
      if (scan_.take(']')) return;
      fail("an array's values are separated by commas, and it ends with ]");
    }
  }

  // One line by the letter of the format; newer writers break it, and end it with a comma.
  void read_inline(Table& table, std::size_t depth) {
    for (;;) {
      scan_.skip_lines();
      if (scan_.take('}')) return;
      read_pair(table, depth);
      scan_.skip_lines();
      if (scan_.take(',')) continue;
      if (scan_.take('}')) return;
      fail("a table in braces has pairs with commas between them, and ends with }");
    }
  }

  JsonValue value_of(Table&& table, std::size_t line) {
    if (table.is_plain) return std::move(table.plain);
    JsonValue value;
    value.line = table.line == 0 ? line : table.line;
    if (table.is_array) {
      JsonValue::Array array;
      array.reserve(table.values.size());
      for (Table& member : table.values) array.push_back(value_of(std::move(member), value.line));
      value.data = std::move(array);
      return value;
    }
    JsonValue::Object object;
    object.reserve(table.values.size());
    for (std::size_t i = 0; i < table.values.size(); ++i)
      object.push_back({std::move(table.members[i].first), table.members[i].second,
                        value_of(std::move(table.values[i]), table.members[i].second)});
    value.data = std::move(object);
    return value;
  }

  TomlScan scan_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
};

}  // namespace

JsonValue parse_toml(std::string_view text, std::string_view origin, const JsonLimits& limits) {
  if (text.size() > limits.size_max) throw_at(origin, 1, fmt::format("longer than {}", format_bytes(limits.size_max)));
  if (!is_utf8(text)) throw_at(origin, 1, "is no UTF-8 text");
  return TomlReader(text, origin, limits).read();
}

}  // namespace sabath
