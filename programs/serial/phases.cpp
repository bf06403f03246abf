// Serial code of a program on threads of its own, in functions that the report has to name.
#include <cstdint>
#include <thread>
#include <vector>

constexpr long STEPS = 40000000;

static volatile uint64_t sink;

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    return x ^ x >> 29;
}

struct Table {
    __attribute__((noinline)) void build(long salt) {
        uint64_t sum = salt;
        for (long i = 0; i < STEPS; i++)
            sum = mix(sum + i);
        sink = sum;
    }
};

namespace io {
__attribute__((noinline)) void flush_all() {
    uint64_t sum = 2;
    for (long i = 0; i < 2 * STEPS; i++)
        sum = mix(sum ^ i);
    sink = sum;
}
} // namespace io

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([i] { Table().build(i); });
    for (auto &thread : threads)
        thread.join();
    io::flush_all();
}
