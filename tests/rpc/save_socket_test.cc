#include "rpc/save_socket.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/shoal.grpc.pb.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/socket_probe.h"
#include "tests/harness/notification.h"
#include "tests/rpc/fake_coordinator.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Saves a checkpoint at once, or never.
class Saving final : public FakeCoordinator {
 public:
  explicit Saving(Executor* executor) : FakeCoordinator(executor) {}

  void SaveCheckpoint(SaveCheckpointRequest request, absl::Duration timeout,
                      Done<SavedCheckpoint> done) override {
    MutexLock lock(&mu_);
    jobs_.push_back(request.job);
    if (!answers_) {
      waiting_.push_back(std::move(done));
      return;
    }
    executor()->Post([done = std::move(done)]() mutable {
      std::move(done)(SavedCheckpoint{"m/ckpt-7", 7});
    });
  }

  void AnswersNothing() {
    MutexLock lock(&mu_);
    answers_ = false;
  }
  // Drops the requests that wait.
  void Drop() {
    std::vector<Done<SavedCheckpoint>> dropped;
    MutexLock lock(&mu_);
    dropped.swap(waiting_);
  }
  std::vector<std::string> jobs() {
    MutexLock lock(&mu_);
    return jobs_;
  }

 private:
  Mutex mu_;
  bool answers_ ABSL_GUARDED_BY(mu_) = true;
  std::vector<std::string> jobs_ ABSL_GUARDED_BY(mu_);
  std::vector<Done<SavedCheckpoint>> waiting_ ABSL_GUARDED_BY(mu_);
};

class SaveSocketTest : public testing::Test {
 protected:
  SaveSocketTest() : directory_("/tmp/shoal-test-XXXXXX") {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/save";
  }
  ~SaveSocketTest() override {
    socket_ = nullptr;
    executor_.Shutdown();
    EXPECT_EQ(rmdir(directory_.c_str()), 0) << "something is left";
  }

  void Listen() {
    auto socket = SaveSocket::Listen(path_, "clicks", &cluster_, &executor_);
    ASSERT_TRUE(socket.ok()) << socket.status();
    socket_ = *std::move(socket);
  }
  absl::StatusOr<SavedCheckpoint> Save(absl::Duration timeout) {
    ClusterClientOptions options;
    options.channel.socket = path_;
    options.channel.peer = "the job";
    EXPECT_TRUE(options.Validate().ok());
    ClientLoop loop;
    ClusterClient client(options, &loop, &executor_, &executor_);
    Notification done;
    absl::StatusOr<SavedCheckpoint> saved;
    client.SaveCheckpoint({"another label"}, timeout,
                          [&](absl::StatusOr<SavedCheckpoint> result) {
                            saved = std::move(result);
                            done.Notify();
                          });
    done.Wait();
    return saved;
  }
  int Mode() {
    struct stat file = {};
    EXPECT_EQ(stat(path_.c_str(), &file), 0);
    return file.st_mode & 0777;
  }

  RealClock clock_;
  ThreadExecutor executor_{{"test", 1}, &clock_};
  Saving cluster_{&executor_};
  std::string directory_;
  std::string path_;
  std::unique_ptr<SaveSocket> socket_;
};

TEST_F(SaveSocketTest, SavesTheJobThatItIsOfWithoutAToken) {
  Listen();
  EXPECT_EQ(Mode(), 0600);
  const auto saved = Save(absl::Seconds(30));
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->path, "m/ckpt-7");
  EXPECT_EQ(saved->step, 7u);
  EXPECT_EQ(cluster_.jobs(), std::vector<std::string>{"clicks"});
}

TEST_F(SaveSocketTest, HasNoOtherMethod) {
  Listen();
  const auto channel = grpc::CreateChannel("unix:" + path_,
                                           grpc::InsecureChannelCredentials());
  const auto cluster = v1::Cluster::NewStub(channel);
  {
    grpc::ClientContext context;
    v1::RegisterReply reply;
    EXPECT_EQ(cluster->Register(&context, {}, &reply).error_code(),
              grpc::StatusCode::UNIMPLEMENTED);
  }
  {
    grpc::ClientContext context;
    const auto session = cluster->Session(&context);
    EXPECT_EQ(session->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  }
  {
    grpc::ClientContext context;
    v1::PullReply reply;
    EXPECT_EQ(v1::ParameterServer::NewStub(channel)
                  ->Pull(&context, {}, &reply)
                  .error_code(),
              grpc::StatusCode::UNIMPLEMENTED);
  }
}

TEST_F(SaveSocketTest, ACallThatIsNotAnsweredHasADeadlineAndTheEndWaitsForIt) {
  cluster_.AnswersNothing();
  Listen();
  EXPECT_EQ(Save(absl::Milliseconds(50)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  cluster_.Drop();
  socket_ = nullptr;
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(SaveSocketTest, AProbeTellsALiveSocketFromADeadOne) {
  EXPECT_EQ(ProbeSocket(path_).code(), absl::StatusCode::kNotFound);
  Listen();
  EXPECT_TRUE(ProbeSocket(path_).ok());
  // A second name outlives the server, as the only one does after SIGKILL.
  const std::string other = directory_ + "/other";
  ASSERT_EQ(link(path_.c_str(), other.c_str()), 0);
  socket_ = nullptr;
  EXPECT_EQ(ProbeSocket(other).code(), absl::StatusCode::kUnavailable);
  unlink(other.c_str());
  EXPECT_EQ(ProbeSocket("/dev/null").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ProbeSocket(std::string(108, 'x')).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SaveSocketTest, APathThatIsNoneOfASocketIsRefused) {
  for (const std::string& path :
       {std::string("relative/save"), directory_ + "/a b",
        "/tmp/" + std::string(SaveSocket::kPathMax, 'x')}) {
    const auto socket = SaveSocket::Listen(path, "", &cluster_, &executor_);
    EXPECT_EQ(socket.status().code(), absl::StatusCode::kInvalidArgument)
        << path;
  }
  const auto nowhere = SaveSocket::Listen(directory_ + "/none/save", "",
                                          &cluster_, &executor_);
  EXPECT_EQ(nowhere.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("none/save"));
}

}  // namespace
}  // namespace shoal
