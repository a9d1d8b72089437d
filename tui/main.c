/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/*
 * A standard stream that is closed must not become some other file that is opened later;
 * writing to it has to fail.
 */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open(fd ? "/dev/full" : "/dev/null", O_RDWR);
}

int main(int argc, char **argv)
{
	int status;

	hold_standard_streams();
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL);
	status = command_main(argc, argv);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_INTERNAL, "cannot write: %s", strerror(errno));
	return status;
}
