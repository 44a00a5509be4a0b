"""Two hosts, by their names in --worker_hosts, with two workers each and files
of their own: every row is trained once an epoch and evaluated once."""

import harness
from cluster import PROBE, Cluster

FLAGS = [*PROBE, "--batch_size=16", "--num_epochs=2", "--piece_bytes=0"]
# A batch that two workers computed would count for both of them.
NO_COPIES = "--speculate_after=60s"
FILES, ROWS, VALIDATION_ROWS = 4, 500, 300
# Both entries of a host name it, with or without a port.
WORKER_HOSTS = ["h1", "h1", "h2:2222", "h2:2223"]


class HostFilesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        for host in range(2):
            for i in range(FILES):
                self.write(f"host{host}/train/tr{host}{i}.libsvm",
                           harness.linear_rows(ROWS, seed=1 + 10 * host + i))
            self.write(f"host{host}/val/va.libsvm",
                       harness.linear_rows(VALIDATION_ROWS, seed=99))

    def data(self, host, train=None):
        return ["--training_data_dir=" + self.path(train or f"host{host}/train"),
                "--val_data_dir=" + self.path(f"host{host}/val")]

    def cluster(self, *flags, worker_hosts=WORKER_HOSTS):
        return Cluster(self, 1, len(worker_hosts),
                       [*FLAGS, "--data_scope=host", NO_COPIES, *flags],
                       ps_flags=["--summary=" + self.path("summary.json")],
                       worker_hosts=worker_hosts)

    def serial_digest(self):
        self.run_ok("shoal", "train", *FLAGS,
                    "--training_data_dir=" + self.path("host*", "train"),
                    "--summary=" + self.path("serial.json"))
        return self.summary("serial.json")["digest"]

    def start_workers(self, cluster, indices=range(4)):
        for i in indices:
            cluster.start_worker(i, *self.data(i // 2))

    def test_each_row_is_trained_and_evaluated_once(self):
        digest = self.serial_digest()
        cluster = self.cluster()
        cluster.start_ps(0)
        # What a user gets wrong: a worker that lists other files than its host.
        cluster.start_worker(0, *self.data(0))
        cluster.ps[0].wait_for_line("worker 0 joined")
        wrong = cluster.start_worker(1, *self.data(0, train="host1/train"))
        self.assertEqual(wrong.wait(), 1, wrong.output())
        self.assertIn("training file 0 differs: worker 1 has tr10.libsvm",
                      wrong.output())
        self.assertIn("both are on host h1", wrong.output())
        self.start_workers(cluster, range(1, 4))
        cluster.wait_all()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 2 * FILES * ROWS * 2)
        self.assertEqual(summary["digest"], digest)
        each = summary["per_worker"]
        for host in range(2):
            self.assertEqual(each[2 * host] + each[2 * host + 1],
                             FILES * ROWS * 2, each)
        self.assertEqual(summary["eval"]["examples"], VALIDATION_ROWS)
        self.assertNotIn("on another host", cluster.ps[0].output())

    def test_a_job_goes_on_with_another_number_of_workers_on_its_hosts(self):
        model = "--model_dir=" + self.path("model")
        first = self.cluster("--num_epochs=1", model)
        first.start_ps(0)
        self.start_workers(first)
        first.wait_all()
        second = self.cluster(model, worker_hosts=["h1", "h2"])
        second.start_ps(0)
        for i in range(2):
            second.start_worker(i, *self.data(i))
        second.wait_all()
        summary = self.summary()
        self.assertEqual(summary["samples"]["trained"], 2 * FILES * ROWS * 2)
        self.assertEqual(summary["digest"], self.serial_digest())

    def test_copies_that_are_evaluated_by_host_are_warned_of_once(self):
        cluster = self.cluster("--val_data_scope=host")
        cluster.start_ps(0)
        self.start_workers(cluster)
        cluster.wait_all()
        summary = self.summary()
        self.assertEqual(summary["samples"]["trained"], 2 * FILES * ROWS * 2)
        self.assertEqual(summary["eval"]["examples"], 2 * VALIDATION_ROWS)
        output = cluster.ps[0].output()
        self.assertEqual(output.count("1 of 2 evaluation files has the name, "
                                      "size and first bytes of a file on "
                                      "another host (va.libsvm, "), 1, output)
        self.assertIn("on h1 and h2), and the rows of both count: if they are "
                      "copies, leave out --val_data_scope=host", output)

    def test_another_validation_set_on_each_host_needs_the_flag(self):
        self.write("host1/val/va.libsvm", harness.linear_rows(7))
        cluster = self.cluster()
        cluster.start_ps(0)
        cluster.start_worker(0, *self.data(0))
        cluster.ps[0].wait_for_line("worker 0 joined")
        wrong = cluster.start_worker(2, *self.data(1))
        self.assertEqual(wrong.wait(), 1, wrong.output())
        self.assertIn("evaluation file 0 differs", wrong.output())
        self.assertIn("if each host has its own, give --val_data_scope=host",
                      wrong.output())

    def test_mistakes_in_hosts_are_named_before_anything_starts(self):
        data = "--training_data_dir=" + self.path("host0", "train")
        for flags, why in (
                (["--hosts=h1:2223"],
                 "--hosts: 'h1:2223' must be a host, or host:n for n workers"),
                (["--hosts=h1:2,h1:2"], "'h1' is given twice"),
                (["--hosts=h1,h2", "--worker_per_host=0"],
                 "--worker_per_host=0"),
                (["--worker_per_host=2"], "give --workers=2"),
                (["--hosts=h1", "--workers=2"], "--workers=2 and --hosts=h1, "
                 "which is 1 worker, contradict each other")):
            code, output = self.run_fails("shoal", "run", *PROBE, data, *flags)
            self.assertEqual(code, 2, output)
            self.assertIn(why, output)


if __name__ == "__main__":
    harness.main()
