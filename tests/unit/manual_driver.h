/* SPDX-License-Identifier: MIT */
/*
 * A driver of the device that knows the hardware manual alone: every constant
 * here was copied from Documentation/hardware by hand, and no header of the
 * project is included but that of the model, which stands for the bus. What it
 * cannot do, a reader of the manual cannot do.
 */
#ifndef TESTS_UNIT_MANUAL_DRIVER_H
#define TESTS_UNIT_MANUAL_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* reference.rst, registers of the HOST block. */
#define R_MAGIC			0x000
#define R_CONTRACT		0x004
#define R_DEVICE		0x008
#define R_FEATURES_LO		0x010
#define R_TOPOLOGY		0x018
#define R_CONTEXTS		0x01c
#define R_CONFIG0		0x020
#define R_CONFIG1		0x024
#define R_ADDRESS		0x02c
#define R_TCM_SIZE		0x030
#define R_TIME_LO		0x050
#define R_TIME_HI		0x054
#define R_CP_CONTROL		0x080
#define R_CP_STATUS		0x084
#define R_CP_ENTRY		0x088
#define R_RESET			0x08c
#define R_BOOT_STATE		0x0c0
#define R_BOOT_ERROR		0x0c4
#define R_FW_VERSION		0x0cc
#define R_FW_PROTO		0x0d0
#define R_FW_PROTO_RANGE	0x0d4
#define R_HOST_PROTO_RANGE	0x0d8
#define R_ADMIN_SIZE		0x0dc
#define R_ADMIN_SQ_LO		0x0e0
#define R_ADMIN_SQ_HI		0x0e4
#define R_ADMIN_CQ_LO		0x0e8
#define R_ADMIN_CQ_HI		0x0ec
#define R_FW_FEATURES		0x0f0
#define R_FW_LOG		0x0f4
#define R_IRQ_STATUS		0x100
#define R_IRQ_MASK		0x104
#define TCM_WINDOW		0x80000
#define TCM_BASE		0x80000000u
#define MAGIC			0x3155504eu
#define DEVICE			0x4e500001u
#define RESET_KEY		0x4e505552u
#define FW_MAGIC		0x4655504eu
#define FW_HEADER		512
#define BOOT_READY		2
#define BOOT_FAILED		3
#define BOOT_SUSPENDED		4
#define BOOT_ERROR_PROTO	1
#define BOOT_ERROR_ADMIN_RING	2
#define FEATURE_REQUANT		(1u << 0)
#define FEATURE_YIELD		(1u << 2)
#define FW_SHADOW		(1u << 0)
#define FW_PREEMPT		(1u << 2)
#define FW_TELEMETRY		(1u << 3)
#define FW_SUSPEND		(1u << 4)
#define FW_LOG			(1u << 6)

/* reference.rst, structures in memory. */
#define ENTRY			64
#define OP_PING			1
#define OP_CQ_CREATE		2
#define OP_CQ_DESTROY		3
#define OP_QUEUE_CREATE		4
#define OP_QUEUE_DESTROY	5
#define OP_ABORT		6
#define OP_CONTEXT_SET_ROOT	7
#define OP_TLB_INVALIDATE	8
#define OP_CONTEXT_RESET	9
#define OP_EVENT_RING_SET	10
#define OP_TELEMETRY		11
#define OP_SUSPEND		12
#define OP_LOG			13
#define ADMIN_OK		0
#define ADMIN_BAD_OP		1
#define ADMIN_BAD_FIELD		2
#define ADMIN_EXISTS		3
#define ADMIN_NOT_FOUND		4
#define ADMIN_BUSY		5
#define JOB_NOP			0
#define JOB_RUN			1
#define JOB_OK			0
#define JOB_FAULT		1
#define JOB_LIMIT		2
#define JOB_ABORTED		3
#define JOB_CANCELED		4
#define JOB_INVALID		5
#define JOB_REPORT_FAULT	6
#define FAULT_NONE		0
#define FAULT_UNMAPPED		1
#define FAULT_PERMISSION	2
#define FAULT_MALFORMED		3
#define FAULT_BUS		6
#define FAULT_REGION		7
#define FAULT_SELECTOR		8
#define FAULT_SRAM		10
#define FAULT_ILLEGAL		11
#define FAULT_DEADLOCK		12
#define FAULT_NO_FINISH		13
#define FAULT_LENGTH		14
#define UNIT_FETCH		1
#define UNIT_LOAD		2
#define UNIT_COMPUTE		3
#define UNIT_STORE		4
#define UNIT_DMA		6
#define ACCESS_READ		0
#define ACCESS_WRITE		1
#define ACCESS_EXECUTE		2
#define EVENT_FAULT		1
#define EVENT_RING_FAULT	2
#define LOG_BOOT		1
#define LOG_ENTRIES		32
#define LOG_ENTRY		32
#define PTE_V			1u
#define PTE_R			2u
#define PTE_W			4u
#define PTE_X			8u
#define PTE_U			16u
#define LIMIT_SLACK		4096
#define LIMIT_DEFAULT		1000000000u

