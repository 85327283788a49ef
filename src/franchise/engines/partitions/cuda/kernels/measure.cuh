// G_0 given the counts (`model.measure`): the terms of its topics, and the sums that documents look up.
//
// The columns are those of the measure: first topics that words move among, then topics that keep their words.


// Draw the gammas of TERMS terms of a column, and move counts to their new columns.
//
// `old_of` has the old place of each column, -1 for a free one. Topics are drawn given the counts `given` of
// all documents. `own` are the counts of the documents here; it is the same array if these are all.
KERNEL(draw_terms)(i64 n, u64 key, i64 n_terms, i64 moving, i64 columns, double eta, const i32* old_of,
                   const i32* given, const i32* own, i64 old_stride, i32* counts, float* phi, i64 stride,
                   double* sums) {
    FOR_EACH(item, n) {
        i64 c = item % columns, block = item / columns, old = old_of[c];
        i64 begin = block * TERMS, end = begin + TERMS < n_terms ? begin + TERMS : n_terms;
        double sum = 0.0;
        for (i64 v = begin; v < end; v++) {
            i32 count = old < 0 ? 0 : given[v * old_stride + old];
            counts[v * stride + c] = old < 0 ? 0 : own[v * old_stride + old];
            if (c < moving) {
                double g = gamma_variate(key, (u32)v, (u32)c, eta + count);
                phi[v * stride + c] = (float)g;
                sum += g;
            } else {
                phi[v * stride + c] = 0.0f;  // words neither come here nor leave
            }
        }
        if (c < moving) sums[block * moving + c] = sum;
    }
}

// Add up rows in groups of 64.
KERNEL(add_up)(i64 n, i64 n_rows, i64 width, const double* rows, double* sums) {
    FOR_EACH(item, n) {
        i64 c = item % width, first = item / width * 64, last = first + 64 < n_rows ? first + 64 : n_rows;
        double sum = 0.0;
        for (i64 row = first; row < last; row++) sum += rows[row * width + c];
        sums[item] = sum;
    }
}

// Draw the gammas of free columns again until their sum is large enough; else give all weight to one term.
KERNEL(redraw_topics)(i64 n, u64 key, i64 n_terms, double eta, const i32* which, i64 attempts, float* phi,
                      i64 stride, double* totals) {
    FOR_EACH(item, n) {
        i64 c = which[item];
        double total = 0.0;
        for (i64 attempt = 1; attempt <= attempts && total < 1e-12; attempt++) {
            total = 0.0;
            for (i64 v = 0; v < n_terms; v++) {
                double g = gamma_variate(key + (u64)attempt, (u32)v, (u32)c, eta);
                phi[v * stride + c] = (float)g;
                total += g;
            }
        }
        if (total < 1e-12) {
            i64 only = (i64)(uniforms(key, (u32)n_terms, (u32)c, 0, 0).a * (double)n_terms);
            for (i64 v = 0; v < n_terms; v++) phi[v * stride + c] = v == only ? 1.0f : 0.0f;
            total = 1.0;
        }
        totals[c] = total;
    }
}

// Divide gammas by their sums; add up alpha beta phi of CHUNK columns.
KERNEL(share_terms)(i64 n, i64 moving, i64 chunks, const double* totals, const double* mass, float* phi,
                    i64 stride, double* rest) {
    FOR_EACH(item, n) {
        i64 v = item / chunks, chunk = item % chunks;
        i64 begin = chunk * CHUNK, end = begin + CHUNK < moving ? begin + CHUNK : moving;
        float* row = phi + v * stride;
        double sum = 0.0;
        for (i64 c = begin; c < end; c++) {
            float share = (float)((double)row[c] / totals[c]);
            row[c] = share;
            sum += mass[c] * (double)share;
        }
        rest[item] = sum;
    }
}

// Cumulate the sums of chunks.
KERNEL(sum_chunks)(i64 n, i64 chunks, double* rest) {
    FOR_EACH(v, n) {
        double sum = 0.0;
        for (i64 chunk = 0; chunk < chunks; chunk++) {
            sum += rest[v * chunks + chunk];
            rest[v * chunks + chunk] = sum;
        }
    }
}

// Fill in S(0), S(1), ... of every column (`moves.shared.seats`).
KERNEL(fill_survival)(i64 n, const double* mass, i64 known, double* survival) {
    FOR_EACH(c, n) {
        double* row = survival + c * (known + 1);
        row[0] = 1.0;
        row[1] = 1.0;
        for (i64 words = 2; words <= known; words++) {
            row[words] = row[words - 1] * ((double)(words - 1) / (mass[c] + (double)(words - 1)));
        }
    }
}

// Add up ln [G(n_kv + eta) / G(eta)] of TERMS terms of a topic: their contribution to log p(x | c).
KERNEL(log_p_terms)(i64 n, i64 n_terms, i64 columns, double eta, const double* table, i64 size,
                    const i32* counts, i64 stride, double* sums) {
    FOR_EACH(item, n) {
        i64 c = item % columns, begin = item / columns * TERMS;
        i64 end = begin + TERMS < n_terms ? begin + TERMS : n_terms;
        double sum = 0.0;
        for (i64 v = begin; v < end; v++) {
            i32 count = counts[v * stride + c];
            if (count > 0) {
                double at = count < size ? table[count] : log_gamma_of((double)count + eta);
                sum += at - table[0];
            }
        }
        sums[item] = sum;
    }
}
