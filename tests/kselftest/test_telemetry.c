// SPDX-License-Identifier: GPL-2.0-only
/* hwmon and the attributes of the device. */
#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define DEVICE		"/sys/bus/auxiliary/devices/npu_sim.npu.0"
#define DRIVER		"/sys/bus/auxiliary/drivers/npu/"
#define DEBUGFS		"/sys/kernel/debug"
#define DEBUGFS_RESET	DEBUGFS "/accel/npu_sim.npu.0/reset"
#define CODE_VA		TEST_VA

FIXTURE(telemetry)
{
	int fd;
	uint32_t queue;
	struct drm_npu_job job;
};

FIXTURE_SETUP(telemetry)
{
	struct test_program program = {};

	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	program.words = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, program.words);
	test_program_gemm(&program, 4000000);
	test_program_finish(&program, false);
	self->job = (struct drm_npu_job) { .insn_va = CODE_VA, .insn_count = program.count };
}

FIXTURE_TEARDOWN(telemetry)
{
	close(self->fd);
}

/* The folder of the hwmon device, whose number is anything. */
static int sensor_path(const char *name, char *path, size_t size)
{
	DIR *dir = opendir(DEVICE "/hwmon");
	struct dirent *entry;
	int ret = -ENOENT;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "hwmon", 5)) {
			snprintf(path, size, DEVICE "/hwmon/%s/%s", entry->d_name, name);
			ret = 0;
		}
	if (dir)
		closedir(dir);
	return ret;
}

static int text_of(const char *path, char *text, size_t size)
{
	int ret = test_read_file(path, text, size);

	if (ret >= 0)
		text[strcspn(text, "\n")] = 0;
	return ret;
}

static long long sensor(const char *name)
{
	char path[512], text[64];

	if (sensor_path(name, path, sizeof(path)) || text_of(path, text, sizeof(text)) <= 0)
		return -1;
	return strtoll(text, NULL, 10);
}

static long long attribute(const char *name)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), DEVICE "/npu/%s", name);
	return text_of(path, text, sizeof(text)) > 0 ? strtoll(text, NULL, 10) : -1;
}

TEST_F(telemetry, sensors_have_their_names)
{
	static const char *const labels[] = { "name", "temp1_label", "power1_label",
					      "energy1_label" };
	char path[512], text[64];
	unsigned int i;

	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		ASSERT_EQ(0, sensor_path(labels[i], path, sizeof(path)));
		ASSERT_LT(0, text_of(path, text, sizeof(text)));
		EXPECT_STREQ("npu", text);
	}
	EXPECT_LE((long long)NPU_ENERGY_AMBIENT, sensor("temp1_input"));
	/* At least what a tick costs, in microwatts, rounded down to milliwatts. */
	EXPECT_LE(attribute("clock_khz") / 1000 * NPU_ENERGY_TICK / (1 << 20) * 1000 - 1000,
		  sensor("power1_input"));
	EXPECT_LT(0, sensor("energy1_input"));
}

TEST_F(telemetry, work_shows)
{
	long long energy = sensor("energy1_input"), busy = attribute("busy_ns");
	long long temperature = sensor("temp1_input"), cost;
	struct drm_npu_queue_query query;

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	cost = (query.cycles * NPU_ENERGY_CYCLE + 4000000ll * 256 * NPU_ENERGY_MAC) >> 20;
	cost /= 1000;
	ASSERT_LT(0, cost);
	/* Figures are kept for a moment. */
	while (sensor("energy1_input") == energy)
		usleep(10000);
	EXPECT_LE(energy + cost, sensor("energy1_input"));
	EXPECT_LE(busy + (long long)(query.cycles * 1000000 / attribute("clock_khz")),
		  attribute("busy_ns"));
	EXPECT_LT(temperature, sensor("temp1_input"));
}

TEST_F(telemetry, sums_survive_a_reset)
{
	long long energy, busy;

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	usleep(200000);
	energy = sensor("energy1_input");
	busy = attribute("busy_ns");
	EXPECT_LT(0, energy);
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	usleep(200000);
	EXPECT_LE(energy, sensor("energy1_input"));
	EXPECT_LE(busy, attribute("busy_ns"));
}

TEST_F(telemetry, attributes_are_those_of_the_query)
{
	struct drm_npu_query_device info;
	char text[64], expected[64];
	long long resets;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(info.clock_khz, attribute("clock_khz"));
	EXPECT_EQ(info.cores, attribute("cores"));
	EXPECT_EQ((long long)info.resets, attribute("resets"));
	ASSERT_LT(0, text_of(DEVICE "/npu/fw_version", text, sizeof(text)));
	snprintf(expected, sizeof(expected), "%u.%u.%u", info.fw_version >> 16,
		 info.fw_version >> 8 & 0xff, info.fw_version & 0xff);
	EXPECT_STREQ(expected, text);
	ASSERT_LT(0, text_of(DEVICE "/npu/uuid", text, sizeof(text)));
	snprintf(expected, sizeof(expected), "%02x%02x%02x%02x-%02x%02x-", info.uuid[0],
		 info.uuid[1], info.uuid[2], info.uuid[3], info.uuid[4], info.uuid[5]);
	EXPECT_EQ(0, strncmp(expected, text, strlen(expected)));
	EXPECT_EQ(36, strlen(text));
	ASSERT_EQ(32, text_of(DEVICE "/npu/fw_build", text, sizeof(text)) - 1);
	ASSERT_LT(0, text_of(DEVICE "/npu/state", text, sizeof(text)));
	EXPECT_STREQ("up", text);
	ASSERT_LT(0, text_of(DEVICE "/npu/health", text, sizeof(text)));
	EXPECT_STREQ("ok", text);
	resets = attribute("resets");
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	EXPECT_EQ(resets + 1, attribute("resets"));
}

TEST_F(telemetry, readers_meet_an_unbind)
{
	int round, status;
	pid_t pid = fork();

	if (!pid)
		for (;;) {
			sensor("temp1_input");
			attribute("busy_ns");
			attribute("state");
		}
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, test_write_file(DRIVER "unbind", "npu_sim.npu.0"));
		ASSERT_EQ(0, test_write_file(DRIVER "bind", "npu_sim.npu.0"));
	}
	EXPECT_LE((long long)NPU_ENERGY_AMBIENT, sensor("temp1_input"));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

TEST_HARNESS_MAIN
