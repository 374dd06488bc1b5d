/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* State of a compute core, shared by the core_*.c files alone. */
#ifndef FIRMWARE_MODEL_CORE_INTERNAL_H
#define FIRMWARE_MODEL_CORE_INTERNAL_H

#include "firmware/model/npu_core.h"
#include "npu_isa.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "SRAM holds lanes in memory order: the host must be little endian"
#endif

#define CORE_NEVER	(~0ull)

/* Micro-ops that are done at one event: the grain of STOP and of slices. */
#define CORE_PIECE	1024u

/* Bytes that ACC8 loads and stores convert at a time. */
#define CORE_BOUNCE	4096u

#define CORE_LINE_INSNS	(NPU_TIMING_FETCH_LINE_BYTES / NPU_INSN_BYTES)

/*
 * Memory for copies of weights in the layout of the kernels, made when they
 * are first used. The tag of a slot is the element it holds, plus 1, or 0.
 */
#ifdef __KERNEL__
#define CORE_PACK_BYTES	(192u * 1024u)
#else
#define CORE_PACK_BYTES	(512u * 1024u)
#endif

enum core_unit_id { CORE_LOAD, CORE_COMPUTE, CORE_STORE, CORE_UNITS };

enum core_sram_id { CORE_UOP, CORE_WGT, CORE_INP, CORE_ACC, CORE_SRAMS };

/* Token queues, by producer and consumer. */
enum core_token {
	CORE_LOAD_TO_COMPUTE,
	CORE_COMPUTE_TO_LOAD,
	CORE_COMPUTE_TO_STORE,
	CORE_STORE_TO_COMPUTE,
	CORE_TOKENS,
	CORE_NO_TOKEN = CORE_TOKENS,
};

#define CORE_QUAD(field) (offsetof(struct npu_job_report, field) / 8)

/* What time counts as, of one unit: a counter of the report, or nothing. */
enum core_account {
	ACCOUNT_IDLE = 0,
	ACCOUNT_BUSY_LOAD = CORE_QUAD(busy_load),
	ACCOUNT_BUSY_COMPUTE = CORE_QUAD(busy_compute),
	ACCOUNT_BUSY_STORE = CORE_QUAD(busy_store),
	ACCOUNT_STALL_LOAD = CORE_QUAD(stall_load),
	ACCOUNT_STALL_COMPUTE_LOAD = CORE_QUAD(stall_compute_load),
	ACCOUNT_STALL_COMPUTE_STORE = CORE_QUAD(stall_compute_store),
	ACCOUNT_STALL_STORE = CORE_QUAD(stall_store),
};

/* The report window. */
union core_report {
	struct npu_job_report job;
	u64 quad[sizeof(struct npu_job_report) / 8];
	u32 word[sizeof(struct npu_job_report) / 4];
};

enum core_phase {
	PHASE_FREE,		/* executes nothing */
	PHASE_REQUEST,		/* makes the request of its next row at @when */
	PHASE_PIECE,		/* does its next micro-ops at @when */
	PHASE_COMPLETE,		/* completes at @when */
	PHASE_PUSH,		/* completed, waits for room for a token */
};

struct core_insn {
	u64 word[2];
	u32 index;
};

/* Formats of instructions, decoded. The structs follow the description. */
#define CORE_TYPE_0 u32
#define CORE_TYPE_1 s32
#define CORE_FIELD(name, half, low, width, sign) CORE_TYPE_##sign name;

struct core_mem_fields { NPU_FMT_MEM_FIELDS(CORE_FIELD) };
struct core_gemm_fields { NPU_FMT_GEMM_FIELDS(CORE_FIELD) };
struct core_alu_fields { NPU_FMT_ALU_FIELDS(CORE_FIELD) };
struct core_vmac_fields { NPU_FMT_VMAC_FIELDS(CORE_FIELD) };
struct core_lut_fields { NPU_FMT_LUT_FIELDS(CORE_FIELD) };
struct core_pad_value_fields { NPU_FMT_PAD_VALUE_FIELDS(CORE_FIELD) };

/* A LOAD or STORE under way. */
struct core_transfer {
	u64 offset;		/* in the region, of the next row */
	u64 base;
	u64 limit;
	u64 pad_cycles;		/* after the last row */
	u32 stride_bytes;
	u32 row_bytes;		/* in memory */
	u32 row_elements;
	u32 row_step;		/* elements from row to row in SRAM */
	u32 rows_left;
	u32 sram;		/* first element of the next row */
	u8 memory;		/* NPU_MEM_* */
};

enum core_loop_op {
	LOOP_GEMM,
	LOOP_RESET,		/* GEMM and VMAC with reset */
	LOOP_ALU,
	LOOP_REQUANT,
	LOOP_VMAC,
	LOOP_LUT,
};

