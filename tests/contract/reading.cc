#include "reading.h"

namespace sabath::test {
namespace {

class ReadingSink : public Sink {
 public:
  ReadingSink(Reading& reading, const std::function<void()>& on_write) : reading_(reading), on_write_(on_write) {}
  void begin(const ContentInfo& info) override {
    ++reading_.begins;
    reading_.info = info;
  }
  void write(std::span<const std::byte> bytes) override {
    reading_.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (on_write_) on_write_();
  }

 private:
  Reading& reading_;
  const std::function<void()>& on_write_;
};

}  // namespace

Reading read(FetcherSet& fetchers, const std::string& url, const ReadOptions& options) {
  Reading reading;
  ReadingSink sink(reading, options.on_write);
  Traffic traffic;
  try {
    const ReadRequest request{Url::parse(url), options.offset, options.length, options.expected, options.one_of_many};
    fetchers.find(request.url.scheme())->read(request, sink, traffic, options.stop);
  } catch (const Error& error) {
    reading.failure = error.failure();
  }
  reading.requests = traffic.requests;
  reading.traffic_bytes = traffic.bytes;
  return reading;
}

}  // namespace sabath::test
