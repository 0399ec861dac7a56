/* SPDX-License-Identifier: MIT */
/* .note.gnu.build-id: namesz, descsz, type, "GNU\0", the id. */
#include "internal.h"

#include "encode.h"
#include "jitinject/bytes.h"

#include <elf.h>
#include <string.h>

uint64_t image_note_offset(const struct image_target *target)
{
    return image_header_size(target) + IMAGE_SEGMENTS * image_segment_size(target);
}

int image_write_note(struct image *image, const uint8_t build_id[IMAGE_BUILD_ID_SIZE])
{
    const bool swapped = image_target_swapped(image->target);
    uint8_t note[IMAGE_NOTE_SIZE];

    bytes_put_u32(note, sizeof(ELF_NOTE_GNU), swapped);
    bytes_put_u32(note + 4, IMAGE_BUILD_ID_SIZE, swapped);
    bytes_put_u32(note + 8, NT_GNU_BUILD_ID, swapped);
    memcpy(note + 12, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
    memcpy(note + 12 + sizeof(ELF_NOTE_GNU), build_id, IMAGE_BUILD_ID_SIZE);
    return image_output_write_unhashed(&image->output, note, sizeof(note),
                                       image_note_offset(image->target));
}
