# How benchmarks sum up ratios of runs that alternate.
# shellcheck shell=bash

# Prints the median of the numbers on standard input, and the interval that has
# the true median with 95%. The k-th smallest and k-th largest of n values have
# it between them but for twice the probability of fewer than k heads of n coins.
interval() {
  sort -g | awk '
    { v[NR] = $1 }
    END {
      p = 0.5 ^ NR
      for (k = 0; k <= NR; k++) {
        sum += p
        if (2 * sum > 0.05) break
        p = p * (NR - k) / (k + 1)
      }
      if (k < 1) k = 1
      m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
      printf "%.4f (%.4f .. %.4f)", m, v[k], v[NR + 1 - k]
    }'
}
