#include "train/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "train/files.h"
#include "train/input_error.h"

namespace shoal::train {
namespace {

using test::Bytes;
using testing::HasSubstr;

/// A file as NumPy would write it, of this dictionary and these elements.
template <class T>
Bytes npy(const std::string& dictionary, const std::vector<T>& elements, std::uint8_t version = 1) {
  Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  const std::string header = dictionary + "\n";
  bytes.push_back(static_cast<std::uint8_t>(header.size()));
  bytes.push_back(0);
  if (version > 1) bytes.insert(bytes.end(), {0, 0});
  bytes.insert(bytes.end(), header.begin(), header.end());
  const std::size_t start = bytes.size();
  bytes.resize(start + elements.size() * sizeof(T));
  std::memcpy(bytes.data() + start, elements.data(), elements.size() * sizeof(T));
  return bytes;
}

const std::string kTwoByThree = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
const std::vector<float> kSix{1.0F, -2.5F, 3.0F, 4.0F, 5.0F, 6.25F};

class Npy : public testing::Test {
 protected:
  NpyArray read(const Bytes& bytes) { return read_npy(test::write_file(directory_.path() / "a.npy", bytes)); }
  std::string refusal(const Bytes& bytes) {
    try {
      read(bytes);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("/a.npy: "));
      return error.what();
    }
    return "accepted";
  }

  test::TemporaryFolder directory_;
};

TEST_F(Npy, SinglePrecisionComesOutAsItLies) {
  for (const std::uint8_t version : Bytes{1, 2, 3}) {
    const NpyArray array = read(npy(kTwoByThree, kSix, version));
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(array.values, kSix);
  }
}

TEST_F(Npy, DoublePrecisionIsRounded) {
  const NpyArray array = read(npy<double>("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", {0.1, -7.0}));
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2}));
  EXPECT_EQ(array.values, (std::vector<float>{0.1F, -7.0F}));
}

TEST_F(Npy, AVectorHasNoOrderAndAScalarNoShape) {
  EXPECT_EQ(read(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", kSix)).values, kSix);
  EXPECT_TRUE(read(npy<float>("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", {8.0F})).shape.empty());
}

TEST_F(Npy, EveryTruncationIsRefused) {
  const Bytes whole = npy(kTwoByThree, kSix);
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))), "accepted") << length;
}

TEST_F(Npy, WhatCannotBeReadIsRefusedByReason) {
  EXPECT_THAT(refusal(Bytes(64, 'x')), HasSubstr("not an NPY file"));
  EXPECT_THAT(refusal(npy(kTwoByThree, kSix, 9)), HasSubstr("version 9"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", kSix)), HasSubstr("Fortran"));
  EXPECT_THAT(refusal(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", kSix)), HasSubstr("'<i4'"));
  EXPECT_THAT(refusal(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", kSix)), HasSubstr("'>f4'"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'shape': (2, 3), }", kSix)), HasSubstr("no 'fortran_order'"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }", kSix)), HasSubstr("shape"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }", kSix)), HasSubstr("shape"));
}

TEST_F(Npy, ClaimsThatTheFileDoesNotBearOutAreRefusedBeforeMemoryIsTaken) {
  const auto claim = [&](const std::string& shape) {
    return refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", kSix));
  };
  EXPECT_THAT(claim("(2, 2)"), HasSubstr("claims 16 bytes of elements, but 24 follow"));
  EXPECT_THAT(claim("(7,)"), HasSubstr("claims 28 bytes"));
  EXPECT_THAT(claim("(1000000, 1000000)"), HasSubstr("claims 4000000000000 bytes"));
  EXPECT_THAT(claim("(4611686018427387910,)"), HasSubstr("more than 2^64"));  // 2^62 + 6: times 4 it would wrap to 24.
}

TEST_F(Npy, WhatIsWrittenIsReadBackAndAlignedForMapping) {
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{6}, {2, 3}, {1, 6, 1}}) {
    const auto file = directory_.path() / "out.npy";
    write_npy(file, shape, kSix);
    EXPECT_EQ(std::filesystem::file_size(file) % 64, 24U);
    EXPECT_EQ(read_npy(file).shape, shape);
    EXPECT_EQ(read_npy(file).values, kSix);
  }
  EXPECT_THROW(write_npy(directory_.path() / "absent" / "out.npy", std::vector<std::size_t>{6}, kSix), InputError);
}

}  // namespace
}  // namespace shoal::train
