"""pyGinkgo: a dense matrix without columns can't be read back into NumPy: the process is killed by a division by zero.

    python pyginkgo_no_columns.py
"""

import importlib.metadata
import subprocess
import sys

CALL = """
import numpy as np
from pyGinkgo import pyGinkgoBindings as gko

reference = gko.ReferenceExecutor()
a = gko.matrix.Csr_double_int32(reference, (2, 3), np.ones(2), np.array([0, 2], np.int32), np.array([0, 1, 2], np.int32))
b, x = gko.matrix.dense_double(reference, np.ones((3, {columns}))), gko.matrix.dense_double(reference, (2, {columns}))
a.apply(b, x)
print("A b has the shape", x.shape, end="; ", flush=True)
print("as an array", np.array(x).shape)
"""
MADE = """
import numpy as np
from pyGinkgo import pyGinkgoBindings as gko

print(np.array(gko.matrix.dense_double(gko.ReferenceExecutor(), (3, 0), {stride})).shape)
"""
print("pyGinkgo", importlib.metadata.version("pyginkgo"))


def run(what, program):
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    print(f"{what}: {child.stdout.strip()}", f"killed by signal {-child.returncode}" if child.returncode < 0 else child.stderr.strip())


for columns in (2, 1, 0):
    run(f"{columns} columns", CALL.format(columns=columns))
for stride in (0, 1):
    run(f"3 x 0 made with a stride of {stride}", MADE.format(stride=stride))
