#ifndef SHOAL_TESTS_BENCH_COMPARE_MADE_COMPARISON_H_
#define SHOAL_TESTS_BENCH_COMPARE_MADE_COMPARISON_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/cell.h"

namespace shoal {

// A comparison with figures such as a lab gives: two models, five modes, 1 to 8
// hosts, two networks, three repeats, 16 hosts replayed, a slow host, greyed
// cells, a failed run. The figures are made by formulas, not measured.
class MadeComparison {
 public:
  static Comparison Make() { return MadeComparison().all_; }

 private:
  struct Mode {
    const char* name;
    double alone;     // samples/s of one host
    double scale[2];  // power of hosts on the slow and the fast network
    double bytes;     // of workers' pushes or rings, a sample
    bool servers;
    double auc;  // at the end
  };
  struct Net {
    const char* name;
    double bits;
  };

  MadeComparison() {
    all_.command =
        "shoal bench compare --lab --modes=async,ssp,sync,ring,hybrid "
        "--hosts=1,2,4,8,16 --networks=1gbit,10gbit --target_auc=0.755 "
        "--price=0.41 --straggler=1:0.5 --repeats=3 --out=compare";
    all_.cpu = "AMD EPYC 9354P 32-Core Processor";
    all_.cores = 2;
    all_.memory_bytes = 25'200'000'000;
    all_.version = "shoal 0.5.0, protocol 3, checkpoint format 1";
    all_.started = "2026-03-01T09:30:00+01:00";
    all_.ended = "2026-03-01T11:14:30+01:00";
    all_.where = "lab";
    all_.dilation = 8.889;
    all_.target_auc = .755;
    all_.price_per_host_hour = .41;
    all_.repeats = 3;
    all_.models["A"] = {{{"deep_layers", "400,400,400"},
                         {"embedding_size", "16"},
                         {"field_size", "39"},
                         {"feature_size", "1000000"},
                         {"optimizer", "adam"}},
                        2'284'804,
                        68,
                        3.42e6};
    all_.models["B"] = {{{"deep_layers", "256,128,64"},
                         {"embedding_size", "32"},
                         {"field_size", "39"},
                         {"feature_size", "1000000"},
                         {"optimizer", "adam"}},
                        1'443'332,
                        132,
                        2.16e6};
    all_.data = {2'000'000, 16};
    all_.not_played = {
        "Latency of a real network: a veth pair has its own, of about 20 µs.",
        "Oversubscribed switches: every link has its whole bandwidth.",
        "Neighbours on the hosts and on the network."};
    AddGrid();
    AddStragglers();
    AddCollective();
    AddVerdicts();
  }

  static const std::vector<Mode>& Modes() {
    static const std::vector<Mode>* const modes =
        new std::vector<Mode>{{"async", 20500, {.88, .97}, 2600, true, .7712},
                              {"ssp", 20350, {.87, .965}, 2600, true, .7715},
                              {"sync", 20100, {.72, .90}, 2650, true, .7731},
                              {"ring", 22300, {.52, .93}, 4700, false, .7730},
                              {"hybrid", 21600, {.66, .95}, 3900, true, .7722}};
    return *modes;
  }

  // From -1 to 1, the same for the same number.
  double Noise() {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed_ >> 40) / double{1 << 23} - 1;
  }

