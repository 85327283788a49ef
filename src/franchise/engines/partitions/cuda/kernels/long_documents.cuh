// Long documents: mixtures are sampled, then all words at once given the mixtures.
//
//     theta_jk ~ Gamma(alpha beta_k + n_jk),    p(word i has topic k) ~ theta_jk phi_kv
//
// One thread handles one word, or one topic of a document. `owner` has the document of each word; `listed`
// has the words of every document by column.

KERNEL(count_long)(i64 n, const i32* owner, i64 columns, const u16* column_of, u16* z, i32* listed) {
    FOR_EACH(i, n) {
        u16 column = column_of[z[i]];
        z[i] = column;
        ADD(listed + owner[i] * columns + column, 1);
    }
}

KERNEL(draw_theta)(i64 n, u64 key, i64 moving, i64 columns, const i32* number, const double* mass,
                   const i32* listed, double* theta) {
    FOR_EACH(item, n) {
        i64 d = item / moving, c = item % moving;
        theta[item] = gamma_variate(key, (u32)number[d], (u32)c, mass[c] + (double)listed[d * columns + c]);
    }
}

KERNEL(draw_long)(i64 n, u64 key, const i32* owner, const i32* place, const i32* number, const i32* x, u16* z,
                  i64 moving, i64 columns, const float* phi, i64 stride, const double* theta, i32* counts,
                  i32* listed) {
    FOR_EACH(i, n) {
        u32 column = z[i];
        if (column >= (u32)moving) continue;
        i64 d = owner[i], v = x[i];
        const float* row = phi + v * stride;
        const double* own = theta + d * moving;
        double total = 0.0;
        for (i64 c = 0; c < moving; c++) total += own[c] * (double)row[c];
        if (total <= 0.0) continue;  // no topic has both above the smallest double: the word stays
        double u = uniforms(key, (u32)number[d], (u32)place[i], 0, 0).a * total, sum = 0.0;
        u32 drawn = column;
        for (i64 c = 0; c < moving; c++) {
            double weight = own[c] * (double)row[c];
            sum += weight;
            if (weight > 0.0) drawn = (u32)c;
            if (sum > u) break;
        }
        if (drawn == column) continue;
        z[i] = (u16)drawn;
        ADD(counts + v * stride + column, -1);
        ADD(counts + v * stride + drawn, 1);
        ADD(listed + d * columns + column, -1);
        ADD(listed + d * columns + drawn, 1);
    }
}

// Seat the words of every topic of long documents; `slot` is where the sizes of its tables go.
KERNEL(seat_long)(i64 n, u64 key, i64 columns, const i32* number, const i32* listed, const i64* slot,
                  const double* mass, const double* survival, i64 known, i32* scratch, u64* words_c,
                  u64* tables_c, u64* sizes, i32* tables) {
    FOR_EACH(item, n) {
        i64 d = item / columns, c = item % columns;
        i32 words = listed[item];
        tables[item] = 0;
        if (words == 0) continue;
        Seating it;
        i32* own = scratch + slot[item];
        if (begin_seating(it, key, (u32)number[d], (u32)c, words, survival, (i32)known, mass, own, 1)) {
            while (it.seated < words) seat_next(it);
        } else {
            own[0] = words;
        }
        for (i32 t = 0; t < it.tables; t++) ADD(sizes + own[t], (u64)1);
        ADD(words_c + c, (u64)words);
        ADD(tables_c + c, (u64)it.tables);
        tables[item] = it.tables;
    }
}

// Write out the seating; the tables of a topic are numbered from `first_table` on.
KERNEL(seat_long_words)(i64 n, u64 key, i64 columns, const i64* base, const i32* length, const i32* number,
                        const i32* listed, const i64* slot, const i32* first_table, const double* mass,
                        const double* survival, i64 known, i32* scratch, const u16* z, i32* t_ji, u16* k_jt,
                        i32* n_jt) {
    FOR_EACH(item, n) {
        i64 d = item / columns, c = item % columns;
        i32 words = listed[item], first = first_table[item];
        if (words == 0) continue;
        Seating it;
        i32* own = scratch + slot[item];
        bool several = begin_seating(it, key, (u32)number[d], (u32)c, words, survival, (i32)known, mass, own, 1);
        if (!several) own[0] = words;
        i32 left = words;
        for (i64 i = base[d]; left > 0 && i < base[d] + length[d]; i++) {
            if (z[i] != (u16)c) continue;
            t_ji[i] = first + (several ? seat_next(it) : 0);
            left--;
        }
        for (i32 t = 0; t < it.tables; t++) {
            k_jt[base[d] + first + t] = (u16)c;
            n_jt[base[d] + first + t] = own[t];
        }
    }
}
