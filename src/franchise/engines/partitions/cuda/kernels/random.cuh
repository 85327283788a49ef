// Random numbers by counter: those of an item depend only on its name and the key.

struct Pair {
    double a, b;  // uniform in [0, 1), with 53 random bits each
};

// One block of Philox4x32-10 (Salmon et al. 2011).
INLINE Pair uniforms(u64 key, u32 item, u32 part, u32 place, u32 turn) {
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int round = 0; round < 10; round++) {
        u64 first = (u64)0xD2511F53u * item, second = (u64)0xCD9E8D57u * place;
        item = (u32)(second >> 32) ^ part ^ k0;
        part = (u32)second;
        place = (u32)(first >> 32) ^ turn ^ k1;
        turn = (u32)first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    Pair pair;
    pair.a = (double)((((u64)item << 32) | part) >> 11) * (1.0 / 9007199254740992.0);
    pair.b = (double)((((u64)place << 32) | turn) >> 11) * (1.0 / 9007199254740992.0);
    return pair;
}

// A Gamma(shape, 1) variable with shape >= 1 (Marsaglia & Tsang 2000), normals by the polar method.
INLINE double large_gamma(u64 key, u32 item, u32 part, double shape, u32 turn) {
    double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;; turn += 2) {
        Pair at = uniforms(key, item, part, 0, turn);
        double a = 2.0 * at.a - 1.0, b = 2.0 * at.b - 1.0, s = a * a + b * b;
        if (s >= 1.0 || s == 0.0) continue;
        double z = a * sqrt(-2.0 * log_of(s) / s), v = 1.0 + c * z;
        if (v <= 0.0) continue;
        v = v * v * v;
        double u = 1.0 - uniforms(key, item, part, 0, turn + 1).a, square = z * z;
        if (u < 1.0 - 0.0331 * square * square) return d * v;
        if (log_of(u) < 0.5 * square + d - d * v + d * log_of(v)) return d * v;
    }
}

// A Gamma(shape, 1) variable, 0 if it is below the smallest double; small shapes by Ahrens & Dieter (1974).
INLINE double gamma_variate(u64 key, u32 item, u32 part, double shape) {
    if (shape >= 1.0) return large_gamma(key, item, part, shape, 0);
    double edge = 1.0 + shape * 0.36787944117144233;
    for (u32 turn = 0;; turn++) {
        Pair at = uniforms(key, item, part, 0, turn);
        double p = edge * (1.0 - at.a), u = at.b;
        if (p <= 1.0) {
            double x = exp_of(log_of(p) / shape);
            if (u <= 1.0 - x || u <= exp_of(-x)) return x;
        } else {
            double x = -log_of((edge - p) / shape);
            if (u <= exp_of((shape - 1.0) * log_of(x))) return x;
        }
    }
}
