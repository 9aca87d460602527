// A rank for tests of the launcher. It does what its arguments say, one after the other:
//
//     pid          print "RANK pid PID"
//     join         make the session
//     leave        end the session
//     rounds N     exchange a few bytes with both neighbours, N times (0: forever)
//     fill BYTES   one exchange of so many bytes, over and over
//     only R       all that follows is for rank R; `all` ends it, `but R` is for the others
//     print TEXT   standard output, unflushed
//     complain T   standard error
//     ignore SIG   ignore a signal
//     catch SIG    on the signal print "caught SIG" and exit with 0
//     pause        wait for ever
//     linger MS    sleep
//     doom SIG     on an Error die by this signal, where others exit
//     die SIG      by a signal of one's own
//     exit N, _exit N, return N, throw TEXT, uncaught TEXT
//
// An Error is printed and makes the rank exit with 1, as shoal's own programs do.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shoal/runtime/error.h"
#include "shoal/runtime/session.h"

namespace {

using shoal::Communicator;
using shoal::Session;

void exchange_round(Communicator& comm, std::size_t bytes) {
  const int right = (comm.rank() + 1) % comm.size();
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<std::byte> out(bytes, std::byte{7});
  std::vector<std::byte> in(bytes);
  comm.perform({.operation = shoal::Operation::exchange, .count = bytes}, std::nullopt,
               [&] { comm.exchange(right, out, left, in); });
}

int number_of_signal(const std::string& name) {
  for (int signal = 1; signal < NSIG; ++signal)
    if (const char* abbreviation = ::sigabbrev_np(signal); abbreviation != nullptr && name == abbreviation)
      return signal;
  throw std::runtime_error("no signal " + name);
}

void throw_error(const std::string& text) { throw std::runtime_error(text); }

extern "C" void say_and_exit(int signal) {
  const std::string text = std::string("caught ") + ::sigabbrev_np(signal) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
  ::_exit(0);
}

class Script {
 public:
  explicit Script(std::span<char*> words) : words_(words) {
    const char* rank = std::getenv("SHOAL_RANK");
    rank_ = rank != nullptr ? std::atoi(rank) : 0;
  }

  int run() {
    try {
      return obey();
    } catch (const shoal::Error&) {
      if (doom_ == 0) throw;
      std::signal(doom_, SIG_DFL);
      return std::raise(doom_);
    }
  }

 private:
  int obey() {
    while (!words_.empty()) {
      const std::string word = next();
      if (word == "only") {
        idle_ = std::stoi(next()) != rank_;
      } else if (word == "but") {
        idle_ = std::stoi(next()) == rank_;
      } else if (word == "all") {
        idle_ = false;
      } else if (takes_value(word)) {
        const std::string value = next();
        if (idle_) continue;
        if (const auto status = act(word, value)) return *status;
      } else if (!idle_) {
        act(word);
      }
    }
    return 0;
  }

  std::string next() {
    if (words_.empty()) throw std::runtime_error("a word is missing");
    std::string word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  static bool takes_value(const std::string& word) {
    for (const char* plain : {"pid", "join", "leave", "pause"})
      if (word == plain) return false;
    return true;
  }

  void act(const std::string& word) {
    if (word == "pid") {
      std::cout << rank_ << " pid " << ::getpid() << std::endl;
    } else if (word == "join") {
      session_.emplace();
    } else if (word == "leave") {
      session_.reset();
    } else {
      for (;;) ::pause();
    }
  }

  std::optional<int> act(const std::string& word, const std::string& value) {
    if (word == "rounds") {
      const int rounds = std::stoi(value);
      for (int round = 0; rounds == 0 || round < rounds; ++round) exchange_round(session_->world(), 8);
    } else if (word == "fill") {
      for (;;) exchange_round(session_->world(), std::stoull(value));
    } else if (word == "print") {
      std::fputs(value.c_str(), stdout);
    } else if (word == "complain") {
      std::fputs(value.c_str(), stderr);
    } else if (word == "ignore") {
      std::signal(number_of_signal(value), SIG_IGN);
    } else if (word == "catch") {
      std::signal(number_of_signal(value), say_and_exit);
    } else if (word == "linger") {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(value)));
    } else if (word == "doom") {
      doom_ = number_of_signal(value);
    } else if (word == "die") {
      std::signal(number_of_signal(value), SIG_DFL);  // Sanitizers have handlers of their own.
      std::raise(number_of_signal(value));
    } else if (word == "exit") {
      std::exit(std::stoi(value));
    } else if (word == "_exit") {
      ::_exit(std::stoi(value));
    } else if (word == "return") {
      return std::stoi(value);
    } else if (word == "throw") {
      throw_error(value);
    } else if (word == "uncaught") {
      [&]() noexcept { throw_error(value); }();
    } else {
      throw std::runtime_error("no such word: " + word);
    }
    return std::nullopt;
  }

  std::span<char*> words_;
  int rank_ = 0;
  bool idle_ = false;
  int doom_ = 0;
  std::optional<Session> session_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return Script(std::span(argv, static_cast<std::size_t>(argc)).subspan(1)).run();
  } catch (const std::exception& error) {
    std::cerr << "rank_program: " << error.what() << std::endl;
    return 1;
  }
}
