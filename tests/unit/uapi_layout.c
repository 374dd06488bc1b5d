// SPDX-License-Identifier: MIT
/*
 * The layout of the uAPI, which never changes for what is there, and is the same
 * for programs of every word size. uapi.sh compiles this for each.
 */
#include <stddef.h>
#include <drm/npu_accel.h>

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

#define SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes) && (bytes) % 8 == 0, #type)
#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define NUMBER(name, value) \
	_Static_assert((name) == (value), #name)

#ifdef PLANTED
struct planted {
	__u32 first;
	__u64 second;
	__u32 third;
};

SIZE(struct planted, 24);
#endif

SIZE(struct drm_npu_dev_query, 16);
AT(struct drm_npu_dev_query, query, 0);
AT(struct drm_npu_dev_query, size, 4);
AT(struct drm_npu_dev_query, data, 8);

SIZE(struct drm_npu_query_device, 128);
AT(struct drm_npu_query_device, contract, 0);
AT(struct drm_npu_query_device, device_id, 4);
AT(struct drm_npu_query_device, revision, 8);
AT(struct drm_npu_query_device, fw_version, 12);
AT(struct drm_npu_query_device, hw_features, 16);
AT(struct drm_npu_query_device, fw_features, 24);
AT(struct drm_npu_query_device, fw_proto, 28);
AT(struct drm_npu_query_device, cores, 32);
AT(struct drm_npu_query_device, queue_slots, 36);
AT(struct drm_npu_query_device, contexts, 40);
AT(struct drm_npu_query_device, config0, 44);
AT(struct drm_npu_query_device, config1, 48);
AT(struct drm_npu_query_device, clock_khz, 52);
AT(struct drm_npu_query_device, priorities, 56);
AT(struct drm_npu_query_device, max_jobs, 60);
AT(struct drm_npu_query_device, max_syncs, 64);
AT(struct drm_npu_query_device, max_binds, 68);
AT(struct drm_npu_query_device, va_start, 72);
AT(struct drm_npu_query_device, va_end, 80);
AT(struct drm_npu_query_device, limit_default, 88);
AT(struct drm_npu_query_device, limit_max, 96);
AT(struct drm_npu_query_device, resets, 104);
AT(struct drm_npu_query_device, uuid, 112);

SIZE(struct drm_npu_query_region, 24);
AT(struct drm_npu_query_region, id, 0);
AT(struct drm_npu_query_region, pad, 4);
AT(struct drm_npu_query_region, size, 8);
AT(struct drm_npu_query_region, used, 16);

SIZE(struct drm_npu_query_time, 24);
AT(struct drm_npu_query_time, ticks, 0);
AT(struct drm_npu_query_time, monotonic_ns, 8);
AT(struct drm_npu_query_time, deviation_ns, 16);

SIZE(struct drm_npu_bo_create, 24);
AT(struct drm_npu_bo_create, size, 0);
AT(struct drm_npu_bo_create, region, 8);
AT(struct drm_npu_bo_create, flags, 12);
AT(struct drm_npu_bo_create, handle, 16);
AT(struct drm_npu_bo_create, pad, 20);

SIZE(struct drm_npu_bo_import_user, 24);
AT(struct drm_npu_bo_import_user, addr, 0);
AT(struct drm_npu_bo_import_user, size, 8);
AT(struct drm_npu_bo_import_user, flags, 16);
AT(struct drm_npu_bo_import_user, handle, 20);

SIZE(struct drm_npu_bo_mmap_offset, 16);
AT(struct drm_npu_bo_mmap_offset, handle, 0);
AT(struct drm_npu_bo_mmap_offset, pad, 4);
AT(struct drm_npu_bo_mmap_offset, offset, 8);

SIZE(struct drm_npu_bo_wait, 16);
AT(struct drm_npu_bo_wait, handle, 0);
AT(struct drm_npu_bo_wait, flags, 4);
AT(struct drm_npu_bo_wait, timeout_ns, 8);

SIZE(struct drm_npu_bind_op, 40);
AT(struct drm_npu_bind_op, op, 0);
AT(struct drm_npu_bind_op, flags, 4);
AT(struct drm_npu_bind_op, handle, 8);
AT(struct drm_npu_bind_op, pad, 12);
AT(struct drm_npu_bind_op, va, 16);
AT(struct drm_npu_bind_op, offset, 24);
AT(struct drm_npu_bind_op, size, 32);

SIZE(struct drm_npu_vm_bind, 48);
AT(struct drm_npu_vm_bind, op_count, 0);
AT(struct drm_npu_vm_bind, op_stride, 4);
AT(struct drm_npu_vm_bind, ops, 8);
AT(struct drm_npu_vm_bind, flags, 16);
AT(struct drm_npu_vm_bind, failed_op, 20);
AT(struct drm_npu_vm_bind, in_sync_count, 24);
AT(struct drm_npu_vm_bind, out_sync_count, 28);
AT(struct drm_npu_vm_bind, in_syncs, 32);
AT(struct drm_npu_vm_bind, out_syncs, 40);

SIZE(struct drm_npu_queue_create, 24);
AT(struct drm_npu_queue_create, priority, 0);
AT(struct drm_npu_queue_create, core_mask, 4);
AT(struct drm_npu_queue_create, limit, 8);
AT(struct drm_npu_queue_create, flags, 16);
AT(struct drm_npu_queue_create, queue_id, 20);

SIZE(struct drm_npu_queue_destroy, 8);
AT(struct drm_npu_queue_destroy, queue_id, 0);
AT(struct drm_npu_queue_destroy, pad, 4);

SIZE(struct drm_npu_queue_query, 80);
AT(struct drm_npu_queue_query, queue_id, 0);
AT(struct drm_npu_queue_query, state, 4);
AT(struct drm_npu_queue_query, jobs_submitted, 8);
AT(struct drm_npu_queue_query, jobs_done, 16);
AT(struct drm_npu_queue_query, jobs_failed, 24);
AT(struct drm_npu_queue_query, cycles, 32);
AT(struct drm_npu_queue_query, resets, 40);
AT(struct drm_npu_queue_query, failed_job, 48);
AT(struct drm_npu_queue_query, failed_status, 56);
AT(struct drm_npu_queue_query, fault_code, 58);
AT(struct drm_npu_queue_query, fault_unit, 59);
AT(struct drm_npu_queue_query, fault_access, 60);
AT(struct drm_npu_queue_query, fault_core, 61);
AT(struct drm_npu_queue_query, pad0, 62);
AT(struct drm_npu_queue_query, fault_insn, 64);
AT(struct drm_npu_queue_query, pad, 68);
AT(struct drm_npu_queue_query, fault_va, 72);

SIZE(struct drm_npu_job, 48);
AT(struct drm_npu_job, insn_va, 0);
AT(struct drm_npu_job, insn_count, 8);
AT(struct drm_npu_job, region_count, 12);
AT(struct drm_npu_job, region_va, 16);
AT(struct drm_npu_job, limit, 24);
AT(struct drm_npu_job, report_va, 32);
AT(struct drm_npu_job, flags, 40);
AT(struct drm_npu_job, pad, 44);

SIZE(struct drm_npu_sync, 16);
AT(struct drm_npu_sync, handle, 0);
AT(struct drm_npu_sync, flags, 4);
AT(struct drm_npu_sync, point, 8);

SIZE(struct drm_npu_submit, 56);
AT(struct drm_npu_submit, queue_id, 0);
AT(struct drm_npu_submit, flags, 4);
AT(struct drm_npu_submit, job_count, 8);
AT(struct drm_npu_submit, job_stride, 12);
AT(struct drm_npu_submit, jobs, 16);
AT(struct drm_npu_submit, in_sync_count, 24);
AT(struct drm_npu_submit, out_sync_count, 28);
AT(struct drm_npu_submit, in_syncs, 32);
AT(struct drm_npu_submit, out_syncs, 40);
AT(struct drm_npu_submit, seqno, 48);

SIZE(struct drm_npu_account, 384);
AT(struct drm_npu_account, sequence, 0);
AT(struct drm_npu_account, client_id, 8);
AT(struct drm_npu_account, opened_ns, 16);
AT(struct drm_npu_account, closed_ns, 24);
AT(struct drm_npu_account, jobs, 32);
AT(struct drm_npu_account, jobs_failed, 40);
AT(struct drm_npu_account, cycles, 48);
AT(struct drm_npu_account, macs, 56);
AT(struct drm_npu_account, bytes_read, 64);
AT(struct drm_npu_account, bytes_written, 72);
AT(struct drm_npu_account, energy_nj, 80);
AT(struct drm_npu_account, cgroup_id, 88);
AT(struct drm_npu_account, pid, 96);
AT(struct drm_npu_account, uid, 100);
AT(struct drm_npu_account, flags, 104);
AT(struct drm_npu_account, pad, 108);
AT(struct drm_npu_account, comm, 112);
AT(struct drm_npu_account, cgroup, 128);

SIZE(struct drm_npu_accounts, 40);
AT(struct drm_npu_accounts, flags, 0);
AT(struct drm_npu_accounts, count, 4);
AT(struct drm_npu_accounts, stride, 8);
AT(struct drm_npu_accounts, pad, 12);
AT(struct drm_npu_accounts, records, 16);
AT(struct drm_npu_accounts, after, 24);
AT(struct drm_npu_accounts, lost, 32);

NUMBER(DRM_IOCTL_NPU_DEV_QUERY, 0xc0106440);
NUMBER(DRM_IOCTL_NPU_BO_CREATE, 0xc0186441);
NUMBER(DRM_IOCTL_NPU_BO_IMPORT_USER, 0xc0186442);
NUMBER(DRM_IOCTL_NPU_BO_MMAP_OFFSET, 0xc0106443);
NUMBER(DRM_IOCTL_NPU_BO_WAIT, 0x40106444);
NUMBER(DRM_IOCTL_NPU_VM_BIND, 0xc0306445);
NUMBER(DRM_IOCTL_NPU_QUEUE_CREATE, 0xc0186446);
NUMBER(DRM_IOCTL_NPU_QUEUE_DESTROY, 0x40086447);
NUMBER(DRM_IOCTL_NPU_QUEUE_QUERY, 0xc0506448);
NUMBER(DRM_IOCTL_NPU_SUBMIT, 0xc0386449);
NUMBER(DRM_IOCTL_NPU_ACCOUNTS, 0xc028644a);
