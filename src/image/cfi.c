/* SPDX-License-Identifier: MIT */
#include "cfi.h"

#include "cursor.h"
#include "eh_frame.h"
#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The value itself, sign-extended to 64 bits. */
static bool read_value(struct cursor *cursor, uint8_t format, bool is_64bit, uint64_t *value)
{
    if (format == DW_EH_PE_absptr)
        format = is_64bit ? DW_EH_PE_udata8 : DW_EH_PE_udata4;
    switch (format) {
    case DW_EH_PE_udata2:
        *value = cursor_u16(cursor);
        break;
    case DW_EH_PE_sdata2:
        *value = (uint64_t)(int16_t)cursor_u16(cursor);
        break;
    case DW_EH_PE_udata4:
        *value = cursor_u32(cursor);
        break;
    case DW_EH_PE_sdata4:
        *value = (uint64_t)(int32_t)cursor_u32(cursor);
        break;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = cursor_u64(cursor);
        break;
    default:
        return false;
    }
    return !cursor->bad;
}

static bool read_pointer(const struct cfi_data *data, struct cursor *cursor, uint8_t encoding,
                         uint64_t address, uint64_t *value)
{
    if (!read_value(cursor, encoding & EH_PE_FORM, data->is_64bit, value))
        return false;
    switch (encoding & EH_PE_BASE) {
    case 0:
        break;
    case DW_EH_PE_pcrel:
        *value += address;
        break;
    case DW_EH_PE_datarel:
        *value += data->header_addr;
        break;
    default:
        return false;
    }
    if (!data->is_64bit)
        *value = (uint32_t)*value;
    return true;
}

bool cfi_pointer(const struct cfi_data *data, uint8_t encoding, const uint8_t **at,
                 const uint8_t *end, uint64_t address, uint64_t *value)
{
    struct cursor cursor = {.at = *at, .end = end, .swapped = data->swapped};
    const bool good = read_pointer(data, &cursor, encoding, address, value);

    *at = cursor.at;
    return good;
}

/* Augmentation data as the letters of the string say. False: a letter is unknown. */
static bool parse_augmentation(const struct cfi_data *data, struct cursor *cursor,
                               const char *letters, struct cfi_cie *cie)
{
    uint64_t ignored;

    cie->encoding = DW_EH_PE_absptr;
    if (*letters == '\0')
        return true;
    if (*letters++ != 'z')
        return false;
    cie->has_augmentation = true;
    const uint64_t size = cursor_uleb(cursor);
    const uint8_t *bytes = cursor_take(cursor, size);
    if (!bytes)
        return false;
    struct cursor augmentation = {.at = bytes, .end = bytes + size, .swapped = data->swapped};
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            cie->encoding = cursor_u8(&augmentation);
            break;
        case 'L':
            cursor_u8(&augmentation);
            break;
        case 'P':
            if (!read_value(&augmentation, cursor_u8(&augmentation) & EH_PE_FORM, data->is_64bit,
                            &ignored))
                return false;
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        case 'B':
            cie->b_key = true;
            break;
        default:
            return false;
        }
    }
    return !augmentation.bad && cie->encoding != DW_EH_PE_omit;
}

/* `cursor` is behind the id. */
static bool parse_cie(const struct cfi_data *data, struct cursor *cursor, struct cfi_cie *cie)
{
    cie->version = cursor_u8(cursor);
    if (cie->version != 1 && cie->version != 3)
        return false;
    const char *letters = (const char *)cursor->at;
    const uint8_t *letters_end = memchr(cursor->at, '\0', cursor_left(cursor));
    if (!letters_end)
        return false;
    cursor->at = letters_end + 1;

    cie->parameters = cursor->at;
    cursor_skip_leb(cursor); /* code alignment factor */
    cursor_skip_leb(cursor); /* data alignment factor */
    if (cie->version == 1)
        cursor_u8(cursor);
    else
        cursor_skip_leb(cursor);
    cie->parameters_size = (size_t)(cursor->at - cie->parameters);
    if (!parse_augmentation(data, cursor, letters, cie) || cursor->bad)
        return false;
    cie->instructions = cursor->at;
    cie->instructions_size = cursor_left(cursor);
    return cfi_check_instructions(cie->instructions, &cie->instructions_size) &&
           cie->instructions_size <= CFI_CIE_INSTRUCTIONS_MAX;
}

/* What a CIE at `from` is at `to`, where the same bytes are. */
static struct cfi_cie moved(struct cfi_cie cie, const uint8_t *from, const uint8_t *to)
{
    cie.parameters = to + (cie.parameters - from);
    cie.instructions = to + (cie.instructions - from);
    return cie;
}

