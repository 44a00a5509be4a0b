"""DeepFM on TensorFlow 2.15 in graph mode: one process, a parameter server job
of which this is one process (--role=ps or worker), or a rank of Horovod, which
horovodrun starts (--role=rank; the count of rank r is the file --progress with r
appended).

The script is written as users of TensorFlow write it for speed: variables are
placed on the servers in turn, the tables are cut into equal ranges, updates are
applied on arrival (asynchronous), each distinct id of a batch is looked up once
(tf.unique), and each worker sees only the servers and itself.
"""

import argparse

import tensorflow as tf

import workload

tf1 = tf.compat.v1


def deepfm(args, ids, values, partitioner):
    """Logits [B]."""
    dim, layers = workload.NETS[args.net]
    small = tf1.random_normal_initializer(stddev=0.01)
    with tf1.variable_scope("tables", partitioner=partitioner):
        tables = [tf1.get_variable("w", [args.ids, 1], initializer=small),
                  tf1.get_variable("v", [args.ids, dim], initializer=small)]
    if args.unique:
        distinct, place = tf.unique(tf.reshape(ids, [-1]))
        place = tf.reshape(place, [-1, workload.FIELDS])
        w, v = (tf.gather(
            tf1.nn.embedding_lookup(table, distinct, partition_strategy="div"),
            place) for table in tables)
    else:
        w, v = (tf1.nn.embedding_lookup(table, ids, partition_strategy="div")
                for table in tables)
    logits = tf.reduce_sum(w[:, :, 0] * values, axis=1)
    x = v * values[:, :, None]
    logits += 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(x, axis=1)) -
                                  tf.reduce_sum(tf.square(x), axis=1), axis=1)
    h = tf.reshape(x, [-1, workload.FIELDS * dim])
    inputs = workload.FIELDS * dim
    for layer, units in enumerate([*layers, 1]):
        kernel = tf1.get_variable(
            f"kernel{layer}", [inputs, units],
            initializer=tf1.glorot_uniform_initializer())
        bias = tf1.get_variable(f"bias{layer}", [units],
                                initializer=tf1.zeros_initializer())
        h = tf.nn.bias_add(tf.matmul(h, kernel), bias)
        if layer < len(layers):
            h = tf.nn.relu(h)
        inputs = units
    return logits + h[:, 0]


def training(args, loss, step, wrap):
    """One step: Adagrad for the tables, Adam for all other variables, each
    optimizer as `wrap` returns it."""
    groups = {True: [], False: []}
    for variable in tf1.trainable_variables():
        groups[variable.name.startswith("tables/")].append(variable)
    optimizers = {
        True: wrap(tf1.train.AdagradOptimizer(
            args.table_learning_rate,
            initial_accumulator_value=args.initial_accumulator)),
        False: wrap(tf1.train.AdamOptimizer(args.learning_rate))}
    gradients = {key: optimizers[key].compute_gradients(loss, groups[key])
                 for key in groups}
    return tf.group(
        optimizers[True].apply_gradients(gradients[True]),
        optimizers[False].apply_gradients(gradients[False], global_step=step))


def session_config(args, **more):
    return tf1.ConfigProto(intra_op_parallelism_threads=args.threads,
                           inter_op_parallelism_threads=args.threads, **more)


def join_cluster(args):
    """(target, session config, device function, partitioner) of a worker.
    Does not return in a parameter server."""
    cluster = tf.train.ClusterSpec({"ps": args.ps_hosts.split(","),
                                    "worker": args.worker_hosts.split(",")})
    server = tf1.train.Server(cluster, job_name=args.role,
                              task_index=args.task,
                              config=session_config(args))
    if args.role == "ps":
        server.join()
    own = f"/job:worker/task:{args.task}"
    return (server.target,
            session_config(args, device_filters=["/job:ps", own]),
            tf1.train.replica_device_setter(cluster=cluster,
                                            worker_device=own),
            tf1.fixed_size_partitioner(cluster.num_tasks("ps")))


def join_ring(args):
    """Joins Horovod's ring: (rank, ranks, function for optimizers, operation
    that gives all ranks the variables of rank 0)."""
    import horovod.tensorflow as hvd
    hvd.init()
    args.progress += str(hvd.rank())

    def wrap(optimizer):
        return hvd.DistributedOptimizer(
            optimizer, sparse_as_dense=bool(args.sparse_as_dense))

    return (hvd.rank(), hvd.size(), wrap,
            lambda: hvd.broadcast_global_variables(0))


def open_session(target, config, chief):
    manager = tf1.train.SessionManager(
        ready_op=tf1.report_uninitialized_variables(), recovery_wait_secs=1)
    if chief:
        return manager.prepare_session(
            target, init_op=tf1.global_variables_initializer(), config=config)
    return manager.wait_for_session(target, config=config, max_wait_secs=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    workload.add_flags(parser)
    parser.add_argument("--role", choices=["one", "ps", "worker", "rank"],
                        default="one")
    parser.add_argument("--task", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--unique", type=int, default=1)
    parser.add_argument("--sparse_as_dense", type=int, default=0)
    args = parser.parse_args()
    tf1.disable_v2_behavior()
    target, config, device, partitioner = "", session_config(args), None, None
    workers, wrap, share = 1, lambda optimizer: optimizer, None
    if args.role == "rank":
        args.task, workers, wrap, share = join_ring(args)
    elif args.role != "one":
        target, config, device, partitioner = join_cluster(args)
        workers = len(args.worker_hosts.split(","))
    with tf1.device(device):
        step = tf1.train.get_or_create_global_step()
        ids = tf1.placeholder(tf.int64, [None, workload.FIELDS])
        values = tf1.placeholder(tf.float32, [None, workload.FIELDS])
        labels = tf1.placeholder(tf.float32, [None])
        logits = deepfm(args, ids, values, partitioner)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits))
        train = training(args, loss, step, wrap)
        shared = share() if share else None
    progress = workload.Progress(args.progress)
    chief = args.task == 0 or args.role == "rank"
    with open_session(target, config, chief) as session:
        if shared is not None:
            session.run(shared)
        for batch in workload.batches(args, args.task, workers):
            session.run(train, dict(zip((ids, values, labels), batch)))
            progress.add(args.batch)
        auc = workload.auc_of_test_rows(
            args, lambda *rows: session.run(logits,
                                            dict(zip((ids, values), rows))))
        print(f"auc {auc:.5f}", flush=True)


if __name__ == "__main__":
    main()
