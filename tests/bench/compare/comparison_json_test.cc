#include "bench/compare/comparison_json.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bench/compare/cell.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

CellRun WholeRun() {
  CellRun run;
  run.repeat = 2;
  run.ok = true;
  run.seconds = 31.25;
  run.link_bits_per_second = 9.5e8;
  run.link_expected = 9.6e8;
  run.others_cores = .03;
  run.samples_per_second = 12345.5;
  run.cpu_seconds_per_sample = RoleFigures{2.5e-5, 5e-6};
  run.bytes_per_sample = RoleBytes{10, 20, 30, 40};
  run.state_shares = {{"compute", .75}, {"wait_pull", .25}};
  run.step_seconds = RunSteps{100, .02, .001, .018, .02, .022, .03, .05};
  run.staleness = RunStaleness{1.5, 1, 4, 9};
  run.peak_rss_bytes = RoleFigures{3e8, 2e8};
  run.balance = RunBalance{1.02};
  run.curve = {{.5, 1024, .69, std::nullopt}, {1, 2048, std::nullopt, .61}};
  run.auc = .77;
  run.logloss = .45;
  run.seconds_to_target = 12.5;
  run.epoch_seconds = 60;
  run.paused_speed = .8125;
  run.paused_speed_known = false;
  return run;
}

