// SPDX-License-Identifier: MIT
/* Text that comes from outside, and how text is shown. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/tools/tool.h"

/* Bytes of the UTF-8 character at @s; 0 where there is none. */
static size_t utf8_bytes(const uint8_t *s)
{
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80	     ? 1
		   : s[0] >> 5 == 6  ? 2
		   : s[0] >> 4 == 14 ? 3
		   : s[0] >> 3 == 30 ? 4
				     : 0;
	uint32_t c = n > 1 ? s[0] & (0x7f >> n) : s[0];

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	return n;
}

/* C0, DEL, and C1, which UTF-8 writes as 0xc2 0x80 to 0xc2 0x9f. */
static bool is_control(const uint8_t *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

static char *escape(const char *text, bool controls)
{
	const uint8_t *s = (const uint8_t *)text;
	char *out = malloc(4 * strlen(text) + 1), *at = out;

	while (out && *s) {
		size_t n = utf8_bytes(s);

		if (n && !(controls && is_control(s))) {
			memcpy(at, s, n);
			at += n;
		} else {
			n = n ? n : 1;
			for (size_t i = 0; i < n; i++)
				at += sprintf(at, "\\x%02x", s[i]);
		}
		s += n;
	}
	if (out)
		*at = 0;
	return out;
}

char *tool_clean(const char *text)
{
	return escape(text, true);
}

json_t *tool_json_text(const char *text)
{
	char *valid = escape(text, false);
	json_t *string = valid ? json_string(valid) : NULL;

	free(valid);
	return string;
}

void tool_put(const char *text, int width)
{
	char *clean = tool_clean(text);

	printf("%-*s", width, clean ? clean : "?");
	free(clean);
}

static bool takes_colour(FILE *f)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fileno(f)) && term && strcmp(term, "dumb") && !(no && *no);
}

const char *tool_style(FILE *f, enum tool_style style)
{
	static const char *const sequence[] = {
		[TOOL_PLAIN] = "\033[0m",  [TOOL_BOLD] = "\033[1m",    [TOOL_RED] = "\033[1;31m",
		[TOOL_GREEN] = "\033[32m", [TOOL_YELLOW] = "\033[33m", [TOOL_DIM] = "\033[2m",
	};

	return takes_colour(f) ? sequence[style] : "";
}
