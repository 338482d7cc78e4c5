// The process that crash tests kill: it fills one partial, or writes one object, of bytes that the test can make again.
//   test_store_child known   STORE SEED SIZE PAUSE_US   a shared partial, by all processes there
//   test_store_child unknown STORE SEED SIZE PAUSE_US   a partial of its own, resumed; the bytes it had to write go to
//                                                       standard output
//   test_store_child shared  STORE SEED SIZE PAUSE_US   the same, but it follows the leader
//   test_store_child adopt   STORE SEED                 takes a dead one's partial over; says how much
//   test_store_child sleeper STORE SEED SIZE READY      stops itself with chunk 0 in hand
//   test_store_child object  STORE SEED SIZE
//   test_store_child collect STORE SEED                 everything that may go, to the end
//   test_store_child undo    STORE SEED
//   test_store_child pin     STORE SEED                 keeps a root, and
//   test_store_child unpin   STORE SEED                 lets it go
//   test_store_child repair  STORE SEED SIZE            puts bad objects aside, and makes the one of SEED and SIZE
//   whole
// Exit 0: published. 5: no space. 1: another failure.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/collect/collect.h"
#include "store/partials/leader_watch.h"
#include "store/pins.h"
#include "store/store.h"
#include "store/verify/verify.h"
#include "support/seeded.h"

