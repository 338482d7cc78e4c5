#include "trackers/sqlite_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <map>
#include <optional>

#include "sabath/error.h"
#include "sabath/path.h"
#include "trackers/sqlite_pages.h"

namespace sabath {
namespace {

constexpr std::size_t payload_max = 1 << 20, columns_max = 2000, tables_max = 10'000;
constexpr int tree_depth_max = 20;
constexpr unsigned char interior_table = 5, leaf_table = 13;

std::optional<std::uint64_t> take_sqlite_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 9 && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7f);
    if (i == 8 || byte < 0x80) {
      text.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::size_t bytes_of_type(std::uint64_t type) {
  constexpr std::size_t fixed[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? fixed[type] : static_cast<std::size_t>((type - 12) / 2);
}

SqliteValue value_of(std::uint64_t type, std::string_view bytes) {
  if (type == 0 || type == 10 || type == 11) return {};
  if (type == 8 || type == 9) return static_cast<std::int64_t>(type - 8);
  if (type == 7) return std::bit_cast<double>(big_endian(bytes, 8));
  if (type >= 12) return std::string(bytes);
  std::uint64_t bits = big_endian(bytes, bytes.size());
  const int unused = 64 - 8 * static_cast<int>(bytes.size());
  return static_cast<std::int64_t>(bits << unused) >> unused;  // the highest bit is the sign
}

// The names of columns in a CREATE TABLE statement.
std::vector<std::string> parse_columns(std::string_view sql) {
  std::vector<std::string> columns;
  const std::size_t open = sql.find('(');
  if (open == std::string_view::npos) return columns;
  std::string word;
  bool named = false;
  int depth = 0;
  char quote = 0;
  const auto close_column = [&] {
    static constexpr const char* none[] = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"};
    const bool is_column = !word.empty() && std::ranges::find(none, word) == std::ranges::end(none);
    if (is_column && columns.size() < columns_max) columns.push_back(word);
    word.clear();
    named = false;
  };
  for (const char c : sql.substr(open + 1)) {
    if (quote != 0) {
      if (c == quote || (quote == '[' && c == ']')) {
        quote = 0;
        named = true;
      } else if (!named) {
        word += c;
      }
    } else if (c == '"' || c == '`' || c == '[' || c == '\'') {
      quote = c;
    } else if (depth == 0 && c == ',') {
      close_column();
    } else if (c == '(') {
      named = named || !word.empty();
      ++depth;
    } else if (c == ')') {
      if (depth-- == 0) break;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      named = named || !word.empty();
    } else if (!named) {
      word += c;
    }
  }
  close_column();
  return columns;
}

struct TableDescription {
  std::uint32_t root = 0;
  std::vector<std::string> columns;
};

}  // namespace

class SqliteFile::Parts {
 public:
  using TakeRecord = std::function<void(std::int64_t number, std::string_view record)>;

  explicit Parts(const std::filesystem::path& path) : pages_(path) {
    walk(1, 0, std::numeric_limits<std::int64_t>::min(), [this](std::int64_t, std::string_view record) {
      const auto values = parse_record(record, {0, 1, 3, 4});  // type, name, rootpage, sql
      const auto* const type = std::get_if<std::string>(&values[0]);
      const auto* const name = std::get_if<std::string>(&values[1]);
      const auto* const root = std::get_if<std::int64_t>(&values[2]);
      const auto* const sql = std::get_if<std::string>(&values[3]);
      if (type == nullptr || name == nullptr || root == nullptr || sql == nullptr || *type != "table") return;
      if (*root < 1 || *root > 0xffffffff || tables_.size() >= tables_max) return;
      tables_[*name] = {static_cast<std::uint32_t>(*root), parse_columns(*sql)};
    });
  }

  [[nodiscard]] const TableDescription* find(std::string_view table) const {
    const auto found = tables_.find(std::string(table));
    return found == tables_.end() ? nullptr : &found->second;
  }

  // Each record of the table, in the order of numbers.
  void walk(std::uint32_t root, int depth, std::int64_t after, const TakeRecord& take) const {
    if (depth == 0) visited_ = 0;
    if (depth > tree_depth_max || ++visited_ > pages_.count()) pages_.fail("is damaged: a tree in it goes in a circle");
    const std::string page = pages_.page(root);
    const std::string_view text = page;
    const std::size_t head = root == 1 ? 100 : 0;
    const auto kind = static_cast<unsigned char>(text[head]);
    if (kind != interior_table && kind != leaf_table)
      pages_.fail(fmt::format("is damaged: page {} is of no table", root));
    const auto cells = static_cast<std::size_t>(big_endian(text.substr(head + 3), 2));
    const std::size_t pointers = head + (kind == interior_table ? 12 : 8);
    if (pointers + 2 * cells > text.size()) pages_.fail(fmt::format("is damaged: page {} has too many cells", root));
    for (std::size_t i = 0; i < cells; ++i) {
      const auto at = static_cast<std::size_t>(big_endian(text.substr(pointers + 2 * i), 2));
      if (at >= pages_.usable_bytes()) pages_.fail(fmt::format("is damaged: a cell of page {} is outside", root));
      std::string_view cell = text.substr(at, pages_.usable_bytes() - at);
      if (kind == leaf_table) {
        take_cell(cell, after, take);
        continue;
      }
      const auto child = static_cast<std::uint32_t>(big_endian(cell, 4));
      cell.remove_prefix(std::min<std::size_t>(4, cell.size()));
      const auto greatest = take_sqlite_varint(cell);
      if (!greatest || static_cast<std::int64_t>(*greatest) > after) walk(child, depth + 1, after, take);
    }
    if (kind == interior_table)
      walk(static_cast<std::uint32_t>(big_endian(text.substr(head + 8), 4)), depth + 1, after, take);
  }

  [[nodiscard]] std::vector<SqliteValue> parse_record(std::string_view record,
                                                      const std::vector<std::size_t>& wanted) const {
    std::vector<SqliteValue> values(wanted.size());
    std::string_view head = record;
    const auto head_bytes = take_sqlite_varint(head);
    if (!head_bytes || *head_bytes > record.size() || *head_bytes < record.size() - head.size())
      pages_.fail("is damaged: a row has no head");
    head = head.substr(0, static_cast<std::size_t>(*head_bytes) - (record.size() - head.size()));
    std::string_view body = record.substr(static_cast<std::size_t>(*head_bytes));
    for (std::size_t column = 0; !head.empty() && column < columns_max; ++column) {
      const auto type = take_sqlite_varint(head);
      if (!type) pages_.fail("is damaged: a row's head is cut off");
      const std::size_t bytes = bytes_of_type(*type);
      if (bytes > body.size()) pages_.fail("is damaged: a row is shorter than its head says");
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] == column) values[i] = value_of(*type, body.substr(0, bytes));
      }
      body.remove_prefix(bytes);
    }
    return values;
  }

 private:
  void take_cell(std::string_view cell, std::int64_t after, const TakeRecord& take) const {
    const auto size = take_sqlite_varint(cell);
    const auto number = take_sqlite_varint(cell);
    if (!size || !number) pages_.fail("is damaged: a cell is cut off");
    if (static_cast<std::int64_t>(*number) <= after || *size > payload_max) return;
    const std::size_t usable = pages_.usable_bytes(), all = static_cast<std::size_t>(*size);
    const std::size_t most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
    std::size_t here = all;
    if (all > most) {
      here = least + (all - least) % (usable - 4);
      if (here > most) here = least;
    }
    if (here + (here < all ? 4 : 0) > cell.size()) pages_.fail("is damaged: a cell is longer than its page");
    if (here == all) return take(static_cast<std::int64_t>(*number), cell.substr(0, all));
    std::string whole(cell.substr(0, here));
    auto next = static_cast<std::uint32_t>(big_endian(cell.substr(here), 4));
    while (whole.size() < all) {  // each page brings at least 476 bytes
      const std::string page = pages_.page(next);
      next = static_cast<std::uint32_t>(big_endian(page, 4));
      whole += page.substr(4, std::min(usable - 4, all - whole.size()));
    }
    take(static_cast<std::int64_t>(*number), whole);
  }

  SqlitePages pages_;
  std::map<std::string, TableDescription> tables_;
  mutable std::uint32_t visited_ = 0;
};

SqliteFile::SqliteFile(const std::filesystem::path& path) : parts_(std::make_unique<Parts>(path)) {}
SqliteFile::~SqliteFile() = default;

bool SqliteFile::has_table(std::string_view table) const { return parts_->find(table) != nullptr; }

void SqliteFile::for_each_row(std::string_view table, const std::vector<std::string_view>& columns, std::int64_t after,
                              const std::function<void(const SqliteRow&)>& take) const {
  const TableDescription* const found = parts_->find(table);
  if (found == nullptr) throw Error(FailureKind::invalid, fmt::format("the database has no table {}", table));
  std::vector<std::size_t> wanted;
  for (const std::string_view column : columns) {
    const auto at = std::ranges::find(found->columns, column);
    wanted.push_back(at == found->columns.end() ? columns_max : static_cast<std::size_t>(at - found->columns.begin()));
  }
  SqliteRow row;
  parts_->walk(found->root, 0, after, [&](std::int64_t number, std::string_view record) {
    row.number = number;
    row.values = parts_->parse_record(record, wanted);
    take(row);
  });
}

}  // namespace sabath
