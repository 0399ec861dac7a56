/* SPDX-License-Identifier: MIT */
/*
 * Reading .eh_frame (Linux Standard Base, "Exception Frames"; DWARF 5, 6.4) as a runtime left it in
 * a dump: untrusted, and made for an address of its own.
 *
 * What comes out has one form, whatever went in: FDEs with 4-byte pc-relative pointers, and neither
 * personality routines nor language data, whose pointers lead nowhere in the image.
 */
#ifndef JITINJECT_IMAGE_CFI_H
#define JITINJECT_IMAGE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An UNWINDING_INFO's tables. */
struct cfi_data {
    const uint8_t *frames; /* .eh_frame */
    size_t size;
    uint64_t frames_addr; /* where .eh_frame was made for */
    uint64_t header_addr; /* the same of .eh_frame_hdr: data-relative pointers count from there */
    bool is_64bit;        /* size of an absolute pointer */
    bool swapped;
};

struct cfi_cie {
    size_t offset;             /* in the tables it was read from */
    uint8_t version;           /* 1 or 3 */
    bool signal_frame;         /* 'S' */
    bool b_key;                /* 'B' (AArch64): return addresses are signed with the B key */
    bool has_augmentation;     /* 'z' */
    uint8_t encoding;          /* of the pointers of its FDEs, DW_EH_PE_* */
    const uint8_t *parameters; /* alignment factors and return register, as they are */
    size_t parameters_size;
    const uint8_t *instructions; /* less the padding */
    size_t instructions_size;
    uint64_t number; /* those of one number are the same but for their offsets; 0: not known */
};

/* Real ones have less than 30. The bound keeps the work of sharing them in proportion. */
#define CFI_CIE_INSTRUCTIONS_MAX 1024
#define CFI_CIE_PARAMETERS_MAX   30 /* three LEB128 numbers of 64 bits */

struct cfi_fde {
    uint64_t pc, size; /* the code it is for, in memory */
    size_t cie;        /* index */
    const uint8_t *instructions;
    size_t instructions_size;
};

/* Bytes of a CIE that is kept. */
#define CFI_CIE_KEPT 64

/* The tables of one record; the bytes stay where they were read. */
struct cfi {
    struct cfi_cie *cies; /* by offset */
    struct cfi_fde *fdes; /* by pc */
    size_t cie_count, cie_capacity;
    size_t fde_count, fde_capacity;
    struct cfi_cie last; /* the last one that was understood: nearly all records begin with it */
    uint8_t last_bytes[CFI_CIE_KEPT];
    size_t last_size;
};

/*
 * Replaces the content of `cfi`. What is not understood is left out. 0 or -ENOMEM.
 */
int cfi_parse(struct cfi *cfi, const struct cfi_data *data);
void cfi_free(struct cfi *cfi);

/* The first FDE whose code begins at `pc` or behind it, as an index. */
size_t cfi_find(const struct cfi *cfi, uint64_t pc);

/*
 * Reads a pointer of the encoding at `*at`, which lies at `address` in memory, and moves `*at`
 * behind it. False: the encoding is not one of those that make sense in a dump, or bytes are
 * missing.
 */
bool cfi_pointer(const struct cfi_data *data, uint8_t encoding, const uint8_t **at,
                 const uint8_t *end, uint64_t address, uint64_t *value);

/*
 * Checks call frame instructions. True: all are known, whole, and independent of where they stand;
 * *size is what remains without trailing padding.
 */
bool cfi_check_instructions(const uint8_t *instructions, size_t *size);

#endif /* JITINJECT_IMAGE_CFI_H */
