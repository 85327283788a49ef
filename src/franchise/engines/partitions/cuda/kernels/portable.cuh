// Definitions to compile the kernels for a GPU, by NVRTC, or for the host, by any C++ compiler.
//
// A kernel is a function of one item, such as a document or a term, that needs no other thread. On a GPU every
// item has a thread; on the host a loop runs over the items. Each sum of floating-point numbers is made by one
// thread in a fixed order, and counts are integers: so the order of threads changes no bit. Products and sums are
// rounded separately on both (no contraction), and functions that the two would round differently are our own.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#ifdef __CUDACC__
#define INLINE static __device__ __forceinline__
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(BLOCK) name
#define THREAD ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((i64)gridDim.x * blockDim.x)
#define LANE threadIdx.x
#define LANES BLOCK
#define WAIT_FOR_ALL __syncthreads()
#define ADD(address, value) atomicAdd(address, value)
#define READ(address) __ldg(address)
typedef float4 Four;  // floats read together
#define BITS_OF(x) ((u64)__double_as_longlong(x))
#define DOUBLE_OF(bits) __longlong_as_double((long long)(bits))
#else
#include <cmath>
#include <cstring>
#define INLINE static inline
#define KERNEL(name) extern "C" void name
#define THREAD ((i64)0)
#define THREADS ((i64)1)
#define LANE 0
#define LANES 1
#define WAIT_FOR_ALL
#define READ(address) (*(address))
struct Four { float x, y, z, w; };
static inline u64 BITS_OF(double x) { u64 bits; std::memcpy(&bits, &x, 8); return bits; }
static inline double DOUBLE_OF(u64 bits) { double x; std::memcpy(&x, &bits, 8); return x; }
template <class T, class U> static inline T ADD(T* address, U value) {
    T before = *address;
    *address += value;
    return before;
}
using std::fma;
using std::rint;
using std::sqrt;
#endif

#define FOR_EACH(item, number) for (i64 item = THREAD; item < (number); item += THREADS)

// ---------------------------------------------------------------- functions

// log x of a positive, normal x: with mantissa m between 0.7 and 1.4, log m = 2 artanh((m - 1) / (m + 1)).
INLINE double log_of(double x) {
    u64 bits = BITS_OF(x);
    i32 exponent = (i32)(bits >> 52) - 1023;
    double m = DOUBLE_OF((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent += 1;
    }
    double s = (m - 1.0) / (m + 1.0), y = s * s, e = (double)exponent;
    double p = 1.0 / 23.0;
    p = fma(p, y, 1.0 / 21.0);
    p = fma(p, y, 1.0 / 19.0);
    p = fma(p, y, 1.0 / 17.0);
    p = fma(p, y, 1.0 / 15.0);
    p = fma(p, y, 1.0 / 13.0);
    p = fma(p, y, 1.0 / 11.0);
    p = fma(p, y, 1.0 / 9.0);
    p = fma(p, y, 1.0 / 7.0);
    p = fma(p, y, 1.0 / 5.0);
    p = fma(p, y, 1.0 / 3.0);
    double rest = fma(2.0 * s * y, p, e * 1.9082149292705877e-10);
    return fma(e, 0.693147180369123816490, rest + 2.0 * s);
}

// e^x; 0 if that is below the smallest normal double.
INLINE double exp_of(double x) {
    if (x < -708.0) return 0.0;
    double k = rint(x * 1.4426950408889634);
    double r = fma(-k, 1.9082149292705877e-10, fma(-k, 0.693147180369123816490, x));
    double p = 1.0 / 6227020800.0;
    p = fma(p, r, 1.0 / 479001600.0);
    p = fma(p, r, 1.0 / 39916800.0);
    p = fma(p, r, 1.0 / 3628800.0);
    p = fma(p, r, 1.0 / 362880.0);
    p = fma(p, r, 1.0 / 40320.0);
    p = fma(p, r, 1.0 / 5040.0);
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return p * DOUBLE_OF((u64)((i64)k + 1023) << 52);
}

// ln Gamma(x) for x > 0: Stirling's series from 16 on; below 16 by the recurrence that leads there.
INLINE double log_gamma_of(double x) {
    double product = 1.0;
    while (x < 16.0) {
        product *= x;
        x += 1.0;
    }
    double y = 1.0 / (x * x);
    double rest = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    return (x - 0.5) * log_of(x) - x + 0.91893853320467274178 + rest - log_of(product);
}
