// The pass over documents given G_0 (`moves.documents`): one thread updates the words of one document.
//
// 32 documents of similar length lie side by side: word i of each is next to word i of its neighbours. The
// topics of a document are listed with their numbers of words, in the places of its first words. During an
// update, the first of them are in fast memory.

#ifdef __CUDACC__
extern __shared__ double fast_memory[];  // sums and entries of the lists of a block, then sizes of tables
#else
static thread_local double fast_memory[2 * NEAR + FEW];
#endif
#define SUM(s) fast_memory[(s) * LANES + LANE]
#define ENTRY(s) ((u32*)(fast_memory + NEAR * LANES))[(s) * LANES + LANE]
#define FEW_SIZES ((u32*)(fast_memory + NEAR * LANES) + NEAR * LANES)

// An entry packs a column and a number of words.
INLINE u32 column_in(u32 entry) { return entry >> 16; }
INLINE u32 words_in(u32 entry) { return entry & 0xFFFFu; }

INLINE u32 entry_at(const u32* listed, i32 s) { return s < NEAR ? ENTRY(s) : listed[(i64)s * SIDE_BY_SIDE]; }

INLINE void set_entry(u32* listed, i32 s, u32 entry) {
    if (s < NEAR) ENTRY(s) = entry;
    else listed[(i64)s * SIDE_BY_SIDE] = entry;
}

// Return the place of a column in the list, n_here if it is not listed.
INLINE i32 place_of(const u32* listed, i32 n_here, u32 column) {
    i32 place = n_here;
    for (i32 s = n_here - 1; s >= 0; s--) {
        if (column_in(entry_at(listed, s)) == column) place = s;
    }
    return place;
}

// Count a word; return the new number of listed topics.
INLINE i32 add_word(u32* listed, i32 n_here, u32 column) {
    i32 s = place_of(listed, n_here, column);
    set_entry(listed, s, s == n_here ? (column << 16) + 1 : entry_at(listed, s) + 1);
    return s == n_here ? n_here + 1 : n_here;
}

// The words of a topic times phi. The current word, whose column is `but`, does not count.
INLINE double part_of(u32 entry, u32 but, float share) {
    return (double)(i32)(words_in(entry) - (column_in(entry) == but ? 1u : 0u)) * (double)share;
}

struct Found {
    double sum;
    i32 place;  // of the current word's column
};

// Add up n phi of the listed topics; keep the cumulated sums.
INLINE Found own_sums(const u32* listed, i32 n_here, const float* row, u32 but) {
    Found found;
    found.sum = 0.0;
    found.place = 0;
    i32 near = n_here < NEAR ? n_here : NEAR, s = 0;
    for (; s + 4 <= near; s += 4) {  // four at once, so that no addition waits for its load
        u32 e0 = ENTRY(s), e1 = ENTRY(s + 1), e2 = ENTRY(s + 2), e3 = ENTRY(s + 3);
        float f0 = READ(row + column_in(e0)), f1 = READ(row + column_in(e1));
        float f2 = READ(row + column_in(e2)), f3 = READ(row + column_in(e3));
        found.sum += part_of(e0, but, f0);
        SUM(s) = found.sum;
        found.sum += part_of(e1, but, f1);
        SUM(s + 1) = found.sum;
        found.sum += part_of(e2, but, f2);
        SUM(s + 2) = found.sum;
        found.sum += part_of(e3, but, f3);
        SUM(s + 3) = found.sum;
        if (column_in(e0) == but) found.place = s;
        if (column_in(e1) == but) found.place = s + 1;
        if (column_in(e2) == but) found.place = s + 2;
        if (column_in(e3) == but) found.place = s + 3;
    }
    for (; s < n_here; s++) {
        u32 e = entry_at(listed, s);
        found.sum += part_of(e, but, READ(row + column_in(e)));
        if (s < NEAR) SUM(s) = found.sum;
        if (column_in(e) == but) found.place = s;
    }
    return found;
}

