#!/bin/sh
# A Slurm array: one task per shard, then one job that merges.
#   sbatch ci/shards/slurm.sh
# A task that was killed goes on where it stopped: requeue the array (or resubmit all of it), the journal is in $OUT.
#SBATCH --job-name=conformance
#SBATCH --array=1-8
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu

# A folder that every node sees.
OUT=${OUT:-$PWD/conformance-report}

# Slurm says which shard this is: SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP. A single shard again: --shard 3/8.
status=0
conformance run --tier full --shard auto --resume --jobs "$SLURM_CPUS_PER_TASK" \
    --report "$OUT/shard-$SLURM_ARRAY_TASK_ID" || status=$?

# Findings (1) are for the merged report; anything else is a failed task.
[ "$status" -le 1 ]

# The merge, once all tasks have ended well:
#   sbatch --dependency=afterok:$ARRAY_JOB --wrap "conformance merge $OUT/merged $OUT/shard-*"
