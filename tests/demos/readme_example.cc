#include <shoal/shoal.h>

#include <iostream>
#include <vector>

int main() {
  shoal::Session session;  // Rank and world as shoalrun gave them; run by itself, a world of one.
  shoal::Communicator& world = session.world();

  std::vector<float> gradient(1'000'000, static_cast<float>(world.rank()));
  shoal::all_reduce(world, gradient, shoal::ReduceOp::mean);

  if (world.rank() == 0) {
    std::cout << "mean " << gradient[0] << ", sent " << world.traffic().sent << " bytes\n";
  }
}