Comparison Whole() {
  Cell computed;
  computed.name = "A_ssp_h2_b1024_1gbit";
  computed.model = "A";
  computed.mode = "ssp";
  computed.hosts = 2;
  computed.global_batch = 2048;
  computed.learning_rate = 5e-4;
  computed.network = "1gbit";
  computed.bits_per_second = 1e9;
  computed.cores_per_host = 1.5;
  computed.ssp_bound = 2;
  computed.straggler = Straggler{1, .5};
  computed.dilation = 4;
  computed.dilation_difference = -.03125;
  computed.dilation_verdict = kTriedSame;
  computed.grey = "others used 0.4 of a core";
  computed.formula = RoleBytes{1, 2, 3, 4};
  computed.runs = {WholeRun()};
  Cell replayed;
  replayed.name = "A_ring_h16_b64_none";
  replayed.model = "A";
  replayed.mode = "ring";
  replayed.hosts = 16;
  replayed.batch_size = 64;
  replayed.compute = "replayed";
  replayed.backup_workers = 1;
  CellRun failed;
  failed.error = "the job failed: \"ps 0\" was killed";
  replayed.runs = {failed};

  Comparison all;
  all.command = "shoal bench compare --out=x";
  all.cpu = "AMD EPYC";
  all.cores = 2;
  all.memory_bytes = 24'000'000'000;
  all.version = "0.5.0";
  all.started = "2026-03-01T09:30:00+01:00";
  all.ended = "2026-03-01T09:40:00+01:00";
  all.where = "lab";
  all.dilation = 4;
  all.equal_batch = "global";
  all.target_auc = .76;
  all.price_per_host_hour = .5;
  all.repeats = 3;
  all.models["A"] = {{{"embedding_size", "16"}},
                     2'500'000,
                     68,
                     3.42e6,
                     204'000'000,
                     {3.42e6, 2.4e6, 61440, 12},
                     {{1024, 8750}, {2048, 14'500}}};
  all.data = {1'000'000, 8};
  all.not_played = {"latency"};
  all.cells = {computed, replayed};
  all.collective = {{"1gbit", 2, 65536, 2.5e-5}};
  all.collective_notes = {"AllReduce of 4 hosts was not measured: why"};
  ModeVerdict verdict;
  verdict.network = "1gbit";
  verdict.hosts = 2;
  verdict.model = "A";
  verdict.batch_size = 1024;
  verdict.straggler = Straggler{1, .125};
  verdict.best = "ssp";
  verdict.first = {"ssp"};
  verdict.behind = {{"sync+1", 1.25}, {"ring", std::nullopt}};
  verdict.out = {"async"};
  verdict.text = "ssp is fastest";
  verdict.turn = "from about 6 Gbit/s on";
  verdict.rule = "medians";
  ModeVerdict none;
  none.network = "none";
  none.hosts = 16;
  none.model = "A";
  none.batch_size = 64;
  none.compute = kReplayed;
  none.text = "no difference";
  none.no_turn = "no limit";
  none.rule = "medians";
  all.verdicts = {verdict, none};
  return all;
}

// The error of the text in which `from` is replaced by `to`.
std::string ErrorWith(const std::string& from, const std::string& to) {
  const std::string text = ComparisonJson(Whole());
  EXPECT_THAT(text, HasSubstr(from));
  const auto parsed =
      ParseComparison(absl::StrReplaceAll(text, {{from, to}}));
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument)
      << to;
  return std::string(parsed.status().message());
}

TEST(ComparisonJsonTest, GivesBackWhatWasWritten) {
  const std::string text = ComparisonJson(Whole());
  const auto parsed = ParseComparison(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ComparisonJson(*parsed), text);

  EXPECT_EQ(parsed->ended, "2026-03-01T09:40:00+01:00");
  EXPECT_EQ(parsed->target_auc, .76);
  EXPECT_EQ(parsed->models.at("A").flags.at("embedding_size"), "16");
  EXPECT_EQ(parsed->models.at("A").dense_bytes, 2'500'000u);
  EXPECT_EQ(parsed->models.at("A").table_bytes, 204'000'000u);
  EXPECT_EQ(parsed->models.at("A").work.per_id, 61440);
  EXPECT_EQ(parsed->models.at("A").work.plain, 3.42e6);
  EXPECT_EQ(parsed->models.at("A").work.per_sample, 2.4e6);
  EXPECT_EQ(parsed->models.at("A").work.most_ids, 12);
  const std::vector<IdCount>& ids = parsed->models.at("A").distinct_ids;
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids[1].samples, 2048);
  EXPECT_EQ(ids[1].ids, 14'500);
  ASSERT_EQ(parsed->cells.size(), 2u);
  const Cell& cell = parsed->cells[0];
  EXPECT_EQ(cell.straggler->host, 1);
  EXPECT_EQ(cell.formula->ps_received, 4);
  EXPECT_EQ(cell.dilation_difference, -.03125);
  EXPECT_EQ(cell.dilation_verdict, kTriedSame);
  EXPECT_EQ(parsed->cells[1].dilation_verdict, kNotTried);
  EXPECT_EQ(parsed->cells[1].dilation_difference, std::nullopt);
  const CellRun& run = cell.runs.at(0);
  EXPECT_EQ(run.repeat, 2);
  EXPECT_EQ(run.cpu_seconds_per_sample->ps, 5e-6);
  EXPECT_EQ(run.bytes_per_sample->worker_received, 20);
  EXPECT_EQ(run.state_shares.at("wait_pull"), .25);
  EXPECT_EQ(run.step_seconds->p90, .022);
  EXPECT_EQ(run.staleness->p99, 4);
  EXPECT_EQ(run.curve.at(1).auc, .61);
  EXPECT_EQ(run.curve.at(0).auc, std::nullopt);
  EXPECT_EQ(run.seconds_to_target, 12.5);
  EXPECT_TRUE(parsed->cells[1].replayed());
  const ModeVerdict& verdict = parsed->verdicts.at(0);
  EXPECT_EQ(verdict.batch_size, 1024);
  EXPECT_EQ(verdict.straggler->host, 1);
  EXPECT_EQ(verdict.compute, kComputed);
  EXPECT_EQ(verdict.best, "ssp");
  EXPECT_THAT(verdict.first, ElementsAre("ssp"));
  ASSERT_EQ(verdict.behind.size(), 2u);
  EXPECT_EQ(verdict.behind[0].mode, "sync+1");
  EXPECT_EQ(verdict.behind[0].times, 1.25);
  EXPECT_EQ(verdict.behind[1].times, std::nullopt);
  EXPECT_THAT(verdict.out, ElementsAre("async"));
  EXPECT_EQ(verdict.turn, "from about 6 Gbit/s on");
  EXPECT_EQ(verdict.rule, "medians");
  EXPECT_EQ(parsed->verdicts.at(1).compute, kReplayed);
  EXPECT_EQ(parsed->verdicts.at(1).straggler, std::nullopt);
  EXPECT_EQ(parsed->verdicts.at(1).no_turn, "no limit");
  EXPECT_EQ(parsed->cells[1].runs.at(0).samples_per_second, std::nullopt);
}

TEST(ComparisonJsonTest, TheBestModeMayHaveBackupWorkers) {
  Comparison all = Whole();
  all.verdicts[0].best = "sync+1";
  const auto parsed = ParseComparison(ComparisonJson(all));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->verdicts[0].best, "sync+1");
  EXPECT_THAT(ErrorWith("\"best\": \"ssp\"", "\"best\": \"ssp+x\""),
              HasSubstr("'ssp+x' is not known here"));
}

TEST(ComparisonJsonTest, AFileOfBeforeThereWereNotesOfAllReduceIsRead) {
  Comparison all = Whole();
  all.collective_notes.clear();
  const std::string text = ComparisonJson(all);
  const std::string key = ",\n  \"collective_notes\": []";
  ASSERT_THAT(text, HasSubstr(key));
  const auto parsed = ParseComparison(absl::StrReplaceAll(text, {{key, ""}}));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ComparisonJson(*parsed), text);
}

