// SPDX-License-Identifier: MIT
/* Firmware images: each field that is wrong is refused with its own error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/host_env.h"

#define PAYLOAD		1024u
#define TCM_SIZE	0x10000u

struct image {
	struct npu_fw_header head;
	u8 payload[PAYLOAD];
};

/* CRC-32 with a table, apart from the library's. */
static u32 crc32_by_table(const u8 *p, size_t n)
{
	u32 table[256];
	u32 crc = 0xffffffff;
	u32 i, j;

	for (i = 0; i < 256; i++) {
		table[i] = i;
		for (j = 0; j < 8; j++)
			table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320 : table[i] >> 1;
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc ^ 0xffffffff;
}

static void seal(struct image *image)
{
	struct npu_fw_header copy;

	image->head.crc32 = crc32_by_table(image->payload, PAYLOAD);
	copy = image->head;
	copy.header_crc32 = 0;
	memset(copy.signature, 0, sizeof(copy.signature));
	image->head.header_crc32 = crc32_by_table((u8 *)&copy, sizeof(copy));
}

static void make(struct image *image)
{
	u32 i;

	memset(image, 0, sizeof(*image));
	image->head = (struct npu_fw_header) {
		.magic = NPU_FW_MAGIC,
		.header_size = sizeof(image->head),
		.device = NPU_DEVICE_V0,
		.proto_min = NPU_PROTO_MIN,
		.proto_max = NPU_PROTO_MAX,
		.version = 0x010203,
		.security_version = 4,
		.load_address = NPU_TCM_BASE + 0x100,
		.entry = NPU_TCM_BASE + 0x120,
		.length = PAYLOAD,
		.build_id = "build",
	};
	for (i = 0; i < PAYLOAD; i++)
		image->payload[i] = i * 7;
	seal(image);
}

static int check(const struct image *image, struct npu_fwimage *out, struct npu_host_detail *d)
{
	return npu_fwimage_check(image, sizeof(*image), NPU_DEVICE_V0, TCM_SIZE, 4, out, d);
}

static void test_crc(void **state)
{
	(void)state;
	assert_int_equal(npu_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(npu_crc32(npu_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void test_accepts(void **state)
{
	struct npu_fwimage out;
	struct image image;
	u8 *odd = malloc(sizeof(image) + 1);

	(void)state;
	make(&image);
	assert_int_equal(check(&image, &out, NULL), 0);
	assert_ptr_equal(out.payload, image.payload);
	assert_int_equal(out.length, PAYLOAD);
	assert_int_equal(out.load_address, NPU_TCM_BASE + 0x100);
	assert_int_equal(out.entry, NPU_TCM_BASE + 0x120);
	assert_int_equal(out.version, 0x010203);
	assert_int_equal(out.security_version, 4);
	assert_int_equal(out.proto_min, NPU_PROTO_MIN);
	assert_int_equal(out.proto_max, NPU_PROTO_MAX);
	assert_string_equal((char *)out.build_id, "build");

	memcpy(odd + 1, &image, sizeof(image));
	assert_int_equal(npu_fwimage_check(odd + 1, sizeof(image), NPU_DEVICE_V0, TCM_SIZE, 0,
					   &out, NULL), 0);
	free(odd);
}

static void test_refuses_each_field(void **state)
{
	struct npu_host_detail d;
	struct npu_fwimage out;
	struct image image;

	(void)state;
#define REFUSE(field, wrong, error, text, want, got) do { \
		make(&image); \
		image.head.field = (wrong); \
		seal(&image); \
		assert_int_equal(check(&image, &out, &d), error); \
		assert_string_equal(d.what, text); \
		assert_int_equal(d.expected, want); \
		assert_int_equal(d.found, got); \
	} while (0)

	REFUSE(magic, 1, -ENOEXEC, "magic", NPU_FW_MAGIC, 1);
	REFUSE(header_size, 511, -EINVAL, "header size", 512, 511);
	REFUSE(device, 2, -ENODEV, "device number", NPU_DEVICE_V0, 2);
	REFUSE(flags, 0x8000, -EINVAL, "flags", 0, 0x8000);
	REFUSE(reserved0, 3, -EINVAL, "reserved0", 0, 3);
	REFUSE(reserved1[13], 3, -EINVAL, "reserved1", 0, 3);
	REFUSE(proto_min, NPU_PROTO_MAX + 1, -EINVAL, "lowest protocol version above the highest",
	       NPU_PROTO_MAX, NPU_PROTO_MAX + 1);
	REFUSE(security_version, 3, -EKEYREJECTED, "security version", 4, 3);
	REFUSE(signature_type, 1, -EKEYREJECTED, "signature type", 0, 1);
	REFUSE(signature_length, 1, -EINVAL, "signature length", 0, 1);
	REFUSE(signature[383], 1, -EINVAL, "signature of an unsigned image", 0, 1);
	REFUSE(length, PAYLOAD - 4, -ENOEXEC, "size of the file", 512 + PAYLOAD - 4,
	       512 + PAYLOAD);
	REFUSE(length, 0xfffffffc, -ENOEXEC, "size of the file", 512 + 0xfffffffcull,
	       512 + PAYLOAD);
	REFUSE(load_address, NPU_TCM_BASE - 4, -EINVAL, "load address below TCM", NPU_TCM_BASE,
	       NPU_TCM_BASE - 4);
	REFUSE(load_address, NPU_TCM_BASE + 2, -EINVAL, "load address not a multiple of 4",
	       NPU_TCM_BASE, NPU_TCM_BASE + 2);
	REFUSE(load_address, NPU_TCM_BASE + TCM_SIZE - PAYLOAD + 4, -EFBIG,
	       "end of the payload in TCM", TCM_SIZE, TCM_SIZE + 4);
	REFUSE(load_address, 0xfffffffc, -EFBIG, "end of the payload in TCM", TCM_SIZE,
	       0x7ffffffcull + PAYLOAD);
	REFUSE(entry, NPU_TCM_BASE + 0xfe, -EINVAL, "entry outside of the payload",
	       NPU_TCM_BASE + 0x100, NPU_TCM_BASE + 0xfe);
	REFUSE(entry, NPU_TCM_BASE + 0x100 + PAYLOAD, -EINVAL, "entry outside of the payload",
	       NPU_TCM_BASE + 0x100, NPU_TCM_BASE + 0x100 + PAYLOAD);
	REFUSE(entry, NPU_TCM_BASE + 0x121, -EINVAL, "entry is odd", NPU_TCM_BASE + 0x120,
	       NPU_TCM_BASE + 0x121);
#undef REFUSE

	make(&image);
	image.head.proto_min = NPU_PROTO_MAX + 1;
	image.head.proto_max = NPU_PROTO_MAX + 2;
	seal(&image);
	assert_int_equal(check(&image, &out, &d), -EPROTONOSUPPORT);
	assert_string_equal(d.what, "lowest protocol version");
	make(&image);
	image.head.proto_min = NPU_PROTO_MIN - 1;
	image.head.proto_max = NPU_PROTO_MIN - 1;
	seal(&image);
	assert_int_equal(check(&image, &out, &d), -EPROTONOSUPPORT);
	assert_string_equal(d.what, "highest protocol version");
}

static void test_refuses_lengths(void **state)
{
	static u8 big[sizeof(struct npu_fw_header) + NPU_FW_MAX_LENGTH + 4];
	struct npu_fw_header *head = (struct npu_fw_header *)big;
	struct npu_host_detail d;
	struct npu_fwimage out;
	struct image image;

	(void)state;
	make(&image);
	memcpy(big, &image, sizeof(image.head));
	head->length = NPU_FW_MAX_LENGTH + 4;
	head->crc32 = crc32_by_table(big + 512, head->length);
	head->header_crc32 = 0;
	head->header_crc32 = crc32_by_table(big, 512);
	assert_int_equal(npu_fwimage_check(big, sizeof(big), NPU_DEVICE_V0, NPU_TCM_MAX_SIZE, 0,
					   &out, &d), -EFBIG);
	assert_string_equal(d.what, "length");
	assert_int_equal(d.expected, NPU_FW_MAX_LENGTH);

	head->length = 6;
	head->crc32 = crc32_by_table(big + 512, 6);
	head->header_crc32 = 0;
	head->header_crc32 = crc32_by_table(big, 512);
	assert_int_equal(npu_fwimage_check(big, 518, NPU_DEVICE_V0, TCM_SIZE, 0, &out, &d),
			 -EINVAL);
	assert_string_equal(d.what, "length not a multiple of 4 above 0");
	assert_int_equal(npu_fwimage_check(&image, 511, NPU_DEVICE_V0, TCM_SIZE, 0, &out, &d),
			 -ENOEXEC);
	assert_string_equal(d.what, "size of the file");
	assert_int_equal(d.expected, 512);
	assert_int_equal(d.found, 511);
}

/* Any single flipped bit is found: by a CRC, or by an earlier check. */
static void test_refuses_each_flipped_bit(void **state)
{
	struct npu_host_detail d;
	struct npu_fwimage out;
	struct image image;
	u8 *bytes = (u8 *)&image;
	u32 bit;

	(void)state;
	make(&image);
	for (bit = 0; bit < sizeof(image) * 8; bit++) {
		bytes[bit / 8] ^= 1 << bit % 8;
		d.what = NULL;
		assert_true(check(&image, &out, &d) < 0);
		assert_non_null(d.what);
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(check(&image, &out, &d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_refuses_each_field),
		cmocka_unit_test(test_refuses_lengths),
		cmocka_unit_test(test_refuses_each_flipped_bit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host firmware image", tests, NULL, NULL);
}
