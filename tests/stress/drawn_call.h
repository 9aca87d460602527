#pragma once

#include "stress/draws.h"
#include "support/call_spec.h"

namespace shoal::test {

/// Any type that can be moved.
DataType draw_type(Draws& draws);
/// Elements of a vector of `ranks` ranks: a few hundred most often, about as many as ranks now and then, and seldom
/// more than a small channel takes.
std::size_t draw_count(Draws& draws, int ranks);
/// A call of `operation`: any algorithm, type and reduction that go together.
CallSpec draw_call(Draws& draws, Operation operation, int ranks);

}  // namespace shoal::test
