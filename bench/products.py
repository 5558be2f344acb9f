"""MLIR sources of products with fused epilogues, as a user would write them."""

from __future__ import annotations

ACCUMULATORS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32"}


def module(m: int, n: int, k: int, kind: str, out: str, orders: str, epilogue: str) -> str:
    """D = epilogue(A B) on tensors. `orders` is N or T for A and for B; the bias lies along n and has D's type."""
    acc = ACCUMULATORS[kind]
    a = f"tensor<{m}x{k}x{kind}>" if orders[0] == "N" else f"tensor<{k}x{m}x{kind}>"
    b = f"tensor<{k}x{n}x{kind}>" if orders[1] == "N" else f"tensor<{n}x{k}x{kind}>"
    a_map = "(m, n, k) -> (m, k)" if orders[0] == "N" else "(m, n, k) -> (k, m)"
    b_map = "(m, n, k) -> (k, n)" if orders[1] == "N" else "(m, n, k) -> (n, k)"
    wide, result, bias = f"tensor<{m}x{n}x{acc}>", f"tensor<{m}x{n}x{out}>", f"tensor<{n}x{out}>"
    zero = "0" if acc == "i32" else "0.0"
    with_bias = "bias" in epilogue
    head = f"""func.func @product(%A: {a}, %B: {b}{f", %bias: {bias}" if with_bias else ""}) -> {result} {{
  %zero = arith.constant {zero} : {acc}
  %empty = tensor.empty() : {wide}
  %init = linalg.fill ins(%zero : {acc}) outs(%empty : {wide}) -> {wide}
  %P = linalg.contract indexing_maps = [affine_map<{a_map}>, affine_map<{b_map}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%A, %B : {a}, {b}) outs(%init : {wide}) -> {wide}
"""
    if epilogue == "none" and out == acc:
        return head + f"  return %P : {result}\n}}\n"
    inputs, types, maps, arguments = "%P", wide, "affine_map<(m, n) -> (m, n)>, ", f"%x: {acc}"
    if with_bias:
        inputs, types = "%P, %bias", f"{wide}, {bias}"
        maps += "affine_map<(m, n) -> (n)>, "
        arguments += f", %b: {out}"
    body = "\n    ".join(_epilogue(epilogue, acc, out))
    return (
        head
        + f"""  %out = tensor.empty() : {result}
  %E = linalg.generic {{
    indexing_maps = [{maps}affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
    ins({inputs} : {types}) outs(%out : {result}) {{
  ^bb0({arguments}, %old: {out}):
    {body}
  }} -> {result}
  return %E : {result}
}}
"""
    )


def _epilogue(epilogue: str, acc: str, out: str) -> list[str]:
    lines, value = list[str](), "%x"
    if "bias" in epilogue:
        wide = "%b"
        if out != acc:
            lines.append(f"%bw = arith.extf %b : {out} to {acc}")
            wide = "%bw"
        lines.append(f"%s = arith.addf {value}, {wide} : {acc}")
        value = "%s"
    if "gelu" in epilogue:
        lines += [
            f"%r = arith.constant 0.70710678118654752 : {acc}", f"%h = arith.constant 0.5 : {acc}",
            f"%one = arith.constant 1.0 : {acc}", f"%u = arith.mulf {value}, %r : {acc}", f"%e = math.erf %u : {acc}",
            f"%f = arith.addf %e, %one : {acc}", f"%g = arith.mulf {value}, %h : {acc}",
            f"%y = arith.mulf %g, %f : {acc}",
        ]  # fmt: skip
        value = "%y"
    if "silu" in epilogue:
        lines += [
            f"%one = arith.constant 1.0 : {acc}", f"%n = arith.negf {value} : {acc}", f"%e = math.exp %n : {acc}",
            f"%f = arith.addf %e, %one : {acc}", f"%y = arith.divf {value}, %f : {acc}",
        ]  # fmt: skip
        value = "%y"
    if out != acc:
        lines.append(f"%t = arith.truncf {value} : {acc} to {out}")
        value = "%t"
    return [*lines, f"linalg.yield {value} : {out}"]
