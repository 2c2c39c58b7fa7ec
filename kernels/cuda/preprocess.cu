// Preprocessing of Libra on the device: from CSR to LibraSpmm and LibraSddmm, bit for bit as their definitions say.
//
//   row 0  1 4        vector: rows of the window that hold the entry's column, found by a binary search in each
//   row 1  1 2        leader: the entry of a vector in its uppermost row; it stands for the vector
//   row 2  1 4 5
//
// Nothing is sorted and nothing is atomic: the rows of CSR are sorted, so the place of a column among the chosen vectors of a
// window is the number of chosen leaders before it in each of the 8 rows, which a prefix sum over all entries has counted.
// No window is too long, for a thread's work is one entry whatever the window.
//
//   find_rows, classify -> scan_words -> windows -> scan_counts | sizes to the host | place, pad, blocks -> scan_counts, move
//
// A warp has 32 entries, one word: flags of its entries and, once scanned, the number of flags before it. Passes that choose by
// density (SDDMM, `fill`) keep a plane of words for each of the 8 densities. Source: Libra, sections 4.2 to 4.4.

static const u32 PAD = 0xffffffffu;   // a column of no vector
static const u32 REST = 0xffffffffu;  // a slot in no block
static const u32 ALL = 0xffffffffu;
static const u32 HEIGHT = 8;          // rows of a window
static const u32 THREADS = 256, WARPS = THREADS / 32;

struct Preprocess {
    const u32* row_ptr;
    const u32* col_idx;
    const void* values;
    u32* first_row;   // per word, the row of its first entry; one more, of the last entry
    u16* vector;      // per entry, rows that hold its column, one bit each, and above them its own row
    u32* slot;        // per entry, slot of its vector, or REST
    uint2* leaders;   // per word and plane: flags, flags before
    uint2* rest;      // per word: entries of the CUDA-core part
    u32* origin;      // per window and plane: what to add to the leaders before a column for its slot
    uint2* cut;       // fill, per window: fewest entries of a vector, how many of one entry less; SDDMM: slots taken
    u32* window_values;
    u32* totals;      // blocks, entries of the CUDA-core part
    // The arrays of the format.
    u32* window_block_ptr;
    u32* row_ptr_rest;
    u32* block_col;
    u8* column_mask;  // per slot, rows of its vector
    u64* bitmap;
    u32* block_value_ptr;
    void* tensor_values;
    u32* position;    // none for SpMM
    u32* rest_col;
    void* rest_values;
    u32* rest_position;
    u32 rows, entries, words, windows;
    u32 least;        // entries from which a vector (SpMM) or a block (SDDMM) is dense
    u32 shift;        // log2 of the columns of a block
    u32 blocks;
    u32 pad;
};
SIZE_OF(Preprocess, 216); OFFSET_OF(Preprocess, row_ptr, 0); OFFSET_OF(Preprocess, col_idx, 8);
OFFSET_OF(Preprocess, values, 16); OFFSET_OF(Preprocess, first_row, 24); OFFSET_OF(Preprocess, vector, 32);
OFFSET_OF(Preprocess, slot, 40); OFFSET_OF(Preprocess, leaders, 48); OFFSET_OF(Preprocess, rest, 56);
OFFSET_OF(Preprocess, origin, 64); OFFSET_OF(Preprocess, cut, 72); OFFSET_OF(Preprocess, window_values, 80);
OFFSET_OF(Preprocess, totals, 88); OFFSET_OF(Preprocess, window_block_ptr, 96);
OFFSET_OF(Preprocess, row_ptr_rest, 104); OFFSET_OF(Preprocess, block_col, 112);
OFFSET_OF(Preprocess, column_mask, 120); OFFSET_OF(Preprocess, bitmap, 128);
OFFSET_OF(Preprocess, block_value_ptr, 136); OFFSET_OF(Preprocess, tensor_values, 144);
OFFSET_OF(Preprocess, position, 152); OFFSET_OF(Preprocess, rest_col, 160); OFFSET_OF(Preprocess, rest_values, 168);
OFFSET_OF(Preprocess, rest_position, 176); OFFSET_OF(Preprocess, rows, 184); OFFSET_OF(Preprocess, entries, 188);
OFFSET_OF(Preprocess, words, 192); OFFSET_OF(Preprocess, windows, 196); OFFSET_OF(Preprocess, least, 200);
OFFSET_OF(Preprocess, shift, 204); OFFSET_OF(Preprocess, blocks, 208); OFFSET_OF(Preprocess, pad, 212);

