// A bounded reader of SQLite databases: the rows of a table, and nothing else; no SQL, no index. It reads while others
// write: under SQLite's own shared lock, or as far as its write-ahead log was committed. docs of the format:
// sqlite.org/fileformat2.html.
//
// A process that has the database open by SQLite loses its locks when this closes the file (POSIX): read it in another
// process. One thread. Throws Error{invalid} for what is no database, damaged, or has another encoding than UTF-8;
// Error{storage} if it cannot be read, or a writer keeps it locked for some seconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath {

using SqliteValue = std::variant<std::monostate, std::int64_t, double, std::string>;  // a blob is a text, too

// The values of a row by the columns that were asked for.
struct SqliteRow {
  std::int64_t number = 0;  // rowid: later rows have greater ones
  std::vector<SqliteValue> values;
};

class SqliteFile {
 public:
  explicit SqliteFile(const std::filesystem::path& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  [[nodiscard]] bool has_table(std::string_view table) const;
  // Each row of the table whose number is greater than `after`, in their order; a column that the table lacks is null.
  // A row longer than 1 MiB is left out. Throws Error{invalid} if there is no such table.
  void for_each_row(std::string_view table, const std::vector<std::string_view>& columns, std::int64_t after,
                    const std::function<void(const SqliteRow&)>& take) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

[[nodiscard]] bool is_sqlite_file(std::string_view front);  // its first 16 bytes or more

}  // namespace sabath
