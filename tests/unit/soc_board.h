/* SPDX-License-Identifier: MIT */
/*
 * A device without firmware. The test is the control processor: each load and
 * store runs as an instruction in TCM.
 */
#ifndef TESTS_UNIT_SOC_BOARD_H
#define TESTS_UNIT_SOC_BOARD_H

#include "firmware/model/model_internal.h"

#define SOC_CORES	2u
#define SOC_TCM		0x10000u
#define SOC_MEM		0x800000u	/* bytes of memory, from bus address 0 */

/*
 * @no_map: the bus gives no pointers. [@hole, @hole_end) is refused by the bus.
 */
struct soc_board {
	struct npu_model *m;
	struct npu_model_config cfg;
	u8 *mem;
	bool no_map;
	u64 hole;
	u64 hole_end;
	u32 irqs[NPU_MAX_CQS];
	u8 debug;
	u64 maps;		/* calls of map */
};

void soc_init(struct soc_board *b, const struct npu_model_config *cfg);
void soc_exit(struct soc_board *b);

/* After a reset: the processor waits for soc_load() and soc_store() again. */
void soc_restart(struct soc_board *b);

u32 soc_load(struct soc_board *b, u32 addr);
void soc_store(struct soc_board *b, u32 addr, u32 value);

/* The exception that an access of @size bytes takes, 0 for none. */
u32 soc_load_cause(struct soc_board *b, u32 addr, u32 size);
u32 soc_store_cause(struct soc_board *b, u32 addr, u32 size);

/* Waits with WFI; the processor's mie is @mie. True as npu_model_run(). */
bool soc_wait(struct soc_board *b, u32 mie, u32 budget);

/* A transfer on @channel, to its end; its STATUS, which is then cleared. */
struct soc_dma {
	u64 host;
	u32 local;
	u32 length;
	u32 context;
	bool to_host;
};

u32 soc_dma(struct soc_board *b, u32 channel, const struct soc_dma *t);
void soc_dma_start(struct soc_board *b, u32 channel, const struct soc_dma *t);
u64 soc_dma_fault(struct soc_board *b, u32 channel);

#endif /* TESTS_UNIT_SOC_BOARD_H */
