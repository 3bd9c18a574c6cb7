/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_acl.h - the stored access policies of a table as XML: the bodies of Get and Set Table ACL.
 *
 *   <SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Start>..</Start><Expiry>..</Expiry>
 *   <Permission>raud</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>
 *
 * Start, Expiry, Permission and the whole AccessPolicy may be missing or empty. Beside r, a, u and d,
 * Permission may have the letters i and t of Tavola's own signatures, so that the result of Get can be sent
 * to Set.
 */
#ifndef ODATA_XML_XML_ACL_H
#define ODATA_XML_XML_ACL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "domain/catalogue/access_policy.h"

/*
 * Read the policies. An empty body and an empty list mean no policies.
 *
 * STATUS_INVALID  INVALID_XML_DOCUMENT: the document has another form, or access_policies_check refuses the
 *                 policies; INVALID_XML_NODE_VALUE: a time is malformed
 */
MUST_USE enum status xml_acl_read(
    struct str body, struct arena *arena, struct access_policies *out, struct error *err);

/* Append the document; times have seven decimal places. */
void xml_acl_write(const struct access_policies *policies, struct arena *arena, struct buf *out);

#endif
