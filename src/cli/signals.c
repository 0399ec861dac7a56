/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include "jitinject/leftovers.h"

#include <signal.h>
#include <stddef.h>

/* It has its default action again: that is what follows. */
static void end(int number)
{
    leftovers_remove();
    raise(number);
}

/* What is ignored, as in the background of a shell or by nohup, stays so. */
static void handle(int number, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND | SA_RESTART};
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void signals_prepare(void)
{
    handle(SIGHUP, end);
    handle(SIGINT, end);
    handle(SIGTERM, end);
}

static void pass_over(int number)
{
    handle(number, end);
}

void signals_pass_over_first_interrupt(void)
{
    handle(SIGINT, pass_over);
}
