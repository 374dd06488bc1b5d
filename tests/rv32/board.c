// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

#include "tests/rv32/board.h"

static bool is_cell(u32 addr)
{
	return addr - BOARD_CELL < sizeof(((struct board *)0)->cells);
}

static int board_read(void *opaque, u32 addr, u32 size, u32 *val)
{
	struct board *board = opaque;

	if (is_cell(addr)) {
		u8 bytes[4] = { 0 };

		memcpy(bytes, &board->cells[addr - BOARD_CELL], size);
		/* Bytes beyond the access must not matter. */
		*val = npu_get_le32(bytes);
		if (size < 4)
			*val |= 0xa5a5a5a5u << 8 * size;
		board->cell_size = size;
		return 0;
	}
	switch (addr) {
	case BOARD_IRQ_SET:
		*val = board->cpu.mip;
		return 0;
	case BOARD_SIZE:
		*val = board->cell_size;
		return 0;
	default:
		return -1;
	}
}

static void write_cell(struct board *board, u32 addr, u32 size, u32 val)
{
	u8 bytes[4];

	npu_put_le32(bytes, val);
	memcpy(&board->cells[addr - BOARD_CELL], bytes, size);
	board->cell_size = size;
}

static int poke(struct board *board, u32 val)
{
	u32 offset = board->poke_addr - board->cpu.cfg.tcm_base;

	if (offset > board->cpu.cfg.tcm_size - 4)
		return -1;
	npu_put_le32(board->tcm + offset, val);
	rv32_tcm_written(&board->cpu, board->poke_addr, 4);
	return 0;
}

static int board_write(void *opaque, u32 addr, u32 size, u32 val)
{
	struct board *board = opaque;

	if (is_cell(addr)) {
		write_cell(board, addr, size, val);
		return 0;
	}
	switch (addr) {
	case BOARD_EXIT:
		board->exited = true;
		board->exit_code = val;
		rv32_stop(&board->cpu);
		return 0;
	case BOARD_IRQ_SET:
		rv32_set_irq(&board->cpu, val, true);
		return 0;
	case BOARD_IRQ_CLEAR:
		rv32_set_irq(&board->cpu, val, false);
		return 0;
	case BOARD_TIMER:
		/* The slice ends, so that the timer can bound the next one. */
		board->timer = board->cpu.cycles + val;
		rv32_stop(&board->cpu);
		return 0;
	case BOARD_POKE_ADDR:
		board->poke_addr = val;
		return 0;
	case BOARD_POKE:
		return poke(board, val);
	case BOARD_STALL:
		rv32_add_cycles(&board->cpu, val);
		return 0;
	default:
		return -1;
	}
}

struct board *board_new(u32 tcm_base, u32 tcm_size)
{
	struct board *board = calloc(1, sizeof(*board));
	struct rv32_config cfg;

	if (!board)
		abort();
	board->bus.read = board_read;
	board->bus.write = board_write;
	board->tcm = calloc(1, tcm_size);
	board->predecode = malloc(RV32_PREDECODE_BYTES(tcm_size));

	cfg = (struct rv32_config) {
		.tcm = board->tcm,
		.tcm_base = tcm_base,
		.tcm_size = tcm_size,
		.predecode = board->predecode,
		.bus = &board->bus,
		.opaque = board,
		.hartid = BOARD_HARTID,
	};
	if (rv32_init(&board->cpu, &cfg))
		abort();
	return board;
}

void board_free(struct board *board)
{
	free(board->predecode);
	free(board->tcm);
	free(board);
}

size_t board_load(struct board *board, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		return 0;
	n = fread(board->tcm, 1, board->cpu.cfg.tcm_size, file);
	fclose(file);
	rv32_tcm_written(&board->cpu, board->cpu.cfg.tcm_base, n);
	return n;
}

/* Lets time pass for a waiting processor. Returns false where none would help. */
static bool board_wait(struct board *board)
{
	struct rv32 *cpu = &board->cpu;

	if (rv32_runnable(cpu))
		return true;
	if (cpu->halt != RV32_HALT_NONE || !board->timer)
		return false;
	if (cpu->cycles < board->timer)
		rv32_add_cycles(cpu, board->timer - cpu->cycles);
	return true;
}

void board_run(struct board *board, u32 slice, u64 limit)
{
	struct rv32 *cpu = &board->cpu;

	while (!board->exited && cpu->cycles < limit && board_wait(board)) {
		u32 steps = slice;

		if (board->timer && cpu->cycles >= board->timer) {
			board->timer = 0;
			rv32_set_irq(cpu, RV32_IRQ_TIMER, true);
		}
		if (board->timer && board->timer - cpu->cycles < steps)
			steps = board->timer - cpu->cycles;
		if (!rv32_run(cpu, steps) && !board->timer &&
		    !rv32_runnable(cpu))
			break;
	}
}
