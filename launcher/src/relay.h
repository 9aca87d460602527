#pragma once

#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>
#include <optional>

#include "descriptor.h"
#include "guard.h"
#include "input_pump.h"

namespace shoal::detail {

/// What shoalrun's own process does while the guard runs the job. The guard has no terminal; this process has, and is
/// what the shell and the keyboard know of the job. So it hands the signals that it gets on to the guard, stops and
/// continues as the shell wants it, and takes from a terminal what is typed while the job is in the foreground.
class Relay {
 public:
  /// Blocks, in this process, what a relay takes or must not be hurt by. Signals that it inherited as ignored (SIGHUP
  /// under nohup, SIGINT in the background of a script, SIGTSTP where there is no job control) stay so, but for those
  /// that end nothing.
  static sigset_t block_signals();

  /// `forwarded`: what block_signals() gave. `input`: the writing end of the pipe into which standard input, a
  /// terminal, goes; not open: nobody reads it.
  Relay(Guard& guard, const sigset_t& forwarded, Descriptor input);

  /// Until the guard has ended.
  void run();
  /// Whether a signal that ends a job has come. The guard may have been too far gone to hear of it.
  bool told_to_end() const { return told_to_end_; }

 private:
  void listen();
  void received(int signal);
  void take_the_rest();

  Guard* guard_;
  boost::asio::io_context loop_{1};
  boost::asio::posix::stream_descriptor signals_;
  signalfd_siginfo signal_{};
  bool told_to_end_ = false;
  std::optional<InputPump> input_;
};

}  // namespace shoal::detail
