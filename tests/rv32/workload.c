// SPDX-License-Identifier: MIT
/*
 * What control-processor firmware spends its time on: checksums, copies, ring
 * indices, table searches. Runs until the bench has seen enough.
 */
#include <stddef.h>
#include <stdint.h>

#include "tests/rv32/board_regs.h"

#define RING 64

struct entry {
	uint32_t key;
	uint32_t value;
	uint32_t next;
};

static uint8_t buffer[2048];
static uint8_t copy[2048];
static struct entry table[RING];

/* The compiler makes calls of these from loops and assignments. */
void *memcpy(void *to, const void *from, size_t n)
{
	uint32_t *t = to;
	const uint32_t *f = from;

	for (; n >= 4; n -= 4) {
		*t++ = *f++;
		__asm__ volatile("");
	}
	return to;
}

static uint32_t crc32(const uint8_t *data, uint32_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void fill_table(uint32_t seed)
{
	for (uint32_t i = 0; i < RING; i++) {
		seed = seed * 1664525 + 1013904223;
		table[i].key = seed % 1000;
		table[i].value = seed / 7;
		table[i].next = i + 1;
	}
}

static uint32_t sort_table(void)
{
	uint32_t moves = 0;

	for (uint32_t i = 1; i < RING; i++) {
		struct entry e = table[i];
		uint32_t j = i;

		for (; j && table[j - 1].key > e.key; j--, moves++)
			table[j] = table[j - 1];
		table[j] = e;
	}
	return moves;
}

static uint32_t follow_ring(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 0, n = 0; n < 1000; n++) {
		sum += table[i].value ^ n;
		i = table[i].next & (RING - 1);
	}
	return sum;
}

__attribute__((section(".text.start"), naked, used)) void _start(void)
{
	__asm__ volatile("li sp, %0\n\tj work" : : "i" (BOARD_TCM_END - 16));
}

__attribute__((used, noreturn)) static void work(void)
{
	for (uint32_t round = 0;; round++) {
		fill_table(round);
		buffer[round % sizeof(buffer)] += sort_table();
		memcpy(copy, buffer, sizeof(copy));
		buffer[round % 97] ^= crc32(copy, 256);
		buffer[round % 89] += follow_ring();
	}
}
