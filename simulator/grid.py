"""Runs the blocks of a launch: clusters one after the other, the blocks of a cluster together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Code, Decoder, Endless
from mlir_gemm.simulator.elements import Element
from mlir_gemm.simulator.mbarriers import check_ended
from mlir_gemm.simulator.memory import POISON, Buffer, View, dense_strides
from mlir_gemm.simulator.report import Report
from mlir_gemm.simulator.shadow import Shadow
from mlir_gemm.simulator.warps import Block, Cluster, Run, Stop, Warp, run_cluster
from mlir_gemm.spec.attributes import CLUSTER_DIM, COOPERATIVE, DEPENDENT_LAUNCH

_BESIDE = ("nvvm.mbarrier.", "nvvm.wgmma.", "nvvm.cp.async.bulk.", "nvvm.fence.proxy", "nvvm.cluster.", "nvvm.mapa",
           "nvvm.griddepcontrol")  # fmt: skip
"""Operations by which something runs beside the warps, or orders it."""
_WINDOW = 1024
"""Where the memory of a block starts, and what the places of its buffers are multiples of, beyond their alignment."""


@dataclass
class Grid:
    """One launch of one kernel."""

    launch: Any
    kernel: Any
    decoder: Decoder
    code: Code
    size: tuple[int, ...]
    """In blocks."""
    block: tuple[int, ...]
    """In threads."""
    cluster: tuple[int, ...]
    """In blocks."""
    dynamic: int
    """Bytes of dynamic shared memory."""
    clock: int
    """Greater than every tick before."""

    @property
    def report(self) -> Report:
        """Where what is found goes."""
        return self.decoder.report

    def run(self) -> int:
        """Runs the blocks that were asked for, and those of their clusters. The clock after them."""
        options, report = self.decoder.options, self.report
        asynchronous = any(name.startswith(_BESIDE) for code in self.decoder.codes for name in code.names)
        early = asynchronous and DEPENDENT_LAUNCH in self.kernel.operation.attributes
        clusters = list(self._clusters())
        memories: list[dict[str, Buffer]] = []
        done = 0
        for numbers in clusters:
            blocks = [Block(number, self.size, self.block) for number in numbers]
            cluster = Cluster(blocks, self.cluster, self.clock - 1, asynchronous)
            cluster.early = early
            if not memories:
                memories = [self._shared_memory(cluster) for _ in blocks]
            for block, memory in zip(blocks, memories, strict=True):
                block.shared = memory
                _forget(memory, block)
                block.warps = [Warp(block, warp, self.clock) for warp in range(block.warp_count)]
            self._run(cluster)
            if report.stopped:
                break
            done += len(blocks)
            report.blocks_run += len(blocks)
            if options.progress is not None:
                options.progress(done, len(clusters) * len(blocks))
        return self.clock

    def _clusters(self) -> Iterator[list[int]]:
        """The blocks of each cluster that runs, by their ranks."""
        chosen = self.decoder.options.blocks
        wanted = None if chosen is None else dict.fromkeys(self._cluster_of(number) for number in chosen)
        across = [size // each for size, each in zip(self.size, self.cluster, strict=True)]
        every = ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(across))))
        for place in every if wanted is None else wanted:
            first = [at * each for at, each in zip(place, self.cluster, strict=True)]
            yield [
                first[0] + x + self.size[0] * (first[1] + y + self.size[1] * (first[2] + z))
                for z, y, x in itertools.product(*map(range, reversed(self.cluster)))
            ]

    def _cluster_of(self, number: int) -> tuple[int, int, int]:
        x, y, z = Block(number, self.size, self.block).id
        return x // self.cluster[0], y // self.cluster[1], z // self.cluster[2]

    def _run(self, cluster: Cluster) -> None:
        decoder, code, report = self.decoder, self.code, self.report

        def start(warp: Warp) -> Run:
            warp.slots = decoder.template.copy()
            if code.blocking:
                yield from code.resume(warp)
            else:
                code.plain(warp)
            left = [copy for copies in (*warp.groups, warp.copies) for copy in copies]
            for copy in left:
                copy(warp)
            if left and decoder.options.checks:
                message = f"{len(left)} asynchronous copies were never waited for, and may still write shared memory"
                decoder.info(self.kernel).find("async-not-awaited", warp, -1, "", message)

        try:
            run_cluster(cluster, start)
        except Stop as stop:
            report.stopped = str(stop)
            if isinstance(stop, Endless):
                decoder.info(self.kernel).find("endless", stop.warp, -1, "", str(stop))
        if cluster.agents.asynchronous and decoder.options.checks and not report.stopped:
            check_ended(cluster, decoder.info(self.kernel))
        report.steps += sum(warp.steps for warp in cluster.warps)
        self.clock = cluster.last_tick + 1

    def _shared_memory(self, cluster: Cluster) -> dict[str, Buffer]:
        """The shared memory of a block: one buffer for each declaration; those of size 0 are the dynamic one."""
        found = dict[str, Buffer]()
        end = 0
        for name, declared in self.decoder.globals.items():
            type_ = declared.type
            element: Element = self.decoder.element(self.launch, type_)
            size = math.prod(type_.shape) * element.bytes
            buffer = found[name] = Buffer("memory", "shared", size or self.dynamic)
            # No better aligned than it was asked for.
            buffer.address = (end // _WINDOW + 1) * _WINDOW + declared.alignment % _WINDOW
            end = buffer.address + buffer.size
            sizes = tuple(type_.shape) if size else (self.dynamic // element.bytes,)
            buffer.view = View(buffer, 0, sizes, dense_strides(sizes), element)
            if self.decoder.options.checks:
                warps = cluster.agents.total
                buffer.shadow = Shadow(buffer.size, warps, initialized=False, between_blocks=False)
        return found


@dataclass(frozen=True)
class Declared:
    """A global in shared memory."""

    type: Any
    alignment: int
    """Bytes that its address is a multiple of."""

    @staticmethod
    def of(declared: Any) -> Declared:
        """What a memref.global says."""
        type_ = ir.MemRefType(ir.TypeAttr(declared.attributes["type"]).value)
        attributes = declared.operation.attributes
        natural = max(1, getattr(type_.element_type, "width", 8) // 8)
        return Declared(type_, ir.IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else natural)


def _forget(memory: dict[str, Buffer], block: Block) -> None:
    """The memory of a block that starts is unwritten."""
    for buffer in memory.values():
        buffer.block = block
        buffer.data.fill(POISON)
        if buffer.shadow is not None:
            buffer.shadow.clear()


def cluster_shape(launch: Any, kernel: Any) -> tuple[int, ...] | None:
    """The cluster that a kernel says it runs in (`nvvm.cluster_dim`); None if the launch gives one, which is not
    simulated."""
    if launch.clusterSizeX is not None:
        return None
    attributes = kernel.operation.attributes
    if COOPERATIVE in attributes:  # blocks that wait for each other run together
        return ir.IntegerAttr(attributes[COOPERATIVE]).value, 1, 1
    if CLUSTER_DIM not in attributes:
        return 1, 1, 1
    sizes = list(ir.DenseI32ArrayAttr(attributes[CLUSTER_DIM]))
    return tuple((*sizes, 1, 1)[:3])
