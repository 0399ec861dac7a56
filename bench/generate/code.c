/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

enum { PURPOSE_SIZE = 1, PURPOSE_CODE, PURPOSE_NAME };

enum { MAX_BODY_BUNDLES = 53, NO_OPERAND = -1 };

/* One bundle of instructions, and where in it the operand is that differs each time. */
struct bundle {
    const char *bytes;
    int operand;
};

/* push rbp; mov rbp,rsp; sub rsp,0x20; mov rax,[rdi+8]; cmp rsp,[r13+7] */
static const char prologue[] = "\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x8b\x47\x08\x49\x3b\x65\x07";

static const struct bundle body[] = {
    /* mov rax,[rsi+N]; add rax,rdx; mov [rbp-8],rax; nop */
    {"\x48\x8b\x86\0\0\0\0\x48\x01\xd0\x48\x89\x45\xf8\x66\x90", 3},
    /* movsd xmm0,[rdi+N]; mulsd xmm0,xmm1; addsd xmm2,xmm0 */
    {"\xf2\x0f\x10\x87\0\0\0\0\xf2\x0f\x59\xc1\xf2\x0f\x58\xd0", 4},
    /* mov rdi,[rbp-8]; mov rsi,rbx; mov edx,ecx; nop; call N */
    {"\x48\x8b\x7d\xf8\x48\x89\xde\x89\xca\x66\x90\xe8\0\0\0\0", 12},
    /* cmp eax,N; mov ecx,eax; cmovl eax,edx; shl ecx,3; add eax,ecx; nop */
    {"\x3d\0\0\0\0\x89\xc1\x0f\x4c\xc2\xc1\xe1\x03\x01\xc8\x90", 1},
    /* mov r8d,N; xor r8,rax; mov rcx,rax; lea rax,[r8+r8*2] */
    {"\x41\xb8\0\0\0\0\x49\x31\xc0\x48\x89\xc1\x4b\x8d\x04\x40", 2},
    /* lea rcx,[rip+N]; movzx eax,byte [rcx+rax]; imul rax,rdx; nop */
    {"\x48\x8d\x0d\0\0\0\0\x0f\xb6\x04\x01\x48\x0f\xaf\xc2\x90", 3},
    /* test rax,rax; jne over the next two; mov rax,[rbp-16]; inc rax; mov [rbp-8],rax */
    {"\x48\x85\xc0\x75\x07\x48\x8b\x45\xf0\x48\xff\xc0\x48\x89\x45\xf8", NO_OPERAND},
    /* vmovups ymm0,[rsi+N]; vaddps ymm0,ymm0,ymm1; vxorps xmm2,xmm2,xmm2 */
    {"\xc5\xfc\x10\x86\0\0\0\0\xc5\xfc\x58\xc1\xc5\xe8\x57\xd2", 4},
    /* mov ecx,[rbx+N]; and ecx,0x7f; add rbx,8; dec ecx; nop */
    {"\x8b\x8b\0\0\0\0\x83\xe1\x7f\x48\x83\xc3\x08\xff\xc9\x90", 2},
    /* mov edi,N; mov rsi,[r13+0x20]; mov rax,[rsi+0x18]; call rax; nop */
    {"\xbf\0\0\0\0\x49\x8b\x75\x20\x48\x8b\x46\x18\xff\xd0\x90", 1},
    /* mov qword [rbp-0x18],N; lock inc qword [r13+8]; nop */
    {"\x48\xc7\x45\xe8\0\0\0\0\xf0\x49\xff\x45\x08\x0f\x1f\x00", 4},
};

/* Each ends in leave; ret, so that the unwind data needs no more than one state for the body. */
static const char *const epilogues[] = {
    "\xc9\xc3",                 /* leave; ret */
    "\x31\xc0\xc9\xc3",         /* xor eax,eax; leave; ret */
    "\x48\x89\xd8\xc9\xc3",     /* mov rax,rbx; leave; ret */
    "\x48\x8b\x45\xf8\xc9\xc3", /* mov rax,[rbp-8]; leave; ret */
};

static const char *const verbs[] = {"parse",    "render",    "update",    "resolve",
                                    "dispatch", "serialize", "validate",  "compute",
                                    "allocate", "schedule",  "transform", "interpolate",
                                    "traverse", "collect",   "evaluate",  "reconcile"};
static const char *const nouns[] = {"Expression", "Statement", "Layout",   "Texture",
                                    "Vertex",     "Buffer",    "Promise",  "Closure",
                                    "Iterator",   "Registry",  "Document", "Constraint",
                                    "Matrix",     "Fragment",  "Session",  "Particle"};
