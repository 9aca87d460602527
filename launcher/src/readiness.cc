#include "readiness.h"

#include <sys/epoll.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "descriptor.h"

namespace shoal::detail {

Readiness::Readiness(boost::asio::io_context& loop, int descriptor, Of what)
    : loop_(&loop), descriptor_(descriptor), what_(what), epoll_(loop) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event nothing_yet{};
  if (epoll.open() && ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &nothing_yet) == 0)
    epoll_.assign(epoll.release());
}

void Readiness::wait(std::function<void()> action) {
  if (!possible()) {
    boost::asio::post(*loop_, std::move(action));
    return;
  }
  epoll_event event{};
  event.events = (what_ == Of::reading ? EPOLLIN : EPOLLOUT) | EPOLLONESHOT;
  ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_MOD, descriptor_, &event);
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this, action = std::move(action)](const boost::system::error_code& error) {
                      if (error) return;
                      // Takes the event out of the inner epoll, so that the outer one sees the next.
                      epoll_event ready{};
                      ::epoll_wait(epoll_.native_handle(), &ready, 1, 0);
                      action();
                    });
}

}  // namespace shoal::detail
