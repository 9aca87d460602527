#include "train/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "train/dataset.h"
#include "train/files.h"
#include "train/input_error.h"

namespace shoal::train {
namespace {

using test::Bytes;
using testing::HasSubstr;

constexpr std::uint32_t kImages = 0x803;
constexpr std::uint32_t kLabels = 0x801;

std::string refusal(const std::function<void()>& reading) {
  try {
    reading();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

class Idx : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }
  std::string images_refusal(const Bytes& bytes) {
    return refusal([&] { read_idx_images(test::write_file(file("images"), bytes)); });
  }
  std::string zipped_images_refusal(const Bytes& bytes) {
    return refusal([&] { read_idx_images(test::write_gzip(file("images.gz"), bytes)); });
  }
  std::string labels_refusal(const Bytes& bytes) {
    return refusal([&] { read_idx_labels(test::write_file(file("labels"), bytes)); });
  }

  test::TemporaryFolder directory_;
};

TEST_F(Idx, ImagesComeOutAsTheyLieInTheFilePlainOrGzipWhateverTheName) {
  const Bytes bytes = test::idx_images(3, 2, 5);
  for (const auto& path : {test::write_file(file("plain"), bytes), test::write_file(file("plain.gz"), bytes),
                           test::write_gzip(file("zipped.gz"), bytes), test::write_gzip(file("zipped"), bytes)}) {
    const Images images = read_idx_images(path);
    EXPECT_EQ(images.count, 3U);
    EXPECT_EQ(images.rows, 2U);
    EXPECT_EQ(images.columns, 5U);
    ASSERT_EQ(images.pixels.size(), 30U);
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(images.pixels[i], i) << path;
  }
}

TEST_F(Idx, LabelsComeOutAsTheyLieInTheFile) {
  const Bytes labels{3, 0, 9, 255, 1};
  EXPECT_EQ(read_idx_labels(test::write_file(file("plain"), test::idx_labels(labels))), labels);
  EXPECT_EQ(read_idx_labels(test::write_gzip(file("zipped"), test::idx_labels(labels))), labels);
}

TEST_F(Idx, EveryTruncationIsRefusedByFileAndReason) {
  const Bytes whole = test::idx_images(2, 3, 4);  // 16 bytes of header, 24 of pixels.
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    for (const std::string& text : {images_refusal(part), zipped_images_refusal(part)}) {
      EXPECT_THAT(text, HasSubstr(directory_.path().string() + "/images"));
      EXPECT_THAT(text, HasSubstr(length < 16 ? "no whole IDX header" : "only " + std::to_string(length - 16)))
          << length;
    }
  }
  EXPECT_THAT(images_refusal({}), HasSubstr("truncated: 0 bytes"));
  EXPECT_THAT(images_refusal({0, 0, 8}), HasSubstr("truncated: 3 bytes"));
}

TEST_F(Idx, EveryTruncationOfTheGzipStreamIsRefused) {
  const Bytes whole = test::read_file(test::write_gzip(file("whole.gz"), test::idx_images(2, 3, 4)));
  ASSERT_GT(whole.size(), 20U);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto path =
        test::write_file(file("part.gz"), Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_THAT(refusal([&] { read_idx_images(path); }), HasSubstr("part.gz: ")) << length;
  }
}

TEST_F(Idx, EveryDamagedByteOfAGzipStreamsDataIsRefused) {
  const Bytes whole = test::read_file(test::write_gzip(file("whole.gz"), test::idx_images(2, 3, 4)));
  for (std::size_t place = 10; place < whole.size(); ++place) {  // After gzip's own header.
    Bytes damaged = whole;
    damaged[place] ^= 0x55U;
    const auto path = test::write_file(file("damaged.gz"), damaged);
    EXPECT_THAT(refusal([&] { read_idx_images(path); }), HasSubstr("damaged.gz: ")) << place;
  }
}

TEST_F(Idx, WhateverFollowsTheGzipStreamIsRefused) {
  const Bytes whole = test::read_file(test::write_gzip(file("whole.gz"), test::idx_images(2, 3, 4)));
  const auto followed_by = [&](const Bytes& more) {
    Bytes bytes = whole;
    bytes.insert(bytes.end(), more.begin(), more.end());
    return test::write_file(file("longer.gz"), bytes);
  };
  for (const Bytes& more : {Bytes{0}, Bytes{'g', 'a', 'r', 'b', 'a', 'g', 'e'}, Bytes(600'000, 7), Bytes{0x1f},
                            Bytes{0x1f, 0x8b, 8, 0, 1, 2, 3}, Bytes{0x1f, 1}})
    EXPECT_THAT(refusal([&] { read_idx_images(followed_by(more)); }),
                testing::AllOf(HasSubstr("longer.gz: "), HasSubstr("gzip file: ")))
        << more.size();
  EXPECT_THAT(refusal([&] { read_idx_images(followed_by({0})); }),
              HasSubstr("damaged gzip file: other bytes follow its stream"));
}

TEST_F(Idx, AGzipFileOfSeveralMembersIsReadAsTheirSum) {
  const Bytes bytes = test::idx_images(2, 3, 4);
  Bytes file_bytes;
  for (const auto& [begin, end] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{0, 7}, {7, 7}, {7, 30}, {30, 40}}) {
    const auto member =
        test::read_file(test::write_gzip(file("part.gz"), Bytes(bytes.begin() + begin, bytes.begin() + end)));
    file_bytes.insert(file_bytes.end(), member.begin(), member.end());
  }
  ASSERT_EQ(bytes.size(), 40U);
  EXPECT_EQ(read_idx_images(test::write_file(file("members.gz"), file_bytes)).pixels,
            Bytes(bytes.begin() + 16, bytes.end()));
}

TEST_F(Idx, BytesBeyondTheClaimAreRefused) {
  Bytes longer = test::idx_images(2, 3, 4);
  longer.push_back(0);
  EXPECT_THAT(images_refusal(longer), HasSubstr("longer than its header says"));
  EXPECT_THAT(zipped_images_refusal(longer), HasSubstr("longer than its header says"));
  Bytes labels = test::idx_labels({1, 2, 3});
  labels.push_back(4);
  EXPECT_THAT(labels_refusal(labels), HasSubstr("longer than its header says"));
}

TEST_F(Idx, SwappedFilesAreNamedForWhatTheyHold) {
  EXPECT_THAT(images_refusal(test::idx_labels({1, 2})), HasSubstr("holds labels where images"));
  EXPECT_THAT(labels_refusal(test::idx_images(1, 2, 2)), HasSubstr("holds images where labels"));
}

TEST_F(Idx, OtherMagicsAreRefused) {
  EXPECT_THAT(images_refusal(test::idx_header(0x00000D03, {1, 2, 2})), HasSubstr("0x00000d03"));  // Floats.
  EXPECT_THAT(images_refusal(test::idx_header(0x03080000, {1, 2, 2})),
              HasSubstr("not an IDX file"));  // Other end first.
  EXPECT_THAT(images_refusal(Bytes(100, 'x')), HasSubstr("not an IDX file"));
}

TEST_F(Idx, HugeClaimsAreRefusedWithoutTakingMemoryForThem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kCanBeLimited = false;  // The sanitizers' shadow is data too.
#else
  constexpr bool kCanBeLimited = true;
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit tight{.rlim_cur = rlim_t{256} << 20U, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, kCanBeLimited ? &tight : &before), 0);
  constexpr std::uint32_t kHuge = 0xffffffff;
  EXPECT_THAT(images_refusal(test::idx_header(kImages, {kHuge, kHuge, kHuge})), HasSubstr("impossible header"));
  EXPECT_THAT(images_refusal(test::idx_header(kImages, {kHuge, 28, 28})), HasSubstr("truncated"));
  EXPECT_THAT(images_refusal(test::idx_header(kImages, {1, kHuge, kHuge})), HasSubstr("truncated"));
  EXPECT_THAT(zipped_images_refusal(test::idx_header(kImages, {kHuge, 28, 28})),
              HasSubstr("more than a packed file of its size can hold"));
  EXPECT_THAT(labels_refusal(test::idx_header(kLabels, {kHuge})), HasSubstr("truncated"));
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
}

