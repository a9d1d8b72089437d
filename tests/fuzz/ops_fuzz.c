/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes become a small machine and operations on it; what is wrong is printed as a scenario. */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	cJSON *json = case_generate(bytes, len);
	struct finding finding;
	char *text;

	if (json && !case_judge(json, &finding)) {
		case_shrink(json, &finding);
		case_judge(json, &finding);
		text = case_print(json);
		fprintf(stderr, "%s\n%s: %s\n", text, finding.kind, finding.text);
		free(text);
		abort();
	}
	cJSON_Delete(json);
	return 0;
}
