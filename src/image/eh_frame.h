/* SPDX-License-Identifier: MIT */
/*
 * The numbers in .eh_frame and .eh_frame_hdr, with their names in Linux Standard Base 5.0, 10.5 and
 * 10.6, and DWARF 5, 7.24.
 */
#ifndef JITINJECT_IMAGE_EH_FRAME_H
#define JITINJECT_IMAGE_EH_FRAME_H

/* How a pointer is written: its form, and what it counts from. */
enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_udata2 = 0x02,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_sdata2 = 0x0a,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c,
    EH_PE_FORM = 0x0f,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30, /* from the start of .eh_frame_hdr */
    EH_PE_BASE = 0xf0,       /* with the bit for indirect ones, which lead to memory we lack */
    DW_EH_PE_omit = 0xff,
};

/* .eh_frame_hdr: version, encodings of the three that follow, where .eh_frame is, how many rows. */
enum {
    EH_FRAME_HDR_VERSION = 1,
    EH_FRAME_HDR_PTR_ENC = 1, /* offsets from here on */
    EH_FRAME_HDR_PTR = 4,
};

/* Call frame instructions; the first three have an operand in their lower six bits. */
enum {
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    DW_CFA_nop = 0x00,
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc2 = 0x03,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_undefined = 0x07,
    DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e,
    DW_CFA_def_cfa_expression = 0x0f,
    DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11,
    DW_CFA_def_cfa_sf = 0x12,
    DW_CFA_def_cfa_offset_sf = 0x13,
    DW_CFA_val_offset = 0x14,
    DW_CFA_val_offset_sf = 0x15,
    DW_CFA_val_expression = 0x16,
    DW_CFA_GNU_window_save = 0x2d, /* on AArch64 negate_ra_state */
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f,
};

#endif /* JITINJECT_IMAGE_EH_FRAME_H */
