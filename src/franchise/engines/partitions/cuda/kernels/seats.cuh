// Seat the words of one topic in one document again (`moves.shared.seats`), each topic with its own numbers.
//
// So the sizes of tables depend neither on the order of topics nor on whether the seating is written out.

#define TOO_SMALL 1e-250  // below it, S(n) / S(a) cannot be computed from the table

// Return the number of words seated before the next one that opens a table; n if none of the n does.
INLINE i32 before_next(const double* survival, i32 known, double mass, i32 seated, i32 n, double u) {
    double value = 1.0;
    i32 at = seated;
    if (seated <= known && survival[seated] >= TOO_SMALL) {
        u *= survival[seated];
        i32 low = seated + 1, high = n < known ? n : known;
        if (low <= high && survival[high] < u) {
            while (low < high) {
                i32 middle = (low + high) / 2;
                if (survival[middle] < u) high = middle;
                else low = middle + 1;
            }
            return low - 1;
        }
        value = survival[known];
        at = known;
    }
    for (; at < n; at++) {
        value *= (double)at / (mass + (double)at);
        if (value < u) return at;
    }
    return n;
}

// Return whether all n words of a topic in a document sit at one table.
INLINE bool sit_together(u64 key, u32 document, u32 column, i32 n, const double* survival, i32 known,
                         const double* mass) {
    if (n == 1) return true;
    double u = uniforms(key, document, column, 0, 0).a;
    if (n <= known) return survival[(i64)column * (known + 1) + n] >= u;
    return before_next(survival + (i64)column * (known + 1), known, mass[column], 1, n, u) >= n;
}

struct Seating {
    u64 key;
    u32 document, column;
    const double* survival;
    i32 known;
    double mass;
    i32 n, seated, next, tables;
    i32* sizes;
    i64 step;
};

// Begin to seat n words; return whether they have several tables. Sizes go to sizes[0], sizes[step], ...
INLINE bool begin_seating(Seating& it, u64 key, u32 document, u32 column, i32 n, const double* survival,
                          i32 known, const double* mass, i32* sizes, i64 step) {
    it.key = key;
    it.document = document;
    it.column = column;
    it.survival = survival + (i64)column * (known + 1);
    it.known = known;
    it.mass = mass[column];
    it.n = n;
    it.seated = 0;
    it.tables = 1;
    it.sizes = sizes;
    it.step = step;
    it.next = n;
    if (n == 1) return false;
    it.next = before_next(it.survival, known, it.mass, 1, n, uniforms(key, document, column, 0, 0).a);
    if (it.next < n) sizes[0] = 0;
    return it.next < n;
}

// Seat the next word; return its table.
INLINE i32 seat_next(Seating& it) {
    i32 q = it.seated++, t = 0;
    if (q == it.next) {
        t = it.tables++;
        it.sizes[t * it.step] = 0;
        double u = uniforms(it.key, it.document, it.column, (u32)q, 0).a;
        it.next = before_next(it.survival, it.known, it.mass, q + 1, it.n, u);
    } else if (it.tables > 1) {  // the table of an earlier word, each with the same probability
        Pair pair = uniforms(it.key, it.document, it.column, (u32)(q / 2), 1);
        i32 one = (i32)((q % 2 == 0 ? pair.a : pair.b) * (double)q);
        t = it.tables - 1;
        while (one >= it.sizes[t * it.step]) {
            one -= it.sizes[t * it.step];
            t--;
        }
    }
    it.sizes[t * it.step] += 1;
    return t;
}
