// Documents for the coordinator: some with their seating, all tables of a topic, all topics of documents.
//
// Documents with ranks below `regular` lie side by side, longer ones each on its own. A table is stored in the
// place of the word with the same number in its document.

INLINE i64 step_of(i64 rank, i64 regular) { return rank < regular ? SIDE_BY_SIDE : 1; }

// Lay out documents from the order of the corpus; `from` is where each begins there.
KERNEL(lay_out)(i64 n, i64 regular, const i64* base, const i32* length, const i64* from, const i32* x_from,
                const u16* z_from, i32* x, u16* z) {
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        for (i32 i = 0; i < length[rank]; i++) {
            x[base[rank] + i * step] = x_from[from[rank] + i];
            z[base[rank] + i * step] = z_from[from[rank] + i];
        }
    }
}

KERNEL(count_words)(i64 n, i64 regular, const i64* base, const i32* length, const i32* x, const u16* z,
                    i32* counts, i64 stride) {
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        for (i32 i = 0; i < length[rank]; i++) {
            i64 at = base[rank] + i * step;
            ADD(counts + x[at] * stride + z[at], 1);
        }
    }
}

// Count the topics of every term; `stored` has the column of each topic.
KERNEL(count_pairs)(i64 n, const i32* counts, i64 stride, const i64* stored, i64 n_topics, i32* lengths) {
    FOR_EACH(v, n) {
        i32 length = 0;
        for (i64 k = 0; k < n_topics; k++) length += counts[v * stride + stored[k]] > 0;
        lengths[v] = length;
    }
}

// List the topics of every term, with their words; `to` is where the list of a term begins.
KERNEL(list_pairs)(i64 n, const i32* counts, i64 stride, const i64* stored, i64 n_topics, const i64* to,
                   i32* topics, i32* words) {
    FOR_EACH(v, n) {
        i64 place = to[v];
        for (i64 k = 0; k < n_topics; k++) {
            i32 count = counts[v * stride + stored[k]];
            if (count == 0) continue;
            topics[place] = (i32)k;
            words[place++] = count;
        }
    }
}

// Replace stored topics by other numbers.
KERNEL(renumber)(i64 n, const u16* number_of, u16* topics) {
    FOR_EACH(i, n) topics[i] = number_of[topics[i]];
}

// Copy documents, by rank, to the order of the corpus; `to` is where each begins there.
KERNEL(gather_documents)(i64 n, const i64* ranks, i64 regular, const i64* base, const i32* length, const i64* to,
                         const i32* x, const i32* t_ji, const u16* k_jt, const i32* n_jt, const i32* m_j,
                         i32* x_to, i32* t_to, i32* k_to, i32* n_to) {
    FOR_EACH(item, n) {
        i64 rank = ranks[item], step = step_of(rank, regular);
        for (i32 i = 0; i < length[rank]; i++) {
            i64 at = base[rank] + i * step, place = to[item] + i;
            bool is_table = i < m_j[rank];
            x_to[place] = x[at];
            t_to[place] = t_ji[at];
            k_to[place] = is_table ? k_jt[at] : 0;
            n_to[place] = is_table ? n_jt[at] : 0;
        }
    }
}

// Take documents back with another seating.
KERNEL(put_documents)(i64 n, const i64* ranks, i64 regular, const i64* base, const i32* length, const i64* from,
                      const i32* t_from, const i32* k_from, const i32* n_from, const i32* m_from, const i32* x,
                      i32* t_ji, u16* k_jt, i32* n_jt, i32* m_j, u16* z, i32* counts, i64 stride) {
    FOR_EACH(item, n) {
        i64 rank = ranks[item], step = step_of(rank, regular);
        m_j[rank] = m_from[item];
        for (i32 i = 0; i < length[rank]; i++) {
            i64 at = base[rank] + i * step, place = from[item] + i;
            t_ji[at] = t_from[place];
            k_jt[at] = (u16)k_from[place];
            n_jt[at] = n_from[place];
            u16 topic = (u16)k_from[from[item] + t_from[place]];
            if (topic == z[at]) continue;
            ADD(counts + x[at] * stride + z[at], -1);
            ADD(counts + x[at] * stride + topic, 1);
            z[at] = topic;
        }
    }
}