struct Scan {
    uint2* words;   // planes, one after another
    u32* counts;
    u32* sums;      // per tile
    u32 length;     // without the total that comes last
    u32 tiles;      // of a plane
};
SIZE_OF(Scan, 32); OFFSET_OF(Scan, words, 0); OFFSET_OF(Scan, counts, 8); OFFSET_OF(Scan, sums, 16);
OFFSET_OF(Scan, length, 24); OFFSET_OF(Scan, tiles, 28);

// Rows of a window: where each starts, and the end of the last.
struct Lanes {
    u32 start[HEIGHT + 1];
    u32 window, r;
};

__device__ __forceinline__ u32 lane_id() { return threadIdx.x % 32; }
__device__ __forceinline__ u32 thread_id() { return blockIdx.x * THREADS + threadIdx.x; }
__device__ __forceinline__ u32 word_id() { return blockIdx.x * WARPS + threadIdx.x / 32; }
__device__ __forceinline__ u32 below(u32 bits, u32 bit) { return __popc(bits & ((1u << bit) - 1)); }

// Flags before an entry.
__device__ __forceinline__ u32 before(const uint2* words, u32 at) {
    uint2 word = words[at / 32];
    return word.y + below(word.x, at % 32);
}

// The last row of low..=high that starts at `at` or before it: the row of entry `at`.
__device__ __forceinline__ u32 row_of(const u32* row_ptr, u32 low, u32 high, u32 at) {
    while (low < high) {
        u32 middle = low + (high - low + 1) / 2;
        if (row_ptr[middle] <= at) low = middle;
        else high = middle - 1;
    }
    return low;
}

__device__ __forceinline__ Lanes lanes_of(const Preprocess& p, u32 word, u32 at) {
    Lanes lanes;
    u32 row = row_of(p.row_ptr, p.first_row[word], p.first_row[word + 1], at);
    lanes.window = row / HEIGHT;
    lanes.r = row % HEIGHT;
    u32 first = row - lanes.r;
#pragma unroll
    for (u32 k = 0; k <= HEIGHT; k++) lanes.start[k] = p.row_ptr[min(first + k, p.rows)];
    return lanes;
}

// Columns where they are, and those of a block of threads in shared memory: all of the windows that its entries lie in, which
// are next to one another in CSR.
static const u32 STAGED = 4096;

struct InGlobal {
    const u32* columns;
    __device__ __forceinline__ u32 operator[](u32 at) const { return columns[at]; }
};

struct InShared {
    const u32* columns;
    u32 first;
    __device__ __forceinline__ u32 operator[](u32 at) const { return columns[at - first]; }
};

// The entries of those windows, and perhaps of the next one: first and end.
__device__ __forceinline__ uint2 span_of_block(const Preprocess& p) {
    u32 word = blockIdx.x * WARPS;
    u32 row = p.first_row[word], last = p.first_row[min(word + WARPS, p.words)];
    return make_uint2(p.row_ptr[row - row % HEIGHT], p.row_ptr[min(last - last % HEIGHT + HEIGHT, p.rows)]);
}

__device__ __forceinline__ void stage(const Preprocess& p, uint2 span, u32* staged) {
    for (u32 at = span.x + threadIdx.x; at < span.y; at += THREADS) staged[at - span.x] = p.col_idx[at];
    __syncthreads();
}

// In each row of a window, the first entry whose column is not less than that of entry `at`. The 8 searches go side by side.
template <class Columns>
__device__ __forceinline__ void search(const Columns& columns, const Lanes& lanes, u32 at, u32 col, u32 (&found)[HEIGHT]) {
    u32 length[HEIGHT];
    u32 longest = 0;
#pragma unroll
    for (u32 k = 0; k < HEIGHT; k++) {
        bool own = k == lanes.r;
        found[k] = own ? at : lanes.start[k];
        length[k] = own ? 0 : lanes.start[k + 1] - lanes.start[k];
        longest = max(longest, length[k]);
    }
    for (; longest > 1; longest -= longest / 2) {
#pragma unroll
        for (u32 k = 0; k < HEIGHT; k++) {
            u32 half = length[k] / 2;
            if (half == 0) continue;
            if (columns[found[k] + half - 1] < col) found[k] += half;
            length[k] -= half;
        }
    }
#pragma unroll
    for (u32 k = 0; k < HEIGHT; k++)
        if (length[k] == 1 && columns[found[k]] < col) found[k]++;
}

