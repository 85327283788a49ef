// First topics of words: uniformly at random, or from topics that were fitted to some documents.

KERNEL(draw_random)(i64 n, u64 key, i64 regular, const i64* base, const i32* length, const i32* number,
                    i64 n_topics, u16* z) {
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        Pair pair;
        pair.a = pair.b = 0.0;
        for (i32 i = 0; i < length[rank]; i++) {
            if (i % 2 == 0) pair = uniforms(key, (u32)number[rank], (u32)(i / 2), 0, 0);
            z[base[rank] + i * step] = (u16)((i % 2 == 0 ? pair.a : pair.b) * (double)n_topics);
        }
    }
}

// After the first step of EM, only the topics with most words of a document are fitted further: at least FEWEST,
// if that many have words. The others would end with next to nothing.
#define FEWEST 32

// Return the weight of a term in the listed topics, plus the common part (`engines.starts`).
INLINE double share_of(i64 n_listed, const float* theta, const i32* listed, const float* row, double common) {
    double sum = common;
    for (i64 s = 0; s < n_listed; s++) {
        sum += (double)theta[s * THREADS] * (double)READ(row + listed[s * THREADS]);
    }
    return sum;
}

// Set `theta` to the expected words of every topic in a document, starting from equally likely topics. A word is
// divided by the weight of its term in all topics: times `even`. The lengths of rows of phi are multiples of TILE.
INLINE void even_step(i64 words, i64 step, const i32* x, i64 stride, const float* phi, const i64* row,
                      const float* even, float* theta) {
    for (i64 first = 0; first < stride; first += TILE) {
        float sums[TILE];
        for (i32 t = 0; t < TILE; t++) sums[t] = 0.0f;
        for (i64 i = 0; i < words; i++) {
            i32 v = x[i * step];
            float part = READ(even + v);
            const Four* own = (const Four*)(phi + READ(row + v) * stride + first);
            for (i32 t = 0; t < TILE / 4; t++) {
                Four four = READ(own + t);
                sums[4 * t] += part * four.x;
                sums[4 * t + 1] += part * four.y;
                sums[4 * t + 2] += part * four.z;
                sums[4 * t + 3] += part * four.w;
            }
        }
        for (i32 t = 0; t < TILE; t++) theta[(first + t) * THREADS] = sums[t];
    }
}

INLINE i64 at_least(i64 n_topics, const float* theta, float limit) {
    i64 number = 0;
    for (i64 k = 0; k < n_topics; k++) number += theta[k * THREADS] >= limit;
    return number;
}

// Return the least words of a topic to be listed, which FEWEST topics or a few more reach. It is found by
// bisection between a limit that too few topics reach and one half as large that enough reach.
INLINE float limit_of_most(i64 n_topics, const float* theta, float largest) {
    float too_few = largest, limit = 0.5f * largest;
    while (at_least(n_topics, theta, limit) < FEWEST && limit > 1e-6f * largest) {
        too_few = limit;
        limit *= 0.5f;
    }
    for (i32 turn = 0; turn < 5; turn++) {
        float between = 0.5f * (limit + too_few);
        if (at_least(n_topics, theta, between) < FEWEST) {
            too_few = between;
        } else {
            limit = between;
        }
    }
    return limit;
}

// List the topics with most words, with their shares; return how many.
INLINE i64 list_most(i64 n_topics, float* theta, i32* listed) {
    float largest = 0.0f;
    for (i64 k = 0; k < n_topics; k++) {
        if (theta[k * THREADS] > largest) largest = theta[k * THREADS];
    }
    if (largest <= 0.0f) return 0;
    float limit = limit_of_most(n_topics, theta, largest);
    i64 n_listed = 0;
    double total = 0.0;
    for (i64 k = 0; k < n_topics; k++) {
        float words = theta[k * THREADS];
        if (words < limit) continue;
        theta[n_listed * THREADS] = words;
        listed[n_listed * THREADS] = (i32)k;
        total += (double)words;
        n_listed++;
    }
    for (i64 s = 0; s < n_listed; s++) theta[s * THREADS] = (float)((double)theta[s * THREADS] / total);
    return n_listed;
}

// Fit the mixture of every document to topics by EM, then draw the topic of each word from it.
//
// Common words get a topic of their own, the last. `scratch` has room for two mixtures per thread, and `which`
// for the topics of one.
KERNEL(draw_fitted)(i64 n, u64 key, i64 regular, const i64* base, const i32* length, const i32* number,
                    const i32* x, i64 n_topics, i64 stride, const float* phi, const i64* row, const double* common,
                    const float* even, i64 steps, float* scratch, i32* which, u16* z) {
    float* theta = scratch + THREAD;
    float* expected = theta + stride * THREADS;
    i32* listed = which + THREAD;
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        even_step(length[rank], step, x + base[rank], stride, phi, row, even, theta);
        i64 n_listed = list_most(n_topics, theta, listed);
        for (i64 turn = 1; turn < steps; turn++) {
            for (i64 s = 0; s < n_listed; s++) expected[s * THREADS] = 0.0f;
            for (i32 i = 0; i < length[rank]; i++) {
                i32 v = x[base[rank] + i * step];
                const float* own = phi + row[v] * stride;
                float part = (float)(1.0 / share_of(n_listed, theta, listed, own, common[v]));
                for (i64 s = 0; s < n_listed; s++) {
                    expected[s * THREADS] += part * theta[s * THREADS] * READ(own + listed[s * THREADS]);
                }
            }
            double total = 0.0;
            for (i64 s = 0; s < n_listed; s++) total += (double)expected[s * THREADS];
            for (i64 s = 0; total > 0.0 && s < n_listed; s++) {
                theta[s * THREADS] = (float)((double)expected[s * THREADS] / total);
            }
        }
        for (i32 i = 0; i < length[rank]; i++) {
            i32 v = x[base[rank] + i * step];
            const float* own = phi + row[v] * stride;
            double u = uniforms(key, (u32)number[rank], (u32)i, 0, 0).a;
            u = u * share_of(n_listed, theta, listed, own, common[v]) - common[v];
            u16 drawn = (u16)n_topics;
            if (u >= 0.0) {
                double sum = 0.0;
                for (i64 s = 0; s < n_listed; s++) {
                    double weight = (double)theta[s * THREADS] * (double)READ(own + listed[s * THREADS]);
                    sum += weight;
                    if (weight > 0.0) drawn = (u16)listed[s * THREADS];
                    if (sum > u) break;
                }
            }
            z[base[rank] + i * step] = drawn;
        }
    }
}

// Count the words and tables of listed topics, one table per topic and document.
KERNEL(count_listed)(i64 n, i64 first, const i64* base, const u32* listed, const i32* n_listed, u64* words,
                     u64* tables, u64* sizes) {
    Tally tally = {words, tables, sizes};
    clear_few_sizes();
    FOR_EACH(item, n) {
        i64 rank = first + item;
        for (i32 s = 0; s < n_listed[rank]; s++) {
            u32 e = listed[base[rank] + (i64)s * SIDE_BY_SIDE];
            ADD(words + column_in(e), (u64)words_in(e));
            ADD(tables + column_in(e), (u64)1);
            count_size(tally, (i32)words_in(e));
        }
    }
    count_few_sizes(tally);
}