TEST_F(Idx, TheBestPackedDataAreNotTakenForImpossible) {
  constexpr std::size_t kPixels = 4'800'000;
  Bytes bytes = test::idx_header(kImages, {3000, 40, 40});
  bytes.resize(bytes.size() + kPixels);  // Zeros: packed about a thousandfold.
  const auto path = test::write_gzip(file("zeros.gz"), bytes);
  EXPECT_LT(std::filesystem::file_size(path), bytes.size() / 900);
  EXPECT_EQ(read_idx_images(path).pixels.size(), kPixels);
}

TEST_F(Idx, NothingAtAllIsRefused) {
  EXPECT_THAT(images_refusal(test::idx_header(kImages, {0, 28, 28})), HasSubstr("holds nothing"));
  EXPECT_THAT(images_refusal(test::idx_header(kImages, {5, 0, 28})), HasSubstr("holds nothing"));
  EXPECT_THAT(labels_refusal(test::idx_header(kLabels, {0})), HasSubstr("holds nothing"));
}

TEST_F(Idx, WhatIsNoFileIsRefused) {
  EXPECT_THAT(refusal([&] { read_idx_images(file("absent")); }), HasSubstr("absent: no such file"));
  EXPECT_THAT(refusal([&] { read_idx_images(directory_.path()); }), HasSubstr("not a regular file"));
}

