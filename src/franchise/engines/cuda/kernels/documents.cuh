// The pass over documents given G_0 (`moves.documents`): one thread goes through the words of a document.
//
// 32 documents of about one length lie side by side: word i of each is next to those of its neighbours.


// The topics of a document and how many words each has.
struct List {
    u32* near;
    float* shares;  // phi of the word at hand
    u32* far;
    i64 near_step, far_step;
};

INLINE u32 entry(const List& list, i32 s) {
    return s < NEAR ? list.near[s * list.near_step] : list.far[(s - NEAR) * list.far_step];
}

INLINE void set_entry(const List& list, i32 s, u32 value) {
    if (s < NEAR) list.near[s * list.near_step] = value;
    else list.far[(s - NEAR) * list.far_step] = value;
}

// Return where a column is listed, n_here if it is not.
INLINE i32 place_of(const List& list, i32 n_here, u32 column) {
    i32 s = 0;
    while (s < n_here && entry(list, s) >> 16 != column) s++;
    return s;
}

// Count a word; return how many topics are listed now.
INLINE i32 add_word(const List& list, i32 n_here, u32 column) {
    i32 s = place_of(list, n_here, column);
    if (s == n_here) {
        set_entry(list, s, column << 16);
        n_here++;
    }
    set_entry(list, s, entry(list, s) + 1);
    return n_here;
}

INLINE double words_of(u32 listed, u32 but) {
    return (double)(i32)((listed & 0xFFFFu) - (listed >> 16 == but ? 1u : 0u));
}

// Add up n phi of the topics listed, without one word of the column `but`.
INLINE double own_sum(const List& list, i32 n_here, const float* row, u32 but) {
    double sum = 0.0;
    i32 s = 0;
    for (; s + 4 <= n_here && s + 4 <= NEAR; s += 4) {  // four at once, so as not to wait for each
        u32 e0 = list.near[s * list.near_step], e1 = list.near[(s + 1) * list.near_step];
        u32 e2 = list.near[(s + 2) * list.near_step], e3 = list.near[(s + 3) * list.near_step];
        float f0 = READ(row + (e0 >> 16)), f1 = READ(row + (e1 >> 16));
        float f2 = READ(row + (e2 >> 16)), f3 = READ(row + (e3 >> 16));
        list.shares[s * list.near_step] = f0;
        list.shares[(s + 1) * list.near_step] = f1;
        list.shares[(s + 2) * list.near_step] = f2;
        list.shares[(s + 3) * list.near_step] = f3;
        sum += words_of(e0, but) * (double)f0;
        sum += words_of(e1, but) * (double)f1;
        sum += words_of(e2, but) * (double)f2;
        sum += words_of(e3, but) * (double)f3;
    }
    for (; s < n_here; s++) {
        u32 e = entry(list, s);
        float f = READ(row + (e >> 16));
        if (s < NEAR) list.shares[s * list.near_step] = f;
        sum += words_of(e, but) * (double)f;
    }
    return sum;
}

// Return the place in the list at which that sum gets above u.
INLINE i32 own_place(const List& list, i32 n_here, const float* row, u32 but, double u) {
    double sum = 0.0;
    for (i32 s = 0; s < n_here; s++) {
        u32 e = entry(list, s);
        float f = s < NEAR ? list.shares[s * list.near_step] : READ(row + (e >> 16));
        sum += words_of(e, but) * (double)f;
        if (sum > u) return s;
    }
    return n_here - 1;
}

// Return the column at which the sum of alpha beta phi gets above u, never one that adds nothing.
INLINE u32 column_at(const float* row, const double* rest, i32 chunks, i32 moving, const double* mass, double u) {
    double last = rest[chunks - 1];
    bool past = u >= last;  // by rounding: then the last that adds something
    i32 low = 0, high = chunks - 1;
    while (low < high) {
        i32 middle = (low + high) / 2;
        if (past ? rest[middle] >= last : rest[middle] > u) high = middle;
        else low = middle + 1;
    }
    double before = low > 0 ? rest[low - 1] : 0.0, sum = 0.0;
    i32 end = (low + 1) * CHUNK < moving ? (low + 1) * CHUNK : moving;
    for (i32 c = low * CHUNK; c < end; c++) {
        sum += mass[c] * (double)READ(row + c);
        if (past ? before + sum >= last : before + sum > u) return (u32)c;
    }
    return (u32)(end - 1);
}

