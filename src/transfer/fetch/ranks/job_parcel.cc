#include "fetch/ranks/job_parcel.h"

namespace sabath {
namespace {

void put_optional(Parcel& parcel, const std::optional<std::uint64_t>& value) {
  parcel.add(std::uint64_t{value.has_value()}).add(value.value_or(0));
}

std::optional<std::uint64_t> get_optional(Parcel::Reader& parcel) {
  const bool there = parcel.flag();
  const std::uint64_t value = parcel.number();
  return there ? std::optional(value) : std::nullopt;
}

// A URL with those who named it.
void put_url(Parcel& parcel, const Url& url) {
  const auto& namer = url.namer();
  parcel.add(url.text()).add(std::uint64_t{namer.has_value()});
  if (!namer) return;
  parcel.add(static_cast<std::uint64_t>(namer->reach)).add(std::uint64_t{namer->own_host});
  put_optional(parcel, namer->user ? std::optional<std::uint64_t>(*namer->user) : std::nullopt);
}

Url get_url(Parcel::Reader& parcel) {
  Url url = Url::parse(parcel.text());
  if (!parcel.flag()) return url;
  Namer namer{.reach = static_cast<Reach>(parcel.number()), .own_host = parcel.flag()};
  if (const auto user = get_optional(parcel)) namer.user = static_cast<std::uint32_t>(*user);
  return url.named_by(namer);
}

void put_hash(Parcel& parcel, const Sha256& hash) {
  parcel.add_raw({reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size});
}

Sha256 get_hash(Parcel::Reader& parcel) {
  std::array<std::uint8_t, Sha256::size> raw{};
  std::memcpy(raw.data(), parcel.raw(raw.size()).data(), raw.size());
  return Sha256(raw);
}

void put_tree(Parcel& parcel, const FileTree& tree) {
  parcel.add(tree.digest.size_bytes);
  put_hash(parcel, tree.digest.hash);
  parcel.add(std::uint64_t{tree.chunks.size()});
  for (const auto& chunk : tree.chunks) put_hash(parcel, chunk);
}

FileTree get_tree(Parcel::Reader& parcel) {
  FileTree tree;
  tree.digest.size_bytes = parcel.number();
  tree.digest.hash = get_hash(parcel);
  const std::uint64_t count = parcel.number();
  for (std::uint64_t i = 0; i < count; ++i) tree.chunks.push_back(get_hash(parcel));
  return tree;
}

void put_validators(Parcel& parcel, const Validators& validators) {
  parcel.add(validators.etag).add(validators.last_modified);
}

Validators get_validators(Parcel::Reader& parcel) {
  Validators validators;
  validators.etag = parcel.text();
  validators.last_modified = parcel.text();
  return validators;
}

void put_checksums(Parcel& parcel, const Checksums& sums) {
  for (const auto& algorithm : checksum_algorithms) parcel.add(sums.*algorithm.value);
  parcel.add(sums.git);
}

Checksums get_checksums(Parcel::Reader& parcel) {
  Checksums sums;
  for (const auto& algorithm : checksum_algorithms) sums.*algorithm.value = parcel.text();
  sums.git = parcel.text();
  return sums;
}

}  // namespace

void put_job(Parcel& parcel, const FileJob& job) {
  parcel.add(job.name).add(std::uint64_t{job.urls.size()});
  for (const auto& url : job.urls) put_url(parcel, url);
  parcel.add(job.source ? job.source->text() : std::string()).add(std::uint64_t{job.listed}).add(job.offset);
  parcel.add(std::uint64_t{job.known.has_value()});
  if (job.known) put_tree(parcel, *job.known);
  parcel.add(std::uint64_t{job.learnt});
  put_optional(parcel, job.size_bytes);
  put_checksums(parcel, job.checksum);
  parcel.add(job.pieces.algorithm).add(job.pieces.length).add(job.pieces.hex);
  parcel.add(std::uint64_t{job.unless.has_value()}).add(std::uint64_t{job.unless_of});
  if (job.unless) put_validators(parcel, *job.unless);
  put_validators(parcel, job.version);
  parcel.add(std::uint64_t{job.names.size()});
  for (const auto& name : job.names) parcel.add(name);
}

FileJob get_job(Parcel::Reader& parcel) {
  FileJob job;
  job.name = parcel.text();
  const std::uint64_t urls = parcel.number();
  for (std::uint64_t i = 0; i < urls; ++i) job.urls.push_back(get_url(parcel));
  if (const std::string source = parcel.text(); !source.empty()) job.source = Url::parse(source);
  job.listed = parcel.flag();
  job.offset = parcel.number();
  if (parcel.flag()) job.known = get_tree(parcel);
  job.learnt = parcel.flag();
  job.size_bytes = get_optional(parcel);
  job.checksum = get_checksums(parcel);
  job.pieces.algorithm = parcel.text();
  job.pieces.length = parcel.number();
  job.pieces.hex = parcel.text();
  const bool unless = parcel.flag();
  job.unless_of = parcel.number();
  if (unless) job.unless = get_validators(parcel);
  job.version = get_validators(parcel);
  const std::uint64_t names = parcel.number();
  for (std::uint64_t i = 0; i < names; ++i) job.names.push_back(parcel.text());
  return job;
}

void put_outcome(Parcel& parcel, const FileOutcome& outcome) {
  parcel.add(outcome.failure).add(std::uint64_t{outcome.over_tls}).add(std::uint64_t{outcome.unchanged});
  put_tree(parcel, outcome.tree);
  put_validators(parcel, outcome.validators);
  put_checksums(parcel, outcome.computed);
  put_optional(parcel, outcome.giver ? std::optional<std::uint64_t>(*outcome.giver) : std::nullopt);
  put_optional(parcel, outcome.reach ? std::optional(static_cast<std::uint64_t>(*outcome.reach)) : std::nullopt);
}

FileOutcome get_outcome(Parcel::Reader& parcel) {
  FileOutcome outcome;
  outcome.failure = parcel.failure();
  outcome.over_tls = parcel.flag();
  outcome.unchanged = parcel.flag();
  outcome.tree = get_tree(parcel);
  outcome.validators = get_validators(parcel);
  outcome.computed = get_checksums(parcel);
  outcome.giver = get_optional(parcel);
  if (const auto reach = get_optional(parcel)) outcome.reach = static_cast<Reach>(*reach);
  return outcome;
}

void put_rule(Parcel& parcel, const HostRule& rule) {
  parcel.add(rule.host).add(rule.limits.connections).add(rule.limits.rate);
}

HostRule get_rule(Parcel::Reader& parcel) {
  HostRule rule{parcel.text(), {}};
  rule.limits.connections = static_cast<unsigned>(parcel.number());
  rule.limits.rate = parcel.number();
  return rule;
}

void put_source(Parcel& parcel, const SourceRecord& source) {
  parcel.add(source.url).add(source.bytes).add(source.requests).add(source.failures);
  parcel.add(std::uint64_t{source.demoted}).add(source.reason);
}

SourceRecord get_source(Parcel::Reader& parcel) {
  SourceRecord source;
  source.url = parcel.text();
  source.bytes = parcel.number();
  source.requests = parcel.number();
  source.failures = parcel.number();
  source.demoted = parcel.flag();
  source.reason = parcel.text();
  return source;
}

}  // namespace sabath
