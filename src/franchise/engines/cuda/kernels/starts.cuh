// First topics of words: evenly at random, or from topics that were fitted to some documents.

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

// What a word of a term has of all topics, the common part included (`moves.fit_topics`).
INLINE double share_of(i64 n_topics, const float* theta, const float* row, double common) {
    double sum = common;
    for (i64 k = 0; k < n_topics; k++) sum += (double)theta[k * THREADS] * (double)READ(row + k);
    return sum;
}

// Fit the mixture of every document to topics by EM; draw the topic of each word from it.
//
// Common words get a topic of their own, the last. `scratch` has room for two mixtures of every thread.
KERNEL(draw_fitted)(i64 n, u64 key, i64 regular, const i64* base, const i32* length, const i32* number,
                    const i32* x, i64 n_topics, const float* phi, const i64* row, const double* common, i64 steps,
                    float* scratch, u16* z) {
    float* theta = scratch + THREAD;
    float* expected = theta + n_topics * THREADS;
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        for (i64 k = 0; k < n_topics; k++) theta[k * THREADS] = (float)(1.0 / (double)n_topics);
        for (i64 turn = 0; turn < steps; turn++) {
            for (i64 k = 0; k < n_topics; k++) expected[k * THREADS] = 0.0f;
            for (i32 i = 0; i < length[rank]; i++) {
                i32 v = x[base[rank] + i * step];
                const float* own = phi + row[v] * n_topics;
                float part = (float)(1.0 / share_of(n_topics, theta, own, common[v]));
                for (i64 k = 0; k < n_topics; k++) {
                    expected[k * THREADS] += part * theta[k * THREADS] * READ(own + k);
                }
            }
            double total = 0.0;
            for (i64 k = 0; k < n_topics; k++) total += (double)expected[k * THREADS];
            for (i64 k = 0; total > 0.0 && k < n_topics; k++) {
                theta[k * THREADS] = (float)((double)expected[k * THREADS] / total);
            }
        }
        for (i32 i = 0; i < length[rank]; i++) {
            i32 v = x[base[rank] + i * step];
            const float* own = phi + row[v] * n_topics;
            double u = uniforms(key, (u32)number[rank], (u32)i, 0, 0).a;
            u = u * share_of(n_topics, theta, own, common[v]) - common[v];
            u16 drawn = (u16)n_topics;
            if (u >= 0.0) {
                double sum = 0.0;
                for (i64 k = 0; k < n_topics; k++) {
                    double weight = (double)theta[k * THREADS] * (double)READ(own + k);
                    sum += weight;
                    if (weight > 0.0) drawn = (u16)k;
                    if (sum > u) break;
                }
            }
            z[base[rank] + i * step] = drawn;
        }
    }
}

// Count the words and tables of listed topics, one table for each in every document.
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