/* An index of a micro-op: field + outer * factor_out + inner * factor_in. */
struct core_index {
	u32 factor_out;
	u32 factor_in;
	u32 depth;		/* first index out of range; 0: not used */
};

/* An instruction over micro-ops under way. */
struct core_loop {
	u8 op;			/* enum core_loop_op */
	u8 alu_op;
	bool use_imm;
	bool inside;		/* no index of the whole instruction is out */
	s32 imm;
	u32 table;
	u32 uop_cycles;
	u32 macs;		/* of a micro-op */
	u32 uop_bgn;
	u32 uop_end;
	u32 iter_out;
	u32 iter_in;
	u64 factor_out;		/* of all three, see core_step() */
	u64 factor_in;
	u32 outer;		/* the next micro-op */
	u32 inner;
	u32 uop;
	struct core_index dst;
	struct core_index src;
	struct core_index wgt;
};

struct core_unit {
	u64 when;		/* of its next event, or CORE_NEVER */
	u8 id;			/* enum core_unit_id */
	u8 name;		/* NPU_UNIT_* */
	u8 phase;
	u8 account;		/* enum core_account, until the next event */
	u8 pushes;		/* bit t: a token is still to go to queue t */
	s32 pad_value;
	struct core_insn insn;	/* in execution */
	u32 head;
	u32 count;
	struct core_insn queue[NPU_CMD_QUEUE_DEPTH];
};

struct core_line {
	u32 first;		/* index of the first instruction */
	u32 count;
	u32 next;		/* the next to hand out, from 0 */
	u32 good;		/* instructions that could be fetched */
	u8 fault;		/* why the one after them could not */
	u64 fault_va;
	u64 word[2 * CORE_LINE_INSNS];
};

struct core_fetch {
	u64 arrival;		/* of the burst under way, or CORE_NEVER */
	u64 dispatch;		/* cycle of the next hand-out, or CORE_NEVER */
	u64 last;		/* cycle after the last hand-out */
	u32 next;		/* index of the next instruction to request */
	u32 lines;		/* that wait for dispatch */
	u32 head;
	bool table;		/* the region table is to be read first */
	bool barrier;		/* a YIELD was handed out, has not executed */
	bool handed_out;	/* in this cycle */
	struct core_line line[NPU_TIMING_FETCH_LINES];
};

/* One direction of the memory port. */
struct core_port {
	u64 free;
	bool used;
};

/*
 * The indices of one micro-op, and likewise its factors, in one word: dst in
 * bits 15:0, src in 31:16, wgt in 47:32. An index that is in range does not
 * spill; those of an operation that are not used may, upwards, where no used
 * one is.
 */
static inline u64 core_step(u32 dst, u32 src, u32 wgt)
{
	return dst + ((u64)src << 16) + ((u64)wgt << 32);
}

static inline u32 step_dst(u64 step)
{
	return (u16)step;
}

static inline u32 step_src(u64 step)
{
	return (u16)(step >> 16);
}

static inline u32 step_wgt(u64 step)
{
	return (u16)(step >> 32);
}

/**
 * struct npu_core_kernels - arithmetic over lists of micro-ops
 * @name: for people
 * @pack_slots: elements that fit the pack memory in this layout, a power of
 *	two; element w has slot w % @pack_slots
 * @gemm: acc[dst] += inp[src] . wgt[wgt] transposed
 * @vmac: acc[dst] += inp[src] * wgt[wgt / 16][wgt % 16]
 * @alu_imm: acc[dst] = op(acc[dst], imm)
 * @alu_reg: acc[dst] = op(acc[dst], acc[src])
 * @requant: acc[dst] by the parameters in acc[src] to acc[src + 2]
 * @lut: acc[dst] = table[acc[src] & 255]
 *
 * Indices are in range and their elements initialised. Micro-ops take effect
 * one after the other.
 */
struct npu_core_kernels {
	const char *name;
	u32 pack_slots;
	void (*gemm)(struct npu_core *c, const u64 *step, u32 n);
	void (*vmac)(struct npu_core *c, const u64 *step, u32 n);
	void (*alu_imm)(struct npu_core *c, const u64 *step, u32 n,
			u32 op, s32 imm);
	void (*alu_reg)(struct npu_core *c, const u64 *step, u32 n,
			u32 op);
	void (*requant)(struct npu_core *c, const u64 *step, u32 n);
	void (*lut)(struct npu_core *c, const u64 *step, u32 n,
		    const s8 *table);
};

/* Registers that describe a job; those of a started job are a copy. */
struct core_job {
	u64 insn_va;
	u64 region_va;
	u32 insn_count;
	u32 start_index;
	u32 region_count;
	u16 context;
};

