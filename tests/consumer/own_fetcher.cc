// A fetcher that stands outside SABATH's tree: the scheme "count" has endless files of counted numbers,
// "count://h/1000" is the first 1000 bytes. The program gives it to the library, which fetches by it as by its own:
// ranges, retries, hashes, views. Usage: own_fetcher DIRECTORY (made, and left behind). fetchers/README.md explains it.
#include <sabath/error.h>
#include <sabath/fetcher.h>
#include <sabath/session.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

namespace {

// The byte at a place: what makes a range checkable.
char byte_at(std::uint64_t offset) { return static_cast<char>('0' + offset % 10); }

class CountFetcher : public sabath::Fetcher {
 public:
  std::vector<sabath::Scheme> schemes() const override {
    return {{.name = "count", .built = true, .ranges = true, .by = "own_fetcher"}};
  }

  void read(const sabath::ReadRequest& request, sabath::Sink& sink, sabath::Traffic& traffic,
            std::stop_token stop) override {
    ++traffic.requests;
    const std::uint64_t size = size_of(request.url);
    if (request.offset > size) {
      throw sabath::Error(sabath::FailureKind::unavailable,
                          "cannot read " + request.url.display() + ": it ends before");
    }
    sink.begin({.size_bytes = size,
                .ranges = true,
                .validators = {.etag = "\"1\"", .last_modified = {}},
                .content_type = {},
                .final_url = request.url.display()});
    const std::uint64_t end = request.offset + std::min(request.length.value_or(UINT64_MAX), size - request.offset);
    std::string piece;
    for (std::uint64_t at = request.offset; at < end; at += piece.size()) {
      if (stop.stop_requested()) throw sabath::Error(sabath::FailureKind::interrupted, "stopped");
      piece.resize(std::min<std::uint64_t>(end - at, 64 * 1024));
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = byte_at(at + i);
      traffic.bytes += piece.size();
      sink.write(std::as_bytes(std::span(piece)));
    }
  }

 private:
  static std::uint64_t size_of(const sabath::Url& url) {
    const std::string name = url.file_name();
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
    if (error != std::errc{} || end != name.data() + name.size()) {
      throw sabath::Error(sabath::FailureKind::unavailable, "cannot read " + url.display() + ": no such number");
    }
    return size;
  }
};

void expect(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "own_fetcher: not so: " << what << '\n';
  std::exit(1);
}

void use(const std::filesystem::path& work) {
  constexpr std::uint64_t size = 9'000'000;  // three chunks
  std::filesystem::create_directories(work / "recipes/datasets");
  std::ofstream(work / "recipes/datasets/numbers.json")
      << R"({"schema":1,"kind":"dataset","name":"numbers","fragments":[{"id":"main","type":"file","path":"n",)"
      << R"("urls":["count://h/)" << size << R"("]}]})";
  sabath::SessionSettings settings;
  settings.store = work / "store";
  settings.recipe_directories = {work / "recipes"};
  settings.fetchers.more = {std::make_shared<CountFetcher>()};
  sabath::Session session(settings);
  sabath::NoEvents nobody;
  const sabath::FetchRecord record = session.fetch({.names = {"numbers"}}, nobody, {});
  const std::uint64_t fetched = record.assets[0].fetched_bytes;  // the end of a late chunk may come twice
  expect(record.exit == 0 && fetched >= size && fetched < size + size / 20, "all is fetched, once");
  std::ifstream file(session.path("numbers") / "n", std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  expect(content.size() == size, "the view holds all of it");
  for (std::uint64_t i = 0; i < size; ++i) expect(content[i] == byte_at(i), "each byte is at its place");
  std::cout << "own_fetcher: " << size << " bytes by a fetcher of one's own\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    expect(argc == 2, "there is one argument, a directory");
    use(std::filesystem::absolute(argv[1]));
  } catch (const sabath::Error& error) {
    std::cerr << "own_fetcher: " << error.what() << '\n' << error.failure().hint << '\n';
    return sabath::exit_code(error.failure().kind);
  }
  return 0;
}