/* The same, unless it is the one that was understood last. */
static bool take_cie(struct cfi *cfi, const struct cfi_data *data, struct cursor *cursor,
                     struct cfi_cie *cie)
{
    const uint8_t *bytes = cursor->at;
    const size_t size = cursor_left(cursor);

    if (cfi->last.number && size == cfi->last_size && memcmp(bytes, cfi->last_bytes, size) == 0) {
        *cie = moved(cfi->last, cfi->last_bytes, bytes);
        return true;
    }
    if (!parse_cie(data, cursor, cie))
        return false;
    if (size <= CFI_CIE_KEPT) {
        cie->number = cfi->last.number + 1;
        memcpy(cfi->last_bytes, bytes, size);
        cfi->last = moved(*cie, bytes, cfi->last_bytes);
        cfi->last_size = size;
    }
    return true;
}

/* `cursor` is behind the pointer to the CIE. */
static bool parse_fde(const struct cfi_data *data, struct cursor *cursor, const struct cfi_cie *cie,
                      struct cfi_fde *fde)
{
    const uint64_t address = data->frames_addr + (uint64_t)(cursor->at - data->frames);

    if (!read_pointer(data, cursor, cie->encoding, address, &fde->pc) ||
        !read_value(cursor, cie->encoding & EH_PE_FORM, data->is_64bit, &fde->size))
        return false;
    if (cie->has_augmentation)
        cursor_take(cursor, cursor_uleb(cursor));
    if (cursor->bad || fde->size == 0 || fde->size > INT64_MAX)
        return false;
    fde->instructions = cursor->at;
    fde->instructions_size = cursor_left(cursor);
    return cfi_check_instructions(fde->instructions, &fde->instructions_size);
}

static int compare_offset(const void *key, const void *item)
{
    const size_t offset = *(const size_t *)key;
    const struct cfi_cie *cie = item;

    return (offset > cie->offset) - (offset < cie->offset);
}

static int compare_pc(const void *left, const void *right)
{
    const struct cfi_fde *a = left, *b = right;

    return (a->pc > b->pc) - (a->pc < b->pc);
}

/* One entry, `cursor` behind its length. 0 or -ENOMEM. */
static int parse_entry(struct cfi *cfi, const struct cfi_data *data, size_t offset,
                       struct cursor *cursor)
{
    const size_t id_offset = (size_t)(cursor->at - data->frames);
    const uint32_t id = cursor_u32(cursor);

    if (id == 0) {
        struct cfi_cie cie = {0};
        if (!take_cie(cfi, data, cursor, &cie))
            return 0;
        cie.offset = offset;
        if (!array_reserve(&cfi->cies, &cfi->cie_capacity, cfi->cie_count + 1))
            return -ENOMEM;
        cfi->cies[cfi->cie_count++] = cie;
        return 0;
    }
    const size_t cie_offset = id_offset - id; /* one that is out of bounds is not found */
    const struct cfi_cie *cie = cfi->cie_count ? bsearch(&cie_offset, cfi->cies, cfi->cie_count,
                                                         sizeof(*cie), compare_offset)
                                               : NULL;
    if (!cie)
        return 0;
    struct cfi_fde fde = {.cie = (size_t)(cie - cfi->cies)};
    if (!parse_fde(data, cursor, cie, &fde))
        return 0;
    if (!array_reserve(&cfi->fdes, &cfi->fde_capacity, cfi->fde_count + 1))
        return -ENOMEM;
    cfi->fdes[cfi->fde_count++] = fde;
    return 0;
}

int cfi_parse(struct cfi *cfi, const struct cfi_data *data)
{
    struct cursor cursor = {
        .at = data->frames, .end = data->frames + data->size, .swapped = data->swapped};

    cfi->cie_count = 0;
    cfi->fde_count = 0;
    while (cursor_left(&cursor) >= 4) {
        const size_t offset = (size_t)(cursor.at - data->frames);
        const uint32_t length = cursor_u32(&cursor);
        if (length == 0) /* the end, or in the middle of tables that were put together */
            continue;
        const uint8_t *content = cursor_take(&cursor, length);
        if (length < 4 || !content) /* nonsense, also the mark of 64-bit lengths */
            break;
        struct cursor entry = {.at = content, .end = content + length, .swapped = data->swapped};
        const int err = parse_entry(cfi, data, offset, &entry);
        if (err)
            return err;
    }
    array_sort(cfi->fdes, cfi->fde_count, sizeof(*cfi->fdes), compare_pc);
    return 0;
}

void cfi_free(struct cfi *cfi)
{
    free(cfi->cies);
    free(cfi->fdes);
    *cfi = (struct cfi){0};
}

size_t cfi_find(const struct cfi *cfi, uint64_t pc)
{
    size_t low = 0, high = cfi->fde_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cfi->fdes[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
