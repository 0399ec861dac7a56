/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <string.h>

/* Of code_burner and code_lines: the immediate of the mov. */
#define ID_OFFSET 5

void code_burner(uint8_t at[CODE_BURNER_SIZE], uint32_t id)
{
    static const uint8_t template[CODE_BURNER_SIZE] = {
        0x55,                   /*       push %rbp */
        0x48, 0x89, 0xe5,       /*       mov  %rsp, %rbp */
        0xb8, 0,    0,    0, 0, /*       mov  $id, %eax */
        0x48, 0xff, 0xcf,       /* loop: dec  %rdi */
        0x75, 0xfb,             /*       jnz  loop */
        0x5d,                   /*       pop  %rbp */
        0xc3,                   /*       ret */
    };

    memcpy(at, template, sizeof(template));
    memcpy(at + ID_OFFSET, &id, sizeof(id));
}

const uint8_t code_lines_offsets[CODE_LINES] = {9, 23, 38};

/*
 * The multiplications wait for one another: a turn takes as long as they do, on any processor and
 * wherever the loop lies. One of a single cycle may take two where it crosses a line of the cache.
 */
void code_lines(uint8_t at[CODE_LINES_SIZE], uint32_t id)
{
    static const uint8_t template[CODE_LINES_SIZE] = {
        0x55,                               /*     push %rbp */
        0x48, 0x89, 0xe5,                   /*     mov  %rsp, %rbp */
        0xb8, 0,    0,    0,    0,          /*     mov  $id, %eax */
        0x48, 0x89, 0xf9,                   /*     mov  %rdi, %rcx */
        0x0f, 0xaf, 0xc0, 0x0f, 0xaf, 0xc0, /* 0:  imul %eax, %eax; twice */
        0x48, 0xff, 0xc9,                   /*     dec  %rcx */
        0x75, 0xf5,                         /*     jnz  0b */
        0x48, 0x8d, 0x0c, 0x3f,             /*     lea  (%rdi, %rdi), %rcx */
        0x0f, 0xaf, 0xc0, 0x0f, 0xaf, 0xc0, /* 1:  imul %eax, %eax; twice */
        0x48, 0xff, 0xc9,                   /*     dec  %rcx */
        0x75, 0xf5,                         /*     jnz  1b */
        0x48, 0x8d, 0x0c, 0x7f,             /*     lea  (%rdi, %rdi, 2), %rcx */
        0x0f, 0xaf, 0xc0, 0x0f, 0xaf, 0xc0, /* 2:  imul %eax, %eax; twice */
        0x48, 0xff, 0xc9,                   /*     dec  %rcx */
        0x75, 0xf5,                         /*     jnz  2b */
        0x5d,                               /*     pop  %rbp */
        0xc3,                               /*     ret */
    };

    memcpy(at, template, sizeof(template));
    memcpy(at + ID_OFFSET, &id, sizeof(id));
}

/* Where the size of the frame is in the code, and in the tables the cfa's offset that follows. */
static const size_t frame_in_code[] = {4, 22};
#define FRAME_IN_TABLES 48
#define SAVED           16 /* bytes between the cfa and the frame */

void code_frameless(uint8_t at[CODE_FRAMELESS_SIZE], const void *callee, uint8_t frame)
{
    static const uint8_t prologue[7] = {
        0x55,                /*  0: push %rbp */
        0x48, 0x83, 0xec, 0, /*  1: sub  $frame, %rsp */
        0x31, 0xed,          /*  5: xor  %ebp, %ebp */
    };
    static const uint8_t call[12] = {
        0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /*  7: mov  $callee, %rax */
        0xff, 0xd0,                         /* 17: call *%rax */
    };
    static const uint8_t loop[12] = {
        0x0f, 0x1f, 0x80, 0, 0, 0, 0, /*  7: nop */
        0x48, 0xff, 0xcf,             /* 14: dec  %rdi */
        0x75, 0xfb,                   /* 17: jnz  14 */
    };
    static const uint8_t epilogue[6] = {
        0x48, 0x83, 0xc4, 0, /* 19: add  $frame, %rsp */
        0x5d,                /* 23: pop  %rbp */
        0xc3,                /* 24: ret */
    };

    memcpy(at, prologue, sizeof(prologue));
    memcpy(at + 7, callee ? call : loop, sizeof(call));
    if (callee)
        memcpy(at + 9, &callee, sizeof(callee));
    memcpy(at + 19, epilogue, sizeof(epilogue));
    for (size_t i = 0; i < sizeof(frame_in_code) / sizeof(*frame_in_code); i++)
        at[frame_in_code[i]] = frame;
}

void code_frameless_tables(uint8_t at[CODE_TABLES_SIZE], uint8_t frame)
{
    /* The code takes 25 bytes, so it starts 32 before the tables. */
    static const uint8_t tables[CODE_TABLES_SIZE] = {
        /* CIE, at 0 */
        20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, /* length, id, version, augmentation */
        1, 0x78, 16,                             /* alignments 1 and -8, return address */
        1, 0x1b,                                 /* addresses are pcrel | sdata4 */
        0x0c, 7, 8,                              /* def_cfa: rsp + 8 */
        0x90, 1,                                 /* offset: return address at cfa - 8 */
        0, 0,                                    /* nop */
        /* FDE, at 24 */
        28, 0, 0, 0, 28, 0, 0, 0,                             /* length, back to the CIE */
        0xc0, 0xff, 0xff, 0xff, CODE_FRAMELESS_SIZE, 0, 0, 0, /* start: -64 from here; size */
        0,                                                    /* no augmentation data */
        0x41, 0x0e, 16, 0x86, 2, /*  1: def_cfa_offset 16, rbp at cfa - 16 */
        0x44, 0x0e, 0,           /*  5: def_cfa_offset 16 + frame */
        0x52, 0x0e, 16,          /* 23: def_cfa_offset 16 */
        0x41, 0x0e, 8, 0xc6,     /* 24: def_cfa_offset 8, rbp restored */
        /* end of .eh_frame, at 56 */
        0, 0, 0, 0,
        /* .eh_frame_hdr, at 60 */
        1, 0x1b, 3, 0x3b,       /* version; pcrel | sdata4, udata4, datarel | sdata4 */
        0xc0, 0xff, 0xff, 0xff, /* .eh_frame: -64 from here */
        1, 0, 0, 0,             /* entries */
        0xa4, 0xff, 0xff, 0xff, /* start: -92 from the header */
        0xdc, 0xff, 0xff, 0xff, /* FDE: -36 */
    };

    memcpy(at, tables, sizeof(tables));
    at[FRAME_IN_TABLES] = SAVED + frame;
}
