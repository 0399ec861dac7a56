/* SPDX-License-Identifier: MIT */
/* The numbers of DWARF 5 (chapter 7) that are used here, with its names. */
#ifndef JITINJECT_LINES_DWARF_H
#define JITINJECT_LINES_DWARF_H

enum {
    DW_LNS_advance_pc = 2,
    DW_LNS_advance_line = 3,
    DW_LNS_set_file = 4,
    DW_LNS_set_column = 5,
    DW_LNE_end_sequence = 1,
    DW_LNE_set_address = 2,
    DW_LNCT_path = 1,
    DW_LNCT_directory_index = 2,
    DW_UT_compile = 1,
    DW_TAG_compile_unit = 0x11,
    DW_TAG_subprogram = 0x2e,
    DW_CHILDREN_no = 0,
    DW_CHILDREN_yes = 1,
    DW_AT_name = 0x03,
    DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_comp_dir = 0x1b,
    DW_AT_producer = 0x25,
    DW_AT_linkage_name = 0x6e,
    DW_FORM_addr = 0x01,
    DW_FORM_strp = 0x0e,
    DW_FORM_udata = 0x0f,
    DW_FORM_sec_offset = 0x17,
    DW_FORM_line_strp = 0x1f,
};

#endif /* JITINJECT_LINES_DWARF_H */