namespace {

using namespace sabath;
using sabath::test::seeded_bytes;

constexpr std::size_t piece_size = 256 * 1024;
const SourceVersion version{{"\"one\"", ""}, "somebody"};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

FileTree tree_of(std::uint64_t seed, std::uint64_t size) {
  FileHasher hasher;
  for (std::uint64_t at = 0; at < size; at += chunk_size_bytes) {
    hasher.update(bytes_of(seeded_bytes(seed, at, std::min(chunk_size_bytes, size - at))));
  }
  return hasher.finish();
}

// The chunk in pieces as a network brings them, after what was adopted; returns how many bytes "came".
std::uint64_t bring_chunk(ChunkFile& partial, std::uint64_t index, std::string& chunk, std::vector<std::byte> start,
                          useconds_t pause_us) {
  std::uint64_t brought = 0;
  for (std::size_t at = start.size(); at < chunk.size(); at += piece_size) {
    const std::size_t fresh = std::min(piece_size, chunk.size() - at);
    const auto part = bytes_of(chunk).subspan(start.size(), at + fresh - start.size());
    partial.write_scratch(0, index, start.size(), part, fresh);
    brought += fresh;
    if (pause_us > 0) ::usleep(pause_us);
  }
  std::copy(start.begin(), start.end(), reinterpret_cast<std::byte*>(chunk.data()));  // what was adopted counts
  return brought;
}

void fill_known(Store& store, std::uint64_t seed, std::uint64_t size, useconds_t pause_us) {
  const FileTree tree = tree_of(seed, size);
  const auto partial = store.open_partial(tree.digest, tree.chunks);
  for (;;) {
    const auto done = partial->chunks_done();
    bool missing = false, took = false;
    for (std::uint64_t i = 0; i < done.size(); ++i) {
      if (done[i]) continue;
      missing = true;
      if (partial->claim_run(i, 1) == 0) continue;
      took = true;
      std::string chunk = seeded_bytes(seed, i * chunk_size_bytes, chunk_length(size, i));
      bring_chunk(*partial, i, chunk, start_of(partial->adopt_scratch(i)), pause_us);
      if (hash_chunk(bytes_of(chunk)) != tree.chunks[i]) throw Error(FailureKind::content, "adopted bytes are wrong");
      partial->write_chunk(0, i, bytes_of(chunk), tree.chunks[i]);
      break;
    }
    if (!missing) break;
    if (!took) ::usleep(1000);
  }
  partial->publish();
}

Sha256 source_of(std::uint64_t seed) { return sha256(std::to_string(seed)); }

std::uint64_t bring_rest(Store& store, OwnPartial& partial, std::uint64_t seed, std::uint64_t size,
                         useconds_t pause_us) {
  std::uint64_t brought = 0;
  while (partial.front() < size) {
    const std::uint64_t index = partial.front() / chunk_size_bytes;
    std::string chunk = seeded_bytes(seed, partial.front(), chunk_length(size, index));
    brought += bring_chunk(partial, index, chunk, start_of(partial.adopt_scratch(index)), pause_us);
    partial.write_chunk(0, index, bytes_of(chunk), hash_chunk(bytes_of(chunk)));
  }
  store.note_arrival(source_of(seed), {partial.publish().digest, false});
  return brought;
}

void fill_unknown(Store& store, std::uint64_t seed, std::uint64_t size, useconds_t pause_us) {
  const auto partial = store.open_partial(source_of(seed));
  partial->adopt_front(version, [](std::span<const std::byte>) {});
  partial->note_version(version, size);
  std::printf("%llu\n", static_cast<unsigned long long>(bring_rest(store, *partial, seed, size, pause_us)));
}

void fill_shared(Store& store, std::uint64_t seed, std::uint64_t size, useconds_t pause_us) {
  const auto ignore = [](std::span<const std::byte>) {};
  std::uint64_t brought = 0;
  for (const auto watch = store.watch_leader(source_of(seed));;) {
    const Leader leader = watch->look();
    if (leader == Leader::published) break;
    if (leader == Leader::active) {
      ::usleep(5000);
      continue;
    }
    const auto partial = store.open_partial(source_of(seed));
    partial->adopt_front(version, ignore);
    ::usleep(std::chrono::microseconds(LeaderWatch::interval).count());  // so that it looks once more
    if (watch->look() != Leader::none) {
      if (partial->front() == 0) partial->discard();
      continue;
    }
    if (watch->left_version() == version) watch->copy_left(*partial, version, ignore);
    partial->note_version(version, size);
    brought = bring_rest(store, *partial, seed, size, pause_us);
    break;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(brought));
}

void adopt(Store& store, std::uint64_t seed) {
  const auto partial = store.open_partial(source_of(seed));
  partial->adopt_front(version, [](std::span<const std::byte>) {});
  std::printf("%llu\n", static_cast<unsigned long long>(partial->front()));
  std::fflush(stdout);
  ::usleep(300'000);  // alive while the others try
}

void sleep_over(Store& store, std::uint64_t seed, std::uint64_t size, const std::string& ready) {
  const FileTree tree = tree_of(seed, size);
  const auto partial = store.open_partial(tree.digest, tree.chunks);
  std::string chunk = seeded_bytes(seed, 0, chunk_length(size, 0));
  (void)partial->claim_run(0, 1);
  partial->write_scratch(0, 0, 0, bytes_of(chunk).first(piece_size), piece_size);
  test::write_file(ready, std::to_string(::getpid()));
  ::raise(SIGSTOP);
  partial->write_scratch(0, 0, 0, bytes_of(chunk).first(2 * piece_size), piece_size);
  std::string wrong = chunk;
  wrong[5] = static_cast<char>(wrong[5] ^ 1);
  try {
    partial->write_chunk(0, 0, bytes_of(wrong), hash_chunk(bytes_of(wrong)));
    std::exit(3);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::internal) throw;
  }
  partial->write_chunk(0, 0, bytes_of(chunk), tree.chunks[0]);
  partial->publish();
}

void write_one(Store& store, std::uint64_t seed, std::uint64_t size) {
  auto writer = store.write_object();
  writer->write(bytes_of(seeded_bytes(seed, 0, size)));
  writer->finish();
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  store.publish(std::move(group));
}

void collect_all(Store& store) {
  CollectPolicy policy;
  policy.older_than = policy.grace = policy.partial_grace = policy.undo_window = std::chrono::seconds(0);
  policy.now = true;
  (void)collect(store, policy);
}

void keep(Store& store, bool kept) {
  const Sha256 root = sha256("kept");
  if (kept)
    put_pin(store, {root, "kept", 0});
  else
    remove_pins(store, [&](const Pin& pin) { return pin.root == root; });
}

void repair(Store& store, std::uint64_t seed, std::uint64_t size) {
  VerifyOptions options;
  options.threads = 1;
  options.salvage = true;
  (void)verify(store, nullptr, options);
  fill_known(store, seed, size, 0);  // publishes what is there already, too
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 3) return 2;
  try {
    const auto store = Store::open(args[1], true);
    const std::uint64_t seed = std::stoull(args[2]);
    const std::uint64_t size = args.size() > 3 ? std::stoull(args[3]) : 0;
    const auto pause = [&] { return static_cast<useconds_t>(std::stoul(args.at(4))); };
    if (args[0] == "known") fill_known(*store, seed, size, pause());
    if (args[0] == "unknown") fill_unknown(*store, seed, size, pause());
    if (args[0] == "shared") fill_shared(*store, seed, size, pause());
    if (args[0] == "adopt") adopt(*store, seed);
    if (args[0] == "sleeper") sleep_over(*store, seed, size, args.at(4));
    if (args[0] == "object") write_one(*store, seed, size);
    if (args[0] == "collect") collect_all(*store);
    if (args[0] == "undo") (void)undo_collection(*store);
    if (args[0] == "pin" || args[0] == "unpin") keep(*store, args[0] == "pin");
    if (args[0] == "repair") repair(*store, seed, size);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.failure().kind == FailureKind::space ? 5 : 1;
  }
}
