/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays that user space passes. */
#ifndef NPU_UACCESS_H
#define NPU_UACCESS_H

#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>

/**
 * npu_copy_array - copy an array whose elements may have another size
 * @to: room for @count elements of @size bytes
 * @size: bytes of an element here
 * @from: user pointer
 * @stride: bytes of an element there
 * @count: elements
 *
 * Elements of a newer program must have zeros in what is unknown here. There are
 * no older ones: elements have had their size from the first version on.
 *
 * Return: 0; -EINVAL for @stride; -E2BIG for an unknown tail; -EFAULT.
 */
static inline int npu_copy_array(void *to, u32 size, u64 from, u32 stride, u32 count)
{
	u32 i;
	int ret;

	if (stride < size || !IS_ALIGNED(stride, 8))
		return -EINVAL;
	if (stride > PAGE_SIZE)
		return -E2BIG;
	if (stride == size)
		return copy_from_user(to, u64_to_user_ptr(from), size_mul(size, count)) ?
		       -EFAULT : 0;
	for (i = 0; i < count; i++) {
		ret = copy_struct_from_user(to + (size_t)i * size, size,
					    u64_to_user_ptr(from + (u64)i * stride), stride);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * npu_copy_array_out - the way back
 * @to: user pointer
 * @stride: bytes of an element there: what a newer program has more is zeroed, what
 *	an older one has less is left out
 * @from: @count elements of @size bytes
 * @size: bytes of an element here
 * @count: elements
 *
 * Return: 0; -EINVAL for @stride; -EFAULT.
 */
static inline int npu_copy_array_out(u64 to, u32 stride, const void *from, u32 size, u32 count)
{
	u32 part = min(stride, size);
	u32 i;

	if (!stride || !IS_ALIGNED(stride, 8) || stride > PAGE_SIZE)
		return -EINVAL;
	for (i = 0; i < count; i++, to += stride, from += size)
		if (copy_to_user(u64_to_user_ptr(to), from, part) ||
		    clear_user(u64_to_user_ptr(to + part), stride - part))
			return -EFAULT;
	return 0;
}

#endif