// What a pass needs to know of G_0 and where it counts.
struct Given {
    const float* phi;
    const double* rest;
    const double* mass;
    i32* counts;
    i64 stride;
    i32 chunks, moving;
};

// Move a word from one column to another.
INLINE void recount(const Given& given, i64 v, u32 from, u32 to) {
    ADD(given.counts + v * given.stride + from, -1);
    ADD(given.counts + v * given.stride + to, 1);
}

// Draw the column of every word of a document that may move; return how many topics are listed now.
INLINE i32 draw_words(const Given& given, const List& list, i32 n_here, u64 key, u32 document, u32 pass,
                      i32 length, const i32* x, u16* z) {
    Pair pair;
    pair.a = pair.b = 0.0;
    i32 v = x[0];
    u32 column = z[0];
    for (i32 i = 0; i < length; i++) {
        i64 ahead = (i64)(i + 1 < length ? i + 1 : i) * SIDE_BY_SIDE;
        i32 v_ahead = x[ahead];
        u32 column_ahead = z[ahead];
        if (i % 2 == 0) pair = uniforms(key, document, (u32)(i / 2), pass, 0);
        if (column < (u32)given.moving) {
            const float* row = given.phi + (i64)v * given.stride;
            const double* rest = given.rest + (i64)v * given.chunks;
            double own = own_sum(list, n_here, row, column);
            double u = (i % 2 == 0 ? pair.a : pair.b) * (own + READ(rest + given.chunks - 1));
            i32 s;
            u32 drawn;
            if (u < own) {
                s = own_place(list, n_here, row, column, u);
                drawn = entry(list, s) >> 16;
            } else {
                drawn = column_at(row, rest, given.chunks, given.moving, given.mass, u - own);
                s = -1;
            }
            if (drawn != column) {
                if (s < 0) n_here = add_word(list, n_here, drawn);
                else set_entry(list, s, entry(list, s) + 1);
                i32 old = place_of(list, n_here, column);
                u32 left = entry(list, old) - 1;
                if ((left & 0xFFFFu) == 0) left = entry(list, --n_here);  // the last one takes its place
                set_entry(list, old, left);
                recount(given, v, column, drawn);
                z[(i64)i * SIDE_BY_SIDE] = (u16)drawn;
            }
        }
        v = v_ahead;
        column = column_ahead;
    }
    return n_here;
}

INLINE void count_size(u32* few, u64* sizes, i32 size) {
    if (size < FEW) ADD(few + size, 1u);
    else ADD(sizes + size, (u64)1);
}

// Seat the words of the topics listed; count words, tables and sizes.
INLINE void seat_listed(const List& list, i32 n_here, u64 key, u32 document, const double* survival, i32 known,
                        const double* mass, i32* scratch, i64 step, u64* words_c, u64* tables_c, u32* few,
                        u64* sizes) {
    for (i32 s = 0; s < n_here; s++) {
        u32 e = entry(list, s), column = e >> 16;
        i32 n = (i32)(e & 0xFFFFu);
        Seating it;
        if (begin_seating(it, key, document, column, n, survival, known, mass, scratch, step)) {
            while (it.seated < n) seat_next(it);
            for (i32 t = 0; t < it.tables; t++) count_size(few, sizes, scratch[t * step]);
        } else {
            count_size(few, sizes, n);
        }
        ADD(words_c + column, (u64)n);
        ADD(tables_c + column, (u64)it.tables);
    }
}

#ifdef __CUDACC__
SHARED u32 fast_memory[];  // entries and shares of the lists of a block, then sizes
#else
static u32 fast_memory[2 * NEAR + FEW];
#endif

// The list of this thread; `far` has room for `room` entries of each thread.
INLINE List list_here(u32* far) {
    List list;
    list.near = fast_memory + LANE;
    list.near_step = LANES;
    list.shares = (float*)(fast_memory + NEAR * LANES) + LANE;
    list.far = far + THREAD;
    list.far_step = THREADS;
    return list;
}

