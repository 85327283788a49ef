"""Kernels that lay open what those of the GPU engine use inside, for tests."""

from typing import Any

import numpy as np

_SOURCE = """
KERNEL(try_uniforms)(i64 n, const u64* key, const u32* counter, double* a, double* b) {
    FOR_EACH(i, n) {
        const u32* c = counter + 4 * i;
        Pair pair = uniforms(key[i], c[0], c[1], c[2], c[3]);
        a[i] = pair.a;
        b[i] = pair.b;
    }
}
KERNEL(try_functions)(i64 n, const double* x, double* logs, double* exps, double* log_gammas) {
    FOR_EACH(i, n) {
        logs[i] = x[i] > 0.0 ? log_of(x[i]) : 0.0;
        exps[i] = exp_of(x[i]);
        log_gammas[i] = x[i] > 0.0 ? log_gamma_of(x[i]) : 0.0;
    }
}
KERNEL(try_gammas)(i64 n, u64 key, const i32* item, const i32* part, const double* shape, double* drawn) {
    FOR_EACH(i, n) drawn[i] = gamma_variate(key, (u32)item[i], (u32)part[i], shape[i]);
}
KERNEL(try_seats)(i64 n, u64 key, i64 words, const double* mass, const double* survival, i64 known,
                  i32* sizes, i32* tables, i32* together) {
    FOR_EACH(i, n) {
        Seating it;
        i32* own = sizes + i * words;
        bool several = begin_seating(it, key, (u32)i, 0, (i32)words, survival, (i32)known, mass, own, 1);
        for (i32 q = 0; q < words; q++) tables[i * words + q] = several ? seat_next(it) : 0;
        if (!several) own[0] = (i32)words;
        together[i] = sit_together(key, (u32)i, 0, (i32)words, survival, (i32)known, mass);
    }
}
"""


def with_open_kernels(source: str) -> str:
    """Return the source of the kernels, and of these."""
    return source + _SOURCE


def uniforms(device: Any, keys: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Return the two numbers of each counter."""
    n, put = len(keys), device.put
    a, b = device.xp.empty(n), device.xp.empty(n)
    counters = np.ascontiguousarray(counters, np.uint32)
    device.launch("try_uniforms", n, put(keys.astype(np.uint64)), put(counters), a, b)
    return np.column_stack([device.get(a), device.get(b)])


def functions(device: Any, x: np.ndarray) -> np.ndarray:
    """Return log, exp and log gamma of each x; where there is no logarithm, 0."""
    found = [device.xp.empty(x.size) for _ in range(3)]
    device.launch("try_functions", x.size, device.put(x), *found)
    return np.array([device.get(one) for one in found])


def gammas(device: Any, key: int, items: np.ndarray, parts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return the gamma variable of each item and part."""
    drawn, put = device.xp.empty(items.size), device.put
    names = [put(np.ascontiguousarray(one, np.int32)) for one in (items, parts)]
    device.launch(
        "try_gammas", items.size, np.uint64(key), *names, put(np.ascontiguousarray(shapes, float)), drawn
    )
    return device.get(drawn)


def seats(
    device: Any, key: int, n: int, words: int, mass: float, known: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seat words of a topic n times, with what is tabulated up to `known` words.

    Returns the table of each word, the sizes of tables, and whether all were said to sit together.
    """
    xp, masses = device.xp, device.put(np.array([mass]))
    survival, sizes = xp.empty((1, known + 1)), xp.zeros((n, words), np.int32)
    device.launch("fill_survival", 1, masses, known, survival)
    tables, together = xp.zeros((n, words), np.int32), xp.zeros(n, np.int32)
    device.launch("try_seats", n, np.uint64(key), words, masses, survival, known, sizes, tables, together)
    tables = device.get(tables)
    is_table = np.arange(words) <= tables.max(axis=1, keepdims=True)
    return tables, np.where(is_table, device.get(sizes), 0), device.get(together).astype(bool)
