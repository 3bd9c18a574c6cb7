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
 * A setting of the environment, or an option, overrides the profile. Lines that begin with # are comments.
 */
#ifndef CLIENT_PROFILE_H
#define CLIENT_PROFILE_H

#include <stdbool.h>

/* Marks the option --profile in the table of options, where other options have a setting. */
#define PROFILE_OPTION "~/.config/tavola/config"

/*
 * Put the settings of a profile into the environment, unless they are set there. name NULL: the profile
 * "default", if the file has one. Call it before threads are started. false: there is no such profile, or the
 * file is wrong; the cause is on standard error.
 */
bool profile_apply(const char *name);

#endif
