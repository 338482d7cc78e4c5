#include "store_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/file.h"

namespace sabath::test {

FileTree tree_of(std::string_view bytes) {
  FileHasher hasher;
  hasher.update(bytes_of(bytes));
  return hasher.finish();
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::string bytes(std::filesystem::file_size(file), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes.append(std::istreambuf_iterator(in), {});  // of /proc, whose files say that they have no bytes
}

FailureKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.failure().message.empty());
    return error.failure().kind;
  }
  ADD_FAILURE() << "nothing was thrown";
  return FailureKind::internal;
}

std::vector<std::string> files_below(const std::filesystem::path& directory) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(directory)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string path = entry.path().lexically_relative(directory);
    if (!entry.is_directory() && !path.starts_with("verified/")) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

void StoreFixture::reopen() {
  store.reset();
  store = Store::open(directory, false);
}

FileTree StoreFixture::put(std::string_view bytes) {
  auto writer = store->write_object();
  writer->write(bytes_of(bytes));
  FileTree tree = writer->finish();
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  store->publish(std::move(group));
  return tree;
}

void StoreFixture::tamper(const std::filesystem::path& file, std::uint64_t offset) {
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  {
    const Fd fd = open_file(file, O_RDWR);
    std::array<std::byte, 1> byte{};
    ASSERT_EQ(read_at(fd.get(), byte, offset, file), 1U);
    byte[0] ^= std::byte{1};
    write_all_at(fd.get(), byte, offset, file);
  }
  const std::array<timespec, 2> times{before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  ASSERT_EQ(::chmod(file.c_str(), before.st_mode), 0);
}

std::vector<std::string> child_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SABATH_STORE_CHILD);
  return arguments;
}

}  // namespace sabath::test
