"""GFLOP/s of one thread in products of 1024³ by torch, or by numpy if torch is
missing: the speed of a peer's own library on this processor. Prints a JSON
line.
"""

import json
import os
import statistics
import time

os.environ |= {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                      "OPENBLAS_NUM_THREADS")}
try:
    import torch
    torch.set_num_threads(1)
    library = "torch " + torch.__version__
    make, multiply = torch.rand, torch.mm
except ImportError:
    import numpy
    library = "numpy " + numpy.__version__
    make, multiply = lambda m, n: numpy.random.rand(m, n).astype(
        numpy.float32), numpy.matmul

SIZE, PRODUCTS = 1024, 10
a, b, c = (make(SIZE, SIZE) for _ in range(3))
rates = []
for _ in range(10):
    start = time.process_time()
    for _ in range(PRODUCTS):
        multiply(a, b, out=c)
    seconds = time.process_time() - start
    rates.append(PRODUCTS * 2e-9 * SIZE ** 3 / seconds)
print(json.dumps({"library": library, "gflops": statistics.median(rates[1:]),
                  "min": min(rates[1:]), "max": max(rates[1:])}))