// Draw topics and tables of documents `first` to `first + n`, by rank.
//
// `column_of` says which column a stored topic has now. `scratch` has 2 x `room` numbers for every thread.
KERNEL(update_documents)(i64 n, i64 first, u64 word_key, u64 seat_key, i64 passes, const i64* base,
                         const i32* length, const i32* number, const i32* x, u16* z, const u16* column_of,
                         i64 moving, const float* phi, i64 stride, const double* rest, i64 chunks,
                         const double* mass, const double* survival, i64 known, i32* counts, u32* scratch,
                         i64 room, u64* words_c, u64* tables_c, u64* sizes) {
    u32* few = fast_memory + 2 * NEAR * LANES;
    for (i32 size = LANE; size < FEW; size += LANES) few[size] = 0;
    WAIT_FOR_ALL;
    Given given;
    given.phi = phi;
    given.rest = rest;
    given.mass = mass;
    given.counts = counts;
    given.stride = stride;
    given.chunks = (i32)chunks;
    given.moving = (i32)moving;
    List list = list_here(scratch);
    FOR_EACH(item, n) {
        i64 rank = first + item;
        i32 own_length = length[rank];
        const i32* own_x = x + base[rank];
        u16* own_z = z + base[rank];
        i32 n_here = 0, resting = 0;
        for (i32 i = 0; i < own_length; i++) {
            u16 column = column_of[own_z[(i64)i * SIDE_BY_SIDE]];
            own_z[(i64)i * SIDE_BY_SIDE] = column;
            if (column < moving) n_here = add_word(list, n_here, column);
            else resting++;
        }
        u32 document = (u32)number[rank];
        for (i64 pass = 0; pass < passes; pass++) {
            n_here = draw_words(given, list, n_here, word_key, document, (u32)pass, own_length, own_x, own_z);
        }
        for (i32 i = 0; resting > 0 && i < own_length; i++) {
            u16 column = own_z[(i64)i * SIDE_BY_SIDE];
            if (column >= moving) n_here = add_word(list, n_here, column);
        }
        seat_listed(list, n_here, seat_key, document, survival, (i32)known, mass,
                    (i32*)scratch + room * THREADS + THREAD, THREADS, words_c, tables_c, few, sizes);
    }
    WAIT_FOR_ALL;
    for (i32 size = LANE; size < FEW; size += LANES) {
        if (few[size] > 0) ADD(sizes + size, (u64)few[size]);
    }
}

// Write down who sits where in documents `first` to `first + n`, by rank, as `update_documents` has seated them.
KERNEL(seat_documents)(i64 n, i64 first, u64 seat_key, const i64* base, const i32* length, const i32* number,
                       const u16* z, const double* mass, const double* survival, i64 known, u32* scratch,
                       i32* t_ji, u16* k_jt, i32* n_jt, i32* m_j) {
    List list = list_here(scratch);
    FOR_EACH(item, n) {
        i64 rank = first + item, at = base[rank];
        i32 own_length = length[rank], n_here = 0, tables = 0;
        for (i32 i = 0; i < own_length; i++) n_here = add_word(list, n_here, z[at + (i64)i * SIDE_BY_SIDE]);
        for (i32 s = 0; s < n_here; s++) {
            u32 e = entry(list, s), column = e >> 16;
            i32 words = (i32)(e & 0xFFFFu);
            i64 slot = at + (i64)tables * SIDE_BY_SIDE;
            Seating it;
            if (begin_seating(it, seat_key, (u32)number[rank], column, words, survival, (i32)known, mass,
                              n_jt + slot, SIDE_BY_SIDE)) {
                for (i32 i = 0; it.seated < words; i++) {
                    i64 place = at + (i64)i * SIDE_BY_SIDE;
                    if (z[place] == column) t_ji[place] = tables + seat_next(it);
                }
                set_entry(list, s, column << 16 | 0xFFFFu);
            } else {
                n_jt[slot] = words;
                set_entry(list, s, column << 16 | (u32)tables);
            }
            for (i32 t = 0; t < it.tables; t++) k_jt[slot + (i64)t * SIDE_BY_SIDE] = (u16)column;
            tables += it.tables;
        }
        for (i32 i = 0; i < own_length; i++) {
            i64 place = at + (i64)i * SIDE_BY_SIDE;
            u32 e = entry(list, place_of(list, n_here, z[place]));
            if ((e & 0xFFFFu) != 0xFFFFu) t_ji[place] = (i32)(e & 0xFFFFu);
        }
        m_j[rank] = tables;
    }
}
