#include "plan/plan_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/json_writer.h"
#include "plan/crossover.h"
#include "plan/prediction.h"

namespace shoal {
namespace {

constexpr double kLinear = .9;

std::string SizeText(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return absl::StrFormat("%.3g %s", bytes, units[unit]);
}

// 123456 as "123,000": three digits are more than a prediction is good for.
std::string RateText(double rate) {
  const double digits = std::floor(std::log10(std::max(rate, 1.0)));
  const double unit = std::pow(10, std::max(0.0, digits - 2));
  std::string text = absl::StrFormat("%.0f", std::round(rate / unit) * unit);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

// The cost of 10^9 samples.
double CostOf(const PlanRequest& request, const Prediction& p) {
  return request.price_per_host_hour * p.hosts * 1e9 /
         (p.samples_per_second * 3600);
}

// "async 1.05, ring 0.98".
std::string CorrectionsText(const PlanRequest& r, int hosts) {
  std::vector<std::string> parts;
  for (const ModeShape* const mode : r.modes) {
    parts.push_back(absl::StrFormat(
        "%s %.2f", mode->name, r.calibration.CorrectionOf(mode->name, hosts)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Assumptions(const PlanRequest& r) {
  const Calibration& c = r.calibration;
  std::string text = absl::StrFormat(
      "measured   %s; on %s\n", c.source.empty() ? "unknown" : c.source,
      c.cpu.empty() ? "an unknown processor" : c.cpu);
  absl::StrAppendFormat(
      &text,
      "job        batch %.0f a worker, %s of dense variables, %.0f "
      "distinct ids a batch, %.0f floats a row\n",
      r.job.batch_size, SizeText(r.job.dense_bytes), c.IdsOf(r.job.batch_size),
      r.job.row_floats);
  absl::StrAppend(
      &text, "corrected  ",
      c.corrections.empty()
          ? "not at all: no cell has known cores and, on several hosts, a "
            "limited network"
          : absl::StrCat("a step takes, by measurement over formula: ",
                         CorrectionsText(r, 2),
                         "\n           and on one host: ",
                         CorrectionsText(r, 1)),
      "\n");
  absl::StrAppendFormat(
      &text, "cluster    %s of %g core%s, %s, latency %.3g us%s; %s a host\n",
      Counted(r.cluster.hosts, "host"), r.cluster.cores,
      r.cluster.cores == 1 ? "" : "s", NetworkText(r.cluster.bits_per_second),
      r.cluster.latency_seconds * 1e6,
      r.cluster.memory_bytes > 0
          ? absl::StrCat(", memory ", SizeText(r.cluster.memory_bytes))
          : "",
      Counted(r.job.workers_per_host, "worker"));
  return text;
}

std::string RowText(const PlanRequest& r, const Prediction& p) {
  std::string text = absl::StrFormat("%-7s %6d", p.mode->name, p.hosts);
  if (!p.fits) {
    return absl::StrCat(
        text, absl::StrFormat("%12s  refused: needs %s of memory a host\n", "-",
                              SizeText(p.memory_bytes)));
  }
  absl::StrAppendFormat(&text, "%12s%c %6.0f %% %7.2f ms  %-14s %10s %10s",
                        RateText(p.samples_per_second),
                        p.extrapolated ? '*' : ' ', 100 * p.efficiency,
                        1e3 * p.step.step_seconds, LimitText(p.step.limit),
                        SizeText(p.bytes_per_sample), SizeText(p.memory_bytes));
  if (r.price_per_host_hour > 0) {
    absl::StrAppendFormat(&text, " %9.2f", CostOf(r, p));
  }
  return text + "\n";
}

// What is not known of the memory of a host.
std::string MemoryText(const PlanRequest& r) {
  if (r.job.table_bytes > 0) return "";
  return "The size of the tables is not known, since they grow with the data: "
         "memory/host is without\nthem, and a mode may not fit, above all a "
         "ring, which holds all tables on each worker.\n";
}

std::string Table(const PlanRequest& r) {
  std::string text = absl::StrFormat(
      "%-7s %6s%12s  %8s %10s  %-14s %10s %10s%s\n", "mode", "hosts",
      "samples/s", "of linear", "a step", "limit", "sent/sample", "memory/host",
      r.price_per_host_hour > 0 ? " cost/1e9" : "");
  for (const ModeShape* const mode : r.modes) {
    for (const int hosts : r.hosts) {
      text += RowText(
          r, Predict(*mode, r.calibration, r.job, r.cluster, hosts));
    }
  }
  return text;
}

const char* Mark(bool extrapolated) { return extrapolated ? "*" : ""; }

// The mode that no other one overtakes.
std::string FastestText(const PlanRequest& r, int hosts) {
  ClusterDescription cluster = r.cluster;
  cluster.bits_per_second = kLeastBits;
  const ModeShape* const mode =
      FastestMode(r.modes, r.calibration, r.job, cluster, hosts);
  if (mode == nullptr) {
    return absl::StrCat("no mode fits into the memory at ",
                        Counted(hosts, "host"));
  }
  bool extrapolated = false;
  for (const double bits : {kLeastBits, kMostBits}) {
    cluster.bits_per_second = bits;
    for (const ModeShape* const one : r.modes) {
      extrapolated =
          extrapolated ||
          Predict(*one, r.calibration, r.job, cluster, hosts).extrapolated;
    }
  }
  return absl::StrFormat(
      "no mode is %.0f %% faster than %s at any bandwidth at %s%s",
      100 * kClearLead, mode->name, Counted(hosts, "host"), Mark(extrapolated));
}

std::string BandwidthText(const PlanRequest& r) {
  std::string text;
  for (const int hosts : r.hosts) {
    if (hosts == 1 || r.modes.size() == 1) continue;
    const auto crossovers =
        CrossoversOf(r.modes, r.calibration, r.job, r.cluster, hosts);
    for (const Crossover& crossover : crossovers) {
      absl::StrAppend(&text, CrossoverText(crossover),
                      Mark(crossover.extrapolated), "\n");
    }
    if (crossovers.empty()) absl::StrAppend(&text, FastestText(r, hosts), "\n");
  }
  for (const ModeShape* const mode : r.modes) {
    std::vector<std::string> parts;
    for (const int hosts : r.hosts) {
      if (hosts == 1) continue;
      if (!Predict(*mode, r.calibration, r.job, r.cluster, hosts).fits) {
        parts.push_back(absl::StrCat("on ", hosts, " hosts: refused"));
        continue;
      }
      const auto needed = BitsForEfficiency(*mode, r.calibration, r.job,
                                            r.cluster, hosts, kLinear);
      const auto& bits = needed.bits_per_second;
      parts.push_back(absl::StrCat(
          "on ", hosts, " hosts: ", bits ? NetworkText(*bits) : "at none",
          Mark(needed.extrapolated)));
      // It takes no less with more hosts.
      if (!bits.has_value()) break;
    }
    if (parts.empty()) continue;
    absl::StrAppendFormat(&text,
                          "the least bandwidth with which %s stays within %.0f "
                          "%% of linear, %s\n",
                          mode->name, 100 * kLinear,
                          absl::StrJoin(parts, "; "));
  }
  return text;
}

// What the marks mean.
std::string MarkText(const Calibration& c) {
  return absl::StrCat(
      "* extrapolated: ",
      c.network_measured
          ? "outside the modes, hosts, cores, batches, networks, models and "
            "settings that were measured"
      : c.most_hosts > 1
          ? "no cell that was measured had a limited network"
          : "no network was measured; costs of messages are those of "
            "another machine",
      "\n");
}

}  // namespace

std::vector<int> HostsToPlan(int most) {
  std::vector<int> hosts;
  for (int n = 1; n < most; n *= 2) hosts.push_back(n);
  hosts.push_back(most);
  return hosts;
}

std::string PlanText(const PlanRequest& request) {
  const std::string figures = absl::StrCat(Table(request), MemoryText(request),
                                           "\n", BandwidthText(request));
  const bool any = figures.find('*') != std::string::npos;
  return absl::StrCat(
      Assumptions(request), "\n", figures,
      any ? MarkText(request.calibration) : "",
      "\nThis predicts speed, never AUC: modes that are as fast may train "
      "models that differ.\n");
}

std::string PlanJson(const PlanRequest& r) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject(/*lines=*/true).Field("format", "shoal plan");
  w.Field("version", 1).Field("source", r.calibration.source);
  w.Field("cpu", r.calibration.cpu).Field("cores", r.cluster.cores);
  w.Field("bits_per_second", r.cluster.bits_per_second);
  w.Field("latency_seconds", r.cluster.latency_seconds);
  w.Field("batch_size", r.job.batch_size);
  w.Field("price_per_host_hour", r.price_per_host_hour);
  w.Key("predictions").BeginArray(/*lines=*/true);
  for (const ModeShape* const mode : r.modes) {
    for (const int hosts : r.hosts) {
      const Prediction p =
          Predict(*mode, r.calibration, r.job, r.cluster, hosts);
      w.BeginObject().Field("mode", mode->name).Field("hosts", hosts);
      w.Field("samples_per_second", p.samples_per_second);
      w.Field("efficiency", p.efficiency);
      w.Field("step_seconds", p.step.step_seconds);
      w.Field("wait_seconds", p.step.wait_seconds);
      w.Field("limit", LimitText(p.step.limit));
      w.Field("bytes_per_sample", p.bytes_per_sample);
      w.Field("memory_bytes", p.memory_bytes).Field("fits", p.fits);
      if (r.price_per_host_hour > 0) w.Field("cost", CostOf(r, p));
      w.Field("extrapolated", p.extrapolated).EndObject();
    }
  }
  w.EndArray().Key("crossovers").BeginArray(/*lines=*/true);
  for (const int hosts : r.hosts) {
    if (hosts == 1) continue;
    for (const Crossover& c :
         CrossoversOf(r.modes, r.calibration, r.job, r.cluster, hosts)) {
      w.BeginObject().Field("hosts", c.hosts).Field("from", c.from->name);
      w.Field("to", c.to->name);
      w.Field("bits_per_second", c.bits_per_second);
      w.Field("extrapolated", c.extrapolated).EndObject();
    }
  }
  w.EndArray().Field("linear_share", kLinear);
  w.Key("linear_from").BeginArray(/*lines=*/true);
  for (const ModeShape* const mode : r.modes) {
    for (const int hosts : r.hosts) {
      if (hosts == 1) continue;
      const auto needed = BitsForEfficiency(*mode, r.calibration, r.job,
                                            r.cluster, hosts, kLinear);
      w.BeginObject().Field("mode", mode->name).Field("hosts", hosts);
      w.Key("bits_per_second");
      needed.bits_per_second ? w.Double(*needed.bits_per_second) : w.Null();
      w.Field("extrapolated", needed.extrapolated).EndObject();
    }
  }
  w.EndArray().EndObject();
  return text + "\n";
}

}  // namespace shoal