/* Arrays come first: aligned to cache lines if the whole is. */
struct npu_core {
	s32 acc[NPU_ACC_DEPTH][NPU_BLOCK];
	s8 inp[NPU_INP_DEPTH][NPU_BLOCK];
	s8 wgt[NPU_WGT_DEPTH][NPU_BLOCK][NPU_BLOCK];
	u64 uop[NPU_UOP_DEPTH];		/* as core_step() */
	u64 pack[CORE_PACK_BYTES / 8];
	u64 step[CORE_PIECE];
	union {
		s8 lane[CORE_BOUNCE];
		u32 uop[CORE_BOUNCE / NPU_UOP_BYTES];
	} bounce;

	const struct npu_core_kernels *kernels;
	struct npu_core_mem mem;
	u64 features;
	u32 index;

	u8 state;		/* NPU_CORE_STATE_* */
	bool event;
	bool yield_request;
	u64 limit;
	u32 resume_index;
	struct core_job regs;
	struct core_job job;
	union core_report report;

	u64 now;		/* cycles since START */
	u64 tick;		/* tick counter at cycle 0, modulo 2^64 */
	bool starting;		/* START was written, nothing has been done */
	bool finished;		/* FINISH has executed */
	u16 tokens[CORE_TOKENS];
	struct core_port read_port;
	struct core_port write_port;
	struct core_fetch fetch;
	struct core_unit unit[CORE_UNITS];
	struct core_transfer transfer[CORE_UNITS];
	struct core_loop loop;
	struct npu_region region[NPU_REGION_TABLE_MAX];

	/* A group of elements is initialised when it has this generation. */
	u32 generation;
	u32 group[CORE_SRAMS][64];
	u16 pack_tag[NPU_WGT_DEPTH];
};

/* Decoding. */
static inline u64 core_bits(const u64 *word, u32 half, u32 low, u32 width)
{
	return (word[half] >> low) & ((1ull << width) - 1);
}

#define CORE_EXTRACT_0(bits, width) ((u32)(bits))
#define CORE_EXTRACT_1(bits, width) \
	((s32)((u32)(bits) << (32 - (width))) >> (32 - (width)))
#define CORE_DECODE(name, half, low, width, sign) \
	f->name = CORE_EXTRACT_##sign(core_bits(insn->word, half, low, width), \
				      width);
#define CORE_DECODER(format, FORMAT) \
	static inline void core_decode_##format( \
		struct core_##format##_fields *f, const struct core_insn *insn) \
	{ \
		NPU_FMT_##FORMAT##_FIELDS(CORE_DECODE) \
	}

static inline u32 core_opcode(const struct core_insn *insn)
{
	return insn->word[0] & 7;
}

/* core.c */
void core_leave(struct npu_core *c, u8 state);
void core_raise(struct npu_core *c, u8 code, u8 unit, u8 access, u32 insn,
		u64 va);
static inline bool core_is_running(const struct npu_core *c)
{
	return c->state == NPU_CORE_STATE_RUNNING;
}

/* core_run.c */
u64 core_port_claim(struct core_port *port, u64 now, u32 latency, u64 bytes);

/* core_fetch.c */
void core_fetch_start(struct npu_core *c);
void core_fetch_arrive(struct npu_core *c);
void core_fetch_dispatch(struct npu_core *c);
void core_fetch_request(struct npu_core *c);

/* core_unit.c */
void core_unit_reset(struct core_unit *u, u8 id);
void core_unit_complete(struct npu_core *c, struct core_unit *u);
void core_units_settle(struct npu_core *c);
bool core_units_idle(const struct npu_core *c);
void core_unit_fault(struct npu_core *c, const struct core_unit *u, u8 code,
		     u8 access, u64 va);
void core_unit_after(struct npu_core *c, struct core_unit *u, u8 phase,
		     u64 cycles);

/* core_mem.c */
void core_mem_begin(struct npu_core *c, struct core_unit *u);
void core_mem_row(struct npu_core *c, struct core_unit *u);

/* core_loop.c */
void core_loop_begin(struct npu_core *c, struct core_unit *u);
void core_loop_piece(struct npu_core *c, struct core_unit *u);
bool core_ext_valid(const struct npu_core *c, const struct core_insn *insn);
static inline u32 core_ext_op(const struct core_insn *insn)
{
	return core_opcode(insn) == NPU_OP_EXT ? insn->word[1] >> 60 : 0;
}

/* core_sram.c */
void core_sram_clear(struct npu_core *c);
void core_sram_cover(struct npu_core *c, u8 sram, u32 first, u32 count);
void core_sram_open(struct npu_core *c, u8 sram, u32 first, u32 last);

/* core_gemm.c, core_requant.c */
void core_gemm(struct npu_core *c, const u64 *step, u32 n);
void core_requant(struct npu_core *c, const u64 *step, u32 n);
s32 core_requant_lane(s32 v, u32 scale, u32 bounds);

#endif /* FIRMWARE_MODEL_CORE_INTERNAL_H */
