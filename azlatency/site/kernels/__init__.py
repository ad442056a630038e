"""Notebooks run on warm kernels: one kernel per worker, emptied between notebooks.

A cold kernel imports pandas, pyarrow, scipy and matplotlib again for every notebook, which costs more than the notebook
itself. Three notebooks for six studies on two cores: papermill with a kernel per notebook 45 s (36 CPU-s), warm kernels
10 s (15 CPU-s, rendering included), the same code as one script 8.5 CPU-s. Forking a process that has the imports done
would save the second kernel's imports (2 CPU-s once), but it would also fork Arrow's threads, and Windows cannot fork.
"""
