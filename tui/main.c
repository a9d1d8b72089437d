/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL);
	status = command_main(argc, argv);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_INTERNAL, "cannot write: %s", strerror(errno));
	return status;
}
