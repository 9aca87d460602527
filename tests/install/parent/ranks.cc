#include <shoal/launcher/launch.h>
#include <shoal/shoal.h>

int main() {
  return shoal::launch(2, [](shoal::Session& session) { shoal::barrier(session.world()); }).exit_code;
}
