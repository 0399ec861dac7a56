/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "jitinject/bytes.h"
#include "jitinject/io.h"

#include <errno.h>
#include <string.h>
#ifdef HAVE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

int image_output_open(struct image_output *output, int fd)
{
    *output = (struct image_output){.fd = fd, .hash = XXH3_createState()};
    if (!output->hash)
        return -ENOMEM;
    XXH3_128bits_reset(output->hash);
    return 0;
}

void image_output_close(struct image_output *output)
{
    XXH3_freeState(output->hash);
    output->hash = NULL;
}

int image_output_write_unhashed(struct image_output *output, const void *bytes, size_t size,
                                uint64_t offset)
{
    int err = io_pwrite(output->fd, bytes, size, offset);

    if (!err)
        output->written += size;
    return err;
}

int image_output_write(struct image_output *output, const void *bytes, size_t size, uint64_t offset)
{
    XXH3_128bits_update(output->hash, bytes, size);
    return image_output_write_unhashed(output, bytes, size, offset);
}

void image_output_join(struct image_output *output, const struct image_output *other)
{
    XXH128_canonical_t digest;

    XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(other->hash));
    XXH3_128bits_update(output->hash, &digest, sizeof(digest));
    output->written += other->written;
}

/*
 * Perf takes a build-id of less than 20 bytes for one that is padded with zeros, and some readers
 * cut trailing groups of four zero bytes off: the last four bytes are never zero.
 */
void image_output_digest(const struct image_output *output, uint8_t build_id[IMAGE_BUILD_ID_SIZE])
{
    XXH128_canonical_t digest;

    XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(output->hash));
    _Static_assert(sizeof(digest) + sizeof(uint32_t) == IMAGE_BUILD_ID_SIZE, "16 + 4 bytes");
    const uint32_t rest = (uint32_t)XXH3_64bits(&digest, sizeof(digest));

    memcpy(build_id, &digest, sizeof(digest));
    bytes_put_u32(build_id + sizeof(digest), rest ? rest : 1, false);
}