// Return the place in the list where the cumulated sum exceeds u, which is below the total.
INLINE i32 own_place(const u32* listed, i32 n_here, const float* row, u32 but, double u) {
    i32 near = n_here < NEAR ? n_here : NEAR, place = 0;
    for (i32 s = 0; s < near; s++) place += SUM(s) <= u;
    if (place < NEAR) return place;
    double sum = SUM(NEAR - 1);
    for (; place < n_here; place++) {
        u32 e = listed[(i64)place * SIDE_BY_SIDE];
        sum += part_of(e, but, READ(row + column_in(e)));
        if (sum > u) return place;
    }
    return n_here - 1;
}

// Return the column where the cumulated alpha beta phi exceeds u, never one that adds nothing.
INLINE u32 column_at(const float* row, const double* rest, i32 chunks, i32 moving, const double* mass, double u) {
    double last = rest[chunks - 1];
    bool past = u >= last;  // by rounding: then take the last column that adds something
    i32 low = 0, high = chunks - 1;
    while (low < high) {
        i32 middle = (low + high) / 2;
        if (past ? rest[middle] >= last : rest[middle] > u) high = middle;
        else low = middle + 1;
    }
    double before = low > 0 ? rest[low - 1] : 0.0, sum = 0.0;
    i32 begin = low * CHUNK, end = begin + CHUNK < moving ? begin + CHUNK : moving;
    float shares[CHUNK];  // all at once, so that no addition waits for its load
    for (i32 i = 0; i < CHUNK; i++) shares[i] = begin + i < end ? READ(row + begin + i) : 0.0f;
    u32 drawn = (u32)end;
    for (i32 i = 0; i < CHUNK; i++) {
        if (begin + i < end) sum += READ(mass + begin + i) * (double)shares[i];
        bool is_above = past ? before + sum >= last : before + sum > u;
        if (is_above && begin + i < (i32)drawn) drawn = (u32)(begin + i);
    }
    return drawn < (u32)end ? drawn : (u32)(end - 1);
}

// What a pass reads of G_0, and the counts that it changes.
struct Given {
    const float* phi;
    const double* rest;
    const double* mass;
    const u16* column_of;
    i32* counts;
    i64 stride;
    i32 chunks, moving;
};

// Draw the column of every word of a document that may move; return the new number of listed topics.
INLINE i32 draw_words(const Given& given, u32* listed, i32 n_here, u64 key, u32 document, u32 pass, i32 length,
                      const i32* x, u16* z) {
    Pair pair;
    pair.a = pair.b = 0.0;
    i32 v = x[0];
    u16 stored = z[0];
    for (i32 i = 0; i < length; i++) {
        i64 ahead = (i64)(i + 1 < length ? i + 1 : i) * SIDE_BY_SIDE;
        i32 v_ahead = x[ahead];
        u16 stored_ahead = z[ahead];
        if (i % 2 == 0) pair = uniforms(key, document, (u32)(i / 2), pass, 0);
        u32 column = pass == 0 ? READ(given.column_of + stored) : stored, drawn = column;
        if (column < (u32)given.moving) {
            const float* row = given.phi + (i64)v * given.stride;
            const double* rest = given.rest + (i64)v * given.chunks;
            Found own = own_sums(listed, n_here, row, column);
            double u = (i % 2 == 0 ? pair.a : pair.b) * (own.sum + READ(rest + given.chunks - 1));
            i32 s = -1;
            if (u < own.sum) {
                s = own_place(listed, n_here, row, column, u);
                drawn = column_in(entry_at(listed, s));
            } else {
                drawn = column_at(row, rest, given.chunks, given.moving, given.mass, u - own.sum);
            }
            if (drawn != column) {
                // First remove the word, then add it: a document has no room for more topics than words.
                u32 left = entry_at(listed, own.place) - 1;
                if (words_in(left) == 0) {  // the last entry takes its place
                    left = entry_at(listed, --n_here);
                    if (s == n_here) s = own.place;
                }
                set_entry(listed, own.place, left);
                if (s < 0) n_here = add_word(listed, n_here, drawn);
                else set_entry(listed, s, entry_at(listed, s) + 1);
                ADD(given.counts + (i64)v * given.stride + column, -1);
                ADD(given.counts + (i64)v * given.stride + drawn, 1);
            }
        }
        if (drawn != stored) z[(i64)i * SIDE_BY_SIDE] = (u16)drawn;
        v = v_ahead;
        stored = stored_ahead;
    }
    return n_here;
}

