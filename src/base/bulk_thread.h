// Threads that move and hash much, beside one that everybody waits for. Any thread.
#pragma once

namespace sabath {

// The calling thread does not take a core from one that is at work when it wakes (SCHED_BATCH, sched(7)); its share of
// the cores stays the same, among our threads and among other users'. Where the system does not allow it, nothing.
void become_bulk_thread() noexcept;

}  // namespace sabath
