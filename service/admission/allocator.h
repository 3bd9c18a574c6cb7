/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.h - the allocator of the process: jemalloc where the program is linked with it, else the C library's.
 */
#ifndef SERVICE_ADMISSION_ALLOCATOR_H
#define SERVICE_ADMISSION_ALLOCATOR_H

/* Give freed memory back to the system at once. It takes milliseconds for some hundred megabytes. */
void allocator_give_back(void);

#endif
