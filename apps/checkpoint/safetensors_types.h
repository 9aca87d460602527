#pragma once

#include <optional>
#include <string_view>

#include "checkpoint/safetensors.h"

namespace shoal::checkpoint {

inline constexpr const char* kMetadata = "__metadata__";

/// As the header has it, "F32".
std::string_view name(ElementType type);
std::optional<ElementType> type_named(std::string_view name);

}  // namespace shoal::checkpoint