__device__ __forceinline__ bool leads(u32 vector) {
    u32 mask = vector & 0xff, r = vector >> 8;
    return (mask & ((1u << r) - 1)) == 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) find_rows(const Preprocess p) {
    u32 word = thread_id();
    if (word <= p.words) p.first_row[word] = row_of(p.row_ptr, 0, p.rows - 1, min(32 * word, p.entries - 1));
}

// The vector of every entry, and flags: with one plane the leaders of dense vectors, and entries of others; with 8 the leaders
// of each density.
template <u32 PLANES, class Columns> __device__ __forceinline__ void classify(const Preprocess& p, const Columns& columns) {
    u32 word = word_id(), lane = lane_id(), at = 32 * word + lane;
    if (word >= p.words) return;
    u32 vector = 0;
    if (at < p.entries) {
        Lanes lanes = lanes_of(p, word, at);
        u32 col = columns[at], found[HEIGHT];
        search(columns, lanes, at, col, found);
        u32 mask = 0;
#pragma unroll
        for (u32 k = 0; k < HEIGHT; k++) {
            bool here = k == lanes.r || (found[k] < lanes.start[k + 1] && columns[found[k]] == col);
            mask |= (u32)here << k;
        }
        vector = mask | lanes.r << 8;
        p.vector[at] = (u16)vector;
        if (PLANES > 1) p.slot[at] = REST;
    }
    u32 nnz = __popc(vector & 0xff);
    bool leader = nnz > 0 && leads(vector);
    if (PLANES == 1) {
        u32 chosen = __ballot_sync(ALL, leader && nnz >= p.least);
        u32 rest = __ballot_sync(ALL, nnz > 0 && nnz < p.least);
        if (lane == 0) {
            p.leaders[word].x = chosen;
            p.rest[word].x = rest;
        }
    } else {
        for (u32 k = 0; k < PLANES; k++) {
            u32 flags = __ballot_sync(ALL, leader && nnz == k + 1);
            if (lane == k) p.leaders[(u64)k * (p.words + 1) + word].x = flags;
        }
    }
}

