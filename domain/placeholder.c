/* placeholder */
typedef int domain_placeholder;
