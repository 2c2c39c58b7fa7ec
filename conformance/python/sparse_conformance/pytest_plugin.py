"""For pytest, which loads it by itself once the package is installed.

    def test_spmm(sparse_check):
        sparse_check(my_spmm, "spmm.csr.f32")

`pytest --sparse-tier full --sparse-seed 7` asks more, or other, cases of all checks. A finding fails the test with the judge's words and
without a traceback through this package.
"""

from __future__ import annotations

from typing import Any, Callable

import pytest

from ._check import Findings, Verdict, check


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sparse conformance")
    group.addoption("--sparse-tier", choices=["quick", "full", "extensive"], default="quick", help="how much sparse_check asks")
    group.addoption("--sparse-seed", type=int, default=0, help="the seed of the cases that sparse_check asks")


@pytest.fixture
def sparse_check(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """`sparse_conformance.check`, with the tier and seed of the command line."""
    tier, seed = request.config.getoption("--sparse-tier"), request.config.getoption("--sparse-seed")

    def run(function: Callable[..., Any], contract: str, **options: Any) -> Verdict:
        try:
            return check(function, contract, **{"tier": tier, "seed": seed, **options})
        except Findings as findings:
            words = str(findings)
        return pytest.fail(f"{words}\n  with this before it: pytest {request.node.nodeid}", pytrace=False)

    return run
