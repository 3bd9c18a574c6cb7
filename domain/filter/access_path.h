/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_path.h - how a read finds its rows.
 */
#ifndef DOMAIN_FILTER_ACCESS_PATH_H
#define DOMAIN_FILTER_ACCESS_PATH_H

struct key_plan;

/* In ascending order of their cost, with the numbers of the API. */
enum access_path {
    ACCESS_POINT = 1,
    ACCESS_ROW_RANGE = 2,
    ACCESS_INDEX_LOOKUP = 3,
    ACCESS_PARTITION_SCAN = 4,
    ACCESS_TABLE_SCAN = 5,
};

/* The path of a read by this plan. */
enum access_path access_path_of(const struct key_plan *plan);

/* "TABLE_SCAN", and so on. */
const char *access_path_name(enum access_path path);

#endif
