"""A job of shoal-ps and shoal-worker processes started one by one."""

import harness


class Cluster:
    """Flags and processes of one job on loopback."""

    def __init__(self, test, ps, workers, flags, ps_flags=(), worker_flags=(),
                 hosts=None, ps_prefix=(), worker_hosts=None,
                 worker_prefix=()):
        self.test = test
        self.ps_prefix = ps_prefix
        self.worker_prefix = worker_prefix
        self.hosts = hosts or [f"127.0.0.1:{p}"
                               for p in harness.free_ports(ps)]
        self.common = [
            "--ps_hosts=" + ",".join(self.hosts),
            "--worker_hosts=" + ",".join(worker_hosts or
                                         ["127.0.0.1"] * workers),
            "--token_file=" + test.token_file(),
        ] + list(flags)
        self.ps_flags = list(ps_flags)
        self.worker_flags = list(worker_flags)
        self.ps = [None] * ps
        self.workers = [None] * workers

    def start_ps(self, index, *more):
        self.ps[index] = self.test.start(
            f"ps {index}", "shoal-ps", f"--task_index={index}", *self.common,
            *self.ps_flags, *more, prefix=self.ps_prefix)
        return self.ps[index]

    def start_worker(self, index, *more):
        self.workers[index] = self.test.start(
            f"worker {index}", "shoal-worker", f"--task_index={index}",
            *self.common, *self.worker_flags, *more,
            prefix=self.worker_prefix)
        return self.workers[index]

    def start_all(self):
        for i in range(len(self.ps)):
            self.start_ps(i)
        for i in range(len(self.workers)):
            self.start_worker(i)
        return self

    def wait_all(self, timeout=120):
        for process in self.ps + self.workers:
            self.test.assertEqual(process.wait(timeout), 0,
                                  f"{process.name}: {process.output()[-3000:]}")


# The linear probe: its weights do not depend on the order of updates, so any
# two runs over the same data end with the same digest.
PROBE = ["--model=linear_probe", "--feature_size=300", "--field_size=4",
         "--embedding_size=3", "--optimizer=sgd", "--learning_rate=0.25",
         "--seed=5"]
