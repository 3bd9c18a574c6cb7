/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - settings of a server under a name, in ~/.config/tavola/config (or below XDG_CONFIG_HOME):
 *
 *     [default]
 *     target = 127.0.0.1:50051
 *
 *     [production]
 *     target = db.example:50051
 *     ca = /etc/tavola/ca.pem
 *     token-file = /home/ada/.config/tavola/token
 *
 * A setting of the environment, and an option, is stronger than a profile. Lines that begin with # are comments.
 */
#ifndef CLIENT_PROFILE_H
#define CLIENT_PROFILE_H

#include <stdbool.h>

/* Stands in the table of options in place of a setting. */
#define PROFILE_OPTION "~/.config/tavola/config"

/*
 * Put a profile's settings into the environment, where they are not set. name NULL: the profile "default", if the file has one. Before
 * threads are started. false: there is no such profile, or the file is wrong; standard error says so.
 */
bool profile_apply(const char *name);

#endif
