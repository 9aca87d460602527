#include "relay.h"

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

// A job in the background must leave what is typed to the shell. A terminal that is not ours to control is nobody
// else's.
bool in_foreground() {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground < 0 || foreground == ::getpgrp();
}

int open_signals(sigset_t signals) {
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGCONT);
  const int descriptor = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0)
    throw Error(ErrorCode::system, std::string("cannot listen to signals (signalfd): ") + std::strerror(errno));
  return descriptor;
}

std::vector<Descriptor> only(Descriptor one) {
  std::vector<Descriptor> all;
  all.push_back(std::move(one));
  return all;
}

}  // namespace

sigset_t Relay::block_signals() {
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);  // What is typed may come when nobody reads it any more.
  sigset_t forwarded;
  sigemptyset(&forwarded);
  for (const int signal : {SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&forwarded, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
    struct sigaction inherited {};
    ::sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaddset(&forwarded, signal);
  }
  sigset_t blocked = forwarded;
  // Blocked, TTIN and TTOU do not stop a job in the background that looks at its terminal.
  for (const int signal : {SIGCHLD, SIGCONT, SIGTTIN, SIGTTOU}) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  return forwarded;
}

Relay::Relay(Guard& guard, const sigset_t& forwarded, Descriptor input)
    : guard_(&guard), signals_(loop_, open_signals(forwarded)) {
  if (input.open()) input_.emplace(loop_, STDIN_FILENO, only(std::move(input)), in_foreground);
}

void Relay::run() {
  if (input_) input_->start();
  listen();
  if (!guard_->ended()) loop_.run();  // Else before its SIGCHLD was listened to.
  take_the_rest();
}

// What came before now was meant for this start of the job, what comes later is left for the next.
void Relay::take_the_rest() {
  while (::read(signals_.native_handle(), &signal_, sizeof signal_) == sizeof signal_)
    received(static_cast<int>(signal_.ssi_signo));
}

void Relay::listen() {
  signals_.async_read_some(boost::asio::buffer(&signal_, sizeof signal_),
                           [this](const boost::system::error_code& error, std::size_t /*bytes*/) {
                             if (!error) received(static_cast<int>(signal_.ssi_signo));
                             if (guard_->ended()) {
                               loop_.stop();
                             } else {
                               listen();
                             }
                           });
}

void Relay::received(int signal) {
  if (signal == SIGCHLD) return;
  told_to_end_ = told_to_end_ || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  guard_->hand_on(signal);
  // Stopped as the shell expects it; whoever continues us sends SIGCONT, which is handed on like any other.
  if (signal == SIGTSTP) ::raise(SIGSTOP);
  if (signal == SIGCONT && input_) input_->look_again();
}

}  // namespace shoal::detail