// ---- The data set as a whole ------------------------------------------------------------------------------------

class IdxDirectory : public Idx {
 protected:
  void SetUp() override { test::write_quarters(directory_.path(), 10, 6); }
  std::string directory_refusal() {
    return refusal([&] { read_idx_directory(directory_.path(), 4); });
  }
};

TEST_F(IdxDirectory, FourFilesMakeADataSet) {
  const Dataset data = read_idx_directory(directory_.path(), 4);
  EXPECT_EQ(data.features, 16U);
  EXPECT_EQ(data.train.count, 10U);
  EXPECT_EQ(data.train.labels, (Bytes{0, 3, 2, 1, 0, 3, 2, 1, 0, 3}));  // 7 i modulo 4.
  EXPECT_EQ(data.test.count, 6U);
  EXPECT_EQ(data.test.pixels.size(), 96U);
}

TEST_F(IdxDirectory, LabelsAreNotNeededWhereThereAreNoClasses) {
  std::filesystem::remove(file("train-labels-idx1-ubyte"));
  EXPECT_TRUE(read_idx_directory(directory_.path(), std::nullopt).train.labels.empty());
  EXPECT_THAT(directory_refusal(), HasSubstr("train-labels-idx1-ubyte: no such file"));
}

TEST_F(IdxDirectory, ZippedFilesStandInForPlainOnes) {
  const Bytes labels = test::read_file(file("t10k-labels-idx1-ubyte"));
  std::filesystem::remove(file("t10k-labels-idx1-ubyte"));
  test::write_gzip(file("t10k-labels-idx1-ubyte.gz"), labels);
  EXPECT_EQ(read_idx_directory(directory_.path(), 4).test.labels.size(), 6U);
}

TEST_F(IdxDirectory, OneLabelMoreOrLessThanImagesIsRefused) {
  for (const std::size_t count : {9U, 11U}) {
    test::write_file(file("train-labels-idx1-ubyte"), test::idx_labels(Bytes(count, 1)));
    EXPECT_THAT(directory_refusal(),
                HasSubstr("train-labels-idx1-ubyte: has " + std::to_string(count) + " labels for the 10 images"));
  }
}

TEST_F(IdxDirectory, ALabelThatIsNoClassIsRefused) {
  test::write_file(file("t10k-labels-idx1-ubyte"), test::idx_labels({0, 1, 2, 4, 0, 0}));
  EXPECT_THAT(directory_refusal(), HasSubstr("label 4 of sample 3 is none of the model's 4 classes"));
}

TEST_F(IdxDirectory, TestImagesOfAnotherSizeAreRefused) {
  test::write_file(file("t10k-images-idx3-ubyte"), test::idx_images(6, 2, 8));  // As many pixels, but 2 x 8.
  EXPECT_THAT(directory_refusal(), HasSubstr("t10k-images-idx3-ubyte: has images of 2 x 8"));
}

TEST_F(IdxDirectory, ADirectoryThatIsNotThereIsRefused) {
  EXPECT_THAT(refusal([&] { read_idx_directory(file("absent"), 4); }), HasSubstr("absent: no such directory"));
}

TEST(Split, PixelsBecomeParts0To1AndFloatsStayWhatTheyAre) {
  std::vector<float> values(2);
  const Split bytes{.count = 2, .features = 2, .pixels = {9, 9, 51, 255}};
  bytes.load(1, 1, values);
  EXPECT_EQ(values, (std::vector<float>{0.2F, 1.0F}));
  const Split floats{.count = 2, .features = 2, .values = {9.0F, 9.0F, -51.0F, 0.5F}};
  floats.load(1, 1, values);
  EXPECT_EQ(values, (std::vector<float>{-51.0F, 0.5F}));
}

}  // namespace
}  // namespace shoal::train
