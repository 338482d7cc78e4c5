// How many threads at once do most: begins with two, doubles while that does a tenth more in the same time, and takes
// half where half does as much. More threads contend, in a filesystem's locks or its memory: on 16 cores 8 writers fill
// a file in memory in 1.9 s, 2 in 1.35 s. On a filesystem that is far away each thread waits for itself, and all are
// used. Pure; the caller's lock.
#pragma once

namespace sabath {

class WorkerCount {
 public:
  explicit WorkerCount(unsigned most) : most_(most), now_(most < begin ? most : begin), settled_(now_) {}
  [[nodiscard]] unsigned now() const { return now_; }
  // A task took `seconds` while now() threads were at work.
  void note(double seconds);

  static constexpr unsigned begin = 2;

 private:
  [[nodiscard]] bool long_enough() const;
  void judge(double rate);
  const unsigned most_;
  unsigned now_, settled_;          // in the trial that is on its way, and outside of trials
  double settled_rate_ = 0;         // tasks a second
  unsigned tasks_ = 0, rests_ = 0;  // in this window; windows since the last trial
  double seconds_ = 0;              // of this window's tasks, added up
  bool tries_fewer_ = false;        // next
};

}  // namespace sabath
