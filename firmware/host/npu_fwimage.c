// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Check of a firmware image file. */
#include "firmware/host/npu_detail.h"

u32 npu_crc32(u32 crc, const void *data, size_t size)
{
	const u8 *p = data;
	u32 bit;

	crc = ~crc;
	while (size--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* The header in the host's byte order; arrays of bytes stay as they are. */
static void read_header(struct npu_fw_header *head, const void *image)
{
	memcpy(head, image, sizeof(*head));
	head->magic = NPU_LE32(head->magic);
	head->header_size = NPU_LE32(head->header_size);
	head->device = NPU_LE16(head->device);
	head->flags = NPU_LE16(head->flags);
	head->proto_min = NPU_LE16(head->proto_min);
	head->proto_max = NPU_LE16(head->proto_max);
	head->version = NPU_LE32(head->version);
	head->security_version = NPU_LE32(head->security_version);
	head->load_address = NPU_LE32(head->load_address);
	head->entry = NPU_LE32(head->entry);
	head->length = NPU_LE32(head->length);
	head->crc32 = NPU_LE32(head->crc32);
	head->header_crc32 = NPU_LE32(head->header_crc32);
	head->signature_type = NPU_LE32(head->signature_type);
	head->signature_length = NPU_LE32(head->signature_length);
	head->reserved0 = NPU_LE32(head->reserved0);
}

/* CRC of the header with its own CRC and the signature block taken as 0. */
static u32 header_crc(const u8 *image)
{
	static const u8 zeros[sizeof(((struct npu_fw_header *)0)->signature)];
	const size_t crc_at = offsetof(struct npu_fw_header, header_crc32);
	const size_t after_crc = crc_at + sizeof(u32);
	const size_t sig_at = offsetof(struct npu_fw_header, signature);
	const size_t after_sig = sig_at + sizeof(zeros);
	u32 crc;

	crc = npu_crc32(0, image, crc_at);
	crc = npu_crc32(crc, zeros, sizeof(u32));
	crc = npu_crc32(crc, image + after_crc, sig_at - after_crc);
	crc = npu_crc32(crc, zeros, sizeof(zeros));
	return npu_crc32(crc, image + after_sig, sizeof(struct npu_fw_header) - after_sig);
}

static int check_zeros(const struct npu_fw_header *head, struct npu_host_detail *detail)
{
	u32 i;

	if (head->flags)
		return npu_refuse(detail, -EINVAL, "flags", 0, head->flags);
	if (head->reserved0)
		return npu_refuse(detail, -EINVAL, "reserved0", 0, head->reserved0);
	for (i = 0; i < sizeof(head->reserved1) / sizeof(head->reserved1[0]); i++)
		if (head->reserved1[i])
			return npu_refuse(detail, -EINVAL, "reserved1", 0,
					  NPU_LE32(head->reserved1[i]));
	return 0;
}

static int check_signature(const struct npu_fw_header *head, u32 security_min,
			   struct npu_host_detail *detail)
{
	u32 i;

	if (head->signature_type)
		return npu_refuse(detail, -EKEYREJECTED, "signature type", 0, head->signature_type);
	if (head->signature_length)
		return npu_refuse(detail, -EINVAL, "signature length", 0, head->signature_length);
	for (i = 0; i < sizeof(head->signature); i++)
		if (head->signature[i])
			return npu_refuse(detail, -EINVAL, "signature of an unsigned image", 0,
					  head->signature[i]);
	if (head->security_version < security_min)
		return npu_refuse(detail, -EKEYREJECTED, "security version", security_min,
				  head->security_version);
	return 0;
}

static int check_versions(const struct npu_fw_header *head, u32 device_id,
			  struct npu_host_detail *detail)
{
	if (head->device != device_id)
		return npu_refuse(detail, -ENODEV, "device number", device_id, head->device);
	if (head->proto_min > head->proto_max)
		return npu_refuse(detail, -EINVAL, "lowest protocol version above the highest",
				  head->proto_max, head->proto_min);
	if (head->proto_min > NPU_PROTO_MAX)
		return npu_refuse(detail, -EPROTONOSUPPORT, "lowest protocol version", NPU_PROTO_MAX,
				  head->proto_min);
	if (head->proto_max < NPU_PROTO_MIN)
		return npu_refuse(detail, -EPROTONOSUPPORT, "highest protocol version", NPU_PROTO_MIN,
				  head->proto_max);
	return 0;
}

/* That the payload lies in TCM and the entry in the payload. */
static int check_placement(const struct npu_fw_header *head, u32 tcm_size,
			   struct npu_host_detail *detail)
{
	u64 offset = (u64)head->load_address - NPU_TCM_BASE;

	if (!head->length || head->length % 4)
		return npu_refuse(detail, -EINVAL, "length not a multiple of 4 above 0",
				  head->length / 4 * 4 + 4, head->length);
	if (head->length > NPU_FW_MAX_LENGTH)
		return npu_refuse(detail, -EFBIG, "length", NPU_FW_MAX_LENGTH, head->length);
	if (head->load_address < NPU_TCM_BASE)
		return npu_refuse(detail, -EINVAL, "load address below TCM", NPU_TCM_BASE,
				  head->load_address);
	if (head->load_address % 4)
		return npu_refuse(detail, -EINVAL, "load address not a multiple of 4",
				  head->load_address / 4 * 4, head->load_address);
	if (offset > tcm_size || head->length > tcm_size - offset)
		return npu_refuse(detail, -EFBIG, "end of the payload in TCM", tcm_size,
				  offset + head->length);
	if (head->entry < head->load_address || head->entry - head->load_address >= head->length)
		return npu_refuse(detail, -EINVAL, "entry outside of the payload", head->load_address,
				  head->entry);
	if (head->entry % 2)
		return npu_refuse(detail, -EINVAL, "entry is odd", head->entry - 1, head->entry);
	return 0;
}

static int check_frame(const struct npu_fw_header *head, const u8 *image, size_t size,
		       struct npu_host_detail *detail)
{
	u32 crc;

	if (head->magic != NPU_FW_MAGIC)
		return npu_refuse(detail, -ENOEXEC, "magic", NPU_FW_MAGIC, head->magic);
	if (head->header_size != sizeof(*head))
		return npu_refuse(detail, -EINVAL, "header size", sizeof(*head), head->header_size);
	crc = header_crc(image);
	if (head->header_crc32 != crc)
		return npu_refuse(detail, -EBADMSG, "CRC of the header", crc, head->header_crc32);
	if (size - sizeof(*head) != head->length)
		return npu_refuse(detail, -ENOEXEC, "size of the file",
				  (u64)sizeof(*head) + head->length, size);
	crc = npu_crc32(0, image + sizeof(*head), head->length);
	if (head->crc32 != crc)
		return npu_refuse(detail, -EBADMSG, "CRC of the payload", crc, head->crc32);
	return 0;
}

int npu_fwimage_check(const void *image, size_t size, u32 device_id, u32 tcm_size,
		      u32 security_min, struct npu_fwimage *out, struct npu_host_detail *detail)
{
	struct npu_fw_header head;
	int ret;

	if (size < sizeof(head))
		return npu_refuse(detail, -ENOEXEC, "size of the file", sizeof(head), size);

	read_header(&head, image);
	ret = check_frame(&head, image, size, detail);
	if (!ret)
		ret = check_zeros(&head, detail);
	if (!ret)
		ret = check_signature(&head, security_min, detail);
	if (!ret)
		ret = check_versions(&head, device_id, detail);
	if (!ret)
		ret = check_placement(&head, tcm_size, detail);
	if (ret)
		return ret;

	*out = (struct npu_fwimage) {
		.payload = (const u8 *)image + sizeof(head),
		.length = head.length,
		.load_address = head.load_address,
		.entry = head.entry,
		.version = head.version,
		.security_version = head.security_version,
		.proto_min = head.proto_min,
		.proto_max = head.proto_max,
	};
	memcpy(out->build_id, head.build_id, sizeof(out->build_id));
	return 0;
}
