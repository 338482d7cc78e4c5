// The time of a copy without verification: rank 0 reads a tree in pieces, MPI_Bcast, every rank writes a copy of its
// own.
//   mpirun -n N bcast_copy SOURCE TARGET     a directory's files; {rank} in TARGET is the rank's number
// Two buffers: while one is broadcast, the other is written, and on rank 0 read before that. Any failure ends all
// ranks.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
constexpr std::size_t piece_bytes = 4U << 20;

struct Piece {
  std::size_t file;
  std::uint64_t begin, size;
};

void fail(const std::string& what) {
  std::perror(what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// "SIZE PATH\n" for each file, told by rank 0 to all.
std::string tell_list(int rank, const fs::path& source) {
  std::string list;
  if (rank == 0) {
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
      if (entry.is_regular_file())
        list += std::to_string(entry.file_size()) + " " + fs::relative(entry.path(), source).string() + "\n";
    }
  }
  std::uint64_t length = list.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  list.resize(length);
  MPI_Bcast(list.data(), static_cast<int>(length), MPI_BYTE, 0, MPI_COMM_WORLD);
  return list;
}

// The file that was touched last stays open: pieces come in order.
class Files {
 public:
  Files(fs::path root, int flags) : root_(std::move(root)), flags_(flags) {}
  ~Files() { ::close(descriptor_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  template <typename Call>
  void move(Call call, const std::vector<std::string>& names, const Piece& piece, char* data) {
    if (piece.file != open_) {
      ::close(descriptor_);
      const fs::path path = root_ / names[piece.file];
      if ((flags_ & O_CREAT) != 0) fs::create_directories(path.parent_path());
      descriptor_ = ::open(path.c_str(), flags_ | O_CLOEXEC, 0644);
      if (descriptor_ < 0) fail(path);
      open_ = piece.file;
    }
    for (std::uint64_t done = 0; done < piece.size;) {
      const auto part = call(descriptor_, data + done, piece.size - done, static_cast<off_t>(piece.begin + done));
      if (part <= 0) fail(names[piece.file]);
      done += static_cast<std::uint64_t>(part);
    }
  }

 private:
  fs::path root_;
  int flags_;
  int descriptor_ = -1;
  std::size_t open_ = SIZE_MAX;
};

std::vector<Piece> pieces_of(const std::string& list, std::vector<std::string>& names) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t space = list.find(' ', at), end = list.find('\n', at);
    const std::uint64_t size = std::stoull(list.substr(at, space - at));
    for (std::uint64_t begin = 0; begin < size || begin == 0; begin += piece_bytes)
      pieces.push_back({names.size(), begin, std::min<std::uint64_t>(piece_bytes, size - begin)});
    names.push_back(list.substr(space + 1, end - space - 1));
    at = end + 1;
  }
  return pieces;
}

void copy(int rank, const fs::path& source, const fs::path& target) {
  std::vector<std::string> names;
  const std::vector<Piece> pieces = pieces_of(tell_list(rank, source), names);
  Files from(source, O_RDONLY), to(target, O_WRONLY | O_CREAT | O_TRUNC);
  std::array<std::vector<char>, 2> buffers{std::vector<char>(piece_bytes), std::vector<char>(piece_bytes)};
  std::future<void> other;  // writes the piece before this one, then reads the one behind it into the same buffer
  const auto read = [&](std::size_t i) {
    if (rank == 0 && i < pieces.size()) from.move(::pread, names, pieces[i], buffers[i % 2].data());
  };
  read(0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    other = std::async(std::launch::async, [&, i] {
      if (i > 0) to.move(::pwrite, names, pieces[i - 1], buffers[(i - 1) % 2].data());
      read(i + 1);
    });
    MPI_Bcast(buffers[i % 2].data(), static_cast<int>(pieces[i].size), MPI_BYTE, 0, MPI_COMM_WORLD);
    other.get();
  }
  if (!pieces.empty()) to.move(::pwrite, names, pieces.back(), buffers[(pieces.size() - 1) % 2].data());
}

}  // namespace

int main(int count, char** words) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (count != 3) {
    if (rank == 0) std::fputs("bcast_copy SOURCE TARGET\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::string target = words[2];
  const std::string word = "{rank}";
  if (const auto at = target.find(word); at != std::string::npos) target.replace(at, word.size(), std::to_string(rank));
  copy(rank, words[1], target);
  MPI_Finalize();
  return 0;
}