template <u32 PLANES> __device__ __forceinline__ void classify_block(const Preprocess& p) {
    __shared__ u32 staged[STAGED];
    uint2 span = span_of_block(p);
    if (span.y - span.x <= STAGED) {
        stage(p, span, staged);
        classify<PLANES>(p, InShared{staged, span.x});
    } else {
        classify<PLANES>(p, InGlobal{p.col_idx});
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) classify_dense(const Preprocess p) { classify_block<1>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) classify_densities(const Preprocess p) { classify_block<HEIGHT>(p); }

// fill: which vectors are dense enough follows from the numbers of each density in the window.
extern "C" __global__ void __launch_bounds__(THREADS) fill_windows(const Preprocess p) {
    u32 window = thread_id();
    if (window >= p.windows) return;
    u32 number[HEIGHT + 1] = {0}, dense = 0;
    u32 first = p.row_ptr[HEIGHT * window], end = p.row_ptr[min(HEIGHT * (window + 1), p.rows)];
    for (u32 nnz = 1; nnz <= HEIGHT; nnz++) {
        const uint2* plane = p.leaders + (u64)(nnz - 1) * (p.words + 1);
        number[nnz] = before(plane, end) - before(plane, first);
        if (nnz >= p.least) dense += number[nnz];
        u32 origin = 0;
        for (u32 k = 0; k < HEIGHT; k++) origin -= before(plane, p.row_ptr[min(HEIGHT * window + k, p.rows)]);
        p.origin[HEIGHT * window + nnz - 1] = origin;
    }
    u32 columns = 1u << p.shift;
    u32 room = (columns - dense % columns) % columns, least = p.least;
    while (least > 1 && number[least - 1] <= room) {
        least--;
        room -= number[least];
    }
    p.cut[window] = make_uint2(least, room);
}

// fill: marks the entries of chosen vectors, in `slot`.
extern "C" __global__ void __launch_bounds__(THREADS) fill_choose(const Preprocess p) {
    u32 word = word_id(), at = 32 * word + lane_id();
    if (word >= p.words || at >= p.entries) return;
    u32 vector = p.vector[at];
    if (!leads(vector)) return;
    Lanes lanes = lanes_of(p, word, at);
    u32 nnz = __popc(vector & 0xff);
    uint2 cut = p.cut[lanes.window];
    if (nnz + 1 < cut.x || (nnz + 1 == cut.x && cut.y == 0)) return;
    u32 found[HEIGHT];
    search(InGlobal{p.col_idx}, lanes, at, p.col_idx[at], found);
    if (nnz < cut.x) {
        const uint2* plane = p.leaders + (u64)(nnz - 1) * (p.words + 1);
        u32 rank = p.origin[HEIGHT * lanes.window + nnz - 1];
#pragma unroll
        for (u32 k = 0; k < HEIGHT; k++) rank += before(plane, found[k]);
        if (rank >= cut.y) return;
    }
#pragma unroll
    for (u32 k = 0; k < HEIGHT; k++)
        if (vector >> k & 1) p.slot[found[k]] = 0;
}

// Flags of what is marked in `slot`: leaders, in the first plane, and entries that are not.
extern "C" __global__ void __launch_bounds__(THREADS) flag_marked(const Preprocess p) {
    u32 word = word_id(), lane = lane_id(), at = 32 * word + lane;
    if (word >= p.words) return;
    bool here = at < p.entries;
    bool marked = here && p.slot[at] != REST;
    u32 chosen = __ballot_sync(ALL, marked && leads(p.vector[at]));
    u32 rest = __ballot_sync(ALL, here && !marked);
    if (lane == 0) {
        p.leaders[word].x = chosen;
        p.rest[word].x = rest;
    }
}

// SpMM: blocks of each window, and where its slots are counted from.
extern "C" __global__ void __launch_bounds__(THREADS) spmm_windows(const Preprocess p) {
    u32 window = thread_id();
    if (window >= p.windows) return;
    u32 first = before(p.leaders, p.row_ptr[HEIGHT * window]), origin = 0 - first;
    for (u32 k = 1; k < HEIGHT; k++) origin -= before(p.leaders, p.row_ptr[min(HEIGHT * window + k, p.rows)]);
    u32 chosen = before(p.leaders, p.row_ptr[min(HEIGHT * (window + 1), p.rows)]) - first;
    p.origin[window] = origin;
    p.cut[window] = make_uint2(chosen, 0);
    p.window_block_ptr[window] = (chosen + (1u << p.shift) - 1) >> p.shift;
}

// SDDMM: vectors by density, most entries first. Blocks of 16 in that order hold less and less, so the dense ones come first.
extern "C" __global__ void __launch_bounds__(THREADS) sddmm_windows(const Preprocess p) {
    u32 window = thread_id();
    if (window >= p.windows) return;
    u32 number[HEIGHT + 1] = {0}, vectors = 0;
    u32 first = p.row_ptr[HEIGHT * window], end = p.row_ptr[min(HEIGHT * (window + 1), p.rows)];
    for (u32 nnz = HEIGHT; nnz >= 1; nnz--) {
        const uint2* plane = p.leaders + (u64)(nnz - 1) * (p.words + 1);
        u32 origin = vectors;
        for (u32 k = 0; k < HEIGHT; k++) origin -= before(plane, p.row_ptr[min(HEIGHT * window + k, p.rows)]);
        p.origin[HEIGHT * window + nnz - 1] = origin;
        number[nnz] = before(plane, end) - before(plane, first);
        vectors += number[nnz];
    }
    // Entries of the first so many vectors.
    auto held = [&](u32 count) {
        u32 sum = 0;
        for (u32 nnz = HEIGHT; nnz >= 1; nnz--) {
            u32 some = min(count, number[nnz]);
            sum += nnz * some;
            count -= some;
        }
        return sum;
    };
    u32 low = 0, high = (vectors + 15) / 16;  // the first block that is not dense
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (held(min(16 * middle + 16, vectors)) - held(16 * middle) >= p.least) low = middle + 1;
        else high = middle;
    }
    u32 taken = min(16 * low, vectors);
    p.cut[window] = make_uint2(taken, 0);
    p.window_block_ptr[window] = low;
    p.window_values[window] = held(taken);
}

// Row pointers of the CUDA-core part.
extern "C" __global__ void __launch_bounds__(THREADS) rest_rows(const Preprocess p) {
    u32 row = thread_id();
    if (row <= p.rows) p.row_ptr_rest[row] = before(p.rest, p.row_ptr[row]);
}

extern "C" __global__ void spmm_totals(const Preprocess p) {
    p.totals[0] = p.window_block_ptr[p.windows];
    p.totals[1] = p.rest[p.words].y;
}

