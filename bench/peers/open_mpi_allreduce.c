/* AllReduce of Open MPI over TCP on loopback, as bench/micro/collective_bench
 * measures Shoal's: the sum of float32 values in place. Prints a JSON line for
 * each length: us, the mean wall time of an AllReduce, from the median of five
 * parts; busbw, GB/s a rank: 2 (N - 1) / N x bytes / wall time. Ranks spin
 * while they wait.
 *
 *   mpicc -O2 -o open_mpi_allreduce bench/peers/open_mpi_allreduce.c
 *   mpirun -np 2 --mca btl tcp,self --mca btl_tcp_if_include lo \
 *     ./open_mpi_allreduce
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kParts = 5 };

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Seconds(float* values, int length, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int call = 0; call < calls; ++call) {
    MPI_Allreduce(MPI_IN_PLACE, values, length, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / calls;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int bytes = 4 << 10; bytes <= 64 << 20; bytes *= 4) {
    const int length = bytes / (int)sizeof(float);
    float* values = calloc(length, sizeof(float));
    if (values == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    /* About 0.2 s a part. All ranks make as many calls as rank 0 says. */
    int calls = (int)(0.2 / (Seconds(values, length, 3) + 1e-6)) + 1;
    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    double parts[kParts];
    for (int i = 0; i < kParts; ++i) parts[i] = Seconds(values, length, calls);
    qsort(parts, kParts, sizeof(parts[0]), Compare);
    const double wall = parts[kParts / 2];
    if (rank == 0) {
      printf("{\"ranks\": %d, \"bytes\": %d, \"us\": %.2f, \"busbw\": %.3f}\n",
             size, bytes, 1e6 * wall,
             2.0 * (size - 1) / size * bytes / wall / 1e9);
      fflush(stdout);
    }
    free(values);
  }
  MPI_Finalize();
  return 0;
}
