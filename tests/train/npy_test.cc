#include "train/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "train/dataset.h"
#include "train/files.h"
#include "train/input_error.h"
#include "train/sequences.h"

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

template <class T>
std::vector<T> swapped(std::vector<T> values) {
  for (T& value : values) {
    std::array<char, sizeof(T)> raw{};
    std::memcpy(raw.data(), &value, sizeof(T));
    std::reverse(raw.begin(), raw.end());
    std::memcpy(&value, raw.data(), sizeof(T));
  }
  return values;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

TEST_F(Npy, EveryTypeIsReadInBothByteOrdersAndAllVersions) {
  const std::vector<double> doubles{0.1, -7.0, 1e300};
  const std::vector<std::int64_t> integers{1, -2, std::int64_t{1} << 60};
  const std::vector<std::uint8_t> bytes{0, 7, 255};
  const std::vector<float> floats{1.5F, -2.0F, 3e38F};
  const auto any = [&](const Bytes& file) { return read_any_npy(test::write_file(directory_.path() / "a.npy", file)); };
  for (const std::uint8_t version : Bytes{1, 2, 3}) {
    const auto values = [&]<class T>(const std::string& type, const std::vector<T>& elements) {
      return std::get<BasicNpyArray<T>>(any(npy(dictionary(type, "(3,)"), elements, version))).values;
    };
    EXPECT_EQ(values("<f8", doubles), doubles);
    EXPECT_EQ(values(">f8", swapped(doubles)), doubles);
    EXPECT_EQ(values("<i8", integers), integers);
    EXPECT_EQ(values(">i8", swapped(integers)), integers);
    EXPECT_EQ(values("|u1", bytes), bytes);
    EXPECT_EQ(values("<f4", floats), floats);
    EXPECT_EQ(values(">f4", swapped(floats)), floats);
  }
}

// Element (i, j, k) of 2 x 3 x 4 is 100 i + 10 j + k; in Fortran order i runs fastest.
TEST_F(Npy, FortranOrderIsTurnedAround) {
  std::vector<float> fortran;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(static_cast<float>(100 * i + 10 * j + k));
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(static_cast<float>(100 * i + 10 * j + k));
  const NpyArray array = read(npy(dictionary("<f4", "(2, 3, 4)", true), fortran));
  EXPECT_EQ(array.values, expected);
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(read(npy(dictionary(">f4", "(2, 3, 4)", true), swapped(fortran))).values, expected);
  EXPECT_TRUE(read(npy<float>(dictionary("<f4", "(0, 3)", true), {})).values.empty());
}

// Whatever a flipped bit makes of the header: an error, or as many values as the shape says.
TEST_F(Npy, AnyFlippedBitOfTheHeaderIsAnErrorOrStillAnArray) {
  const Bytes whole = npy(kTwoByThree, kSix);
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * (whole.size() - 24); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1U << bit % 8));
    try {
      const NpyArray array = read(flipped);
      std::size_t elements = 1;
      for (const std::size_t extent : array.shape) elements *= extent;
      EXPECT_EQ(array.values.size(), elements);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
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
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }", kSix)),
              HasSubstr("neither True nor False"));
  EXPECT_THAT(refusal(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", kSix)), HasSubstr("'<i4'"));
  EXPECT_THAT(refusal(npy("{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3), }", kSix)), HasSubstr("'|f4'"));
  EXPECT_THAT(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", kSix)),
              HasSubstr("elements are ["));
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

namespace shoal::train {
namespace {

class NpyDataset : public Npy {
 protected:
  template <class T>
  std::filesystem::path write(const std::string& name, const std::string& type, const std::string& shape,
                              const std::vector<T>& elements) {
    return test::write_file(directory_.path() / name, npy(dictionary(type, shape), elements));
  }
  std::string refusal_of(const std::string& source, std::optional<std::size_t> classes) {
    try {
      read_dataset(data_source(source, classes.has_value()), classes);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(NpyDataset, TakesPixelsAndLabelsWithoutATestSet) {
  const auto samples = write<std::uint8_t>("x.npy", "|u1", "(2, 2, 3)", {0, 51, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto labels = write<std::int64_t>("y.npy", "<i8", "(2,)", {3, 0});
  const Dataset data = read_dataset(data_source(samples.string() + "," + labels.string(), true), 4);
  EXPECT_EQ(data.features, 6U);
  EXPECT_EQ(data.columns, 3U);
  EXPECT_EQ(data.train.count, 2U);
  EXPECT_EQ(data.train.labels, (std::vector<std::uint8_t>{3, 0}));
  EXPECT_EQ(data.test.count, 0U);
  std::vector<float> first(6);
  data.train.load(0, 1, first);
  EXPECT_EQ(first[1], 0.2F);
  EXPECT_EQ(first[2], 1.0F);
}

TEST_F(NpyDataset, TakesFloatsAsTheyAre) {
  const auto samples = write<double>("x.npy", "<f8", "(3, 1)", {-1.5, 2.0, 0.25});
  const Dataset data = read_dataset(data_source(samples.string(), false), std::nullopt);
  EXPECT_EQ(data.columns, 0U);
  EXPECT_EQ(data.train.values, (std::vector<float>{-1.5F, 2.0F, 0.25F}));
}

TEST_F(NpyDataset, RefusesWhatDoesNotFitByNameAndReason) {
  const std::string x = write<float>("x.npy", "<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}).string();
  EXPECT_THAT(refusal_of(x, 4), HasSubstr("classify needs labels"));
  const auto with = [&](const std::filesystem::path& labels) { return refusal_of(x + "," + labels.string(), 4); };
  EXPECT_THAT(with(write<std::int64_t>("a.npy", "<i8", "(2,)", {1, 2})), HasSubstr("a.npy: has shape (2) where (3)"));
  EXPECT_THAT(with(write<std::int64_t>("b.npy", "<i8", "(3,)", {1, 4, 2})), HasSubstr("label 4 of sample 1"));
  EXPECT_THAT(with(write<std::int64_t>("c.npy", "<i8", "(3,)", {1, 2, -1})), HasSubstr("label -1 of sample 2"));
  EXPECT_THAT(with(write<float>("d.npy", "<f4", "(3,)", {1, 2, 3})), HasSubstr("d.npy: holds floating-point"));
  EXPECT_THAT(with(directory_.path() / "none.npy"), HasSubstr("none.npy: no such file"));
  const auto alone = [&](const std::filesystem::path& samples) { return refusal_of(samples.string(), std::nullopt); };
  EXPECT_THAT(alone(write<float>("e.npy", "<f4", "(6,)", kSix)), HasSubstr("e.npy: has shape (6)"));
  EXPECT_THAT(alone(write<float>("f.npy", "<f4", "(0, 6)", {})), HasSubstr("f.npy: holds nothing"));
  EXPECT_THAT(alone(write<float>("g.npy", "<f4", "(1, 2)", {1.0F, std::nanf("")})),
              HasSubstr("g.npy: sample 0, feature 1 is no finite f32"));
  EXPECT_THAT(alone(write<double>("h.npy", "<f8", "(2, 1)", {1.0, 1e300})), HasSubstr("sample 1, feature 0"));
}

// Rows of 2: blank ones are left out wherever they are; what follows a row is the next one that is not blank.
TEST(Sequences, AreTheRowsThatAreNotBlank) {
  const Split data{.count = 3, .features = 8, .pixels = {0, 0, 255, 0, 0,       0, 0, 51,  /**/ 0, 0,  0,  0,
                                                         0, 0, 0,   9, /**/ 51, 0, 0, 255, 255,    51, 51, 51}};
  const Sequences sequences(data, 2);
  EXPECT_EQ(sequences.tokens(0), 1U);
  EXPECT_EQ(sequences.tokens(1), 0U);  // One row has nothing to be predicted from.
  EXPECT_EQ(sequences.tokens(2), 3U);
  EXPECT_EQ(sequences.most_tokens(), 3U);
  std::vector<float> rows(2);
  sequences.load_inputs(0, rows);
  EXPECT_EQ(rows, (std::vector<float>{1.0F, 0.0F}));
  sequences.load_targets(0, rows);
  EXPECT_EQ(rows, (std::vector<float>{0.0F, 0.2F}));
  rows.resize(6);
  sequences.load_inputs(2, rows);
  EXPECT_EQ(rows, (std::vector<float>{0.2F, 0.0F, 0.0F, 1.0F, 1.0F, 0.2F}));
  sequences.load_targets(2, rows);
  EXPECT_EQ(rows, (std::vector<float>{0.0F, 1.0F, 1.0F, 0.2F, 0.2F, 0.2F}));
}

TEST(Sequences, OfFloatsLeaveOutZerosOnly) {
  const Split data{.count = 1, .features = 6, .values = {0.0F, -0.0F, 1e-30F, 0.0F, -1.0F, 0.0F}};
  EXPECT_EQ(Sequences(data, 2).tokens(0), 1U);
}

}  // namespace
}  // namespace shoal::train
