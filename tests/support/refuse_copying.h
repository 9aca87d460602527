#pragma once

namespace shoal::test {

/// Makes the kernel refuse this process, from now on, to copy out of other processes' memory, and into it, as in a
/// container that forbids it. False if it cannot be made to.
bool refuse_copying();

/// Whether the kernel lets the processes of a job copy out of each other's memory here.
bool can_copy();

}  // namespace shoal::test
