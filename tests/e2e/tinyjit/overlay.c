/* SPDX-License-Identifier: MIT */
/*
 * A shared object whose code is mapped over JIT code. The function stands alone: it runs without
 * the loader's help.
 */
void overlay_burn(unsigned long rounds);

__attribute__((visibility("default"))) void overlay_burn(unsigned long rounds)
{
    while (rounds--)
        __asm__ volatile("" : "+r"(rounds));
}