// The counts of a pass: words and tables of columns, tables of sizes.
struct Tally {
    u64* words;
    u64* tables;
    u64* sizes;
};

INLINE void count_size(const Tally& tally, i32 size) {
    if (size < FEW) ADD(FEW_SIZES + size, 1u);
    else ADD(tally.sizes + size, (u64)1);
}

INLINE void clear_few_sizes() {
    for (i32 size = LANE; size < FEW; size += LANES) FEW_SIZES[size] = 0;
    WAIT_FOR_ALL;
}

INLINE void count_few_sizes(const Tally& tally) {
    WAIT_FOR_ALL;
    for (i32 size = LANE; size < FEW; size += LANES) {
        if (FEW_SIZES[size] > 0) ADD(tally.sizes + size, (u64)FEW_SIZES[size]);
    }
}

// List the topics of documents with ranks `first` to `first + n`.
KERNEL(list_documents)(i64 n, i64 first, const i64* base, const i32* length, const u16* z, u32* listed,
                       i32* n_listed) {
    FOR_EACH(item, n) {
        i64 rank = first + item;
        u32* own = listed + base[rank];
        i32 n_here = 0;
        for (i32 i = 0; i < length[rank]; i++) {
            n_here = add_word(own, n_here, z[base[rank] + (i64)i * SIDE_BY_SIDE]);
        }
        for (i32 s = 0; s < n_here && s < NEAR; s++) own[(i64)s * SIDE_BY_SIDE] = ENTRY(s);
        n_listed[rank] = n_here;
    }
}

// Update topics and tables of documents with ranks `first` to `first + n`.
//
// `column_of` has the present column of each stored topic. Topics with several tables go into a queue: they are
// few, but take much more work, so neighbouring threads would have to wait for them.
KERNEL(update_documents)(i64 n, i64 first, u64 word_key, u64 seat_key, i64 passes, const i64* base,
                         const i32* length, const i32* number, const i32* x, u16* z, u32* listed,
                         i32* n_listed, const u16* column_of, i64 moving, const float* phi, i64 stride,
                         const double* rest, i64 chunks, const double* mass, const double* survival, i64 known,
                         i32* counts, u64* words, u64* tables, u64* sizes, u64* queue, u32* n_queue) {
    Given given = {phi, rest, mass, column_of, counts, stride, (i32)chunks, (i32)moving};
    Tally tally = {words, tables, sizes};
    clear_few_sizes();
    FOR_EACH(item, n) {
        i64 rank = first + item;
        u32 document = (u32)number[rank];
        u32* own = listed + base[rank];
        i32 n_here = n_listed[rank];
        for (i32 n_sorted = 0; n_sorted < n_here; n_sorted++) {  // in an order that does not depend on the past
            u32 e = own[(i64)n_sorted * SIDE_BY_SIDE];
            e = (u32)column_of[column_in(e)] << 16 | words_in(e);
            i32 s = n_sorted;
            for (; s > 0 && entry_at(own, s - 1) > e; s--) set_entry(own, s, entry_at(own, s - 1));
            set_entry(own, s, e);
        }
        for (i64 pass = 0; pass < passes; pass++) {
            n_here = draw_words(given, own, n_here, word_key, document, (u32)pass, length[rank],
                                x + base[rank], z + base[rank]);
        }
        for (i32 s = 0; s < n_here; s++) {
            u32 e = entry_at(own, s), column = column_in(e);
            i32 n_words = (i32)words_in(e);
            if (s < NEAR) own[(i64)s * SIDE_BY_SIDE] = e;
            ADD(words + column, (u64)n_words);
            if (sit_together(seat_key, document, column, n_words, survival, (i32)known, mass)) {
                ADD(tables + column, (u64)1);
                count_size(tally, n_words);
            } else {
                queue[ADD(n_queue, 1u)] = (u64)rank << 32 | e;
            }
        }
        n_listed[rank] = n_here;
    }
    count_few_sizes(tally);
}