extern "C" __global__ void sddmm_totals(const Preprocess p) {
    p.totals[0] = p.window_block_ptr[p.windows];
    p.totals[1] = p.entries - p.window_values[p.windows];
}

// Leaders are few: their searches go through L1, where staging columns for them costs more than it saves.
// Every chosen leader puts its column and rows into their slot, and tells the entries of its vector.
template <u32 PLANES> __device__ __forceinline__ void place(const Preprocess& p) {
    u32 word = word_id(), lane = lane_id(), at = 32 * word + lane;
    if (word >= p.words || at >= p.entries) return;
    if (PLANES == 1 && (p.leaders[word].x >> lane & 1) == 0) return;
    u32 vector = p.vector[at];
    if (PLANES > 1 && !leads(vector)) return;
    Lanes lanes = lanes_of(p, word, at);
    u32 taken = p.cut[lanes.window].x;
    if (PLANES > 1 && taken == 0) return;
    u32 plane = PLANES == 1 ? 0 : __popc(vector & 0xff) - 1;
    u32 slot = p.origin[PLANES * lanes.window + plane];
    const uint2* leaders = p.leaders + (u64)plane * (p.words + 1);
    u32 col = p.col_idx[at], found[HEIGHT];
    search(InGlobal{p.col_idx}, lanes, at, col, found);
#pragma unroll
    for (u32 k = 0; k < HEIGHT; k++) slot += before(leaders, found[k]);
    if (slot >= taken) return;
    slot += p.window_block_ptr[lanes.window] << p.shift;
    p.block_col[slot] = col;
    p.column_mask[slot] = (u8)vector;
#pragma unroll
    for (u32 k = 0; k < HEIGHT; k++)
        if (vector >> k & 1) p.slot[found[k]] = slot;
}

extern "C" __global__ void __launch_bounds__(THREADS) place_dense(const Preprocess p) { place<1>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) place_densities(const Preprocess p) { place<HEIGHT>(p); }

// The end of the last block of each window.
extern "C" __global__ void __launch_bounds__(THREADS) pad_slots(const Preprocess p) {
    u32 window = thread_id();
    if (window >= p.windows) return;
    u32 end = p.window_block_ptr[window + 1] << p.shift;
    for (u32 slot = (p.window_block_ptr[window] << p.shift) + p.cut[window].x; slot < end; slot++) {
        p.block_col[slot] = PAD;
        p.column_mask[slot] = 0;
    }
}

// The bitmap of a block from the rows of its columns: bit (c, r) goes to KB * r + c.
template <u32 KB> __device__ __forceinline__ void fill_bitmap(const Preprocess& p) {
    u32 block = thread_id();
    if (block >= p.blocks) return;
    u64 words[2] = {0, 0};
#pragma unroll
    for (u32 c = 0; c < KB; c++) {
        u32 mask = p.column_mask[(u64)KB * block + c];
#pragma unroll
        for (u32 r = 0; r < HEIGHT; r++) words[(KB * r + c) / 64] |= (u64)(mask >> r & 1) << ((KB * r + c) % 64);
    }
    p.block_value_ptr[block] = __popcll(words[0]) + __popcll(words[1]);
    const u32 WORDS = KB == 16 ? 2 : 1;
    for (u32 w = 0; w < WORDS; w++) p.bitmap[(u64)WORDS * block + w] = words[w];
}

extern "C" __global__ void __launch_bounds__(THREADS) bitmap_4(const Preprocess p) { fill_bitmap<4>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) bitmap_8(const Preprocess p) { fill_bitmap<8>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) bitmap_16(const Preprocess p) { fill_bitmap<16>(p); }

// Every entry to its place in one of the parts.
template <class V> __device__ __forceinline__ void move(const Preprocess& p) {
    u32 word = word_id(), lane = lane_id(), at = 32 * word + lane;
    if (word >= p.words || at >= p.entries) return;
    V value = ((const V*)p.values)[at];
    uint2 rest = p.rest[word];
    if (rest.x >> lane & 1) {
        u32 to = rest.y + below(rest.x, lane);
        p.rest_col[to] = p.col_idx[at];
        ((V*)p.rest_values)[to] = value;
        if (p.rest_position) p.rest_position[to] = at;
        return;
    }
    u32 slot = p.slot[at], columns = 1u << p.shift;
    u32 block = slot >> p.shift, bit = ((p.vector[at] >> 8) << p.shift) + (slot & (columns - 1));
    u32 to = p.block_value_ptr[block];
    if (p.shift == 4) {
        const u64* words = p.bitmap + 2 * (u64)block;
        if (bit >= 64) to += __popcll(words[0]);
        to += __popcll(words[bit / 64] & ((1ull << bit % 64) - 1));
    } else {
        to += __popcll(p.bitmap[block] & ((1ull << bit) - 1));
    }
    ((V*)p.tensor_values)[to] = value;
    if (p.position) p.position[to] = at;
}

