#include "support/refuse_copying.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

namespace shoal::test {

bool refuse_copying() {
  constexpr auto kNumber = static_cast<unsigned>(offsetof(seccomp_data, nr));
  std::array<sock_filter, 5> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Between two children of this process, as ranks are.
bool can_copy() {
  static int word = 42;
  const pid_t read = fork();
  if (read == 0) {
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0, 0, 0);
    word = 43;
    pause();
    _exit(0);
  }
  const pid_t reader = fork();
  if (reader == 0) {
    int seen = 0;
    const iovec own{&seen, sizeof(seen)};
    const iovec theirs{&word, sizeof(word)};
    for (int attempt = 0; attempt < 1000 && seen != 43; ++attempt) {
      if (process_vm_readv(read, &own, 1, &theirs, 1, 0) != sizeof(seen)) usleep(100);
      if (seen == 42) usleep(100);
    }
    _exit(seen == 43 ? 0 : 1);
  }
  int status = 1;
  waitpid(reader, &status, 0);
  kill(read, SIGKILL);
  waitpid(read, nullptr, 0);
  return status == 0;
}

}  // namespace shoal::test