TEST(ComparisonJsonTest, SaysThatAComparisonWasStopped) {
  Comparison stopped = Whole();
  stopped.ended = "";
  const std::string text = ComparisonJson(stopped);
  EXPECT_THAT(text, HasSubstr("\"ended\": null"));
  ASSERT_TRUE(ParseComparison(text).ok());
  EXPECT_EQ(ParseComparison(text)->ended, "");
}

TEST(ComparisonJsonTest, SkipsKeysThatItDoesNotKnow) {
  const std::string text = absl::StrReplaceAll(
      ComparisonJson(Whole()),
      {{"\"format\": 1", "\"format\": 1, \"new\": 2"}});
  EXPECT_TRUE(ParseComparison(text).ok());
}

TEST(ComparisonJsonTest, ReadsAModelWithoutTheSizeOfItsTables) {
  const std::string text = absl::StrReplaceAll(
      ComparisonJson(Whole()), {{"\"table_bytes\"", "\"other\""}});
  const auto parsed = ParseComparison(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->models.at("A").table_bytes, 0u);
}

TEST(ComparisonJsonTest, ReadsACellWithoutItsDilation) {
  std::string text = absl::StrReplaceAll(
      ComparisonJson(Whole()), {{"\"dilation_difference\": -0.03125,", ""},
                                {"\"dilation_difference\": null,", ""},
                                {"\"dilation_verdict\": \"same\",", ""},
                                {"\"dilation_verdict\": \"not_tried\",", ""}});
  ASSERT_THAT(text, Not(HasSubstr("dilation_difference")));
  const size_t at = text.rfind("\"dilation\": 1.0,");
  ASSERT_NE(at, std::string::npos);
  text.erase(at, std::string("\"dilation\": 1.0,").size());
  ASSERT_TRUE(ParseComparison(text).ok());
  EXPECT_EQ(ParseComparison(text)->cells[1].dilation, 1);
  EXPECT_EQ(ParseComparison(text)->cells[0].dilation_difference, std::nullopt);
  EXPECT_EQ(ParseComparison(text)->cells[0].dilation_verdict, kNotTried);
}

TEST(ComparisonJsonTest, ReadsRunsOfBeforePausesWereMadeUpFor) {
  const std::string key = "          \"paused_speed\": 0.8125,\n";
  const std::string text = ComparisonJson(Whole());
  ASSERT_THAT(text, HasSubstr(key));
  const std::string known = "          \"paused_speed_known\": false,\n";
  ASSERT_THAT(text, HasSubstr(known));
  EXPECT_EQ(ParseComparison(text)->cells[0].runs[0].paused_speed, .8125);
  EXPECT_FALSE(ParseComparison(text)->cells[0].runs[0].paused_speed_known);
  const auto parsed =
      ParseComparison(absl::StrReplaceAll(text, {{key, ""}, {known, ""}}));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->cells[0].runs[0].paused_speed, 1);
  EXPECT_TRUE(parsed->cells[0].runs[0].paused_speed_known);
}

TEST(ComparisonJsonTest, ReadsVerdictsOfEarlierVersions) {
  const std::string text = absl::StrReplaceAll(
      ComparisonJson(Whole()),
      {{"      \"batch_size\": 1024,\n      \"compute\": \"computed\",\n"
        "      \"straggler\": {\n        \"host\": 1,\n"
        "        \"share\": 0.125\n      },\n",
        ""},
       {"      \"first\": [\n        \"ssp\"\n      ],\n", ""},
       {"      \"out\": [\n        \"async\"\n      ],\n", ""},
       {"      \"turn\": \"from about 6 Gbit/s on\",\n"
        "      \"no_turn\": \"\",\n",
        ""}});
  ASSERT_NE(text, ComparisonJson(Whole()));
  ASSERT_THAT(text, Not(HasSubstr("0.125")));
  ASSERT_THAT(text, Not(HasSubstr("from about")));
  const auto parsed = ParseComparison(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->verdicts.at(0).batch_size, 0);
  EXPECT_EQ(parsed->verdicts.at(0).compute, kComputed);
  EXPECT_EQ(parsed->verdicts.at(0).straggler, std::nullopt);
  EXPECT_EQ(parsed->verdicts.at(0).turn, "");
  EXPECT_TRUE(parsed->verdicts.at(0).first.empty());
  EXPECT_TRUE(parsed->verdicts.at(0).out.empty());
  // They can be written and read once more.
  EXPECT_TRUE(ParseComparison(ComparisonJson(*parsed)).ok());
}

