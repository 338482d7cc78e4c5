// A program outside SABATH that uses the installed library: it fetches a file by recipe, is told every byte's fate,
// and reads the file where the library says it stands. Usage: consumer DIRECTORY (made, and left behind).
#include <sabath/session.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <variant>

namespace {

constexpr auto sha256_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class ByteCount : public sabath::EventSink {
 public:
  void on(const sabath::Event& event) override {
    if (const auto* received = std::get_if<sabath::event::BytesReceived>(&event)) bytes_ += received->bytes;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::atomic<std::uint64_t> bytes_{0};
};

void expect(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "consumer: not so: " << what << '\n';
  std::exit(1);
}

void write_recipe(const std::filesystem::path& file, const std::filesystem::path& payload) {
  std::ofstream(file) << R"({"schema":1,"kind":"dataset","name":"abc","version":"1","fragments":[{"id":"main",)"
                      << R"("type":"file","path":"abc.txt","urls":["file://)" << payload.string()
                      << R"("],"size":3,"checksum":{"sha256":")" << sha256_of_abc << R"("}}]})";
}

void use(const std::filesystem::path& work) {
  std::filesystem::create_directories(work / "recipes/datasets");
  std::ofstream(work / "origin.txt") << "abc";
  write_recipe(work / "recipes/datasets/abc.json", work / "origin.txt");

  sabath::SessionSettings settings;
  settings.store = work / "store";
  settings.recipe_directories = {work / "recipes"};
  sabath::Session session(settings);

  ByteCount count;
  const sabath::FetchRecord record = session.fetch({.names = {"abc"}}, count, {});
  expect(record.exit == 0 && record.assets.size() == 1, "the fetch succeeds");
  expect(record.assets[0].fetched_bytes == 3 && count.bytes() == 3, "three bytes are fetched");

  std::ifstream file(session.path("abc") / "abc.txt");
  expect(std::string(std::istreambuf_iterator<char>(file), {}) == "abc", "the view holds the file");
  expect(session.fetch({.names = {"abc"}}, count, {}).assets[0].fetched_bytes == 0, "a second fetch moves nothing");
  std::cout << "consumer: abc is " << session.path("abc").string() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    expect(argc == 2, "there is one argument, a directory");
    expect(sabath::Sha256::parse(sha256_of_abc).hex() == sha256_of_abc, "a hash is parsed and printed");
    use(std::filesystem::absolute(argv[1]));
  } catch (const sabath::Error& error) {
    std::cerr << "consumer: " << error.what() << '\n' << error.failure().hint << '\n';
    return sabath::exit_code(error.failure().kind);
  }
  return 0;
}
