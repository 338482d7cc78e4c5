// The other side of a call: reads it, and writes what the answer is made of, line by line. Two threads of its own say
// that it lives, and notice that the caller has gone. Throws Error{invalid} for a call that is malformed,
// Error{command} if the caller has gone before it was read.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "hosts/call_text.h"
#include "sabath/event.h"

namespace sabath {

class HostAnswer final : public EventSink {
 public:
  // Reads the head of a call from `in`, and greets the caller on `out`.
  HostAnswer(int in, int out, std::stop_token stop);
  ~HostAnswer() override;
  HostAnswer(const HostAnswer&) = delete;
  HostAnswer& operator=(const HostAnswer&) = delete;

  [[nodiscard]] HostCall read_call();
  // Requested by the process's own stop request, and where the caller hangs up.
  [[nodiscard]] std::stop_token stop() const { return stopped_.get_token(); }

  void on(const Event& event) override;  // any thread: messages and warnings are passed on
  void submitted(const std::string& record);
  void done(const std::string& record);
  void failed(const Failure& failure, int exit);

 private:
  struct PassOn {
    std::stop_source* to;
    void operator()() const { to->request_stop(); }
  };
  void write_line(std::string_view text);  // once the caller has gone: nothing
  void say_that_it_lives(const std::stop_token& over);
  void watch_caller(const std::stop_token& over);

  const int in_, out_;
  std::stop_source stopped_;
  std::stop_callback<PassOn> passed_on_;
  CallHead head_;
  std::mutex writing_;
  bool gone_ = false;
  std::jthread lives_, watches_;
};

}  // namespace sabath
