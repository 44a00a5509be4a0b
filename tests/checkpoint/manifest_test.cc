#include "checkpoint/manifest.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/crc32c.h"
#include "checkpoint/checkpoint_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;

class ManifestTest : public testing::Test {
 protected:
  FakeFileSystem files_;
  const Manifest manifest_ =
      WriteSmallCheckpoint(files_, "/m/ckpt-00000000006", 6);
  const std::string json_ = *ManifestToJson(manifest_);
};

// The manifest with some text replaced and its CRC right.
std::string Changed(const std::string& json, absl::string_view from,
                    absl::string_view to) {
  EXPECT_THAT(json, HasSubstr(std::string(from)));
  std::string changed = absl::StrReplaceAll(json, {{from, to}});
  const size_t tail = changed.rfind(",\n \"manifest_crc32c");
  const std::string body = changed.substr(0, tail);
  return absl::StrCat(body, ",\n \"manifest_crc32c\": \"",
                      absl::Hex(Crc32c(body), absl::kZeroPad8), "\"\n}\n");
}

TEST_F(ManifestTest, ComesBackAsItWas) {
  const auto read = ManifestFromJson(json_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->step, 6u);
  EXPECT_EQ(read->time, manifest_.time);
  EXPECT_EQ(read->start, 0x3a5f2e10c4d79b68u);
  EXPECT_EQ(read->config, manifest_.config);
  EXPECT_EQ(read->model.seed, manifest_.model.seed);
  EXPECT_EQ(read->model.tables[0].columns[0].initializer.scale, 0.3f);
  EXPECT_EQ(read->map.blocks[1].flat_begin, 2);
  EXPECT_EQ(read->data.sources, manifest_.data.sources);
  EXPECT_EQ(read->data.pieces, manifest_.data.pieces);
  EXPECT_EQ(read->totals, manifest_.totals);
  EXPECT_EQ(read->notes, manifest_.notes);
  EXPECT_EQ(read->shards, manifest_.shards);
  // And so with all that was not looked at here.
  EXPECT_EQ(*ManifestToJson(*read), json_);
}

TEST_F(ManifestTest, TheReplicatedShardComesBack) {
  EXPECT_THAT(json_, Not(HasSubstr("replicated"))) << "there is none";
  EXPECT_EQ(ManifestFromJson(json_)->map.replicated, -1);
  // Rows on shard 0, the dense variable on shard 1, a copy at each rank.
  Manifest manifest = manifest_;
  manifest.map.replicated = 1;
  manifest.map.tables[0].num_shards = 1;
  manifest.map.blocks = {{0, 0, 4, 1, 0}};
  const auto json = ManifestToJson(manifest);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto read = ManifestFromJson(*json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->map.replicated, 1);
  EXPECT_EQ(read->map.tables[0].num_shards, 1);
  const absl::Status bad =
      ManifestFromJson(
          Changed(*json, "\"replicated\": 1", "\"replicated\": 0"))
          .status();
  EXPECT_EQ(bad.code(), Code::kDataLoss);
  EXPECT_THAT(std::string(bad.message()),
              HasSubstr("shard 0 of 2 cannot be replicated"));
}

TEST_F(ManifestTest, PiecesLaidOutOtherwiseAreReadToo) {
  ASSERT_GT(manifest_.data.pieces.size(), 1u);
  for (const char* otherwise : {"\"pieces\":[[", "\"pieces\": [ ["}) {
    const auto read =
        ManifestFromJson(Changed(json_, "\"pieces\": [[", otherwise));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->data.pieces, manifest_.data.pieces);
  }
  const absl::Status bad =
      ManifestFromJson(Changed(json_, "\"pieces\": [[", "\"pieces\": [[7, "))
          .status();
  EXPECT_EQ(bad.code(), Code::kDataLoss);
  EXPECT_THAT(std::string(bad.message()), HasSubstr("data.pieces[0]"));
}

