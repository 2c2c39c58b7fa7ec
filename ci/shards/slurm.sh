#!/bin/sh
# Slurm: your kernel, judged by an array of tasks, and one job that merges them when all have ended well. Run it on a login node, with who is
# judged and how, as for `conformance run`; `conformance` must be on the path of the nodes:
#   SHARDS=8 CPUS=4 OUT=/shared/report sh ci/shards/slurm.sh --exec 'python my_backend.py'
# A task that was killed goes on where it stopped, by what is printed here, or by running this again with the same OUT: the journal is there.
set -eu

# A folder that every node sees.
OUT=${OUT:-$PWD/conformance-report}
TIER=${TIER:-full}

if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    export OUT TIER
    array=$(sbatch --parsable --job-name=conformance --array="1-${SHARDS:-8}" --cpus-per-task="${CPUS:-1}" --time="${LIMIT:-04:00:00}" \
        --requeue "$0" "$@")
    array=${array%%;*}
    merge=$(sbatch --parsable --job-name=conformance-merge --dependency="afterok:$array" --wrap "conformance merge '$OUT/merged' '$OUT'/shard-*")
    # The merge of which a task failed keeps DependencyNeverSatisfied, even once that task has gone well: it is told anew what it waits for.
    echo "array $array judges, job ${merge%%;*} merges. A task that failed or was killed goes on where it stopped by:"
    echo "  scontrol requeue ${array}_TASK && scontrol update JobId=${merge%%;*} Dependency=afterany:$array"
    exit
fi

# The report of a run before must not be merged where this task fails.
report="$OUT/shard-$SLURM_ARRAY_TASK_ID/report.json"
[ ! -e "$report" ] || mv "$report" "${report%.json}.old.json"

# Slurm says which shard this is: SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP. A single shard again: --shard 3/8.
status=0
conformance run --tier "$TIER" --shard auto --resume --jobs "$SLURM_CPUS_PER_TASK" \
    --report "$OUT/shard-$SLURM_ARRAY_TASK_ID" "$@" || status=$?

# Findings (1) are for the merged report; anything else is a failed task.
[ "$status" -le 1 ]