TEST(ComparisonJsonTest, RefusesWhatCannotBe) {
  EXPECT_THAT(ErrorWith("\"format\": 1", "\"format\": 2"),
              HasSubstr("format: is 2, and this version reads 1"));
  EXPECT_THAT(ErrorWith("\"hosts\": 2,", "\"hosts\": 0,"),
              HasSubstr("cells[0].hosts: is below 1"));
  EXPECT_THAT(ErrorWith("\"mode\": \"ssp\"", "\"mode\": \"fast\""),
              HasSubstr("cells[0].mode: 'fast' is not known"));
  EXPECT_THAT(ErrorWith("12345.5", "-1"),
              HasSubstr("cells[0].runs[0].samples_per_second: is not a f"));
  EXPECT_THAT(ErrorWith("\"auc\": 0.77", "\"auc\": 1.5"),
              HasSubstr("cells[0].runs[0].auc: is above 1"));
  EXPECT_THAT(ErrorWith("\"host\": 1", "\"host\": 2"),
              HasSubstr("straggler.host: the cell has hosts 0 to 1"));
  EXPECT_THAT(ErrorWith("\"dilation_difference\": -0.03125",
                        "\"dilation_difference\": -2"),
              HasSubstr("cells[0].dilation_difference: is not a finite"));
  EXPECT_THAT(ErrorWith("\"dilation_verdict\": \"same\"",
                        "\"dilation_verdict\": \"fine\""),
              HasSubstr("cells[0].dilation_verdict: 'fine' is not known"));
  EXPECT_THAT(ErrorWith("\"paused_speed\": 0.8125", "\"paused_speed\": 0"),
              HasSubstr("cells[0].runs[0].paused_speed: is not above 0"));
  EXPECT_THAT(ErrorWith("\"paused_speed\": 0.8125", "\"paused_speed\": 1.5"),
              HasSubstr("cells[0].runs[0].paused_speed: is above 1"));
  EXPECT_THAT(ErrorWith("\"share\": 0.5", "\"share\": 0"),
              HasSubstr("straggler.share: is not above 0"));
  EXPECT_THAT(ErrorWith("A_ring_h16_b64_none", "A_ssp_h2_b1024_1gbit"),
              HasSubstr("cells[1].name: 'A_ssp_h2_b1024_1gbit' is there"));
  EXPECT_THAT(ErrorWith("\"model\": \"A\",\n      \"mode\": \"ring\"",
                        "\"model\": \"C\",\n      \"mode\": \"ring\""),
              HasSubstr("cells[1].model: 'C' is not in `models`"));
  EXPECT_THAT(ErrorWith("\"replayed\"", "\"made up\""),
              HasSubstr("cells[1].compute: 'made up'"));
  EXPECT_THAT(ErrorWith("\"where\": \"lab\"", "\"where\": \"moon\""),
              HasSubstr("where: 'moon'"));
  EXPECT_THAT(ErrorWith("\"seconds\": 1.0", "\"seconds\": 0.25"),
              HasSubstr("curve[1].seconds: is before the point before it"));
  EXPECT_THAT(ErrorWith("the job failed: \\\"ps 0\\\" was killed", ""),
              HasSubstr("cells[1].runs[0].error: is empty"));
  EXPECT_THAT(ErrorWith("\"best\": \"ssp\"", "\"best\": \"none\""),
              HasSubstr("verdicts[0].best: 'none'"));
  EXPECT_THAT(ErrorWith("\"mode\": \"sync+1\"", "\"mode\": \"\""),
              HasSubstr("verdicts[0].behind[0].mode: '' is not known"));
  EXPECT_THAT(ErrorWith("\"times\": 1.25", "\"times\": -1"),
              HasSubstr("verdicts[0].behind[0].times: is not a finite"));
  EXPECT_THAT(ErrorWith("\"repeats\": 3,", ""),
              HasSubstr("repeats: is missing"));
  EXPECT_FALSE(ParseComparison("{").ok());
  EXPECT_FALSE(ParseComparison("[]").ok());
}

TEST(ComparisonJsonTest, RefusesARepeatThatIsThereTwice) {
  Comparison twice = Whole();
  twice.cells[0].runs.push_back(twice.cells[0].runs[0]);
  EXPECT_THAT(ParseComparison(ComparisonJson(twice)).status().message(),
              HasSubstr("runs[1].repeat: is there twice"));
}

TEST(ComparisonJsonTest, NamesTheFileWithTheError) {
  const std::string path = absl::StrCat(testing::TempDir(), "/compare.json");
  const auto files = NewPosixFileSystem();
  ASSERT_TRUE(files->WriteFileAtomically(path, "{}").ok());
  EXPECT_THAT(ReadComparison(*files, path).status().message(),
              HasSubstr(absl::StrCat(path,
                                     " is no compare.json that shoal bench "
                                     "compare wrote: format: is missing")));
  ASSERT_TRUE(files->WriteFileAtomically(path, ComparisonJson(Whole())).ok());
  EXPECT_TRUE(ReadComparison(*files, path).ok());
}

}  // namespace
}  // namespace shoal