/* Host memory, at a bus address beyond 32 bits, and what lies where in it. */
#define BUS			0x240000000ull
#define MEM_SIZE		0x400000u
#define M_ADMIN_SQ		0x00000u
#define M_ADMIN_CQ		0x01000u
#define M_SQ			0x02000u
#define M_CQ			0x03000u
#define M_SHADOW		0x04000u
#define M_EVENTS		0x05000u
#define M_SCRATCH		0x06000u
#define M_TABLES		0x08000u
#define M_CODE			0x10000u
#define M_REGIONS		0x11000u
#define M_INPUT			0x12000u
#define M_WEIGHTS		0x13000u
#define M_PARAMS		0x14000u
#define M_OTHER			0x15000u
#define M_HOLE			0x16000u	/* never mapped */
#define M_OUTPUT		0x200000u	/* in a page of 2 MiB */
#define M_REPORT		0x201000u
/* The context sees memory at another place; what is mapped keeps its offset. */
#define VA			0x1234400000ull
#define PAGE			0x1000u

#define LOG_RING		3
#define QUEUE			1
#define CQ			1
#define CONTEXT			1

struct ring {
	uint8_t *base;
	uint32_t log;
	uint32_t count;		/* entries written, or read */
};

struct npu_model;

struct npu {
	struct npu_model *hw;
	uint8_t *mem;
	struct ring admin_sq, admin_cq, sq, cq, events;
	uint32_t vectors;	/* those that were raised */
	uint32_t next_cmd;
	bool shadow;		/* the queue has a shadow block */
	uint32_t core_mask;	/* of the queue */
	uint32_t rung;		/* doorbells of the queue that were written */
};

/* Operations that the manual names, with the fields that they use. */
struct admin {
	uint8_t op, priority, log_size, vector;
	uint16_t queue, cq, context, ring_space;
	uint64_t address, size, shadow, limit;
	uint32_t core_mask, arg0;
};

struct job {
	uint8_t op;
	uint64_t insn, region, limit, report;
	uint32_t insn_count, region_count;
};

struct completion {
	uint32_t cmd, status, code, core, insn, unit, access, queue;
	uint64_t cycles, macs, read, written, va;
};

struct insn {
	uint64_t lo, hi;
};

#define FINISH	{ 0x0000000000000003, 0 }

/* Selectors 1 input, 2 weights, 3 parameters, 4 output, 5 a hole; 6 is not there. */
#define REGIONS		6

/* Registers, and memory in little endian. */
uint32_t rd(struct npu *d, uint32_t offset);
void wr(struct npu *d, uint32_t offset, uint32_t value);
uint64_t get(const uint8_t *p, int bytes);
void put(uint8_t *p, int bytes, uint64_t v);
uint32_t wait_reg(struct npu *d, uint32_t offset, uint32_t want);

/* Reset and boot. */
void reset(struct npu *d);
void load_image(struct npu *d);
uint32_t start(struct npu *d, uint32_t lowest, uint32_t highest);

/* Rings. */
void ring_init(struct npu *d, struct ring *r, uint32_t at, uint32_t log);
bool is_there(const struct ring *r);
void take(struct npu *d, struct ring *r, uint8_t entry[ENTRY]);
uint32_t admin(struct npu *d, const struct admin *a, uint64_t *result);
uint32_t submit(struct npu *d, const struct job *j);
uint32_t submit_to(struct npu *d, uint32_t slot, struct ring *sq, const struct job *j);
struct completion completion(struct npu *d);
void write_code(struct npu *d, const struct insn *code, uint32_t count);
struct completion run(struct npu *d, const struct insn *code, uint32_t count);

#define ADMIN(d, ...)	admin(d, &(struct admin){ __VA_ARGS__ }, NULL)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define RUN(d, code)	run(d, code, ARRAY_SIZE(code))

/* The address space. */
void region(struct npu *d, uint32_t n, uint32_t at, uint64_t limit);
uint8_t *pte(struct npu *d, uint64_t va);
void map(struct npu *d, uint32_t at, uint32_t target, uint32_t bits);

/* Bringing it up, as fixtures. */
void create_queue(struct npu *d);
int power_on(void **state);
int power_off(void **state);
int bring_up(void **state);
int bring_up_shadow(void **state);
int bring_up_two_cores(void **state);

#endif /* TESTS_UNIT_MANUAL_DRIVER_H */