TEST_F(ManifestTest, OneFromBeforeTheStartNumbersIsRead) {
  const auto read = ManifestFromJson(Changed(
      json_, " \"start\": \"3a5f2e10c4d79b68\",\n \"coordinator_life\": 0,",
      " \"coordinator_life\": 7,"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->start, 7u);
}

TEST_F(ManifestTest, OneFromBeforeTheNameKeepProbIsRead) {
  Manifest manifest = manifest_;
  manifest.config = "deep_layers=8,4\ndropout=0.5,0.75\nseed=3\n";
  const auto read = ManifestFromJson(*ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->config, "deep_layers=8,4\nkeep_prob=0.5,0.75\nseed=3\n");
}

TEST_F(ManifestTest, TheKindOfIdsIsKeptAndMayBeAbsent) {
  EXPECT_THAT(json_, Not(HasSubstr("\"ids\": \"")));
  Manifest manifest = manifest_;
  for (const IdKind ids : {IdKind::kWritten, IdKind::kHashed}) {
    manifest.data.ids = ids;
    const auto read = ManifestFromJson(*ManifestToJson(manifest));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->data.ids, ids);
  }
  const absl::Status other =
      ManifestFromJson(Changed(*ManifestToJson(manifest), "\"ids\": \"hashed\"",
                               "\"ids\": \"guessed\""))
          .status();
  EXPECT_EQ(other.code(), Code::kDataLoss);
  EXPECT_THAT(std::string(other.message()), HasSubstr("data.ids"));
}

TEST_F(ManifestTest, CrcsOfPiecesMayBeAbsentButNotTooFew) {
  const std::string field = ",\n  \"piece_crc32c\": \"feedbeef\"";
  const auto older = ManifestFromJson(Changed(json_, field, ""));
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_EQ(older->data.pieces[0].facts->examples, 12u);
  EXPECT_FALSE(older->data.pieces[0].facts->crc32c.has_value());
  // And such a manifest is written without them again.
  EXPECT_EQ(*ManifestToJson(*older), Changed(json_, field, ""));
  const auto wrong = ManifestFromJson(Changed(json_, "\"feedbeef\"", "\"\""));
  EXPECT_EQ(wrong.status().code(), Code::kDataLoss);
  EXPECT_THAT(std::string(wrong.status().message()),
              HasSubstr("data.piece_crc32c"));
}

TEST_F(ManifestTest, PiecesTakeNoMoreThanWasSaid) {
  Manifest manifest = manifest_;
  manifest.data.sources[0].size = uint64_t{1} << 50;
  manifest.data.pieces.clear();
  const size_t without = ManifestToJson(manifest)->size();
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < 1000; ++i) {
    const Piece piece{i, 0, uint64_t{i} * 99'999'999'999,
                      uint64_t{i + 1} * 99'999'999'999};
    pieces.push_back(piece);
    const uint64_t most = piece.end - piece.begin;
    manifest.data.pieces.push_back(
        {0, piece.begin, piece.end,
         SavedPieceFacts{most, most, 0xffffffff, 0xffffffff}});
  }
  const size_t took = ManifestToJson(manifest)->size() - without;
  EXPECT_LE(took, ManifestBytesOf(pieces));
  EXPECT_GE(took, ManifestBytesOf(pieces) * 9 / 10);
}

TEST_F(ManifestTest, EveryFlippedBitIsAnError) {
  for (size_t i = 0; i < json_.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = json_;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto read = ManifestFromJson(bad);
      ASSERT_FALSE(read.ok()) << "byte " << i << " bit " << bit;
      ASSERT_EQ(read.status().code(), Code::kDataLoss) << read.status();
    }
  }
}

TEST_F(ManifestTest, EveryCutAndEveryAdditionIsAnError) {
  for (size_t n = 0; n < json_.size(); ++n) {
    ASSERT_FALSE(ManifestFromJson(json_.substr(0, n)).ok()) << n;
  }
  EXPECT_FALSE(ManifestFromJson(json_ + "\n").ok());
  EXPECT_FALSE(ManifestFromJson(json_ + json_).ok());
  EXPECT_FALSE(ManifestFromJson(std::string(1'000'000, '[')).ok());
}

TEST_F(ManifestTest, ANewerFormatIsRefusedWithBothNumbers) {
  for (const std::string& newer :
       {Changed(json_, "\"format_version\": 1", "\"format_version\": 2"),
        std::string("{\"format_version\": 2, \"all\": \"else\"}")}) {
    const absl::Status status = ManifestFromJson(newer).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("is 2"), HasSubstr("reads 1")));
  }
}

