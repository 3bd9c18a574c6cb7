/* placeholder */
typedef int support_placeholder;
