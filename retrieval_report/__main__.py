"""The command `retrieval-report`, also run by `python -m retrieval_report`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; an interrupt while its
    modules are imported ends it without a traceback.
    """
    gc.set_threshold(100_000, 20, 20)  # otherwise a tenth of the time of imports
    # Polars' threads keep what they free, each for itself; from one arena the next allocation can
    # take it. Two policies of 10⁶ lines of TREC: 320 to 331 MiB for 326 to 343, in the same time.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1")
    try:
        from retrieval_report.cli import main as run
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    run()


if __name__ == "__main__":
    main()
