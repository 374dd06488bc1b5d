/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers: the same seed gives the same sequence everywhere. */
#ifndef TESTS_ORACLE_RANDOM_H
#define TESTS_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t random_u64(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to below - 1 */
static inline uint64_t random_below(struct random *r, uint64_t below)
{
	return random_u64(r) % below;
}

/* low to high, both included */
static inline int64_t random_range(struct random *r, int64_t low, int64_t high)
{
	return low + (int64_t)random_below(r, (uint64_t)(high - low) + 1);
}

/* True percent times in a hundred. */
static inline bool random_chance(struct random *r, unsigned int percent)
{
	return random_below(r, 100) < percent;
}

#endif /* TESTS_ORACLE_RANDOM_H */
