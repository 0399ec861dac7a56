/* SPDX-License-Identifier: MIT */
#include "scenarios.h"

#include "code.h"
#include "text.h"

#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(of) (sizeof(of) / sizeof((of)[0]))

/* --- code at its own address for good --- */

static void run_plain(struct jit *jit)
{
    jit_run_many(jit, jit_heap(PAGE), CODE_BURNER_SIZE, "plain", 20, 60);
}

static void run_far(struct jit *jit)
{
    static const uint64_t bases[] = {0x100000000000, 0x1000c0000000, 0x200000000000};
    char name[64];

    for (unsigned i = 0; i < LENGTH(bases); i++) {
        uint8_t *heap =
            jit_map((void *)(uintptr_t)bases[i], PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

        snprintf(name, sizeof(name), "far%u_", i);
        jit_run_many(jit, heap, 64, name, 2, 200);
    }
}

static void run_unlogged(struct jit *jit)
{
    uint8_t *heap = jit_heap(PAGE);
    uint8_t *secret = heap + CODE_BURNER_SIZE;

    code_burner(secret, 0xffffffff);
    jit_run(jit, heap, "before", 300);
    jit_run(jit, heap + (ptrdiff_t)2 * CODE_BURNER_SIZE, "after", 300);
    jit_burn(secret, 600);
}

/* The LOAD comes when the function has run for some time. */
static void run_late(struct jit *jit)
{
    uint8_t *heap = jit_heap(PAGE);
    char name[64];

    for (unsigned i = 0; i < 20; i++) {
        uint8_t *at = heap + (size_t)i * CODE_BURNER_SIZE;

        snprintf(name, sizeof(name), "late%u", i);
        code_burner(at, i);
        jit_burn(at, 10);
        jit_log(jit, at, CODE_BURNER_SIZE, name);
        jit_burn(at, 40);
    }
}

/* --- addresses used again --- */

static void run_generations(struct jit *jit, unsigned count, unsigned ms)
{
    jit_run_many(jit, jit_heap(PAGE), 0, "gen", count, ms);
}

static void run_reuse(struct jit *jit)
{
    run_generations(jit, 5, 200);
}

/* Some with an address each, before. */
static void run_mixed(struct jit *jit)
{
    jit_run_many(jit, jit_heap(PAGE), CODE_BURNER_SIZE, "plain", 20, 20);
    run_generations(jit, 5, 200);
}

static void run_churn(struct jit *jit)
{
    run_generations(jit, 80, 15);
}

/* As run_reuse, but the records are not in the order of their times. */
static void run_outoforder(struct jit *jit)
{
    static const unsigned order[] = {3, 1, 4, 0, 2};
    uint8_t *at = jit_heap(PAGE);
    uint8_t bytes[LENGTH(order)][CODE_BURNER_SIZE];
    char names[LENGTH(order)][16];
    struct dump_code codes[LENGTH(order)];

    for (unsigned i = 0; i < LENGTH(order); i++) {
        code_burner(bytes[i], i);
        memcpy(at, bytes[i], CODE_BURNER_SIZE);
        snprintf(names[i], sizeof(names[i]), "gen%u", i);
        codes[i] = (struct dump_code){.name = names[i],
                                      .bytes = bytes[i],
                                      .addr = (uintptr_t)at,
                                      .size = CODE_BURNER_SIZE,
                                      .index = i,
                                      .time = dump_now()};
        jit_burn(at, 200);
    }
    for (unsigned i = 0; i < LENGTH(order); i++)
        dump_load(&jit->dump, &codes[order[i]]);
}

/* A new function over the middle of an old one, whose ends still run. */
static void run_overlap(struct jit *jit)
{
    uint8_t *old = jit_heap(PAGE);
    uint8_t *middle = old + 64, *tail = old + 128;
    const size_t size = 128 + CODE_BURNER_SIZE;

    memset(old, 0xcc, size);
    code_burner(old, 1);
    code_burner(middle, 2);
    code_burner(tail, 3);
    jit_log(jit, old, size, "old");
    jit_burn(old, 150);
    jit_burn(middle, 150);
    jit_run(jit, middle, "new", 300);
    jit_burn(old, 300);
    jit_burn(tail, 300);
    jit_burn(middle, 300);
}

/* The same code logged time after time. */
static void run_same(struct jit *jit)
{
    uint8_t *at = jit_heap(PAGE);

    code_burner(at, 7);
    for (unsigned i = 0; i < 20; i++) {
        jit_log(jit, at, CODE_BURNER_SIZE, "same");
        jit_burn(at, 50);
    }
}

static void move(struct jit *jit, uint8_t *from, uint8_t *to, uint64_t index)
{
    memcpy(to, from, CODE_BURNER_SIZE);
    dump_move(&jit->dump, (uintptr_t)from, (uintptr_t)to, CODE_BURNER_SIZE, index);
}

/* Code that moves, and moves on; its indices differ in their upper halves only. */
static void run_move(struct jit *jit)
{
    uint8_t *heap = jit_heap(3 * PAGE);
    uint8_t *high = heap, *low = heap + 32;
    const uint64_t low_index = 1, high_index = low_index + (UINT64_C(1) << 32);

    jit->next_index = high_index;
    jit_run(jit, high, "high", 150);
    jit->next_index = low_index;
    jit_run(jit, low, "low", 150);
    for (size_t page = PAGE; page <= 2 * PAGE; page += PAGE) {
        move(jit, high + page - PAGE, high + page, high_index);
        jit_burn(high + page, 150);
        move(jit, low + page - PAGE, low + page, low_index);
        jit_burn(low + page, 150);
    }
    jit_run(jit, heap, "next", 300);
}

/* --- mappings of others --- */

/* The kernel records an anonymous mapping for each change of the protection, over live code. */
static void run_mprotect(struct jit *jit)
{
    const size_t size = 4 * PAGE;
    uint8_t *heap = jit_map(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[64];

    for (unsigned i = 0; i < 20; i++) {
        uint8_t *page = heap + (i % 4) * PAGE;

        jit_protect(i % 2 ? heap : page, i % 2 ? size : PAGE, PROT_READ | PROT_WRITE);
        code_burner(page + (size_t)(i / 4) * CODE_BURNER_SIZE, i);
        jit_protect(i % 2 ? heap : page, i % 2 ? size : PAGE, PROT_READ | PROT_EXEC);
        snprintf(name, sizeof(name), "mprotect%u", i);
        jit_log(jit, page + (size_t)(i / 4) * CODE_BURNER_SIZE, CODE_BURNER_SIZE, name);
    }
    for (unsigned i = 0; i < 20; i++) {
        jit_burn(heap + (i % 4) * PAGE + (size_t)(i / 4) * CODE_BURNER_SIZE, 60);
        for (unsigned page = 0; page < 4; page++) {
            jit_protect(heap + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
            jit_protect(heap + page * PAGE, PAGE, PROT_READ | PROT_EXEC);
        }
    }
}

/* Write or execute through two views of one memory; the executable one is mapped anew each time. */
static void run_memfd(struct jit *jit)
{
    const int fd = memfd_create("doublemapper", MFD_CLOEXEC);
    uint8_t *writable, *code;
    char name[64];

    if (fd < 0 || ftruncate(fd, (off_t)PAGE) != 0)
        err(1, "memfd");
    writable = jit_map(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    code = jit_map(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    for (unsigned i = 0; i < 10; i++) {
        const size_t offset = (size_t)i * CODE_BURNER_SIZE;

        code_burner(writable + offset, i);
        snprintf(name, sizeof(name), "memfd%u", i);
        jit_log(jit, code + offset, CODE_BURNER_SIZE, name);
        jit_map(code, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0);
        jit_burn(code + offset, 60);
        jit_burn(code, 60);
    }
    close(fd);
}

/* A file is mapped over JIT code and runs there; in the end the place holds JIT code again. */
static void run_filemap(struct jit *jit)
{
    struct text text;
    uint8_t *heap, *function, *beside;

    text_open(&text, jit->argument);
    heap = jit_heap(text.size + PAGE);
    function = heap + text.function;
    beside = heap + text.size + PAGE - 64;
    jit_run(jit, function, "under", 300);
    jit_run(jit, beside, "beside", 150);
    text_map(&text, heap);
    jit_burn(function, 300);
    jit_burn(beside, 150);
    jit_map(heap, text.size, PROT_READ | PROT_WRITE | PROT_EXEC,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    jit_run(jit, function, "over", 300);
}

/*
 * JIT code in two pages with code of a file all around: whatever a reader puts at either side of
 * JIT code hides that.
 */
static void run_neighbour(struct jit *jit)
{
    struct text text;
    const size_t gap = 32 * PAGE;
    uint8_t *area = jit_heap(4 * gap);

    text_open(&text, jit->argument);
    for (size_t at = 0; at < 4 * gap; at += PAGE)
        if (at != gap && at != 3 * gap)
            text_map(&text, area + at);
    jit_run(jit, area + gap, "first", 300);
    jit_run(jit, area + 3 * gap, "second", 300);
    for (size_t at = 0; at < 4 * gap; at += PAGE)
        if (at != gap && at != 3 * gap)
            jit_burn(area + at + text.function, 5);
}

/* --- processes and threads --- */

/* Where several programs have their code. */
static uint8_t *fixed_heap(void)
{
    return jit_map((void *)(uintptr_t)0x300000000000, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void run_fixed(struct jit *jit)
{
    jit_run(jit, fixed_heap(), jit->argument, 400);
}

/* As run_fixed, and lives until its input ends. */
static void run_stay(struct jit *jit)
{
    run_fixed(jit);
    puts("done");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

static void become(const char *scenario, const char *dir)
{
    execl("/proc/self/exe", "tinyjit", scenario, dir, (char *)NULL);
    err(1, "exec");
}

/* Three programs, one after the other in one process, with code at one address; the argument is
 * where the second has its dump. */
static void run_exec(struct jit *jit)
{
    jit_run(jit, fixed_heap(), "before", 300);
    become("exec-second", jit->argument);
}

static void run_exec_second(struct jit *jit)
{
    jit_run(jit, fixed_heap(), "after", 300);
    become("exec-third", "-");
}

static void run_exec_third(struct jit *jit)
{
    uint8_t *heap = fixed_heap();

    (void)jit;
    code_burner(heap, 0xffffffff);
    jit_burn(heap, 300);
}

/* Shared by a parent and its workers. */
struct prefork {
    uint8_t code[PAGE];
    _Atomic unsigned turn;
};

static void wait_turn(const struct prefork *shared, unsigned turn)
{
    while (shared->turn < turn)
        usleep(1000);
}

static void run_first_worker(struct jit *jit, struct prefork *shared)
{
    uint8_t *one = shared->code + CODE_BURNER_SIZE, *other = one + CODE_BURNER_SIZE;

    jit_run(jit, one, "first", 200);
    shared->turn = 1;
    wait_turn(shared, 2);
    jit_burn(other, 200);
    shared->turn = 3;
    wait_turn(shared, 4);
    jit_burn(one, 200);
}

/* Puts its code beside that of the first worker, and then over it. */
static void run_second_worker(struct jit *jit, struct prefork *shared)
{
    uint8_t *one = shared->code + CODE_BURNER_SIZE, *other = one + CODE_BURNER_SIZE;

    wait_turn(shared, 1);
    jit_burn(one, 200);
    jit_run(jit, other, "second", 200);
    shared->turn = 2;
    wait_turn(shared, 3);
    jit_run(jit, one, "third", 200);
    shared->turn = 4;
}

/* As PHP has it: workers are forked with one memory for the code of all, and one dump. */
static void run_prefork(struct jit *jit)
{
    static void (*const workers[])(struct jit *, struct prefork *) = {run_first_worker,
                                                                      run_second_worker};
    struct prefork *shared =
        (struct prefork *)jit_map(NULL, sizeof(*shared), PROT_READ | PROT_WRITE | PROT_EXEC,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    jit_run(jit, shared->code, "of_master", 200);
    for (unsigned i = 0; i < LENGTH(workers); i++) {
        const pid_t child = fork();

        if (child < 0)
            err(1, "fork");
        if (child == 0) {
            workers[i](jit, shared);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    jit_burn(shared->code + 2 * CODE_BURNER_SIZE, 200);
}

static void run_forked(struct jit *jit, int own_dump)
{
    uint8_t *heap = jit_heap(PAGE);
    uint8_t *next = heap + CODE_BURNER_SIZE;
    pid_t child;

    jit_run(jit, heap, "inherited", 200);
    child = fork();
    if (child < 0)
        err(1, "fork");
    if (child == 0) {
        if (own_dump)
            dump_open(&jit->dump, jit->dir);
        jit_burn(heap, 200);
        jit_run(jit, next, "of_child", 200);
        _exit(0);
    }
    jit_burn(heap, 200);
    jit_run(jit, next, "of_parent", 400);
    if (waitpid(child, NULL, 0) != child)
        err(1, "waitpid");
}

static void run_fork(struct jit *jit)
{
    run_forked(jit, 0);
}

static void run_fork_own(struct jit *jit)
{
    run_forked(jit, 1);
}

struct worker {
    struct jit jit; /* a copy, with indices of its own */
    uint8_t *heap;
    char prefix[32];
    pthread_t thread;
};

static void *run_worker(void *context)
{
    struct worker *worker = context;

    jit_run_many(&worker->jit, worker->heap, CODE_BURNER_SIZE, worker->prefix, 3, 100);
    return NULL;
}

static void run_threads(struct jit *jit)
{
    struct worker workers[4];
    uint8_t *heap = jit_heap(PAGE);

    for (unsigned i = 0; i < LENGTH(workers); i++) {
        workers[i].jit = *jit;
        workers[i].jit.next_index = (uint64_t)i * 100;
        workers[i].heap = heap + (size_t)i * 3 * CODE_BURNER_SIZE;
        snprintf(workers[i].prefix, sizeof(workers[i].prefix), "thread%u_", i);
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            errx(1, "pthread_create");
    }
    for (unsigned i = 0; i < LENGTH(workers); i++)
        pthread_join(workers[i].thread, NULL);
}

/* --- tables --- */

/* Code without frame pointers, and room for its tables at a multiple of 8 behind it. */
#define FRAMELESS_STRIDE (32 + CODE_TABLES_SIZE)

static void log_frameless(struct jit *jit, uint8_t *at, const uint8_t *callee, uint8_t frame,
                          bool tables_mapped, const char *name)
{
    uint8_t tables[CODE_TABLES_SIZE];

    code_frameless(at, callee, frame);
    code_frameless_tables(tables, frame);
    if (tables_mapped)
        memcpy(at + 32, tables, sizeof(tables));
    dump_unwinding(&jit->dump, tables, sizeof(tables), CODE_TABLES_HEADER_SIZE, tables_mapped);
    jit_log(jit, at, CODE_FRAMELESS_SIZE, name);
}

/* Makes the functions first ... first + 4, each of which calls the next; returns the first one. */
static const uint8_t *make_frameless(struct jit *jit, uint8_t *at, const char *prefix,
                                     unsigned first, uint8_t frame, bool tables_mapped)
{
    const uint8_t *callee = NULL;
    char name[64];

    for (unsigned i = 5; i-- > 0;) {
        snprintf(name, sizeof(name), "%s%u", prefix, first + i);
        log_frameless(jit, at + i * FRAMELESS_STRIDE, callee, frame, tables_mapped, name);
        callee = at + i * FRAMELESS_STRIDE;
    }
    return callee;
}

static void run_frameless(struct jit *jit, uint8_t *at, const char *prefix, unsigned first,
                          uint8_t frame, bool tables_mapped, unsigned ms)
{
    jit_burn(make_frameless(jit, at, prefix, first, frame, tables_mapped), ms);
}

static void run_nofp(struct jit *jit)
{
    run_frameless(jit, jit_heap(PAGE), "inner", 0, 16, false, 300);
}

static void run_nofp_calls(struct jit *jit)
{
    jit_burn_by_calls(make_frameless(jit, jit_heap(PAGE), "inner", 0, 16, false), 500);
}

static void run_nofp_mapped(struct jit *jit)
{
    run_frameless(jit, jit_heap(PAGE), "inner", 0, 16, true, 300);
}

/*
 * Each generation lies over the one before, with larger frames and a little farther on: libunwind
 * remembers how it unwound an address, and perf never tells it that there is other code now.
 */
static void run_nofp_reuse(struct jit *jit)
{
    uint8_t *heap = jit_heap(PAGE);

    run_frameless(jit, heap, "first", 0, 16, false, 250);
    run_frameless(jit, heap + 8, "second", 0, 72, false, 250);
    run_frameless(jit, heap + 16, "third", 0, 40, true, 250);
}

/* 1,000 functions, five deep; what is next to each other differs in frames and in where tables are.
 */
static void run_nofp_many(struct jit *jit)
{
    const unsigned chains = 200;
    uint8_t *heap = jit_heap((size_t)chains * 5 * FRAMELESS_STRIDE);

    for (unsigned i = 0; i < chains; i++)
        run_frameless(jit, heap + (size_t)i * 5 * FRAMELESS_STRIDE, "f", 5 * i,
                      (uint8_t)(8 + i % 12 * 8), i % 2, 4);
}

/* Lines 11, 12 and 13 of function 0, 21 ... of function 1; `bias` is added to their addresses. */
static void run_lines(struct jit *jit, unsigned bias)
{
    uint8_t *heap = jit_heap(PAGE);
    char name[64];

    for (unsigned i = 0; i < 5; i++) {
        uint8_t *at = heap + (size_t)i * 64;
        struct dump_line lines[1 + CODE_LINES] = {{(uintptr_t)at + bias, 10 * i + 10}};

        code_lines(at, i);
        for (unsigned k = 0; k < CODE_LINES; k++)
            lines[1 + k] =
                (struct dump_line){(uintptr_t)at + code_lines_offsets[k] + bias, 10 * i + 11 + k};
        dump_debug(&jit->dump, (uintptr_t)at, "/src/tiny.script", lines, LENGTH(lines));
        snprintf(name, sizeof(name), "lines%u", i);
        jit_log(jit, at, CODE_LINES_SIZE, name);
        jit_burn(at, 240);
    }
}

static void run_debug(struct jit *jit)
{
    run_lines(jit, 0);
}

static void run_debug_biased(struct jit *jit)
{
    run_lines(jit, 0x40);
}

const struct scenario scenarios[] = {
    {"plain", "20 functions side by side", run_plain},
    {"far", "code more than 2 GiB and more than 4 GiB apart", run_far},
    {"unlogged", "a function between others that is not logged", run_unlogged},
    {"late", "each function is logged 10 ms after its start", run_late},
    {"reuse", "5 functions one after the other at one address", run_reuse},
    {"mixed", "20 functions side by side, then 5 at one address", run_mixed},
    {"churn", "80 functions one after the other at one address", run_churn},
    {"outoforder", "as reuse, with the records in disorder", run_outoforder},
    {"overlap", "a new function over the middle of an old one", run_overlap},
    {"same", "the same code logged 20 times", run_same},
    {"move", "code that moves twice", run_move},
    {"mprotect", "the code's pages change their protection all the time", run_mprotect},
    {"memfd", "two views of one memory, one mapped anew for each function", run_memfd},
    {"filemap", "a file mapped over JIT code", run_filemap},
    {"neighbour", "JIT code between pages of a file", run_neighbour},
    {"fork", "a child that goes on with its parent's dump", run_fork},
    {"fork-own", "a child with a dump of its own", run_fork_own},
    {"prefork", "two workers with one dump and one memory for code", run_prefork},
    {"threads", "4 threads, one dump", run_threads},
    {"nofp", "no frame pointers, unwind tables in the dump only", run_nofp},
    {"nofp-calls", "the same with short calls", run_nofp_calls},
    {"nofp-mapped", "no frame pointers, unwind tables behind the code", run_nofp_mapped},
    {"nofp-reuse", "as nofp with three generations at one address", run_nofp_reuse},
    {"nofp-many", "as nofp with 1,000 functions", run_nofp_many},
    {"debug", "source lines", run_debug},
    {"debug-biased", "source lines, 0x40 too far as V8 and LLVM write them", run_debug_biased},
    {"fixed", "one function, called as the argument says", run_fixed},
    {"stay", "as fixed, and the program waits for the end of its input", run_stay},
    {"exec", "becomes another JIT, and then a program without a dump", run_exec},
    {"exec-second", "what exec becomes", run_exec_second},
    {"exec-third", "what that becomes", run_exec_third},
    {NULL, NULL, NULL},
};