  Cell MadeCell(const std::string& model, const Mode& mode, int at, int hosts,
                const Net& net, bool fast, bool replayed) {
    Cell cell;
    cell.name = absl::StrCat(model, "_", mode.name, "_h", hosts, "_b1024_",
                             net.name, replayed ? "_replayed" : "");
    cell.model = model;
    cell.mode = mode.name;
    cell.hosts = hosts;
    cell.global_batch = 1024 * hosts;
    cell.learning_rate = at == 3 ? 1e-3 : 5e-4;
    cell.network = net.name;
    cell.bits_per_second = net.bits;
    cell.compute = replayed ? "replayed" : "computed";
    cell.ssp_bound = cell.mode == "ssp" ? 2 : 0;
    cell.dilation = hosts > 4 ? 8.889 : 4.444;
    if (hosts == 2) {
      cell.dilation_difference = .004 * at - .011;
      cell.dilation_verdict = kTriedSame;
    }
    const double share = model == "A" ? 1 : 1.6;
    const double bytes =
        hosts == 1 && !mode.servers
            ? 0
            : mode.bytes * (mode.servers ? 1 : 2.0 * (hosts - 1) / hosts);
    cell.formula =
        RoleBytes{bytes, mode.servers ? bytes * .95 : bytes,
                  mode.servers ? bytes * .95 : 0, mode.servers ? bytes : 0};
    for (int repeat = 0; repeat < 3; ++repeat) {
      CellRun run;
      run.repeat = repeat;
      run.ok = true;
      run.seconds = 240 + 9 * Noise();
      if (hosts > 1) {
        run.link_expected = net.bits * .954;
        run.link_bits_per_second = net.bits * (.952 + .004 * Noise());
      }
      run.others_cores = .03 + .02 * Noise();
      run.samples_per_second = mode.alone * share *
                               std::pow(hosts, mode.scale[fast]) *
                               (1 + .02 * Noise());
      run.bytes_per_sample = *cell.formula;
      for (double RoleBytes::*member :
           {&RoleBytes::worker_sent, &RoleBytes::worker_received,
            &RoleBytes::ps_sent, &RoleBytes::ps_received}) {
        (*run.bytes_per_sample).*member *= 1.012 + .004 * Noise();
      }
      const double wait = 1 - std::pow(hosts, mode.scale[fast] - 1) * .93;
      run.state_shares = {{"compute", (1 - wait) * .86},
                          {"prepare", (1 - wait) * .09},
                          {"send", (1 - wait) * .05}};
      if (mode.servers) {
        run.state_shares["wait_pull"] = wait * .5;
        run.state_shares["wait_push"] = wait * .2;
      }
      run.state_shares[at == 0   ? "wait_data"
                       : at == 1 ? "wait_pace"
                       : at == 2 ? "wait_step"
                                 : "wait_ring"] =
          wait * (mode.servers ? .3 : 1);
      const double step = 1024.0 * hosts / *run.samples_per_second;
      run.step_seconds =
          RunSteps{uint64_t{500}, step,       step * .1,  step * .9,
                   step * .98,    step * 1.1, step * 1.4, step * 2.2};
      run.peak_rss_bytes =
          RoleFigures{(mode.servers ? 3.1e8 : 5.4e8) * (1 + .01 * Noise()),
                      mode.servers ? 2.9e8 / std::sqrt(hosts) + 6e7 : 0};
      if (mode.servers) run.balance = RunBalance{1.01 + .004 * hosts};
      if (!replayed) AddTraining(mode, at, cell, hosts, &run);
      run.epoch_seconds = 2e6 / *run.samples_per_second;
      cell.runs.push_back(run);
    }
    return cell;
  }

  void AddTraining(const Mode& mode, int at, const Cell& cell, int hosts,
                   CellRun* run) {
    run->cpu_seconds_per_sample = RoleFigures{
        .87 / (cell.model == "A" ? 21000 : 34000), mode.servers ? 6.1e-6 : 0};
    if (mode.servers) {
      const double mean = at == 2 ? 0 : (hosts - 1) * (at == 1 ? .8 : 1);
      run->staleness =
          RunStaleness{mean + .01, std::floor(mean), std::floor(mean * 2 + 1),
                       std::floor(mean * 3 + 2)};
    }
    const double end =
        mode.auc - .0006 * (at < 2 ? hosts : 0) + .0008 * Noise();
    const double seconds = 2e6 / *run->samples_per_second;
    for (int i = 1; i <= 60; ++i) {
      const double part = i / 60.0;
      RunCurvePoint point;
      point.seconds = seconds * part;
      point.samples = static_cast<uint64_t>(2e6 * part);
      const double auc =
          end - .24 * std::exp(-part * 9) + .0015 * Noise() * (1 - part / 2);
      if (i > 1) {
        point.auc = auc;
        point.loss = .46 + .2 * std::exp(-part * 9);
        if (auc >= *all_.target_auc && !run->seconds_to_target) {
          run->seconds_to_target = point.seconds;
        }
      }
      run->curve.push_back(point);
    }
    run->auc = end + .0011;
    run->logloss = .4471 + .0006 * Noise();
  }

  void AddGrid() {
    const std::vector<Net> nets = {{"1gbit", 1e9}, {"10gbit", 1e10}};
    for (const std::string model : {"A", "B"}) {
      for (int at = 0; at < 5; ++at) {
        const Mode& mode = Modes()[at];
        for (const bool replayed : {false, true}) {
          all_.cells.push_back(
              MadeCell(model, mode, at, 1, {"none", 0}, true, replayed));
        }
        for (const bool fast : {false, true}) {
          for (const int hosts : {2, 4, 8, 16}) {
            if (model == "B" && hosts == 4) continue;
            all_.cells.push_back(MadeCell(model, mode, at, hosts, nets[fast],
                                          fast, hosts == 16));
          }
        }
      }
    }
    for (Cell& cell : all_.cells) {
      if (cell.name == "A_sync_h8_b1024_1gbit") {
        cell.grey =
            "a bare stream passed 0.897 of the link, which is not within 3 % "
            "of the 0.954 that headers leave";
      } else if (cell.name == "A_hybrid_h4_b1024_10gbit") {
        cell.grey = "other programs used 0.41 of a core";
      } else if (cell.name == "B_ring_h2_b1024_1gbit") {
        cell.runs[1] = CellRun();
        cell.runs[1].repeat = 1;
        cell.runs[1].error =
            "the job failed: \"worker 1\" was killed (signal 9)";
      } else if (cell.name == "B_async_h8_b1024_10gbit") {
        cell.runs[2].seconds_to_target.reset();
      }
    }
  }