TEST_F(ManifestTest, WhatTheCrcVouchesForIsCheckedAllTheSame) {
  struct Case {
    const char* from;
    const char* to;
    const char* expected;
  };
  const Case cases[] = {
      {"\"step\": 6", "\"step\": \"6\"", "step: is not a whole number"},
      {"\"step\": 6", "\"stop\": 6", "step: is missing"},
      {"\"format_version\": 1", "\"format_version\": 0", "below 1"},
      {"2026-11", "2026-13", "time: is not a time"},
      {"\"dim\": 2", "\"dim\": 3000000", "columns[0].dim: 3000000 is above"},
      {"\"kind\": \"sgd\"", "\"kind\": \"sgb\"", "not an optimizer"},
      {"\"kind\": \"uniform\"", "\"kind\": \"random\"", "not a name"},
      {"\"learning_rate\": 0.100000001", "\"learning_rate\": -1",
       "learning_rate must be"},
      {"\"shape\": [2, 2], \"optimizer", "\"shape\": [2, 9], \"optimizer",
       "elements"},
      {"[\"fixed_size\"]", "[\"hash\"]", "cannot be placed"},
      {"[\"fixed_size\"]", "[]", "one entry for each table"},
      {"[0, 2, 4, 1]", "[0, 1, 4, 1]", "does not follow"},
      {"[0, 2, 4, 1]", "[0, 2, 4, 2]", "does not follow"},
      {"[0, 2, 4, 1]", "[7, 2, 4, 1]", "no dense variable"},
      {"[0, 600, 1000]", "[0, 600, 1001]", "does not lie within"},
      {"[0, 600, 1000]", "[1, 600, 1000]", "does not lie within"},
      {"[0, 600, 1000]", "[0, 600, 1000, 1]", "three or six"},
      {"\"hosts\": []", "\"hosts\": [0, 1]", "of their hosts differ"},
      {"\"shard\": 1,", "\"shard\": 0,", "must be that of shard 1"},
      {"shard-00001-of-00002.safetensors", "../../../etc/passwd",
       "not a plain file name"},
      {"shard-00001-of-00002.safetensors", "shard-00003-of-00002.safetensors",
       "must be that of shard 1"},
      {"\"dtype\": \"I64\"", "\"dtype\": \"I63\"", "has a dtype"},
      {"\"begin\": 16", "\"begin\": 17", "do not fit together"},
      {"\"data_begin\": ", "\"data_begin\": 9", "has a size"},
      {"fedcba9876543210", "fedcba987654321x", "hexadecimal"},
  };
  for (const Case& c : cases) {
    const absl::Status status =
        ManifestFromJson(Changed(json_, c.from, c.to)).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << c.to << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected)) << c.to;
  }
}

TEST_F(ManifestTest, ShardsWithOtherMarksAreNotOneCut) {
  Manifest torn = manifest_;
  torn.shards[1].marks_digest ^= 1;
  const auto json = ManifestToJson(torn);
  EXPECT_EQ(json.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(json.status().message()),
              HasSubstr("not saved after the same batches"));
  torn = manifest_;
  torn.shards.pop_back();
  EXPECT_EQ(ManifestToJson(torn).status().code(), Code::kInvalidArgument);
}

TEST_F(ManifestTest, AShardsEntryGoesAsTextAndIsCheckedToo) {
  const std::string text = ShardEntryToText(manifest_.shards[1]);
  EXPECT_EQ(*ShardEntryFromText(text), manifest_.shards[1]);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  for (size_t n = 0; n < text.size(); ++n) {
    ASSERT_FALSE(ShardEntryFromText(text.substr(0, n)).ok()) << n;
  }
  const absl::Status status =
      ShardEntryFromText(
          absl::StrReplaceAll(text, {{"\"size\": ", "\"size\": 1"}}))
          .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

TEST_F(ManifestTest, AFullDiskLeavesTheOldManifestAndNamesTheNewOne) {
  files_.LimitWrites("/m/ckpt-00000000007/manifest.json", 100);
  const absl::Status full =
      WriteManifest(files_, "/m/ckpt-00000000007", manifest_);
  EXPECT_EQ(full.code(), Code::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()),
              HasSubstr("/m/ckpt-00000000007/manifest.json"));
  EXPECT_EQ(NewestCheckpoint(files_, "/m", true)->step, 6u);
}

}  // namespace
}  // namespace shoal
