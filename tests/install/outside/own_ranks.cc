// A program that starts its own ranks.
#include <shoal/launcher/launch.h>
#include <shoal/shoal.h>

#include <iostream>
#include <stdexcept>
#include <vector>

int main() {
  const shoal::LaunchResult good = shoal::launch(3, [](shoal::Session& session) {
    shoal::Communicator& world = session.world();
    const std::vector<int> own{100 + world.rank()};
    std::vector<int> all(3);
    shoal::all_gather(world, own, all);
    std::cout << "rank " << world.rank() << ": " << all[0] << ' ' << all[1] << ' ' << all[2] << std::endl;
  });
  const shoal::LaunchResult bad = shoal::launch(2, [](shoal::Session& session) {
    if (session.world().rank() == 1) {
      throw std::runtime_error("on purpose");
    }
  });
  std::cout << "statuses " << good.exit_code << ' ' << bad.exit_code << ", rank 1: " << bad.ranks[1].error << '\n';
}
