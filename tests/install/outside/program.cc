// A program of ranks as a user writes it. With the argument `mistake` it makes one, and prints what it is told.
#include <shoal/shoal.h>
#include <shoal/simulation.h>

#include <iostream>
#include <string_view>
#include <vector>

namespace {

void reduce_and_print(shoal::Communicator& world) {
  std::vector<double> numbers{world.rank() + 1.0, 10.0 * (world.rank() + 1), 0.5};
  shoal::all_reduce(world, numbers, shoal::ReduceOp::sum);
  std::cout << "rank " << world.rank() << " of " << world.size() << ": " << numbers[0] << ' ' << numbers[1] << ' '
            << numbers[2] << '\n';
}

void simulate_and_print() {
  shoal::SimulatedWorld simulated(2);
  const auto means = simulated.all_reduce_mean({{1.0F, 2.0F}, {3.0F, 6.0F}});
  std::cout << "simulated: " << means[1][0] << ' ' << means[1][1] << ", sent " << simulated.sent(1) << " bytes\n";
}

void make_a_mistake(shoal::Communicator& world) {
  std::vector<int> numbers(4);
  try {
    shoal::broadcast(world, numbers, 7);
  } catch (const shoal::Error& error) {  // Thrown in the library, caught here.
    std::cout << shoal::name(error.code()) << ": " << error.what() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  shoal::Session session;
  if (argc > 1 && std::string_view(argv[1]) == "mistake") {
    make_a_mistake(session.world());
    return 0;
  }
  reduce_and_print(session.world());
  if (session.world().rank() == 0) {
    simulate_and_print();
  }
}