  void AddStragglers() {
    const Net net = {"1gbit", 1e9};
    for (int at = 0; at < 4; ++at) {
      Cell cell = MadeCell("A", Modes()[at], at, 4, net, false, false);
      cell.straggler = Straggler{1, .5};
      cell.name += "_slow1";
      for (CellRun& run : cell.runs) {
        *run.samples_per_second *= at == 0 ? .86 : at == 1 ? .71 : .54;
      }
      all_.cells.push_back(cell);
      if (at == 2) {
        cell.backup_workers = 1;
        cell.name += "_backup1";
        for (CellRun& run : cell.runs) *run.samples_per_second *= 1.35;
        all_.cells.push_back(cell);
        cell.straggler.reset();
        cell.name = "A_sync+1_h4_b1024_1gbit";
        for (CellRun& run : cell.runs) *run.samples_per_second *= 1.3;
        all_.cells.push_back(cell);
      }
    }
  }

  void AddCollective() {
    for (const std::string network : {"1gbit", "10gbit"}) {
      const double rate = network == "1gbit" ? .119e9 : 1.1e9;
      for (const int ranks : {2, 4, 8}) {
        for (uint64_t bytes = 1 << 12; bytes <= (1 << 26); bytes *= 4) {
          all_.collective.push_back(
              {network, ranks, bytes,
               1.2e-5 * ranks + 2.0 * (ranks - 1) / ranks *
                                    static_cast<double>(bytes) / rate});
        }
      }
    }
    all_.collective_notes = {
        "AllReduce of 16 hosts over 1gbit was not measured: rank 3 exited with "
        "code 1"};
  }

  void AddVerdicts() {
    const std::string rule =
        "Best is the mode whose slowest repeat reaches the target before the "
        "fastest repeat of every other mode.";
    for (const std::string model : {"A", "B"}) {
      for (const std::string network : {"1gbit", "10gbit"}) {
        for (const int hosts : {2, 4, 8}) {
          if (model == "B" && hosts == 4) continue;
          const std::string place = absl::StrCat(
              "model ", model, " on ", hosts, " hosts of 1 core at ", network,
              ", batch 1024 a worker: ");
          const bool slow = network == "1gbit";
          ModeVerdict verdict;
          verdict.network = network;
          verdict.hosts = hosts;
          verdict.model = model;
          verdict.batch_size = 1024;
          verdict.best = slow ? "async" : hosts == 4 ? "" : "ring";
          verdict.text = absl::StrCat(
              place, slow ? "async reaches AUC 0.755 first; ring, the next, "
                            "takes 1.35 times as long\n"
                            "async: 14.2 s [14.0..14.6]; its workers compute "
                            "68 % of a step\n"
                            "ring: 19.1 s [18.8..19.2], takes 1.35 times as "
                            "long as async; its workers wait for the others of "
                            "the ring 33 % of a step"
                     : hosts == 4
                         ? "no difference between async and ring, since their "
                           "spreads overlap\n"
                           "async: 9.1 s [9.0..9.5]\n"
                           "ring: 9.2 s [9.1..9.4]"
                         : "ring reaches AUC 0.755 first; async, the next, "
                           "takes 1.06 times as long\n"
                           "ring: 8.1 s [8.0..8.2]; its workers compute 80 % "
                           "of a step\n"
                           "async: 8.6 s [8.5..8.9], takes 1.06 times as long "
                           "as ring");
          if (slow) {
            verdict.turn =
                "from about 6 Gbit/s on, ring would be faster than async";
            absl::StrAppend(&verdict.text, "\nPredicted: ", verdict.turn);
          } else {
            verdict.no_turn = hosts == 4 ? "no two modes could be ranked here"
                                         : "the planner takes async for faster "
                                           "than ring on this network already, "
                                           "where it was not";
          }
          verdict.rule = rule;
          all_.verdicts.push_back(verdict);
        }
      }
    }
  }

  Comparison all_;
  uint64_t seed_ = 1;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_BENCH_COMPARE_MADE_COMPARISON_H_
