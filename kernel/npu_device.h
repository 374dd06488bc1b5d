/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device: identity, firmware, life from bring-up over resets to removal.
 */
#ifndef NPU_DEVICE_H
#define NPU_DEVICE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <drm/drm_device.h>
#include <drm/drm_print.h>
#include <drm/npu_coredump.h>

#include "firmware/host/npu_host.h"
#include "npu_hw.h"

struct npu_closed;
#define NPU_IMPORT_BITS		8

struct npu_cq_ring;
struct npu_dump;
struct npu_queue;
struct npu_sensors;

/**
 * enum npu_state - what can be done with a device
 * @NPU_STATE_DOWN: not booted; held in reset
 * @NPU_STATE_UP: serves its rings
 * @NPU_STATE_RESETTING: on its way from one to the other
 * @NPU_STATE_WEDGED: could not be brought back; held in reset
 * @NPU_STATE_GONE: removed
 */
enum npu_state {
	NPU_STATE_DOWN,
	NPU_STATE_UP,
	NPU_STATE_RESETTING,
	NPU_STATE_WEDGED,
	NPU_STATE_GONE,
};

/**
 * struct npu_mem - memory that a device and the driver share
 * @cpu: address for the driver
 * @bus: address for the device
 * @size: bytes
 */
struct npu_mem {
	void *cpu;
	dma_addr_t bus;
	size_t size;
};

/**
 * struct npu_device - a device
 * @drm: base
 * @hw: transport; valid within drm_dev_enter() and from probe to remove
 * @env: what the host library calls back
 * @info: what the registers say
 * @fw_file: firmware image as read from its file, kept for reloads
 * @fw: what is in it
 * @fw_version: HOST.FW_VERSION of the running firmware
 * @fw_features: HOST.FW_FEATURES
 * @fw_proto: HOST.FW_PROTO
 * @fw_log: HOST.FW_LOG
 * @boots: times that firmware was started
 * @state: enum npu_state; changes under @state_lock
 * @state_lock: guards changes of @state
 * @state_wait: woken when @state changes
 * @resets: resets since probe
 * @admin_lock: guards @admin and @evq; taken in interrupts
 * @admin: admin rings
 * @evq: event ring
 * @admin_mem: pages of the admin rings
 * @event_mem: page of the event ring
 * @cqs: completion rings 1 to @cq_count, at index 0 and up
 * @cq_count: completion rings in use
 * @ring_log: logarithm of the entries of a job ring
 * @slots: queue slots in use
 * @contexts: contexts in use
 * @roots_lock: guards @roots
 * @roots: root table of each context, 0 for none; what a reset restores
 * @lists_lock: guards @queues; never held over an allocation, since a reset
 *	takes it
 * @queues: queues that have a slot
 * @clients_lock: guards @clients; outside the locks of address spaces
 * @clients: open files, by their ids
 * @closed_lock: guards @closed and @closed_count
 * @closed: accounts of clients that have gone, in a ring
 * @closed_count: clients that have gone
 * @bos_lock: guards @bos and @imports
 * @bos: buffers
 * @imports: of these, those that were imported, by dma-buf
 * @bo_bytes: their size
 * @submit_wq: runs the schedulers
 * @timeout_wq: ordered; runs all that may abort jobs or reset the device
 * @reset_work: resets the device without a guilty queue
 * @suspended: held in reset until a resume; guarded by @lists_lock
 * @reset_reason: why, said by the last one who asked for it
 * @dump: of the state before a reset
 * @sensors: the firmware's telemetry
 * @time_lock: keeps the two reads of the tick counter together
 */
struct npu_device {
	struct drm_device drm;
	struct npu_hw *hw;
	struct npu_host_env env;
	struct npu_dev_info info;

	void *fw_file;
	struct npu_fwimage fw;
	u32 fw_version;
	u32 fw_features;
	u32 fw_proto;

	u32 fw_log;
	u64 boots;
	enum npu_state state;
	spinlock_t state_lock; /* guards changes of state */
	wait_queue_head_t state_wait;
	u64 resets;

	spinlock_t admin_lock; /* guards admin and evq */
	struct npu_admin admin;
	struct npu_evq evq;
	struct npu_mem admin_mem;
	struct npu_mem event_mem;

	struct npu_cq_ring *cqs;
	u32 cq_count;
	u32 ring_log;

	struct ida slots;
	struct ida contexts;
	spinlock_t roots_lock; /* guards roots */
	u64 *roots;

	struct mutex lists_lock; /* guards queues; held by resets */
	struct list_head queues;
	struct mutex clients_lock; /* guards clients */
	struct list_head clients;
	struct mutex closed_lock; /* guards closed and closed_count */
	struct npu_closed *closed;
	u64 closed_count;
	struct mutex bos_lock; /* guards bos and imports */
	struct list_head bos;
	DECLARE_HASHTABLE(imports, NPU_IMPORT_BITS);
	atomic64_t bo_bytes;

	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	struct work_struct reset_work;
	bool suspended;
	enum npu_dump_reason reset_reason;
	struct npu_dump *dump;
	struct npu_sensors *sensors;
	struct mutex time_lock; /* keeps two register reads together */
};

static inline struct npu_device *to_npu_device(struct drm_device *drm)
{
	return container_of(drm, struct npu_device, drm);
}

extern struct workqueue_struct *npu_release_wq;
extern unsigned int npu_hang_ms;

/* npu_drv.c */
struct npu_device *npu_drv_probe(struct npu_hw *hw);
void npu_drv_remove(struct npu_device *ndev);

/* npu_device.c */
int npu_device_init(struct npu_device *ndev);
int npu_device_start(struct npu_device *ndev);
void npu_device_halt(struct npu_device *ndev);
void npu_device_stop(struct npu_device *ndev);
enum npu_state npu_device_state(struct npu_device *ndev);
bool npu_device_set_state(struct npu_device *ndev, enum npu_state state);
int npu_device_wait_up(struct npu_device *ndev);
int npu_device_boot(struct npu_device *ndev);
unsigned int npu_device_patience(struct npu_device *ndev);
int npu_mem_alloc(struct npu_device *ndev, struct npu_mem *mem, size_t size);
void npu_mem_free(struct npu_device *ndev, struct npu_mem *mem);

static inline u32 npu_device_read(struct npu_device *ndev, u32 offset)
{
	return ndev->hw->ops->reg_read(ndev->hw, offset);
}

/* npu_reset.c */
void npu_device_reset(struct npu_device *ndev, struct npu_queue *guilty,
		      enum npu_dump_reason reason);
void npu_device_request_reset(struct npu_device *ndev, enum npu_dump_reason reason);
void npu_reset_work(struct work_struct *work);
void npu_device_suspend(struct npu_device *ndev);
bool npu_device_resume(struct npu_device *ndev);

/* npu_pm.c */
extern const struct dev_pm_ops npu_pm_ops;

/* npu_fw.c */
int npu_fw_load(struct npu_device *ndev);

/* npu_aux.c */
int npu_aux_register(void);
void npu_aux_unregister(void);

/* npu_sysfs.c */
extern const struct attribute_group *npu_sysfs_groups[];
const char *npu_state_name(enum npu_state state);

/* npu_debugfs.c */
void npu_debugfs_init(struct npu_device *ndev);

#endif
