#include "job/worker_host.h"

#include <string>

#include "base/machine_name.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

ClusterFlags Worker(const std::string& worker_hosts, int index) {
  ClusterFlags cluster;
  cluster.worker_hosts = worker_hosts;
  cluster.task_index = index;
  return cluster;
}

TEST(WorkerHostTest, IsTheNameInTheListWithoutItsPort) {
  EXPECT_EQ(WorkerHost(Worker("h1,h1,h2", 1)), "h1");
  EXPECT_EQ(WorkerHost(Worker("h1:2222,h1:2223,H2:2222", 1)), "h1");
  EXPECT_EQ(WorkerHost(Worker("h1:2222,h1:2223,H2:2222", 2)), "h2");
  EXPECT_EQ(WorkerHost(Worker("[fe80::1]:2222,fe80::1", 0)),
            WorkerHost(Worker("[fe80::1]:2222,fe80::1", 1)));
}

TEST(WorkerHostTest, WithoutANameItIsTheMachines) {
  for (const char* hosts : {"", "127.0.0.1,127.0.0.1", "localhost:2222"}) {
    EXPECT_EQ(WorkerHost(Worker(hosts, 0)), MachineName()) << hosts;
  }
  EXPECT_EQ(WorkerHost(Worker("h1,h2", 2)), MachineName())
      << "a worker beyond the list";
}

TEST(WorkersOnHostTest, CountsTheEntriesOfTheHost) {
  EXPECT_EQ(WorkersOnHost(Worker("h1,h2,h1:3,h1", 2)), 3);
  EXPECT_EQ(WorkersOnHost(Worker("h1,h2,h1:3,h1", 1)), 1);
  EXPECT_EQ(WorkersOnHost(Worker("", 0)), 1);
}

TEST(WorkersOnHostTest, WithoutAListTheLauncherKnows) {
  ClusterFlags worker = Worker("", 0);
  worker.launched = LaunchedRank{};
  EXPECT_EQ(WorkersOnHost(worker), 1);
  worker.launched->local_size = {4, "OMPI_COMM_WORLD_LOCAL_SIZE"};
  EXPECT_EQ(WorkersOnHost(worker), 4);
}

}  // namespace
}  // namespace shoal
