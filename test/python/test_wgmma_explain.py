"""What `explain` says of products by `wgmma`."""

from __future__ import annotations

from test_wgmma_cost import CUBE, H200, problem

from mlir_gemm.parts.mma.wgmma.cost import WgmmaCost
from mlir_gemm.tile_model.explain import explain


class TestExplain:
    def test_shows_the_terms_and_what_blocks_share(self) -> None:
        text = explain(problem(4088, 4088, 4088), H200)
        for words in (*WgmmaCost.OVERLAPPING.values(), *WgmmaCost.ADDITIVE.values()):
            assert f" {words} " in text
        assert "2 warpgroups that multiply, one that copies" in text
        assert "A mk: 128 rows by the copy engine" in text or "A mk: 256 rows by the copy engine" in text
        assert "tma, 2x1" in text and "chosen" in text

    def test_shows_splits(self) -> None:
        assert "tma, split 2" in explain(problem(1024, 1024, 8192), H200)

    def test_shows_shared_steps(self) -> None:
        pinned = {"block": (128, 256, 64), "stream_k": 2}
        assert "the k steps of 68 of these are shared evenly by 132 blocks" in explain(
            problem(2560, 2560, 2560), H200, pinned=pinned
        )

    def test_says_how_the_published_rules_compare(self) -> None:
        assert "the published rules alone" in explain(CUBE, H200)