extern "C" __global__ void __launch_bounds__(THREADS) move_1(const Preprocess p) { move<u8>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) move_2(const Preprocess p) { move<u16>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) move_4(const Preprocess p) { move<u32>(p); }
extern "C" __global__ void __launch_bounds__(THREADS) move_8(const Preprocess p) { move<u64>(p); }

// Prefix sums: the sum of every tile, then each tile on its own, behind the sums of those before it. The element past the last is
// the total.

static const u32 ROUNDS = 8, TILE = THREADS * ROUNDS;

struct Words {
    static __device__ __forceinline__ u32 count(const Scan& s, u32 plane, u32 i) {
        return __popc(s.words[(u64)plane * (s.length + 1) + i].x);
    }
    static __device__ __forceinline__ void store(const Scan& s, u32 plane, u32 i, u32 sum) {
        s.words[(u64)plane * (s.length + 1) + i].y = sum;
    }
};

struct Counts {
    static __device__ __forceinline__ u32 count(const Scan& s, u32, u32 i) { return s.counts[i]; }
    static __device__ __forceinline__ void store(const Scan& s, u32, u32 i, u32 sum) { s.counts[i] = sum; }
};

// The sum over a block, for every thread of it.
__device__ __forceinline__ u32 block_sum(u32 x, u32* part) {
    for (u32 d = 16; d > 0; d /= 2) x += __shfl_xor_sync(ALL, x, d);
    if (lane_id() == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    u32 sum = 0;
    for (u32 w = 0; w < WARPS; w++) sum += part[w];
    __syncthreads();
    return sum;
}

template <class Of> __device__ __forceinline__ void tile_sums(const Scan& s) {
    __shared__ u32 part[WARPS];
    u32 plane = blockIdx.x / s.tiles, tile = blockIdx.x % s.tiles, sum = 0;
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 i = TILE * tile + THREADS * round + threadIdx.x;
        if (i < s.length) sum += Of::count(s, plane, i);
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) s.sums[blockIdx.x] = sum;
}

template <class Of> __device__ __forceinline__ void tile_scan(const Scan& s) {
    __shared__ u32 part[WARPS];
    u32 plane = blockIdx.x / s.tiles, tile = blockIdx.x % s.tiles, carry = 0;
    for (u32 i = threadIdx.x; i < tile; i += THREADS) carry += s.sums[plane * s.tiles + i];
    carry = block_sum(carry, part);
    // A warp has consecutive elements, a row of 32 at a time.
    u32 first = TILE * tile + 32 * ROUNDS * (threadIdx.x / 32) + lane_id();
    u32 count[ROUNDS], ahead[ROUNDS], sum = 0;
#pragma unroll
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 i = first + 32 * round;
        count[round] = i < s.length ? Of::count(s, plane, i) : 0;
    }
#pragma unroll
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 x = count[round];
        for (u32 d = 1; d < 32; d *= 2) {
            u32 y = __shfl_up_sync(ALL, x, d);
            if (lane_id() >= d) x += y;
        }
        ahead[round] = sum + x - count[round];
        sum += __shfl_sync(ALL, x, 31);
    }
    if (lane_id() == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    for (u32 w = 0; w < threadIdx.x / 32; w++) carry += part[w];
#pragma unroll
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 i = first + 32 * round;
        if (i <= s.length) Of::store(s, plane, i, carry + ahead[round]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) sum_words(const Scan s) { tile_sums<Words>(s); }
extern "C" __global__ void __launch_bounds__(THREADS) scan_words(const Scan s) { tile_scan<Words>(s); }
extern "C" __global__ void __launch_bounds__(THREADS) sum_counts(const Scan s) { tile_sums<Counts>(s); }
extern "C" __global__ void __launch_bounds__(THREADS) scan_counts(const Scan s) { tile_scan<Counts>(s); }
