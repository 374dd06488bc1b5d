// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Identification, reset and boot. */
#include "firmware/host/npu_detail.h"

#define ALL_ONES	0xffffffffu
#define FIELD(value, name) \
	(((value) & NPU_HOST_##name##_MASK) >> NPU_HOST_##name##_SHIFT)

static u32 rd(const struct npu_host_env *env, u32 offset)
{
	return env->ops->reg_read(env->opaque, offset);
}

static void wr(const struct npu_host_env *env, u32 offset, u32 value)
{
	env->ops->reg_write(env->opaque, offset, value);
}

static void wr64(const struct npu_host_env *env, u32 offset_lo, u64 value)
{
	wr(env, offset_lo, (u32)value);
	wr(env, offset_lo + 4, (u32)(value >> 32));
}

static void read_info(const struct npu_host_env *env, struct npu_dev_info *info)
{
	u32 topology = rd(env, NPU_HOST_TOPOLOGY);
	u32 address = rd(env, NPU_HOST_ADDRESS);
	u32 i;

	*info = (struct npu_dev_info) {
		.contract = rd(env, NPU_HOST_CONTRACT),
		.device = rd(env, NPU_HOST_DEVICE),
		.revision = rd(env, NPU_HOST_REVISION),
		.features = rd(env, NPU_HOST_FEATURES_LO),
		.cores = FIELD(topology, TOPOLOGY_CORES),
		.queues = FIELD(topology, TOPOLOGY_QUEUES),
		.cqs = FIELD(topology, TOPOLOGY_CQS),
		.contexts = rd(env, NPU_HOST_CONTEXTS),
		.config0 = rd(env, NPU_HOST_CONFIG0),
		.config1 = rd(env, NPU_HOST_CONFIG1),
		.clock_khz = rd(env, NPU_HOST_CLOCK_KHZ),
		.bus_bits = FIELD(address, ADDRESS_BUS_BITS),
		.va_bits = FIELD(address, ADDRESS_VA_BITS),
		.tcm_size = rd(env, NPU_HOST_TCM_SIZE),
	};
	info->features |= (u64)rd(env, NPU_HOST_FEATURES_HI) << 32;
	for (i = 0; i < sizeof(info->uuid) / 4; i++)
		npu_put_le32(info->uuid + 4 * i, rd(env, NPU_HOST_UUID0 + 4 * i));
}

struct bound {
	const char *what;
	u32 value;
	u32 min;
	u32 max;
};

static int check_bounds(const struct npu_dev_info *info, struct npu_host_detail *detail)
{
	const struct bound bounds[] = {
		{ "number of cores", info->cores, 1, NPU_MAX_CORES },
		{ "number of queue slots", info->queues, 1, NPU_MAX_QUEUES },
		{ "number of completion rings", info->cqs, 1, NPU_MAX_CQS },
		{ "number of contexts", info->contexts, 1, NPU_MAX_CONTEXTS },
		{ "clock rate in kHz", info->clock_khz, 1, ALL_ONES - 1 },
		{ "bits of a bus address", info->bus_bits, 32, 56 },
		{ "bits of a virtual address", info->va_bits, NPU_VA_BITS, NPU_VA_BITS },
		{ "bytes of TCM", info->tcm_size, 4, NPU_TCM_MAX_SIZE },
	};
	u32 i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (bounds[i].value < bounds[i].min)
			return npu_refuse(detail, -EINVAL, bounds[i].what, bounds[i].min,
					  bounds[i].value);
		if (bounds[i].value > bounds[i].max)
			return npu_refuse(detail, -EINVAL, bounds[i].what, bounds[i].max,
					  bounds[i].value);
	}
	return 0;
}

int npu_identify(const struct npu_host_env *env, struct npu_dev_info *info,
		 struct npu_host_detail *detail)
{
	u32 magic = rd(env, NPU_HOST_MAGIC);

	if (magic == ALL_ONES)
		return npu_refuse(detail, -ENODEV, "device is gone: magic", NPU_MAGIC, magic);
	if (magic != NPU_MAGIC)
		return npu_refuse(detail, -ENODEV, "magic", NPU_MAGIC, magic);

	read_info(env, info);
	if (FIELD(info->contract, CONTRACT_MAJOR) != NPU_CONTRACT_MAJOR)
		return npu_refuse(detail, -EPROTONOSUPPORT, "major version of the contract",
				  NPU_CONTRACT_MAJOR, FIELD(info->contract, CONTRACT_MAJOR));
	if (info->device != NPU_HOST_DEVICE_RESET)
		return npu_refuse(detail, -ENODEV, "vendor and device number", NPU_HOST_DEVICE_RESET,
				  info->device);
	return check_bounds(info, detail);
}

int npu_reset(const struct npu_host_env *env, u64 timeout_us, struct npu_host_detail *detail)
{
	u64 end = env->ops->now_us(env->opaque) + timeout_us;
	bool late = false;
	u32 value;

	wr(env, NPU_HOST_RESET, NPU_RESET_KEY);
	for (;;) {
		value = rd(env, NPU_HOST_RESET);
		if (!value)
			return 0;
		if (value == ALL_ONES)
			return npu_refuse(detail, -ENODEV, "device is gone: reset", 0, value);
		if (late)
			return npu_refuse(detail, -ETIMEDOUT, "reset", 0, value);
		env->ops->relax(env->opaque);
		late = env->ops->now_us(env->opaque) >= end;
	}
}

static void load_tcm(const struct npu_host_env *env, const struct npu_fwimage *image)
{
	u32 offset = NPU_TCM_WINDOW + (image->load_address - NPU_TCM_BASE);
	u32 i;

	for (i = 0; i < image->length; i += 4)
		wr(env, offset + i, npu_get_le32(image->payload + i));
}

static void write_handshake(const struct npu_host_env *env, const struct npu_admin *admin)
{
	wr(env, NPU_HOST_ADMIN_SIZE, admin->log_sq << NPU_HOST_ADMIN_SIZE_LOG_SQ_SHIFT |
	   admin->log_cq << NPU_HOST_ADMIN_SIZE_LOG_CQ_SHIFT);
	wr64(env, NPU_HOST_ADMIN_SQ_LO, admin->sq_bus);
	wr64(env, NPU_HOST_ADMIN_CQ_LO, admin->cq_bus);
	wr(env, NPU_HOST_HOST_PROTO_RANGE,
	   NPU_PROTO_MIN << NPU_HOST_HOST_PROTO_RANGE_MIN_SHIFT |
	   NPU_PROTO_MAX << NPU_HOST_HOST_PROTO_RANGE_MAX_SHIFT);
}

/* Why the firmware gave up. */
static int boot_failed(const struct npu_host_env *env, struct npu_host_detail *detail)
{
	u32 error = rd(env, NPU_HOST_BOOT_ERROR);

	if ((error & 0xff) == NPU_BOOT_ERROR_PROTO)
		return npu_refuse(detail, -EPROTONOSUPPORT, "range of the firmware's protocol versions",
				  NPU_PROTO_MIN << NPU_HOST_FW_PROTO_RANGE_MIN_SHIFT |
				  NPU_PROTO_MAX << NPU_HOST_FW_PROTO_RANGE_MAX_SHIFT,
				  rd(env, NPU_HOST_FW_PROTO_RANGE));
	return npu_refuse(detail, -EIO, "boot error", NPU_BOOT_ERROR_NONE, error);
}

static int check_proto(const struct npu_host_env *env, const struct npu_fwimage *image,
		       struct npu_host_detail *detail)
{
	u32 proto = rd(env, NPU_HOST_FW_PROTO);

	if (proto < NPU_PROTO_MIN || proto < image->proto_min)
		return npu_refuse(detail, -EPROTO, "protocol version chosen", NPU_PROTO_MIN, proto);
	if (proto > NPU_PROTO_MAX || proto > image->proto_max)
		return npu_refuse(detail, -EPROTO, "protocol version chosen", NPU_PROTO_MAX, proto);
	return 0;
}

/* 1 ready, 0 not yet, or an error. */
static int boot_state(const struct npu_host_env *env, struct npu_host_detail *detail)
{
	u32 state = rd(env, NPU_HOST_BOOT_STATE);
	u32 status;

	switch (state) {
	case NPU_BOOT_READY:
		return 1;
	case NPU_BOOT_NONE:
	case NPU_BOOT_BOOTING:
		status = rd(env, NPU_HOST_CP_STATUS);
		if (status & NPU_HOST_CP_STATUS_HALTED_MASK && status != ALL_ONES)
			return npu_refuse(detail, -EIO, "processor halted: its status", 0, status);
		return 0;
	case NPU_BOOT_FAILED:
		return boot_failed(env, detail);
	case ALL_ONES:
		return npu_refuse(detail, -ENODEV, "device is gone: boot state", NPU_BOOT_READY, state);
	default:
		return npu_refuse(detail, -EIO, "boot state", NPU_BOOT_READY, state);
	}
}

static int wait_ready(const struct npu_host_env *env, u64 timeout_us,
		      struct npu_host_detail *detail)
{
	u64 end = env->ops->now_us(env->opaque) + timeout_us;
	bool late = false;
	int ret;

	for (;;) {
		ret = boot_state(env, detail);
		if (ret)
			return ret < 0 ? ret : 0;
		if (late)
			return npu_refuse(detail, -ETIMEDOUT, "boot state", NPU_BOOT_READY,
					  rd(env, NPU_HOST_BOOT_STATE));
		env->ops->relax(env->opaque);
		late = env->ops->now_us(env->opaque) >= end;
	}
}

int npu_boot(const struct npu_host_env *env, const struct npu_fwimage *image,
	     const struct npu_admin *admin, u64 timeout_us, struct npu_host_detail *detail)
{
	int ret;

	ret = npu_reset(env, timeout_us, detail);
	if (ret)
		return ret;

	load_tcm(env, image);
	write_handshake(env, admin);
	wr(env, NPU_HOST_CP_ENTRY, image->entry);
	wr(env, NPU_HOST_CP_CONTROL, NPU_HOST_CP_CONTROL_RUN_MASK);

	ret = wait_ready(env, timeout_us, detail);
	if (!ret)
		ret = check_proto(env, image, detail);
	if (ret)
		wr(env, NPU_HOST_CP_CONTROL, 0);
	return ret;
}

u64 npu_read_ticks(const struct npu_host_env *env)
{
	u32 lo = rd(env, NPU_HOST_TIME_LO);

	return (u64)rd(env, NPU_HOST_TIME_HI) << 32 | lo;
}
