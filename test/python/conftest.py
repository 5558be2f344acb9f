"""Tests run in several processes: one thread of linear algebra in each, or they spend their time waiting for cores."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