// Count the tables and the words of a topic in every document, in the order of `ranks`.
KERNEL(count_tables)(i64 n, const i64* ranks, i64 topic, i64 regular, const i64* base, const u16* k_jt,
                     const i32* n_jt, const i32* m_j, i32* tables, i64* words) {
    FOR_EACH(item, n) {
        i64 rank = ranks[item], step = step_of(rank, regular);
        i32 n_tables = 0;
        i64 n_words = 0;
        for (i32 t = 0; t < m_j[rank]; t++) {
            i64 at = base[rank] + t * step;
            if (k_jt[at] == topic) {
                n_tables++;
                n_words += n_jt[at];
            }
        }
        tables[item] = n_tables;
        words[item] = n_words;
    }
}

// List these tables and their words; `table_at` and `word_at` are where those of a document begin.
KERNEL(list_tables)(i64 n, const i64* ranks, i64 topic, i64 regular, const i64* base, const i32* length,
                    const i64* first_word, const i32* x, const i32* t_ji, const u16* k_jt, const i32* n_jt,
                    const i32* m_j, const i32* tables, const i64* table_at, const i64* word_at, i64* slots,
                    i32* sizes, i32* words) {
    FOR_EACH(item, n) {
        if (tables[item] == 0) continue;
        i64 rank = ranks[item], step = step_of(rank, regular), place = table_at[item], word = word_at[item];
        for (i32 t = 0; t < m_j[rank]; t++) {
            if (k_jt[base[rank] + t * step] != topic) continue;
            i32 size = n_jt[base[rank] + t * step];
            slots[place] = first_word[item] + t;
            sizes[place++] = size;
            for (i32 i = 0; size > 0 && i < length[rank]; i++) {
                if (t_ji[base[rank] + i * step] != t) continue;
                words[word++] = x[base[rank] + i * step];
                size--;
            }
        }
    }
}

// Give tables to a topic; `table` is the number of each in its document.
KERNEL(relabel)(i64 n, const i64* ranks, const i32* table, i64 topic, i64 regular, const i64* base,
                const i32* length, const i32* x, const i32* t_ji, u16* k_jt, u16* z, i32* counts, i64 stride) {
    FOR_EACH(item, n) {
        i64 rank = ranks[item], step = step_of(rank, regular);
        i64 at = base[rank] + table[item] * step;
        u16 before = k_jt[at];
        k_jt[at] = (u16)topic;
        for (i32 i = 0; i < length[rank]; i++) {
            at = base[rank] + i * step;
            if (t_ji[at] != table[item]) continue;
            z[at] = (u16)topic;
            ADD(counts + x[at] * stride + before, -1);
            ADD(counts + x[at] * stride + topic, 1);
        }
    }
}

// Count the tables of each size.
KERNEL(count_sizes)(i64 n, i64 regular, const i64* base, const i32* n_jt, const i32* m_j, u64* sizes) {
    Tally tally = {0, 0, sizes};
    clear_few_sizes();
    FOR_EACH(rank, n) {
        i64 step = step_of(rank, regular);
        for (i32 t = 0; t < m_j[rank]; t++) count_size(tally, n_jt[base[rank] + t * step]);
    }
    count_few_sizes(tally);
}

// List the topics of the `regular` documents by rank, in increasing order, and their words.
//
// `to` is where the list of each document begins; `rank_of` has the number of a stored topic in that order.
KERNEL(sort_topics)(i64 n, const i64* base, const u32* listed, const i32* n_listed, const i32* rank_of,
                    const i64* to, i32* topics, i32* counts) {
    FOR_EACH(rank, n) {
        for (i32 s = 0; s < n_listed[rank]; s++) {
            u32 e = listed[base[rank] + (i64)s * SIDE_BY_SIDE];
            i32 topic = rank_of[column_in(e)];
            i64 begin = to[rank], place = begin + s;
            for (; place > begin && topics[place - 1] > topic; place--) {
                topics[place] = topics[place - 1];
                counts[place] = counts[place - 1];
            }
            topics[place] = topic;
            counts[place] = (i32)words_in(e);
        }
    }
}