static const char *const modules[] = {"engine", "compiler", "physics", "router",
                                      "parser", "storage",  "reactor", "network"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(CODE_BUNDLE *(MAX_BODY_BUNDLES + 2) <= CODE_MAX_SIZE, "the largest function");

struct shape {
    uint32_t bundles; /* of the body */
    const char *epilogue;
};

static struct shape shape_of(uint64_t seed, uint32_t number)
{
    uint64_t state = random_start(seed, PURPOSE_SIZE, number);
    return (struct shape){
        .bundles = 1 + random_skewed(&state, MAX_BODY_BUNDLES),
        .epilogue = epilogues[random_below(&state, COUNT(epilogues))],
    };
}

uint32_t code_size(uint64_t seed, uint32_t number)
{
    struct shape shape = shape_of(seed, number);
    return CODE_BUNDLE * (1 + shape.bundles) + (uint32_t)strlen(shape.epilogue);
}

void code_put(struct buffer *to, uint64_t seed, uint32_t number)
{
    struct shape shape = shape_of(seed, number);
    uint64_t state = random_start(seed, PURPOSE_CODE, number);
    buffer_put(to, prologue, CODE_BUNDLE);
    for (uint32_t i = 0; i < shape.bundles; i++) {
        uint64_t chance = random_next(&state);
        const struct bundle *bundle = &body[(chance >> 32) % COUNT(body)];
        uint32_t operand = chance & 0xffff;
        uint8_t *at = buffer_extend(to, CODE_BUNDLE);
        memcpy(at, bundle->bytes, CODE_BUNDLE);
        if (bundle->operand != NO_OPERAND)
            memcpy(at + bundle->operand, &operand, sizeof(operand));
    }
    buffer_put(to, shape.epilogue, strlen(shape.epilogue));
}

uint32_t code_source(char path[CODE_MAX_PATH], uint64_t seed, uint32_t number)
{
    uint64_t state = random_start(seed, PURPOSE_NAME, number);
    const char *module = modules[random_below(&state, COUNT(modules))];
    const char *file = nouns[random_below(&state, COUNT(nouns))];
    snprintf(path, CODE_MAX_PATH, "/srv/app/%s/lib/%s.js", module, file);
    return 1 + number / 64;
}

void code_name(char name[CODE_MAX_NAME + 1], uint64_t seed, uint32_t number)
{
    char path[CODE_MAX_PATH];
    uint32_t line = code_source(path, seed, number);
    uint64_t state = random_start(seed, PURPOSE_NAME, ~(uint64_t)number);
    const char *verb = verbs[random_below(&state, COUNT(verbs))];
    const char *noun = nouns[random_below(&state, COUNT(nouns))];
    if (random_next(&state) & 1)
        snprintf(name, CODE_MAX_NAME + 1, "JS:*%s%s %s:%u:%u", verb, noun, path, line,
                 1 + number % 64);
    else
        snprintf(name, CODE_MAX_NAME + 1, "wasm-function[%u] app::%s::%s%s-turbofan", number,
                 modules[random_below(&state, COUNT(modules))], verb, noun);
}

/*
 * The CFI of a frame-pointer function (DWARF 5, 6.4; LSB 5.0, 10.6). Addresses are relative to the
 * data itself, which lies at the first multiple of 8 after the code.
 */
void code_put_unwind(struct buffer *to, uint32_t size, uint32_t *header_size)
{
    /* Version 1, "zR", code 1, data -8, return address in 16, pointers pcrel|sdata4; CFA = rsp+8,
     * return address at CFA-8. */
    static const char cie[] = "\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01";
    /* After push rbp: CFA = rsp+16, rbp at CFA-16; after mov rbp,rsp: CFA = rbp+16. */
    static const char after_prologue[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06";
    static const char before_ret[] = "\x0c\x07\x08"; /* CFA = rsp+8 again */
    enum { CIE_SIZE = 24, FDE_SIZE = 40, TERMINATOR = 4, HEADER_SIZE = 20 };
    enum { AFTER_PROLOGUE = 4, RET = 1, DW_CFA_ADVANCE_LOC4 = 4 };

    int32_t from_code = (int32_t)((size + 7) / 8 * 8); /* from the code to the frame data */
    size_t start = to->size;
    buffer_put(to, cie, sizeof(cie) - 1);
    buffer_put_zeros(to, start + CIE_SIZE - to->size);

    size_t fde = to->size;
    buffer_put_u32(to, FDE_SIZE - 4);
    buffer_put_u32(to, CIE_SIZE + 4);
    buffer_put_u32(to, (uint32_t) - (from_code + (int32_t)(to->size - start)));
    buffer_put_u32(to, size);
    buffer_put_u8(to, 0);
    buffer_put(to, after_prologue, sizeof(after_prologue) - 1);
    buffer_put_u8(to, DW_CFA_ADVANCE_LOC4);
    buffer_put_u32(to, size - AFTER_PROLOGUE - RET);
    buffer_put(to, before_ret, sizeof(before_ret) - 1);
    buffer_put_zeros(to, fde + FDE_SIZE - to->size);
    buffer_put_u32(to, 0);

    /* .eh_frame_hdr: version 1, frame pointer pcrel|sdata4, count udata4, table datarel|sdata4. */
    size_t header = to->size;
    buffer_put(to, "\x01\x1b\x03\x3b", 4);
    buffer_put_u32(to, (uint32_t) - (int32_t)(CIE_SIZE + FDE_SIZE + TERMINATOR + 4));
    buffer_put_u32(to, 1);
    buffer_put_u32(to, (uint32_t) - (from_code + (int32_t)(header - start)));
    buffer_put_u32(to, (uint32_t) - (int32_t)(FDE_SIZE + TERMINATOR));
    *header_size = HEADER_SIZE;
}
