#include "base/bulk_thread.h"

#include <sched.h>

namespace sabath {

void become_bulk_thread() noexcept {
  const sched_param none{};
  if (::sched_getscheduler(0) == SCHED_OTHER) ::sched_setscheduler(0, SCHED_BATCH, &none);  // of this thread
}

}  // namespace sabath