// Seat the topics in the queue; `scratch` has room for the sizes of their tables, for every thread.
KERNEL(seat_queue)(i64 n, const u64* queue, const u32* n_queue, u64 seat_key, const i32* number,
                   const double* survival, i64 known, const double* mass, i32* scratch, u64* words, u64* tables,
                   u64* sizes) {
    Tally tally = {words, tables, sizes};
    clear_few_sizes();
    i32* own = scratch + THREAD;
    FOR_EACH(item, (i64)*n_queue) {
        u32 e = (u32)queue[item], column = column_in(e), document = (u32)number[queue[item] >> 32];
        Seating it;
        begin_seating(it, seat_key, document, column, (i32)words_in(e), survival, (i32)known, mass, own, THREADS);
        own[0] = it.seated = it.next;  // all seated words sit at the first table
        while (it.seated < it.n) seat_next(it);
        ADD(tables + column, (u64)it.tables);
        for (i32 t = 0; t < it.tables; t++) count_size(tally, own[t * THREADS]);
    }
    count_few_sizes(tally);
}

// Write out the seating of documents with ranks `first` to `first + n`.
KERNEL(seat_documents)(i64 n, i64 first, u64 seat_key, const i64* base, const i32* length, const i32* number,
                       const u16* z, u32* listed, const i32* n_listed, const double* mass,
                       const double* survival, i64 known, i32* t_ji, u16* k_jt, i32* n_jt, i32* m_j) {
    FOR_EACH(item, n) {
        i64 rank = first + item, at = base[rank];
        i32 own_length = length[rank], n_here = n_listed[rank], tables = 0;
        for (i32 n_sorted = 1; n_sorted < n_here; n_sorted++) {  // in whatever order they were listed
            u32 e = listed[at + (i64)n_sorted * SIDE_BY_SIDE];
            i32 s = n_sorted;
            for (; s > 0 && listed[at + (i64)(s - 1) * SIDE_BY_SIDE] > e; s--) {
                listed[at + (i64)s * SIDE_BY_SIDE] = listed[at + (i64)(s - 1) * SIDE_BY_SIDE];
            }
            listed[at + (i64)s * SIDE_BY_SIDE] = e;
        }
        for (i32 s = 0; s < n_here; s++) {
            u32 e = listed[at + (i64)s * SIDE_BY_SIDE], column = column_in(e);
            i64 slot = at + (i64)tables * SIDE_BY_SIDE;
            Seating it;
            bool several = begin_seating(it, seat_key, (u32)number[rank], column, (i32)words_in(e), survival,
                                         (i32)known, mass, n_jt + slot, SIDE_BY_SIDE);
            i32 left = it.n;
            for (i32 i = 0; left > 0 && i < own_length; i++) {
                i64 place = at + (i64)i * SIDE_BY_SIDE;
                if (z[place] != column) continue;
                t_ji[place] = tables + (several ? seat_next(it) : 0);
                left--;
            }
            if (!several) n_jt[slot] = it.n;
            for (i32 t = 0; t < it.tables; t++) k_jt[slot + (i64)t * SIDE_BY_SIDE] = (u16)column;
            tables += it.tables;
        }
        m_j[rank] = tables;
    }
}
